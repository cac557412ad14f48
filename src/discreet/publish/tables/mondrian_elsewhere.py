"""Mondrian where the tuples are too many to be fetched: cut by counts, and finished part by part by the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.errors import InputError
from discreet.core.rng import generator
from discreet.core.tables.encoding import Codebook, ColumnType
from discreet.core.tables.source import CodeCounts, PieceCodes, SegmentCut, TuplesElsewhere
from discreet.core.tables.table import Table
from discreet.kernels.ragged import bounds
from discreet.publish.tables.boxes import LARGEST_SET, Segments
from discreet.publish.tables.partition import quasi_books, segment_groups
from discreet.publish.tables.publisher import Plan, refuse_infeasible

if TYPE_CHECKING:
    from discreet.kernels.tables.cuts import Geometry
    from discreet.publish.tables.mondrian import Mondrian

_BITS = 32
"""The bits of a piece's number within its segment."""
_MOST_COLUMNS = 60
"""A bit for each column fits into a whole number."""
_MOST_CODES = 10_000_000
"""How many codes may be counted at once, all segments and columns together."""


def plan_elsewhere(publisher: Mondrian, table: Table, tuples: TuplesElsewhere, geometry: Geometry) -> Plan:
    """Return the plan that a search of all tuples in memory would find.

    The widest column of a segment, its even cut and whether both halves keep the guarantee follow from how often each
    code occurs in each column. Those counts are all that is fetched, until a segment has few enough tuples for one
    worker. Each round of cuts takes a pass over the tuples where they are; there are about log2(tuples / most) rounds.
    """
    _refuse_unsuited(publisher, table)
    cuts, undivided, decided = _cut_by_counts(publisher, table, tuples, geometry)
    assigned = tuples.divided(cuts, undivided, _divider(publisher, table, geometry))
    books = quasi_books(table)
    pieces = assigned.pieces(len(books), [column for column, book in enumerate(books) if _has_sets(book)])
    segments = _representatives(pieces, len(books))
    group_of = np.arange(pieces.sizes.size, dtype=np.int32)
    plan = publisher._described(table, segments, group_of, by_values=decided or pieces.refused)
    return replace(plan, assigned=assigned)


def _refuse_unsuited(publisher: Mondrian, table: Table) -> None:
    """Refuse what looks at all rows, or at all groups, at once."""
    unsuited = {
        "relaxed cuts, which share ties out by chance": not publisher.strict,
        "means": publisher.summary != "box",
        f"{publisher.guarantee}, which looks at all groups together": not publisher.guarantee.joinable,
        f"more than {_MOST_COLUMNS} columns": len(table.encoded) > _MOST_COLUMNS,
    }
    for what in (what for what, is_so in unsuited.items() if is_so):
        raise InputError(
            f"The distinct tuples are too many to be fetched from the cluster, and Mondrian does not search there with "
            f"{what}: use strict cuts, boxes and guarantees about single classes, or round values first."
        )


def _cut_by_counts(
    publisher: Mondrian, table: Table, tuples: TuplesElsewhere, geometry: Geometry
) -> tuple[dict[int, SegmentCut], list[int], bool]:
    """Cut segments that have too many tuples for a worker.

    Returns the cuts, the segments with too many tuples that no cut divides, and whether sensitive values refused one.
    """
    from discreet.kernels.tables.partition import propose_cuts

    smallest = max(publisher.guarantee.smallest, 1)
    cuts: dict[int, SegmentCut] = {}
    pending, n_segments = _Coupled(table, tuples.code_counts({}, [0]), [0]), 1
    refuse_infeasible(
        publisher.guarantee, table, segment_groups(publisher.guarantee, table, pending.segments([0]))
    )
    tried = {0: 0} if pending.n_tuples[0] > tuples.most else {}
    undivided, decided = [], False
    at_once = max(_MOST_CODES // (2 * sum(book.n_codes for book in table.encoded.values())), 1)
    while tried:
        parents = list(tried)[:at_once]
        rows = pending.segments(parents)
        columns = np.array([tried[parent] for parent in parents], np.uint64)
        column, code, _ = propose_cuts(
            rows.codes, rows.weights, rows.low, rows.high, columns, smallest, False, geometry
        )
        trial = {}
        for at, parent in enumerate(parents):
            if column[at] < 0:
                undivided.append(parent)
                del tried[parent]
                continue
            trial[parent] = SegmentCut(int(column[at]), int(code[at]), n_segments, n_segments + 1)
            n_segments += 2
        if not trial:
            continue
        sides = [side for cut in trial.values() for side in (cut.left, cut.right)]
        halves = _Coupled(table, tuples.code_counts(cuts | trial, sides), sides)
        holds, by_values = publisher._judged(table, halves.segments(sides))
        decided |= by_values
        for (parent, cut), is_kept in zip(trial.items(), holds.tolist(), strict=True):
            if not is_kept:
                tried[parent] |= 1 << cut.column
                continue
            del tried[parent]
            cuts[parent] = cut
            tried |= {side: 0 for side in (cut.left, cut.right) if halves.n_tuples[side] > tuples.most}
        pending.update(halves, tried)
    return cuts, undivided, decided


class _Coupled:
    """Rows that stand for segments: in every column each code has as much weight as in the segment itself.

    The counts of each column, added up along its codes, end somewhere on the line from 0 to the segment's rows. Between
    two neighboring ends of any column lies one row, with the code that each column has there. So there are no more rows
    than codes in all columns, and kernels that look at columns one by one find in them what they would in the segment.
    """

    def __init__(self, table: Table, counts: CodeCounts, segments: Sequence[int]) -> None:
        dtype = np.min_scalar_type(max(book.n_codes for book in table.encoded.values()))
        self.rows: dict[int, tuple[Any, IntArray]] = {}
        self.n_tuples: dict[int, int] = {}
        order = np.lexsort((counts.code, counts.column, counts.segment))
        segment, column, code, n_rows, n_tuples = (entries[order] for entries in counts)
        n_columns = len(table.encoded)
        for number in segments:
            first, last = np.searchsorted(segment, [number, number + 1])
            begins = first + np.searchsorted(column[first:last], np.arange(n_columns + 1))
            ends = [np.cumsum(n_rows[low:high]) for low, high in pairwise(begins)]
            stops = np.unique(np.concatenate(ends))
            codes = [
                code[low + np.searchsorted(end, stops)] for low, end in zip(begins[:-1], ends, strict=True)
            ]
            self.rows[number] = (np.stack(codes, axis=1).astype(dtype), np.diff(stops, prepend=0))
            self.n_tuples[number] = int(n_tuples[begins[0] : begins[1]].sum())

    def segments(self, numbers: Sequence[int]) -> Segments:
        """Return some of the segments, end to end."""
        ends = bounds([self.rows[number][1].size for number in numbers]).astype(np.int32)
        codes, weights = (np.concatenate([self.rows[number][at] for number in numbers]) for at in (0, 1))
        return Segments(np.ascontiguousarray(codes), weights, ends[:-1].copy(), ends[1:].copy())

    def update(self, halves: _Coupled, remaining: Sequence[int] | dict[int, int]) -> None:
        """Take in halves, and keep those segments alone that remain."""
        self.rows = {
            number: halves.rows[number] if number in halves.rows else self.rows[number]
            for number in remaining
        }


class PartTable(Table):
    """What workers know of a table: its code books and how often each code occurs in all of it, but no tuples."""

    def __init__(self, origin: Table) -> None:
        self.schema = origin.schema
        self.encoded = dict(origin.encoded)
        self._counts = {name: origin.overall(name) for name in self.encoded}

    def overall(self, name: str) -> IntArray:
        """Count each code of one column in the whole table."""
        return self._counts[name]


def _divider(publisher: Mondrian, table: Table, geometry: Geometry) -> Callable[[pa.Table], pa.Table]:
    """Return what workers do with a segment; it is sent to them, so that nothing of the random state goes with it."""
    sent, part_table = replace(publisher, random_state=None), PartTable(table)
    return lambda part: divide_part(sent, part_table, geometry, part)


def divide_part(publisher: Mondrian, table: Table, geometry: Geometry, part: pa.Table) -> pa.Table:
    """Cut the tuples of a segment to the end; return their codes, counts and pieces.

    Pieces are numbered from the left, in whatever order the tuples come, so that a worker that takes over from a lost
    one numbers them alike.
    """
    names = [f"code{number}" for number in range(len(table.encoded))]
    dtype = np.min_scalar_type(max(book.n_codes for book in table.encoded.values()))
    codes = np.stack([part[name].to_numpy() for name in names], axis=1).astype(dtype)
    weights = part["n"].to_numpy().astype(np.int64)
    # Strict cuts draw nothing.
    rng = generator(0, owner=publisher)
    segments, _, refused = publisher.cut_rows(
        table, codes, weights, np.arange(weights.size, dtype=np.int32), geometry, rng
    )
    number = np.repeat(np.arange(segments.low.size), segments.high - segments.low)
    piece = (int(part["segment"][0].as_py()) << _BITS) + number
    columns = {name: codes[:, at].astype(np.int32) for at, name in enumerate(names)}
    flags = np.full(number.size, int(refused), np.int32)
    stands = _standing(quasi_books(table), codes, number)
    return pa.table(columns | {"n": weights, "piece": piece, "refused": flags, "stands": stands})


def _standing(books: Sequence[Codebook], codes: Any, number: IntArray) -> IntArray:
    """Return a bit for each column in which a tuple stands for others of its piece.

    Labels of lines need the ends alone. Those of sets need no more codes than a set names, and one that it does not;
    those of trees need the ends and a code of every branch below the lowest node that holds them all.
    """
    bits = np.zeros(number.size, np.int64)
    for column, book in enumerate(books):
        if not _has_sets(book):
            continue
        keys, first = np.unique(number * book.n_codes + codes[:, column], return_index=True)
        piece, code = np.divmod(keys, book.n_codes)
        ends = np.searchsorted(piece, np.arange(number[-1] + 2))
        if book.hierarchy is None:
            needed = np.arange(keys.size) - ends[piece] <= LARGEST_SET
        else:
            levels, _ = book.hierarchy.lowest_common(code[ends[:-1]], code[ends[1:] - 1])
            nodes = np.stack(book.hierarchy.levels)[np.maximum(levels - 1, 0)[piece], code]
            needed = np.diff(nodes, prepend=-1) != 0
            needed[ends[:-1]] = True
        needed[ends[1:] - 1] = True
        bits[first[needed]] |= np.int64(1 << column)
    return bits


def _has_sets(book: Codebook) -> bool:
    """Whether the labels of a column depend on more than the ends of its codes."""
    return book.hierarchy is not None or book.kind is ColumnType.CATEGORY


def _representatives(pieces: PieceCodes, n_columns: int) -> Segments:
    """Return rows that stand for pieces: in every column they have its codes, and together its rows."""
    order = np.lexsort((pieces.code, pieces.column, pieces.piece))
    code = pieces.code[order]
    n_pieces = pieces.sizes.size
    n_codes = np.bincount(pieces.piece * n_columns + pieces.column, minlength=n_pieces * n_columns)
    first = bounds(n_codes)[:-1].reshape(n_pieces, n_columns)
    n_codes = n_codes.reshape(n_pieces, n_columns)
    ends = bounds(n_codes.max(axis=1))
    piece = np.repeat(np.arange(n_pieces), np.diff(ends))
    within = np.arange(piece.size) - ends[piece]
    # A column with fewer codes than another repeats its last.
    codes = code[first[piece] + np.minimum(within[:, None], n_codes[piece] - 1)].astype(np.int32)
    # A piece has at least as many rows as codes in a column.
    weights = np.ones(piece.size, np.int64)
    weights[ends[1:] - 1] += pieces.sizes - np.diff(ends)
    low, high = ends[:-1].astype(np.int32), ends[1:].astype(np.int32)
    return Segments(np.ascontiguousarray(codes), weights, low, high)
