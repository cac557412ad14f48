"""Roll-up: the classes of lattice nodes, each from the nearest smaller node that is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.kernels.tables.grouping import count_values, distinct
from discreet.kernels.tables.lattice import Scratch, Stats, pack_fields, stats_of
from discreet.publish.lattice.lattice import Lattice, Node, NodeCover

Counted: TypeAlias = tuple[IntArray, IntArray]
"""Packed keys and how many rows have each."""
CodesOf: TypeAlias = Callable[[int], CodeArray]
"""Return the code of each class in a column."""

WIDEST_KEY = 62
_MOST_KEPT = 16_000_000
_MOST_SPELLED = 4_000_000


class RollUp:
    """The classes of a lattice's nodes, by roll-up over packed keys.

    A key has a field of bits for each sensitive column asked for, which never changes, and above them one for each
    quasi-identifier. Nodes that are visited are kept as starting points for others, as long as there is room.

    Parameters
    ----------
    lattice
        The lattice; all fields must fit into 62 bits together (`fits`).
    sensitive
        The sensitive columns to count in the classes.
    """

    def __init__(self, lattice: Lattice, sensitive: Sequence[str] = ()) -> None:
        self.lattice = lattice
        self.sensitive = tuple(sensitive)
        self.n_visited = 0
        bits = _bits(lattice, sensitive)
        shifts = np.cumsum(bits) - bits
        self._inner = int(bits[: len(sensitive)].sum())
        self._inner_fields = list(zip(shifts[: len(sensitive)], bits[: len(sensitive)], strict=True))
        self._bits, self._shifts = bits[len(sensitive) :], shifts[len(sensitive) :]
        table = lattice.table
        columns = [*(table.codes(name) for name in sensitive)]
        columns += [lattice.codes(column, level) for column, level in enumerate(lattice.bottom)]
        keys = pack_fields(columns, shifts)
        first, _, counts = distinct(keys, table.tuples.counts)
        self._kept: dict[Node, Counted] = {lattice.bottom: (keys[first], counts)}
        self._levels = np.array([lattice.bottom], np.int16)
        self._sizes = np.array([first.size])
        self._room = _MOST_KEPT
        self._scratch = Scratch(first.size)
        self._ancestors: dict[tuple[int, int, int], IntArray] = {}
        self._losses: dict[tuple[int, int], FloatArray] = {}
        self._spelled: dict[tuple[int, int], IntArray] = {}
        self._overall = {name: table.overall(name) for name in sensitive}

    @staticmethod
    def fits(lattice: Lattice, sensitive: Sequence[str] = ()) -> bool:
        """Return whether a key fits into one integer."""
        return int(_bits(lattice, sensitive).sum()) <= WIDEST_KEY

    def counted(self, node: Node) -> Counted:
        """Count the keys of a node, from the smallest known node below it."""
        if node in self._kept:
            return self._kept[node]
        # Known nodes at or below this one; the bottom is always among them.
        below = np.flatnonzero((self._levels <= np.array(node, np.int16)).all(axis=1))
        nearest = below[np.argmin(self._sizes[below])]
        classes = self._from(tuple(self._levels[nearest].tolist()), node)
        self.n_visited += 1
        # A start that saves less than an eighth of its source is not worth the room.
        if classes[0].size <= self._room and 8 * classes[0].size <= 7 * self._sizes[nearest]:
            self._room -= classes[0].size
            self._kept[node] = classes
            self._levels = np.concatenate([self._levels, np.array([node], np.int16)])
            self._sizes = np.append(self._sizes, classes[0].size)
        return classes

    def stats(self, node: Node, smallest: int, limit: int, weights: FloatArray) -> Stats:
        """Return what a node does when classes below the smallest size are suppressed; without sensitive columns."""
        return stats_of(*self.counted(node), smallest, limit, *self._fields(node, weights))

    def groups(self, node: Node) -> tuple[Groups, CodesOf]:
        """Return the classes of a node with their sensitive values, and their codes by column."""
        keys, counts = self.counted(node)
        if not self.sensitive:
            codes = partial(self._codes, keys)
            return Groups(counts, cover=NodeCover(self.lattice, node, codes)), codes
        order = np.argsort(keys)
        keys, counts = keys[order], counts[order]
        outer = keys >> self._inner
        starts = np.flatnonzero(np.concatenate([[True], outer[1:] != outer[:-1]]))
        sizes = np.add.reduceat(counts, starts)
        counted = {}
        for name, (shift, width) in zip(self.sensitive, self._inner_fields, strict=True):
            values = (keys >> shift) & ((1 << int(width)) - 1)
            overall = self._overall[name]
            if len(self.sensitive) == 1:
                csr = np.append(starts, keys.size), values.astype(np.int32), counts
            else:
                labels = np.repeat(
                    np.arange(starts.size, dtype=np.int32), np.diff(np.append(starts, keys.size))
                )
                csr = count_values(labels, values, counts, starts.size, overall.size)
            tree = self.lattice.table.encoded[name].hierarchy
            counted[name] = SensitiveCounts(name, *csr, overall, tree)
        codes = partial(self._codes, keys[starts])
        return Groups(sizes, counted, cover=NodeCover(self.lattice, node, codes)), codes

    def _codes(self, keys: IntArray, column: int) -> CodeArray:
        field = (keys >> int(self._shifts[column])) & ((1 << int(self._bits[column])) - 1)
        return field.astype(np.int32)

    def _climb(self, start: Node, node: Node) -> tuple[IntArray, IntArray]:
        """Return the fields that change on the way up, and the ancestors of their codes."""
        changed = [column for column in range(len(node)) if node[column] != start[column]]
        parts = [self._up(column, start[column], node[column]) for column in changed]
        fields = np.empty((len(changed), 3), np.int64)
        at = 0
        for row, (column, part) in enumerate(zip(changed, parts, strict=True)):
            fields[row] = self._shifts[column], self._bits[column], at
            at += part.size
        return fields, np.concatenate([*parts, np.empty(0, np.int64)])

    def _from(self, start: Node, node: Node) -> Counted:
        keys, counts = self._kept[start]
        # From the bottom, each field is written out once for every level and only added up from then on, as
        # long as that takes little memory.
        if start != self.lattice.bottom or keys.size * sum(self.lattice.dims) > _MOST_SPELLED:
            return self._scratch.roll(keys, counts, *self._climb(start, node))
        inner = (1 << self._inner) - 1
        rolled = keys & inner if inner else np.zeros(keys.size, np.int64)
        # Fields do not overlap, so that a key is the sum of its fields.
        for column, level in enumerate(node):
            rolled += self._column(column, level)
        return self._scratch.count(rolled, counts)

    def _column(self, column: int, level: int) -> IntArray:
        """Spell out one field of the bottom's keys at a level, kept for the next time."""
        field = self._spelled.get((column, level))
        if field is None:
            codes = self._codes(self._kept[self.lattice.bottom][0], column)
            field = self._up(column, self.lattice.bottom[column], level)[codes] << self._shifts[column]
            self._spelled[column, level] = field
        return field

    def _up(self, column: int, low: int, high: int) -> IntArray:
        ancestors = self._ancestors.get((column, low, high))
        if ancestors is None:
            tree = self.lattice.trees[column]
            ancestors = np.zeros(self.lattice.card(column, low), np.int64)
            ancestors[tree.levels[low]] = tree.levels[high]
            self._ancestors[column, low, high] = ancestors
        return ancestors

    def _fields(self, node: Node, weights: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return where each column's code lies in a key, and the weighted loss of each code."""
        parts = []
        for column, level in enumerate(node):
            if (column, level) not in self._losses:
                self._losses[column, level] = self.lattice.losses(column, level)
            parts.append(weights[column] * self._losses[column, level])
        starts = np.cumsum([0, *[part.size for part in parts[:-1]]])
        return np.stack([self._shifts, self._bits, starts], axis=1), np.concatenate(parts)


class Recount:
    """The classes of a lattice's nodes counted from the table each time, for keys too wide to pack."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice

    def stats(self, node: Node, smallest: int, limit: int, weights: FloatArray) -> Stats:
        """Return what a node does when classes below the smallest size are suppressed."""
        groups, codes = self.groups(node)
        few = groups.sizes < smallest
        sizes = groups.sizes[~few]
        loss = np.zeros(int(few.sum()))
        for column, level in enumerate(node):
            loss += weights[column] * self.lattice.losses(column, level)[codes(column)[few]]
        lost = float((loss * groups.sizes[few]).sum())
        return Stats(int(groups.sizes[few].sum()), lost, int((sizes * sizes).sum()), sizes.size)

    def groups(self, node: Node) -> tuple[Groups, CodesOf]:
        """Return the classes of a node with their sensitive values, and their codes by column."""
        groups, _, codes = self.lattice.groups(node)
        return groups, codes.__getitem__


def _bits(lattice: Lattice, sensitive: Sequence[str]) -> IntArray:
    cards = [lattice.table.encoded[name].n_codes for name in sensitive]
    cards += [lattice.card(column, level) for column, level in enumerate(lattice.bottom)]
    return np.array([max(int(card - 1).bit_length(), 1) for card in cards], np.int64)
