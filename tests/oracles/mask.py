"""Slow definitions of what MASK and EMASK promise, straight from the paper's words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def reconstruction_of_ones(s: float, p: float, q: float) -> float:
    """Sum over what may be seen of P(seen | one) * P(one | seen)."""
    total = 0.0
    for seen_if_one, seen_if_zero in ((p, 1 - q), (1 - p, q)):
        seen = s * seen_if_one + (1 - s) * seen_if_zero
        if seen:
            total += seen_if_one * (s * seen_if_one / seen)
    return total


def reconstruction_of_zeros(s: float, p: float, q: float) -> float:
    total = 0.0
    for seen_if_one, seen_if_zero in ((p, 1 - q), (1 - p, q)):
        seen = s * seen_if_one + (1 - s) * seen_if_zero
        if seen:
            total += seen_if_zero * ((1 - s) * seen_if_zero / seen)
    return total


def basic_privacy(supports: Sequence[float], p: float, q: float) -> float:
    whole = sum(supports)
    r = sum(s * reconstruction_of_ones(s, p, q) for s in supports) / whole if whole else 0.0
    return 100 * (1 - r)


def basic_privacy_of_zeros(supports: Sequence[float], p: float, q: float) -> float:
    whole = sum(1 - s for s in supports)
    r = sum((1 - s) * reconstruction_of_zeros(s, p, q) for s in supports) / whole if whole else 0.0
    return 100 * (1 - r)


def epsilon_of_bit(p: float, q: float) -> float:
    """The largest log ratio of the two likelihoods of a report, over reports and truths."""
    worst = 0.0
    for if_one, if_zero in ((p, 1 - q), (1 - p, q)):
        for over, under in ((if_one, if_zero), (if_zero, if_one)):
            if over > 0:
                worst = max(worst, math.inf if under == 0 else math.log(over / under))
    return worst


def epsilon_of_record(n_items: int, longest: int, p: float, q: float) -> float:
    """The largest log ratio over all pairs of baskets of at most so many items, bit by bit."""
    worst = 0.0
    for_one = max(_log(p, 1 - q), _log(1 - p, q))
    for_zero = max(_log(1 - q, p), _log(q, 1 - p))
    for only_first in range(longest + 1):
        for only_second in range(longest + 1):
            if only_first + only_second <= n_items:
                worst = max(worst, only_first * for_one + only_second * for_zero)
    return worst


def _log(over: float, under: float) -> float:
    return -math.inf if over == 0 else math.log(over / under)


def reinterrogated_privacy(
    true: Sequence[set[int]], distorted: Sequence[set[int]], itemsets: Iterable[Sequence[int]], basic: float
) -> float:
    """One by one: the worst breach of each true one that stayed, the basic privacy of every other."""
    sets = [frozenset(one) for one in itemsets]
    breach = {}
    for one in sets:
        having = [t for t, basket in enumerate(distorted) if one <= basket]
        for item in one:
            truly = sum(item in true[t] for t in having)
            breach[one, item] = truly / len(having) if having else 0.0
    privacies = []
    for t, basket in enumerate(true):
        for item in basket:
            worst = [
                breach[one, item]
                for one in sets
                if item in one and item in distorted[t] and one <= distorted[t]
            ]
            privacies.append(100 * (1 - max(worst)) if worst else basic)
    return sum(privacies) / len(privacies) if privacies else basic


def chi_square(observed: Sequence[float], expected: Sequence[float]) -> float:
    """The p-value of observed counts under expected ones; cells that expect fewer than 5 are put together."""
    from scipy.stats import chi2

    rest_seen = rest_expected = 0.0
    statistic, cells = 0.0, 0
    for seen, asked in zip(observed, expected, strict=True):
        if asked < 5:
            rest_seen, rest_expected = rest_seen + seen, rest_expected + asked
        else:
            statistic, cells = statistic + (seen - asked) ** 2 / asked, cells + 1
    if rest_expected > 0:
        statistic, cells = statistic + (rest_seen - rest_expected) ** 2 / rest_expected, cells + 1
    return float(chi2.sf(statistic, cells - 1))
