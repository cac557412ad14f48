"""A stream of records into group statistics: nearest viable centroid, joining, splitting, merging."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.kernels.compiled import compiled

GROUPS, ROWS, RENEW_AT, MOST, BY_MEAN = 0, 1, 2, 3, 4
"""Places in ``Live.counts``: groups in use, records so far, when units are renewed, how many groups there may be, and
whether groups split by the mean level in them and not by the largest."""
_ROUNDS = 40


class Live(NamedTuple):
    """Statistics of groups in the making; arrays have room for more groups than are in use.

    ``turned`` holds the means for distances: less the ``origin``, in units of each column (``unit`` multiplies), and a
    row for each column. ``whole`` marks which columns have held whole numbers only.
    """

    n: Any
    mean: Any
    scatter: Any
    levels: Any
    largest: Any
    turned: Any
    origin: Any
    unit: Any
    whole: Any
    counts: Any


def usable(values: Any, widest: float) -> bool:
    """Return whether all numbers are there and none is too wide to be squared."""
    return bool(_usable(values, widest))


def absorb(values: Any, levels: Any, live: Live, start: int) -> int:
    """Let records join groups one after the other, from ``start`` on; return the first that found no room.

    ``levels`` holds the level of every record, or one for all. No level is above the number of records so far.
    """
    return int(_absorb(values, levels, live, start))


def renew(live: Live) -> None:
    """Take the spread of all records so far as the unit of each column, and arrange the means for distances."""
    _renew(live)


def thin_out(live: Live) -> None:
    """Merge the smallest group into its nearest until there are no more groups than there may be."""
    _thin_out(live)


@compiled
def _usable(values, widest):
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if not abs(values[i, j]) <= widest:
                return False
    return True


# Dynamic group maintenance (Aggarwal and Yu 2004): a record joins the nearest group that is large enough for
# its level, and a group that has become twice as large as any level in it is split. Invariant: no group is
# smaller than a level in it. O(groups x d) for each record, and O(d^2) for the scatter. Units are renewed
# when the records have doubled. By the mean level, the paper's rule, n >= 2 Ps/n splits, and what is left of
# the invariant is n >= Ps/n - 1/2: the smaller half of an odd group may lack half a record.
@compiled
def _absorb(values, levels, live, start):
    counts = live.counts
    d = values.shape[1]
    point, away = np.empty(d), np.empty(d)
    apart = np.empty(live.n.size)
    for i in range(start, values.shape[0]):
        if counts[GROUPS] == live.n.size and counts[GROUPS] < counts[MOST]:
            return i
        level = levels[i] if levels.size > 1 else levels[0]
        for j in range(d):
            value = values[i, j]
            point[j] = (value - live.origin[j]) * live.unit[j]
            if live.whole[j] and value != np.floor(value):
                live.whole[j] = 0
        _measure(live, point, apart)
        group = _nearest_viable(live, level - 1, apart, -1)
        if group < 0:
            group = _made_viable(live, level - 1, apart)
        _join(live, group, values[i], level, away)
        n = live.n[group]
        large = n * n >= 2 * live.levels[group] if counts[BY_MEAN] else n // 2 >= live.largest[group]
        if large and counts[GROUPS] < counts[MOST]:
            _split(live, group)
        counts[ROWS] += 1
        if counts[ROWS] >= counts[RENEW_AT]:
            _renew(live)
    return values.shape[0]


@compiled
def _measure(live, point, apart):
    """Return the squared distance of every mean to a point; column by column, so that it runs in lanes."""
    count = live.counts[GROUPS]
    for t in range(count):
        apart[t] = 0.0
    for j in range(point.size):
        line = live.turned[j]
        value = point[j]
        for t in range(count):
            apart[t] += (line[t] - value) * (line[t] - value)


# The first viable group is taken whatever its distance, so that distances that overflowed still yield one.
@compiled
def _nearest_viable(live, least, apart, besides):
    """Find the nearest group of at least ``least`` records, besides one; −1 where there is none."""
    best, nearest = np.inf, -1
    for t in range(live.counts[GROUPS]):
        if (apart[t] < best or nearest < 0) and live.n[t] >= least and t != besides:
            best, nearest = apart[t], t
    return nearest


# O(groups) for each merger, and at most as many mergers as records are wanted.
@compiled
def _made_viable(live, least, apart):
    """Merge the groups nearest to a point until they have at least ``least`` records together."""
    group = _nearest_viable(live, 0, apart, -1)
    while live.n[group] < least:
        other = _nearest_viable(live, 0, apart, group)
        last = live.counts[GROUPS] - 1
        _merge(live, group, other)
        # The merger moved the last group to the other's position: its distance goes along.
        apart[other] = apart[last]
        if group == last:
            group = other
    return group


# Welford's update of mean and scatter, O(d^2); no record is kept.
@compiled
def _join(live, group, record, level, away):
    live.n[group] += 1
    n = live.n[group]
    for j in range(record.size):
        away[j] = record[j] - live.mean[group, j]
        live.mean[group, j] += away[j] / n
        live.turned[j, group] = (live.mean[group, j] - live.origin[j]) * live.unit[j]
    share = (n - 1) / n
    for j in range(record.size):
        for k in range(record.size):
            live.scatter[group, j, k] += share * (away[j] * away[k])
    live.levels[group] += level
    live.largest[group] = max(live.largest[group], level)


# Chan, Golub and LeVeque's formula for the moments of a union: O(d^2).
@compiled
def _merge(live, group, other):
    """Merge another group into one; the last group takes the other's place, and its own is wiped."""
    d = live.origin.size
    both = live.n[group] + live.n[other]
    away = live.mean[other] - live.mean[group]
    weight = live.n[group] * (live.n[other] / both)
    for j in range(d):
        for k in range(d):
            live.scatter[group, j, k] += live.scatter[other, j, k] + weight * (away[j] * away[k])
    for j in range(d):
        live.mean[group, j] += away[j] * (live.n[other] / both)
        live.turned[j, group] = (live.mean[group, j] - live.origin[j]) * live.unit[j]
    live.n[group] = both
    live.levels[group] += live.levels[other]
    live.largest[group] = max(live.largest[group], live.largest[other])
    last = live.counts[GROUPS] - 1
    _copy(live, last, other)
    _wipe(live, last)
    live.counts[GROUPS] = last


@compiled
def _copy(live, group, to):
    live.n[to], live.levels[to], live.largest[to] = live.n[group], live.levels[group], live.largest[group]
    live.mean[to] = live.mean[group]
    live.scatter[to] = live.scatter[group]
    live.turned[:, to] = live.turned[:, group]


# Wiped, not merely left out, so that no statistics of former groups stay behind.
@compiled
def _wipe(live, group):
    live.n[group], live.levels[group], live.largest[group] = 0, 0, 0
    live.mean[group] = 0.0
    live.scatter[group] = 0.0
    live.turned[:, group] = 0.0


@compiled
def _split(live, group):
    """Cut a group in two along its leading eigenvector, as if its records were spread evenly along it.

    The halves have n // 2 records and the rest; together they have the mean and the scatter of the whole. Any record
    may be in either, so both keep the largest level. A group without any spread stays whole.
    """
    d = live.origin.size
    n = live.n[group]
    covariance = np.empty((d, d))
    for j in range(d):
        for k in range(d):
            covariance[j, k] = live.scatter[group, j, k] / n * (live.unit[j] * live.unit[k])
    variance, along = _leading(covariance)
    if not variance > 0.0:
        return
    for j in range(d):
        along[j] /= live.unit[j]
    fresh = live.counts[GROUPS]
    _copy(live, group, fresh)
    small = n // 2
    # An even spread of width w has the variance w^2 / 12; a share of it, that variance times the share
    # squared.
    width = np.sqrt(12.0 * variance)
    for half, size, step in ((group, small, small / n - 1.0), (fresh, n - small, small / n)):
        share = size / n
        live.n[half] = size
        removed = variance * (1.0 - share * share)
        for j in range(d):
            for k in range(d):
                per_record = live.scatter[half, j, k] / n
                live.scatter[half, j, k] = size * (per_record - removed * (along[j] * along[k]))
        for j in range(d):
            live.mean[half, j] += width * step / 2.0 * along[j]
            live.turned[j, half] = (live.mean[half, j] - live.origin[j]) * live.unit[j]
    total = live.levels[group]
    # floor(total * small / n), without the product, which could overflow.
    live.levels[group] = total // n * small + total % n * small // n
    live.levels[fresh] = total - live.levels[group]
    live.counts[GROUPS] += 1


# Repeated squaring: round r has the power 2^r of the matrix, scaled to trace 1. Its other eigenvalues
# vanish, and the trace of the square, at most 1, reaches 1 where one is left. O(d^3) a round, at most 40; no
# iteration from a start vector, which might be orthogonal to what it looks for.
@compiled
def _leading(matrix):
    """Return the largest eigenvalue of a covariance and its eigenvector, by squaring the matrix until one is left.

    Where two directions are almost equal, one between them will do. The vector is the regression on that direction, so
    that what is taken off the covariance along it never is more than it has.
    """
    d = matrix.shape[0]
    trace = 0.0
    for j in range(d):
        trace += matrix[j, j]
    none = np.zeros(d)
    if not trace > 0.0:
        return 0.0, none
    power, square = matrix / trace, np.empty((d, d))
    for _ in range(_ROUNDS):
        left = 0.0
        for j in range(d):
            for k in range(j + 1):
                total = 0.0
                for m in range(d):
                    total += power[j, m] * power[k, m]
                square[j, k] = total
                square[k, j] = total
            left += square[j, j]
        for j in range(d):
            for k in range(d):
                power[j, k] = square[j, k] / left
        if left > 1.0 - 1e-15:
            break
    top = 0
    for j in range(d):
        if power[j, j] > power[top, top]:
            top = j
    length = 0.0
    for j in range(d):
        length += power[j, top] * power[j, top]
    along = power[:, top] / np.sqrt(length)
    image = np.zeros(d)
    for j in range(d):
        for k in range(d):
            image[j] += matrix[j, k] * along[k]
    variance = 0.0
    for j in range(d):
        variance += along[j] * image[j]
    if not variance > 0.0:
        return 0.0, none
    return variance, image / variance


# The total variance from group statistics: within groups and between them. Doubling the interval makes it
# O(log n) calls. Units are rounded to half octaves, and the origin to whole units: exact ones, kept while further
# records join, would be equations for the first of these, since the groups hold exact sums over all.
@compiled
def _renew(live):
    counts = live.counts
    rows = counts[ROWS]
    for j in range(live.origin.size):
        center = 0.0
        for t in range(counts[GROUPS]):
            center += (live.mean[t, j] - live.origin[j]) * (live.n[t] / rows)
        spread = 0.0
        for t in range(counts[GROUPS]):
            away = live.mean[t, j] - live.origin[j] - center
            spread += live.scatter[t, j, j] / rows + away * away * (live.n[t] / rows)
        live.unit[j] = 2.0 ** (-np.round(np.log2(spread)) / 2) if spread > 1e-290 else 1.0
        live.origin[j] = np.round(live.origin[j] * live.unit[j]) / live.unit[j]
        for t in range(counts[GROUPS]):
            live.turned[j, t] = (live.mean[t, j] - live.origin[j]) * live.unit[j]
    counts[RENEW_AT] = 2 * rows


# O(groups x d) for each merger; the smallest group loses the least detail.
@compiled
def _thin_out(live):
    apart = np.empty(live.n.size)
    point = np.empty(live.origin.size)
    while live.counts[GROUPS] > live.counts[MOST]:
        small = 0
        for t in range(live.counts[GROUPS]):
            if live.n[t] < live.n[small]:
                small = t
        for j in range(point.size):
            point[j] = live.turned[j, small]
        _measure(live, point, apart)
        _merge(live, _nearest_viable(live, 0, apart, small), small)
