"""Errors of estimated itemsets: false positives, false negatives, and how far the supports are off."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public

Itemset = tuple[int, ...]


@public
@dataclass(frozen=True)
class ItemsetError:
    """How far found itemsets are from the true ones, in percent of the true ones' number.

    ``false_positives`` (sigma plus) and ``false_negatives`` (sigma minus) are shares of ``n_true``; where there is
    no true itemset they are nan. ``support_error`` (rho) is the mean relative error of the supports of those found
    rightly, nan where there are none.
    """

    n_true: int
    n_found: int
    false_positives: float
    false_negatives: float
    support_error: float


@public
def itemset_error(true: Mapping[Itemset, float], found: Mapping[Itemset, float]) -> ItemsetError:
    """Compare found itemsets with the true ones; each mapping has the support of an itemset.

    Examples
    --------
    >>> itemset_error({(1,): 100, (2,): 50}, {(1,): 90, (3,): 60})
    ItemsetError(n_true=2, n_found=2, false_positives=50.0, false_negatives=50.0, support_error=10.0)
    """
    both = true.keys() & found.keys()
    off = [abs(found[itemset] - true[itemset]) / true[itemset] for itemset in both]
    return ItemsetError(
        n_true=len(true),
        n_found=len(found),
        false_positives=_percent(len(found) - len(both), len(true)),
        false_negatives=_percent(len(true) - len(both), len(true)),
        support_error=100 * math.fsum(off) / len(off) if off else math.nan,
    )


@public
def itemset_error_by_length(
    true: Mapping[Itemset, float], found: Mapping[Itemset, float]
) -> dict[int, ItemsetError]:
    """Compare found itemsets with the true ones, those of each length by themselves."""
    return {
        length: itemset_error(_of_length(true, length), _of_length(found, length))
        for length in sorted({len(itemset) for itemset in _all(true, found)})
    }


@public
def expected_error(support: ArrayLike, n_baskets: ArrayLike, *, p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return the relative standard error of the estimated support of one item; all four may be arrays.

    Infinite where p + q = 1 or the support is 0.
    """
    s, n, p, q = (np.asarray(number, np.float64) for number in (support, n_baskets, p, q))
    spread = np.sqrt((s * p * (1 - p) + (1 - s) * q * (1 - q)) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = spread / (s * np.abs(p + q - 1))
    return np.asarray(np.where((np.abs(p + q - 1) < 1e-12) | (s == 0), np.inf, error))


def _of_length(itemsets: Mapping[Itemset, float], length: int) -> dict[Itemset, float]:
    return {itemset: support for itemset, support in itemsets.items() if len(itemset) == length}


def _all(*several: Mapping[Itemset, float]) -> Iterable[Itemset]:
    return (itemset for itemsets in several for itemset in itemsets)


def _percent(part: int, total: int) -> float:
    return 100 * part / total if total else math.nan
