"""Randomized response: a category is reported truly or as another by public probabilities (Warner 1965)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.collect.category_estimates import CATEGORIES, Shares, codes_of, labeled
from discreet.collect.reconstruct.em import Rule, run_em, warn_not_converged
from discreet.collect.secure_random import Chance, cells_below, rounded_up
from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import Constraints, FloatIn, IntIn, OneOf, check_parameters, require
from discreet.core.rng import RandomState

_STOCHASTIC = 1e-9
_CONDITION = 1e12


@public
class RandomizedResponse:
    """Report categories through a public matrix of probabilities.

    Parameters
    ----------
    categories
        The categories, each once.
    matrix
        ``matrix[i, j]`` is the probability that category i is reported as category j; rows add up to 1, and the
        matrix can be inverted.

    Examples
    --------
    >>> channel = RandomizedResponse.k_ary(["no", "yes"], keep=0.75)
    >>> round(channel.epsilon, 3)
    1.099
    >>> truth = ["yes"] * 300 + ["no"] * 700
    >>> reports = channel.perturb(truth, random_state=5)
    >>> found = channel.reconstruct(reports)
    >>> bool(abs(found.shares[1] - 0.3) < 3 * found.standard_errors[1])
    True

    References
    ----------
    S. Warner: Randomized response: a survey technique for eliminating evasive answer bias. JASA 60(309), 1965.
    """

    constraints: ClassVar[Constraints] = {"categories": CATEGORIES}

    def __init__(self, categories: Sequence[Any], matrix: Any) -> None:
        self.categories = tuple(categories)
        self.matrix = matrix
        self._check()

    @classmethod
    def k_ary(
        cls, categories: Sequence[Any], *, keep: float | None = None, epsilon: float | None = None
    ) -> RandomizedResponse:
        """Report the truth with one probability, and every other category with the same lower one.

        Pass the probability of the truth (``keep``), or an ε that is kept even after rounding.
        """
        listed = tuple(categories)
        require(cls.__name__, "categories", listed, CATEGORIES)
        k = len(listed)
        if (keep is None) == (epsilon is None):
            raise ParameterError("Pass either 'keep' or 'epsilon' to RandomizedResponse.k_ary.")
        if epsilon is not None:
            require(cls.__name__, "epsilon", epsilon, FloatIn(0, 700, closed="right"))
            keep = 1 - (k - 1) * rounded_up(math.exp(-epsilon) / (1 + (k - 1) * math.exp(-epsilon)))
        require(cls.__name__, "keep", keep, FloatIn(0, 1))
        truthful = float(keep or 0.0)
        matrix = np.full((k, k), (1 - truthful) / (k - 1))
        np.fill_diagonal(matrix, truthful)
        return cls(listed, matrix)

    @property
    def epsilon(self) -> float:
        """The local differential privacy: the largest log-ratio of two probabilities of the same report, as drawn."""
        # In cells of the uniform draw, which is what a report
        # is made of: the matrix itself is rounded to them.
        drawn = np.diff(cells_below(self._ladder()), axis=1, prepend=0.0)
        least, most = drawn.min(axis=0), drawn.max(axis=0)
        if (least == 0).any():
            return math.inf
        return float(np.log(most / least).max())

    def perturb(self, values: Any, *, random_state: RandomState = None) -> np.ndarray[Any, Any]:
        """Report every value at random; a list or array comes back as an array of the same categories."""
        codes = codes_of(values, self.categories)
        return labeled(self.report(codes, Chance(random_state, owner=self)), self.categories)

    def report(self, codes: IntArray, chance: Chance) -> IntArray:
        """Draw the category reported for each true one, both as places among the categories."""
        reports = np.empty(codes.size, np.int64)
        drawn = chance.uniform(codes.size)
        for code, ladder in enumerate(self._ladder()):
            here = codes == code
            # Without the last rung, which is 1: a draw can never lead beyond the last category.
            reports[here] = np.searchsorted(ladder[:-1], drawn[here], side="right")
        return reports

    def count(self, reports: Any) -> IntArray:
        """Count the reports of each category; counts of batches add up."""
        return np.bincount(codes_of(reports, self.categories), minlength=len(self.categories))

    def reconstruct(
        self,
        reports: Any = None,
        *,
        counts: Any = None,
        method: Literal["em", "bayes", "inverse"] = "em",
        tolerance: float = 1e-10,
        max_steps: int = 100_000,
    ) -> Shares:
        """Recover the shares of the true categories.

        Parameters
        ----------
        reports, counts
            The reports, or how often each category was reported.
        method
            ``em`` finds the most likely shares; ``bayes``, the iterated step of Agrawal and Srikant, is the same for
            categories. ``inverse`` multiplies by the inverse matrix: it is unbiased, and may fall below 0. Where it
            does not, it is the most likely one as well, and no step is taken.
        tolerance, max_steps
            The change of all shares together at which steps stop, and the most of them.

        Notes
        -----
        The standard errors are those of the inverse.
        """
        require(self, "method", method, OneOf(("em", "bayes", "inverse")))
        require(self, "tolerance", tolerance, FloatIn(0, 1, closed="neither"))
        require(self, "max_steps", max_steps, IntIn(1))
        reported = self._counts(reports, counts)
        total = float(reported.sum())
        n = round(total)
        inverse = np.linalg.inv(self.matrix.T)
        unbiased = inverse @ (reported / total)
        # The estimate is a mean of one column of the inverse for each
        # report: its variance is the mean square less the squared mean.
        variance = (inverse**2) @ (reported / total) - unbiased**2
        errors = np.sqrt(np.maximum(variance, 0.0) / total)
        if method == "inverse" or (unbiased >= 0).all():
            return Shares(self.categories, unbiased, errors, n)
        result = run_em(reported[None], [self.matrix.T], Rule("change", tolerance, max_steps))
        converged = bool(result.converged[0])
        if not converged:
            warn_not_converged(max_steps)
        return Shares(self.categories, result.shares[0], errors, n, converged)

    def to_dict(self) -> dict[str, Any]:
        """Return the channel as plain data: what is public about it."""
        return {"categories": list(self.categories), "matrix": self.matrix.tolist()}

    def _ladder(self) -> FloatArray:
        """Return the cumulative probabilities of each row; the last that is not 0 takes what rounding leaves."""
        k = len(self.categories)
        last = k - 1 - np.argmax(self.matrix[:, ::-1] > 0, axis=1)
        summed = np.minimum(np.cumsum(self.matrix, axis=1), 1.0)
        return np.where(np.arange(k) >= last[:, None], 1.0, summed)

    def _counts(self, reports: Any, counts: Any) -> FloatArray:
        if (reports is None) == (counts is None):
            raise ParameterError("Pass either 'reports' or 'counts' to RandomizedResponse.reconstruct.")
        reported = np.asarray(self.count(reports) if counts is None else counts)
        right = reported.shape == (len(self.categories),) and reported.dtype.kind in "iuf"
        if not right or not ((reported >= 0) & np.isfinite(reported)).all():
            raise InputError(f"The counts must be {len(self.categories)} numbers, 0 or more each.")
        if not reported.sum() > 0:
            raise InputError("There are no reports to learn from.")
        return np.asarray(reported, np.float64)

    def _check(self) -> None:
        check_parameters(self)
        k = len(self.categories)
        require(self, "matrix", self.matrix, _Chances(k))
        self.matrix = np.array(self.matrix, np.float64)
        if np.linalg.cond(self.matrix) > _CONDITION:
            raise ParameterError(
                "The 'matrix' parameter of RandomizedResponse cannot be inverted: different shares would have the same "
                "reports, and nothing could be recovered."
            )

    def __repr__(self) -> str:
        return f"RandomizedResponse({len(self.categories)} categories, epsilon={self.epsilon:.4g})"


@dataclass(frozen=True)
class _Chances:
    """A square matrix whose rows are probabilities."""

    k: int

    def admits(self, value: object) -> bool:
        try:
            matrix = np.array(value, np.float64)
        except (TypeError, ValueError):
            return False
        if matrix.shape != (self.k, self.k) or not np.isfinite(matrix).all() or (matrix < 0).any():
            return False
        return bool((np.abs(matrix.sum(axis=1) - 1) <= _STOCHASTIC).all())

    def __str__(self) -> str:
        return f"{self.k} × {self.k}, each row probabilities that add up to 1"
