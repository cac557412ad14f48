"""The search of a lattice under a guarantee that is a list of rules about sensitive values, compiled as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.guarantee import ClassRule
from discreet.kernels.tables.class_rules import LINE
from discreet.kernels.tables.grouping import distinct
from discreet.kernels.tables.lattice import Stats, pack_fields
from discreet.kernels.tables.lattice_values import (
    OUT,
    Judged,
    Pool,
    Space,
    Suppression,
    bottom_classes,
    search,
)
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.lattice.roll_up import RollUp
from discreet.publish.lattice.scoring import DUST, Score, Scorer
from discreet.publish.lattice.value_cells import ValueCells

_MOST_CELLS = 1 << 27
_MOST_KNOWN = 4096
_MOST_JUDGED = 4096
_MOST_ROLLED = 2_000_000


class ValueSearch:
    """The classes of a lattice with dense counts of their sensitive values, and the rules that judge them.

    Parameters
    ----------
    scorer
        The scorer of the search; `fits` says whether its classes can be counted so.
    """

    def __init__(self, scorer: Scorer, rules: Sequence[ClassRule]) -> None:
        self.scorer = scorer
        self.lattice = scorer.lattice
        self._cells = ValueCells(self.lattice.table, rules)
        self._space = _space(self.lattice, scorer.measure.weights)
        self._pool = self._counted()
        n_rows, limit = self.lattice.table.n_rows, scorer.limit
        self._suppression = Suppression(
            n_rows,
            limit,
            limit + DUST * max(n_rows, 1000),
            scorer.smallest,
            self._cells.overall,
            scorer.guarantee.relative,
        )
        self._rules = self._cells.rules(n_rows, limit)
        longest = max(_MOST_JUDGED, sum(self.lattice.dims) + 1)
        ints, floats = [np.empty(longest, np.int64) for _ in range(4)], np.empty(longest)
        self._judged = Judged(ints[0], ints[1], ints[2], np.empty(longest, np.bool_), floats, ints[3])

    @staticmethod
    def fits(lattice: Lattice, rules: Sequence[ClassRule] | None) -> bool:
        """Return whether the rules are all there is to judge, keys fit an integer and the cells into memory.

        The lowest node's cells may be 2^27 in all, half a gigabyte.
        """
        if not rules or not RollUp.fits(lattice) or lattice.table.n_rows >= 2**31:
            return False
        if not ValueCells.fits(lattice.table, rules):
            return False
        width = ValueCells(lattice.table, rules).width
        return width * lattice.table.tuples.counts.size <= _MOST_CELLS

    def judge(
        self,
        order: IntArray,
        at: int,
        best: float,
        floors: FloatArray,
        ruled: NDArray[np.int8],
        *,
        paths: bool,
    ) -> tuple[int, list[Score]]:
        """Judge nodes in an order until one is found that keeps the guarantee at a floor below the best cost.

        Return how far in the order that was, and the scores of the nodes judged. ``paths`` says whether nodes on the
        way up are judged as well, to rule out others.
        """
        at, n_judged = search(
            order, at, best, paths, floors, ruled, self._space, self._pool, self._rules, self._suppression,
            _MOST_ROLLED, self._judged,
        )  # fmt: skip
        return at, list(self._scores(n_judged, ruled, best))

    def _scores(self, n_judged: int, ruled: NDArray[np.int8], best: float) -> Iterator[Score]:
        """Return the scores of the nodes judged; one that must be asked is left out where its floor is no better."""
        judged = self._judged
        numbers = judged.node[:n_judged]
        levels = np.stack(np.unravel_index(numbers, self.lattice.dims), axis=1) + self.lattice.bottom
        measure, exact = self.scorer.measure, not self.scorer.guarantee.relative
        rows = zip(
            levels.tolist(), judged.feasible[:n_judged].tolist(), judged.suppressed[:n_judged].tolist(),
            judged.kept[:n_judged].tolist(), (ruled[numbers] == OUT).tolist(), strict=True,
        )  # fmt: skip
        for at, (node, feasible, suppressed, kept, out) in enumerate(rows):
            place = tuple(node)
            if not feasible:
                yield Score(place, math.inf, suppressed, False, exact and not out, kept, rules_out=out)
            elif measure.relaxed_is_exact:
                stats = Stats(suppressed, judged.suppressed_loss[at], int(judged.squares[at]), kept)
                cost = float(measure.relaxed(measure.floor(place), stats))
                yield Score(place, cost, suppressed, True, True, kept)
            elif measure.floor(place) < best:
                yield self.scorer.exact(place)

    def _counted(self) -> Pool:
        """Count the lowest node's classes; the pool has room for as many cells again as may be known."""
        table, lattice, cells = self.lattice.table, self.lattice, self._cells
        columns = [lattice.codes(column, level) for column, level in enumerate(lattice.bottom)]
        keys = pack_fields(columns, self._space.shift)
        first, labels, sizes = distinct(keys, table.tuples.counts)
        room = 3 * first.size + _MOST_CELLS // cells.width
        pool = Pool(
            np.empty(room, np.int64), np.empty(room, np.int64), _aligned(room, cells.width),
            np.zeros((_MOST_KNOWN, len(lattice.names)), np.int64),
            np.zeros(_MOST_KNOWN, np.int64), np.zeros(_MOST_KNOWN, np.int64),
            np.array([1, first.size, 1]),
            # A hash table of more than twice as many slots as classes.
            np.zeros(1 << max(int(2 * first.size).bit_length(), 4), np.int64),
            np.empty(first.size, np.bool_),
        )  # fmt: skip
        bottom = pool.cells[: first.size]
        bottom[...] = 0
        codes = np.stack([table.codes(name) for name in cells.first])
        starts = np.array(list(cells.first.values()))
        bottom_classes(labels, table.tuples.counts, codes, starts, bottom)
        pool.keys[: first.size], pool.sizes[: first.size] = keys[first], sizes
        pool.end[0] = first.size
        return pool


def _aligned(n_rows: int, width: int) -> CodeArray:
    """Return room for rows that begin with a line of the cache."""
    room = np.empty((n_rows * width + LINE) * 4, np.uint8)
    start = -room.ctypes.data % (LINE * 4)
    return room[start : start + n_rows * width * 4].view(np.int32).reshape(n_rows, width)


def _space(lattice: Lattice, weights: FloatArray) -> Space:
    n_columns = len(lattice.names)
    cards = [lattice.card(column, level) for column, level in enumerate(lattice.bottom)]
    bits = np.array([max(int(card - 1).bit_length(), 1) for card in cards], np.int64)
    start = np.zeros((n_columns, max(lattice.dims)), np.int64)
    shift = np.cumsum(bits) - bits
    steps, losses = [], []
    at = 0
    for column, tree in enumerate(lattice.trees):
        bottom = tree.levels[lattice.bottom[column]]
        for step in range(lattice.dims[column]):
            level = lattice.bottom[column] + step
            above = np.zeros(cards[column], np.int64)
            above[bottom] = tree.levels[level]
            start[column, step] = at
            at += cards[column]
            # Nodes are runs of codes, so that the first code of each is found by search.
            steps.append((np.searchsorted(above, above) - np.arange(cards[column])) << shift[column])
            losses.append(weights[column] * lattice.losses(column, level)[above])
    dims = np.array(lattice.dims)
    strides = np.append(np.cumprod(dims[:0:-1])[::-1], 1)
    return Space(dims, strides, shift, bits, start, np.concatenate(steps), np.concatenate(losses))
