"""Effective sizes of groups: what baskets that are published without any ordinary item reveal about sensitive ones.

A group has N baskets, E of them published empty, and c_j of them hold the sensitive item j. Where no original basket
was empty, each of the E holds at least one of the occurrences. All arrangements that fit are equally likely; the number
of those in which E baskets are covered is, by inclusion and exclusion,

    T = Σ_i (−1)^i C(E, i) Π_j C(N − i, c_j),

and the number of those in which in addition a given one of the E holds j is

    A_j = Σ_i (−1)^i C(E − 1, i) C(N − 1 − i, c_j − 1) Π_{k≠j} C(N − i, c_k)
        = c_j Σ_i (−1)^i C(E − 1, i) Π_k C(N − i, c_k)/(N − i).

So the probability A_j/T is in proportion to c_j, and the group hides every item as one of c_j·T/A_j baskets would.
An attacker may also know that some original baskets were empty. The more of them there are in a group, the less likely
one of the E is to hold j, and the more likely a basket with ordinary items: the two ends are the worst.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.tables.groups import SensitiveCounts

_MOST_WORK = 2e8
"""The digits of exact sums that are worth their time; beyond, a bound from below is taken."""
_DIGIT = 30
"""The bits of a digit of Python's integers."""


def effective_sizes(sizes: IntArray, empty: IntArray, sensitive: SensitiveCounts) -> FloatArray:
    """Return for every group the size e that bounds what it reveals: no basket holds item j with more than c_j/e.

    It holds for every attacker for whom the arrangements within a group are equally likely, whatever he knows of the
    number of original baskets without any item. Without baskets that are published empty, or with no others, e is the
    size. Elsewhere e is exact, or smaller where it would take too long, and rounded down.
    """
    effective = sizes.astype(np.float64)
    for group in np.flatnonzero((empty > 0) & (empty < sizes) & (np.diff(sensitive.indptr) > 0)):
        counts = sensitive.counts[sensitive.indptr[group] : sensitive.indptr[group + 1]]
        effective[group] = _mixed(int(sizes[group]), int(empty[group]), tuple(sorted(counts.tolist())))
    return effective


@cache
def _mixed(size: int, empty: int, counts: tuple[int, ...]) -> float:
    """Return the effective size of a group of which some baskets are published empty, and some are not."""
    # All occurrences may lie among the others, where they are enough; else these hold the commonest item for certain.
    others = max(size - empty, counts[-1])
    # With fewer occurrences than empty baskets, the attacker's worst case is that each occurrence is in one of those.
    covered = Fraction(empty) if sum(counts) <= empty else _covered(size, empty, counts)
    exact = min(covered, Fraction(others))
    rounded = float(exact)
    return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, 0.0)


def _covered(size: int, empty: int, counts: tuple[int, ...]) -> Fraction:
    """Return c·T/A of the module's formulas, in whole numbers: the terms cancel, and floating point would lose them.

    Each product of binomials follows from the one before it: E steps over numbers of as many digits as the largest.
    """
    digits = sum(_log2_comb(size, count) for count in counts) / _DIGIT
    if empty * digits * (len(counts) + empty / _DIGIT) > _MOST_WORK:
        return Fraction(empty)  # A_j/T ≤ c_j/E, since at most c_j of the E hold j.
    most = counts[-1]
    product = math.prod(math.comb(size, count) for count in counts)
    choose, choose_rest = 1, 1
    covered, holding = 0, 0
    for i in range(empty + 1):
        sign, rest = (-1) ** i, size - i
        covered += sign * choose * product
        holding += sign * choose_rest * (product * most // rest)
        product = product * math.prod(rest - count for count in counts) // rest ** len(counts)
        if product == 0:
            break
        choose = choose * (empty - i) // (i + 1)
        choose_rest = choose_rest * (empty - 1 - i) // (i + 1)
    return Fraction(most * covered, holding)


def _log2_comb(n: int, k: int) -> float:
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)
