"""PRAM: categories are redrawn so that their expected shares stay (Gouweleeuw, Kooiman, Willenborg & de Wolf 1998)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from discreet.collect.category_estimates import CATEGORIES, arrow_values
from discreet.collect.randomized_response import RandomizedResponse
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import POSITIVE, Constraints, EachOf, FloatIn, require

_LITTLE = 2.0**-40
"""By how much a probability is lowered, until what is drawn keeps epsilon after rounding as well."""


@public
class Pram(RandomizedResponse):
    """Post-randomization of one column with an invariant matrix: the expected share of every category is the true one.

    A value stays with the probability 1 − ``redraw``, and is drawn anew from the shares otherwise, so that category i
    becomes j with the probability ``(1 - redraw) * (i == j) + redraw * shares[j]``. The shares are the stationary
    distribution of that matrix: those of the published column are unbiased as they stand. Tables over several columns
    are not; :meth:`reconstruct` undoes the matrix, as for any randomized response.

    **What it reveals.** The matrix is computed from the shares, and whoever reads it reads them: exactly, where they
    were counted in this very column. ``epsilon`` is that of one person's value *for a given matrix*. Who knows
    everybody else's value learns the last one from exact shares, whatever ``epsilon`` is. Take shares that are public
    anyway, such as an earlier survey's, or counts with noise; then the published shares are unbiased as far as those
    shares are right.

    Parameters
    ----------
    categories
        The categories, each once.
    shares
        The share of each category, or how often each was counted; all above 0.
    redraw
        The probability that a value is drawn anew; it may come out as it was.

    Examples
    --------
    >>> channel = Pram(["no", "yes"], [3, 1], redraw=0.4)
    >>> channel.matrix.round(2).tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    >>> (np.array([0.75, 0.25]) @ channel.matrix).round(12).tolist(), round(channel.epsilon, 3)
    ([0.75, 0.25], 1.946)
    >>> round(Pram.of(["no", "no", "no", "yes"], epsilon=1).redraw, 3)
    0.7

    References
    ----------
    J. Gouweleeuw, P. Kooiman, L. Willenborg, P.-P. de Wolf: Post randomisation for statistical disclosure control:
    theory and implementation. Journal of Official Statistics 14(4), 1998.
    """

    constraints: ClassVar[Constraints] = {
        "categories": CATEGORIES,
        "shares": EachOf(POSITIVE, "a positive number for each category"),
        "redraw": FloatIn(0, 1, closed="left"),
    }

    def __init__(self, categories: Sequence[Any], shares: Any, *, redraw: float) -> None:
        listed = shares.tolist() if isinstance(shares, np.ndarray) else shares
        require(self, "shares", listed, self.constraints["shares"])  # type: ignore[arg-type]
        require(self, "redraw", redraw, self.constraints["redraw"])  # type: ignore[arg-type]
        counts = np.array(listed, np.float64)
        self.shares, self.redraw = tuple((counts / counts.sum()).tolist()), float(redraw)
        if len(tuple(categories)) != counts.size:
            raise ParameterError("The 'shares' parameter of Pram must have a number for each category.")
        matrix = (1 - self.redraw) * np.eye(counts.size) + self.redraw * np.array(self.shares)
        super().__init__(categories, matrix)

    @classmethod
    def of(cls, values: Any, *, redraw: float | None = None, epsilon: float | None = None) -> Pram:
        """Take the shares from the column itself: pass the probability of a redraw, or an ε kept after rounding.

        The shares, and so the matrix, then are exact figures of this data.
        """
        if (redraw is None) == (epsilon is None):
            raise ParameterError("Pass either 'redraw' or 'epsilon' to Pram.of.")
        counted = _counted(values)
        if epsilon is None:
            return cls(list(counted), list(counted.values()), redraw=redraw)  # type: ignore[arg-type]
        return cls.keeping(list(counted), list(counted.values()), epsilon=epsilon)

    @classmethod
    def keeping(cls, categories: Sequence[Any], shares: Any, *, epsilon: float) -> Pram:
        """Redraw as rarely as an ε allows, which is kept after rounding."""
        require(cls.__name__, "epsilon", epsilon, FloatIn(0, 700, closed="right"))
        listed = shares.tolist() if isinstance(shares, np.ndarray) else shares
        require(cls.__name__, "shares", listed, cls.constraints["shares"])  # type: ignore[arg-type]
        # A report of category j is likelier from j than from any other by 1 + (1 - redraw) / (redraw * share of j).
        stay = math.expm1(epsilon) * min(listed) / sum(listed)
        # That is (1 − redraw) / redraw ≤ (e^ε − 1) · share, for the rarest category.
        redraw = min(1 / (1 + stay), 1 - _LITTLE)
        # What is drawn has rounded probabilities, which can exceed ε by a little.
        while (channel := cls(categories, shares, redraw=redraw)).epsilon > epsilon:
            redraw += (1 - redraw) * _LITTLE
        return channel

    def __repr__(self) -> str:
        return f"Pram({len(self.categories)} categories, epsilon={self.epsilon:.4g})"


def _counted(values: Any) -> dict[Any, int]:
    """Count the categories of a column, in order; a column with nulls or with one category is refused."""
    from discreet.core.hierarchy.bound import domain_of

    column = arrow_values(values)
    if column.null_count:
        raise InputError(f"{column.null_count} of {len(column)} values are null; drop or fill them first.")
    domain = domain_of(column)
    if len(domain) < 2:
        raise InputError("Post-randomization needs a column of at least two categories.")
    counts = {entry["values"]: entry["counts"] for entry in column.value_counts().to_pylist()}
    return {category: counts[category] for category in domain.to_pylist()}
