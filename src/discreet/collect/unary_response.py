"""Unary response: a yes or no for every category, each flipped at random (Erlingsson 2014; Wang et al. 2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from discreet.collect.category_estimates import CATEGORIES, Shares, codes_of
from discreet.collect.secure_random import CELLS, Chance, cells_below, rounded_up
from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import Constraints, FloatIn, IntIn, check_parameters, require
from discreet.core.rng import RandomState
from discreet.core.validation import array_of

_SAME = 1e-12
_DRAWS = 1 << 22
"""How many bits are drawn at a time."""


@public
class UnaryResponse:
    """Report a category as one bit for each: the own bit is 1, the others 0, and each is flipped at random.

    The probabilities do not depend on the number of categories, so it serves where there are many.

    Parameters
    ----------
    categories
        The categories, each once.
    p
        The probability that the own bit stays 1.
    q
        The probability that another bit stays 0, as in :class:`EMask`. (Papers on unary encoding call ``1 − q`` q.)

    Examples
    --------
    >>> channel = UnaryResponse.optimal(["tea", "coffee", "milk"], epsilon=1.0)
    >>> round(channel.p, 2), round(channel.q, 3), round(channel.epsilon, 6)
    (0.5, 0.731, 1.0)
    >>> reports = channel.perturb(["tea"] * 6_000 + ["milk"] * 4_000, random_state=1)
    >>> found = channel.reconstruct(reports)
    >>> bool((abs(found.shares - [0.6, 0.0, 0.4]) < 4 * found.standard_errors).all())
    True

    References
    ----------
    T. Wang, J. Blocki, N. Li, S. Jha: Locally differentially private protocols for frequency estimation. USENIX
    Security 2017.
    """

    constraints: ClassVar[Constraints] = {"categories": CATEGORIES, "p": FloatIn(0, 1), "q": FloatIn(0, 1)}

    def __init__(self, categories: Sequence[Any], *, p: float, q: float) -> None:
        self.categories = tuple(categories)
        self.p = p
        self.q = q
        check_parameters(self)
        if abs(p + q - 1) < _SAME:
            raise ParameterError(
                "The 'p' and 'q' parameters of UnaryResponse must not add up to 1: every bit would come out the same "
                f"whatever it was, and nothing could be recovered. Got {p:g} and {q:g} instead."
            )

    @classmethod
    def optimal(cls, categories: Sequence[Any], *, epsilon: float) -> UnaryResponse:
        """Choose the probabilities that estimate rare categories best at an ε: p = 1/2 and q = e^ε / (e^ε + 1)."""
        require(cls.__name__, "epsilon", epsilon, FloatIn(0, 700, closed="right"))
        return cls(categories, p=0.5, q=_stays(epsilon))

    @classmethod
    def symmetric(cls, categories: Sequence[Any], *, epsilon: float) -> UnaryResponse:
        """Choose the same probability for every bit at an ε, as RAPPOR does."""
        require(cls.__name__, "epsilon", epsilon, FloatIn(0, 700, closed="right"))
        # Two truths differ in two bits, each of which takes half of the budget.
        stays = _stays(epsilon / 2)
        return cls(categories, p=stays, q=stays)

    @property
    def epsilon(self) -> float:
        """The local differential privacy: two truths differ in two bits, whose losses add up; as they are drawn."""
        stay = [float(cells_below(chance)) for chance in (self.p, self.q)]
        if any(cells in (0, CELLS) for cells in stay):
            return math.inf
        return abs(sum(math.log(cells / (CELLS - cells)) for cells in stay))

    def perturb(self, values: Any, *, random_state: RandomState = None) -> BoolArray:
        """Report every value as a row of bits, one for each category."""
        return self.report(codes_of(values, self.categories), Chance(random_state, owner=self))

    def report(self, codes: IntArray, chance: Chance) -> BoolArray:
        """Draw the bits reported for true categories, passed as indices of the categories."""
        k = len(self.categories)
        reports = np.empty((codes.size, k), np.bool_)
        step = max(1, _DRAWS // k)
        for start in range(0, codes.size, step):
            true_codes = codes[start : start + step]
            drawn = chance.uniform(true_codes.size * k).reshape(true_codes.size, k)
            rows = np.arange(true_codes.size)
            # The own bit is written over by the same draw, held against p: no draw is used for two bits.
            reports[start : start + step] = drawn >= self.q
            reports[start + rows, true_codes] = drawn[rows, true_codes] < self.p
        return reports

    def count(self, reports: Any) -> IntArray:
        """Count the yes of each category; counts of batches add up, and so do the numbers of reports."""
        bits = array_of(reports, shown="reports")
        if bits.ndim != 2 or bits.shape[1] != len(self.categories) or bits.dtype.kind not in "biu":
            raise InputError(f"Reports must be rows of {len(self.categories)} bits.")
        if bits.dtype.kind != "b" and not ((bits == 0) | (bits == 1)).all():
            raise InputError("Reports must hold nothing but 0 and 1.")
        return np.asarray(bits.sum(axis=0, dtype=np.int64))

    def reconstruct(self, reports: Any = None, *, counts: Any = None, n: int | None = None) -> Shares:
        """Recover the shares of the true categories, unbiased; rare ones may come out a little below 0.

        Parameters
        ----------
        reports
            Rows of bits.
        counts, n
            In place of them, the yes of each category and the number of reports.
        """
        if (reports is None) == (counts is None):
            raise ParameterError("Pass either 'reports' or 'counts' to UnaryResponse.reconstruct.")
        if reports is not None:
            counts, n = self.count(reports), len(reports)
        require(self, "n", n, IntIn(0))
        total = int(n or 0)
        if not total:
            raise InputError("There are no reports to learn from.")
        yes = np.asarray(counts, np.float64) / total
        if yes.shape != (len(self.categories),) or not ((yes >= 0) & (yes <= 1)).all():
            raise InputError(f"The counts must be {len(self.categories)} numbers between 0 and 'n'.")
        # The expected share of yes is (1 − q) + slope · share, solved for the share.
        slope = self.p + self.q - 1
        shares = (yes - (1 - self.q)) / slope
        errors = np.sqrt(yes * (1 - yes) / total) / abs(slope)
        return Shares(self.categories, shares, errors, total)

    def to_dict(self) -> dict[str, Any]:
        """Return the channel as plain data: what is public about it."""
        return {"categories": list(self.categories), "p": self.p, "q": self.q}

    def __repr__(self) -> str:
        return f"UnaryResponse({len(self.categories)} categories, p={self.p:.4g}, q={self.q:.4g})"


def _stays(epsilon: float) -> float:
    """Return the probability that a bit stays whose loss is no more than ε, rounding counted."""
    return 1 - rounded_up(math.exp(-epsilon) / (1 + math.exp(-epsilon)))
