"""Anatomy's groups: l rows at a time from the largest buckets, a bucket being the rows with the same sensitive values.

A row may hold several sensitive values, or none; rows in a group share none. A bucket's values are compressed
rows, and so are its row numbers, which are taken in the given order.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.baskets.cahd_groups import conflicts, use
from discreet.kernels.compiled import compiled

_SKIPS = 64
"""How many conflicting buckets are passed over for each row of a group."""


def anatomy_groups(
    buckets: tuple[NDArray[np.int64], NDArray[np.int32]],
    values: tuple[NDArray[np.int64], NDArray[np.int32]],
    free: NDArray[np.int32],
    *,
    n_values: int,
    n: int,
    l: int,  # noqa: E741  # the published letter
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """Return the group of every row; ``free`` are the rows without a sensitive value, which fill groups up.

    Rows of buckets that are left over are each put into a group drawn at random from those that do not hold their
    values; then the free rows left are a group. Where fewer than l are left over that is tried with as many groups as
    there can be, and otherwise with those whose rest was checked to keep the degree: where it cannot be done for all
    rows, the rest is one group.
    """
    group: NDArray[np.int32]
    group, n_groups, safe = _form(*buckets, *values, free, n_values, n, l)
    bucket_of = np.full(n, -1, np.int32)
    bucket_of[buckets[1]] = np.repeat(np.arange(buckets[0].size - 1, dtype=np.int32), np.diff(buckets[0]))
    if np.count_nonzero((group < 0) & (bucket_of >= 0)) >= l or not _placed(
        group, n_groups, bucket_of, values, n_values, l, rng
    ):
        group[group >= safe] = -1
        _placed(group, safe, bucket_of, values, n_values, l, rng)
        n_groups = safe
    group[group < 0] = n_groups
    return group


def _placed(
    group: NDArray[np.int32],
    n_groups: int,
    bucket_of: NDArray[np.int32],
    values: tuple[NDArray[np.int64], NDArray[np.int32]],
    n_values: int,
    l: int,  # noqa: E741
    rng: np.random.Generator,
) -> bool:
    """Put all rows of buckets that are left over into groups, or none; return whether it was done."""
    residue = np.flatnonzero((group < 0) & (bucket_of >= 0)).astype(np.int32)
    if not residue.size or not n_groups:
        return not residue.size
    members = np.flatnonzero(group >= 0)
    members = members[np.argsort(group[members], kind="stable")].astype(np.int32)
    residue = rng.permutation(residue)
    begin = rng.integers(n_groups, size=residue.size)
    placed = _place(residue, begin, members.reshape(n_groups, l), bucket_of, *values, n_values)
    if placed[-1] < 0:
        return False
    group[residue] = placed
    return True


# Anatomize (Xiao and Tao 2006): a group takes a row from each of the l largest buckets, which keeps the
# sizes level. With several values a row, a bucket may conflict and is passed over. ``highest`` is the
# largest count of a value left, found in a histogram of counts: it only falls, O(n) in all.
# O(n log buckets), and the conflicts.
@compiled
def _form(bucket_start, bucket_rows, value_start, values, free, n_values, n, l):  # noqa: E741
    """Form groups; return them, their number, and how many of them leave a rest that keeps the degree as one group."""
    group = np.full(n, -1, np.int32)
    next_row = bucket_start[:-1].copy()
    left = np.zeros(n_values, np.int64)
    # Negative sizes make a largest-first heap; equal ones go by number. Numba needs an entry to infer the
    # type.
    heap = [(np.int64(0), np.int64(0))]
    heap.pop()
    for bucket in range(next_row.size):
        size = bucket_start[bucket + 1] - bucket_start[bucket]
        heappush(heap, (-size, np.int64(bucket)))
        for entry in range(value_start[bucket], value_start[bucket + 1]):
            left[values[entry]] += size
    n_of = np.zeros(n + 2, np.int64)
    for value in range(n_values):
        n_of[left[value]] += 1
    highest, used = n, np.full(n_values, -1, np.int32)
    chosen, skipped = np.empty(l, np.int64), np.empty(_SKIPS * l, np.int64)
    n_groups, safe, n_free, remaining = 0, 0, 0, n
    while remaining >= l and len(heap):
        n_chosen, n_skipped = 0, 0
        while n_chosen < l and len(heap) and n_skipped < skipped.size:
            bucket = heappop(heap)[1]
            if conflicts(bucket, value_start, values, used, n_groups):
                skipped[n_skipped] = bucket
                n_skipped += 1
                continue
            for entry in range(value_start[bucket], value_start[bucket + 1]):
                used[values[entry]] = n_groups
                n_of[left[values[entry]]] -= 1
                left[values[entry]] -= 1
                n_of[left[values[entry]]] += 1
            chosen[n_chosen] = bucket
            n_chosen += 1
        while highest > 0 and n_of[highest] == 0:
            highest -= 1
        if n_free + l - n_chosen > free.size:
            break
        for bucket in chosen[:n_chosen]:
            group[bucket_rows[next_row[bucket]]] = n_groups
            next_row[bucket] += 1
            if next_row[bucket] < bucket_start[bucket + 1]:
                heappush(heap, (next_row[bucket] - bucket_start[bucket + 1], bucket))
        for _ in range(l - n_chosen):
            group[free[n_free]] = n_groups
            n_free += 1
        for bucket in skipped[:n_skipped]:
            heappush(heap, (next_row[bucket] - bucket_start[bucket + 1], bucket))
        n_groups += 1
        remaining -= l
        # What is left would be a valid group by itself: up to here groups may be relied on.
        if highest * l <= remaining:
            safe = n_groups
    return group, n_groups, safe


# Rows added to a group form a linked list in ``first`` and ``following``, so that a later row is checked
# against them too. The search begins at a random group and goes round: O(rows left over x groups x l) at
# worst, usually one look.
@compiled
def _place(residue, begin, members, bucket_of, value_start, values, n_values):
    """Return a group for every row left over that has none of its values; the last is -1 where there is none."""
    placed = np.full(residue.size, -1, np.int32)
    used = np.full(n_values, -1, np.int32)
    first, following = np.full(members.shape[0], -1, np.int32), np.full(residue.size, -1, np.int32)
    for at in range(residue.size):
        use(bucket_of[residue[at]], value_start, values, used, at)
        for step in range(members.shape[0]):
            number = (begin[at] + step) % members.shape[0]
            clash = False
            for row in members[number]:
                if bucket_of[row] >= 0 and conflicts(bucket_of[row], value_start, values, used, at):
                    clash = True
            other = first[number]
            while other >= 0 and not clash:
                clash = conflicts(bucket_of[residue[other]], value_start, values, used, at)
                other = following[other]
            if not clash:
                placed[at] = number
                following[at] = first[number]
                first[number] = at
                break
        if placed[at] < 0:
            placed[-1] = -1
            return placed
    return placed
