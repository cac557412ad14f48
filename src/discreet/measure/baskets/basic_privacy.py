"""Basic privacy: how uncertain a bit stays after distortion, before mining (Rizvi & Haritsa, VLDB 2002).

A true bit is reconstructed from its distorted self by Bayes' rule, from the item's support. The reconstruction
probability is the mean probability that the rule assigns to the truth; privacy is what is left to 100 percent.

Two forms are in use and they differ. The exact form weighs every item by its own support. The form of the papers'
tables puts the average support in place of every item's. It guarantees too much: for the ones it is never below the
exact form, and equal only where all items have the same support, because s R(s) is convex (Jensen).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import FloatIn, require


def reconstruction(support: ArrayLike, *, p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return the probability that a one of an item of this support is reconstructed: the R(s) of the papers.

    All three may be arrays.
    """
    s, p, q = (np.asarray(number, np.float64) for number in (support, p, q))
    from_ones = _over(s * p * p, s * p + (1 - s) * (1 - q))
    unseen = _over(s * (1 - p) ** 2, s * (1 - p) + (1 - s) * q)
    return np.asarray(from_ones + unseen)


@public
def basic_privacy(supports: ArrayLike, *, p: float, q: float, ones: float = 1.0) -> float:
    """Return basic privacy in percent from the support of every item: the exact form.

    Parameters
    ----------
    supports
        The share of baskets that hold each item.
    p, q
        The probabilities that a one stays one, and a zero zero.
    ones
        The weight of the ones' privacy; the rest is the zeros'. 1 is the ones' alone, as in the papers.

    Examples
    --------
    >>> round(basic_privacy([0.01, 0.01], p=0.5, q=0.97), 2)
    92.54
    >>> round(basic_privacy([0.002, 0.018], p=0.5, q=0.97), 2)
    88.88
    """
    s = np.asarray(supports, np.float64)
    if s.ndim != 1 or s.size == 0 or not ((s >= 0) & (s <= 1)).all():
        raise InputError("The supports must be shares between 0 and 1, one for each item.")
    _require(p, q, ones)
    of_ones = _mean(reconstruction(s, p=p, q=q), s)
    of_zeros = _mean(reconstruction(1 - s, p=q, q=p), 1 - s)
    return _mixed(of_ones, of_zeros, ones)


@public
def average_basic_privacy(support: float, *, p: float, q: float, ones: float = 1.0) -> float:
    """Return basic privacy in percent from the average support alone: the form of the papers' tables.

    Parameters
    ----------
    support
        The average over the items of the share of baskets that hold each.
    p, q, ones
        As for ``basic_privacy``.

    Examples
    --------
    >>> round(average_basic_privacy(0.01, p=0.5, q=0.97), 1)
    92.5
    """
    require("average_basic_privacy", "support", support, FloatIn(0, 1))
    _require(p, q, ones)
    return _mixed(
        float(reconstruction(support, p=p, q=q)), float(reconstruction(1 - support, p=q, q=p)), ones
    )


def _require(p: float, q: float, ones: float) -> None:
    for name, value in (("p", p), ("q", q), ("ones", ones)):
        require("basic_privacy", name, value, FloatIn(0, 1))


def _mixed(of_ones: float, of_zeros: float, ones: float) -> float:
    return 100 * (ones * (1 - of_ones) + (1 - ones) * (1 - of_zeros))


def _mean(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted mean; where there is nothing to weigh, nothing can be reconstructed."""
    total = float(weights.sum())
    return float((values * weights).sum() / total) if total else 0.0


def _over(part: FloatArray, total: FloatArray) -> FloatArray:
    return np.asarray(np.divide(part, total, out=np.zeros(np.shape(total)), where=total > 0))
