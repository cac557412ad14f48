"""Splits on items: baskets are divided by whether they hold an item, as long as both halves keep the degree p.

After a split the larger half keeps the counts less those of the smaller, which alone is counted afresh later. So every
entry is counted at most as often as halves can be halved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.baskets.cuthill_mckee import transposed_rows
from discreet.kernels.compiled import compiled


def item_splits(
    ordinary: tuple[NDArray[np.int64], NDArray[np.int32], int],
    sensitive: tuple[NDArray[np.int64], NDArray[np.int32], int],
    *,
    p: int,
    shortcuts: bool = True,
) -> tuple[NDArray[np.int32], int]:
    """Return the group of every basket, and the number of groups.

    Without shortcuts groups are split until the degree allows no more, also those without sensitive items, and both
    halves are counted afresh each time, as the paper describes it: for comparing times.
    """
    indptr, items, n_items = ordinary
    item_start, item_rows = transposed_rows(indptr, items, n_items)
    group, n_groups = _divide(indptr, items, item_start, item_rows, *sensitive, p, shortcuts)
    return group, n_groups


# Top-down splits on a stack. Only the smaller half is ever counted again, and taken off the counts of the
# larger: an entry is counted O(log n) times. Memory: n_items x m joint counts. Without shortcuts both halves
# wait to be counted, O(depth) times an entry.
@compiled
def _divide(indptr, items, item_start, item_rows, value_start, values, m, p, shortcuts):
    n, n_items = indptr.size - 1, item_start.size - 1
    rows, position = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    count, joint, total = np.zeros(n_items, np.int64), np.zeros((n_items, m), np.int64), np.zeros(m, np.int64)
    touched, n_touched = np.empty(n_items, np.int32), 0
    group, n_groups = np.empty(n, np.int32), 0
    waiting = [(np.int64(0), np.int64(n))]
    while len(waiting):
        low, high = waiting.pop()
        for at in range(n_touched):
            count[touched[at]] = 0
            joint[touched[at]] = 0
        total[:] = 0
        n_touched = _add(
            rows[low:high], 1, indptr, items, value_start, values, count, joint, total, touched, 0
        )
        while True:
            n_touched = _remaining(count, touched, n_touched)
            item = _best(high - low, count, joint, total, touched[:n_touched], p, shortcuts)
            if item < 0:
                group[rows[low:high]] = n_groups
                n_groups += 1
                break
            middle = _move(item, low, high, rows, position, indptr, items, item_start, item_rows)
            if not shortcuts:
                waiting.append((np.int64(middle), np.int64(high)))
                waiting.append((np.int64(low), np.int64(middle)))
                break
            small = (low, middle) if middle - low <= high - middle else (middle, high)
            low, high = (middle, high) if middle - low <= high - middle else (low, middle)
            waiting.append(small)
            _add(
                rows[small[0] : small[1]], -1,
                indptr, items, value_start, values, count, joint, total, touched, n_touched,
            )  # fmt: skip
    return group, n_groups


@compiled
def _add(rows, sign, indptr, items, value_start, values, count, joint, total, touched, n_touched):
    """Add rows to the counts or take them away; new items are added to the touched ones; return their number."""
    for row in rows:
        for entry in range(value_start[row], value_start[row + 1]):
            total[values[entry]] += sign
        for entry in range(indptr[row], indptr[row + 1]):
            item = items[entry]
            if sign > 0 and count[item] == 0:
                touched[n_touched] = item
                n_touched += 1
            count[item] += sign
            for other in range(value_start[row], value_start[row + 1]):
                joint[item, values[other]] += sign
    return n_touched


@compiled
def _remaining(count, touched, n_touched):
    """Keep the touched items that still occur."""
    n_remaining = 0
    for at in range(n_touched):
        if count[touched[at]] > 0:
            touched[n_remaining] = touched[at]
            n_remaining += 1
    return n_remaining


@compiled
def _best(size, count, joint, total, touched, p, shortcuts):
    """Find the item whose split is most even, in baskets and in sensitive items; -1 where no split keeps the degree.

    The evenness is the smaller half's share, twice, times the largest share of a sensitive item before the split over
    the largest in either half after it: 1 where the baskets and every sensitive item are halved.
    """
    worst_before = total.max() / size if total.size else 0.0
    best, evenness = -1, 0.0
    if shortcuts and worst_before == 0.0:
        return best
    for item in touched:
        n_with = count[item]
        n_without = size - n_with
        if n_without == 0:
            continue
        balance = 2.0 * min(n_with, n_without) / size
        # The factor still to come is at most 1: an item's share in the whole lies between its shares in the
        # halves, so the largest share never falls. Nothing that is behind already can win.
        if shortcuts and balance < evenness:
            continue
        worst, fits = 0.0, True
        for value in range(total.size):
            with_item = joint[item, value]
            without = total[value] - with_item
            if with_item * p > n_with or without * p > n_without:
                fits = False
                break
            worst = max(worst, with_item / n_with, without / n_without)
        if not fits:
            continue
        balance *= worst_before / worst if worst > 0.0 else 1.0
        # Ties go to the lower item, so that the order in which items were touched does not matter.
        if balance > evenness or (balance == evenness and item < best):
            best, evenness = item, balance
    return best


# By the item's list or by the segment's rows, whichever is shorter; swaps keep ``rows`` and ``position``
# inverse to each other.
@compiled
def _move(item, low, high, rows, position, indptr, items, item_start, item_rows):
    """Move the baskets that hold an item to the front of their segment; return where the others begin."""
    front = low
    if item_start[item + 1] - item_start[item] < high - low:
        for entry in range(item_start[item], item_start[item + 1]):
            row = item_rows[entry]
            if low <= position[row] < high:
                _swap(position[row], front, rows, position)
                front += 1
        return front
    for at in range(low, high):
        row = rows[at]
        for entry in range(indptr[row], indptr[row + 1]):
            if items[entry] >= item:
                if items[entry] == item:
                    _swap(at, front, rows, position)
                    front += 1
                break
    return front


@compiled
def _swap(at, front, rows, position):
    here, there = rows[at], rows[front]
    rows[at], rows[front] = there, here
    position[here], position[there] = front, at
