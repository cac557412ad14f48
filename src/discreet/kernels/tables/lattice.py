"""Roll-up of packed keys: the classes of a lattice node from those of any node below it.

A class's key holds one field of bits per column: the code of the column's value at its level. Going up replaces codes
by those of their ancestors and adds up the counts of keys that became equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled


class Stats(NamedTuple):
    """What a node does when classes below a size are suppressed.

    ``suppressed_loss`` sums the weighted loss that the suppressed rows' cells would have had; it is worked out only
    where the suppressed rows are within the limit. ``squares`` sums the squared sizes of the classes kept.
    """

    suppressed: int
    suppressed_loss: float
    squares: int
    kept: int


class Scratch:
    """A hash table kept between roll-ups, so that it is never cleared or allocated again."""

    def __init__(self, most: int) -> None:
        size = 1 << max(int(2 * most).bit_length(), 4)
        self.slot = np.empty(size, np.int32)
        self.stamp = np.zeros(size, np.int32)
        self.turn = 0

    def roll(
        self,
        keys: NDArray[np.int64],
        counts: NDArray[np.int64],
        fields: NDArray[np.int64],
        ancestors: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the keys and counts after some fields went up.

        ``fields`` has a row (shift, bits, start in ``ancestors``) for each field that changes.
        """
        self.turn += 1
        rolled: tuple[NDArray[np.int64], NDArray[np.int64]] = _roll(
            keys, counts, fields, ancestors, self.slot, self.stamp, self.turn
        )
        return rolled

    def count(
        self, keys: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Add up the counts of equal keys."""
        return self.roll(keys, counts, np.empty((0, 3), np.int64), np.empty(0, np.int64))


def stats_of(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    smallest: int,
    limit: int,
    fields: NDArray[np.int64],
    losses: NDArray[np.float64],
) -> Stats:
    """Return a node's stats when classes below the smallest size are suppressed.

    ``fields`` has a row (shift, bits, start in ``losses``) for every column; a class's loss is the sum over columns.
    """
    return Stats(*_stats(keys, counts, smallest, limit, fields, losses))


def pack_fields(columns: list[NDArray[Any]], shifts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pack codes into keys, each column in its field."""
    keys = np.zeros(columns[0].size, np.int64)
    for codes, shift in zip(columns, shifts, strict=True):
        keys |= codes.astype(np.int64) << shift
    return keys


@compiled
def slot_of(key, mask):
    """Return where a key is looked for first in a hash table of mask + 1 slots."""
    mixed = np.uint64(key)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(29))) & mask)


# Open addressing, as in ``grouping``, in a table that is never cleared: a slot counts as taken where its
# stamp is this turn's. Only as many slots are used as these keys need, so that small nodes stay in the
# cache. O(keys x fields).
@compiled
def _roll(keys, counts, fields, ancestors, slot, stamp, turn):
    size = np.int64(16)
    while size < 2 * keys.size:
        size *= 2
    mask = np.uint64(size - 1)
    rolled = np.empty(keys.size, np.int64)
    sums = np.empty(keys.size, np.int64)
    n_classes = 0
    for row in range(keys.size):
        key = keys[row]
        for field in range(fields.shape[0]):
            shift = fields[field, 0]
            code = (key >> shift) & ((np.int64(1) << fields[field, 1]) - 1)
            # The difference of the codes, shifted, changes this field alone.
            key += (ancestors[fields[field, 2] + code] - code) << shift
        at = slot_of(key, mask)
        while stamp[at] == turn and rolled[slot[at]] != key:
            at = (at + 1) & np.int64(mask)
        if stamp[at] == turn:
            sums[slot[at]] += counts[row]
        else:
            stamp[at] = turn
            slot[at] = n_classes
            rolled[n_classes] = key
            sums[n_classes] = counts[row]
            n_classes += 1
    return rolled[:n_classes].copy(), sums[:n_classes].copy()


# The loss takes a second pass over the suppressed classes, and only where no more rows are suppressed than allowed.
# O(classes + suppressed classes x columns).
@compiled
def _stats(keys, counts, smallest, limit, fields, losses):
    suppressed = np.int64(0)
    squares = np.int64(0)
    n_kept = np.int64(0)
    for row in range(keys.size):
        count = counts[row]
        if count < smallest:
            suppressed += count
        else:
            squares += count * count
            n_kept += 1
    loss = 0.0
    if 0 < suppressed <= limit:
        for row in range(keys.size):
            if counts[row] < smallest:
                class_loss = 0.0
                for field in range(fields.shape[0]):
                    code = (keys[row] >> fields[field, 0]) & ((np.int64(1) << fields[field, 1]) - 1)
                    class_loss += losses[fields[field, 2] + code]
                loss += class_loss * counts[row]
    return suppressed, loss, squares, n_kept
