"""Mondrian: multidimensional partitioning, strict and relaxed (LeFevre, DeWitt & Ramakrishnan, ICDE 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, CodeArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import BOOL, BY_COLUMN, Constraints, OneOf
from discreet.core.schema import quasi_weights
from discreet.core.tables.encoding import Codebook
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.publish.tables.boxes import Segments, boxes
from discreet.publish.tables.minimality import blind, rejoined
from discreet.publish.tables.partition import (
    PartitionPublisher,
    can_divide,
    divided,
    overall_counts,
    quasi_books,
    segment_groups,
)
from discreet.publish.tables.publisher import Plan, refuse_infeasible

if TYPE_CHECKING:
    from discreet.kernels.tables.cuts import Geometry

# A bit for each column fits into one word.
MOST_COLUMNS = 64
_AT_ONCE = 100_000
"""How many segments are cut and judged together."""
Batch: TypeAlias = tuple[CodeArray, CodeArray, NDArray[np.uint64]]
"""The low and high ends of segments, and for each a bit for every column that was tried in vain."""


@public
@dataclass(kw_only=True, repr=False, eq=False)
class Mondrian(PartitionPublisher):
    """Divide the table into ever smaller groups along its quasi-identifiers, as long as both halves keep the guarantee.

    A group is published by its bounding box: an interval of numbers or dates, a set of categories, or the lowest
    node of a tree that holds them all. The widest column is cut at the median first. Strict cuts keep equal values
    together; relaxed cuts share ties out evenly and by chance, so that groups stay below twice the least size. Nulls
    are a value of their own, cut off first; where they cannot be, the cell is ``*``. Rows come out in random order.

    Under a guarantee about sensitive values, a cut that was not made reveals something about them to whoever knows the
    method and everybody's quasi-identifiers. A caution says where that is so: always of relaxed cuts, and of strict
    ones where sensitive values refused some cut.

    Parameters
    ----------
    strict
        Whether rows with equal values stay together.
    summary
        What a group is published by: ``"box"``, or ``"mean"`` for the mean of numbers and dates without a hierarchy,
        with as many decimals as the column has, and one where its numbers are whole. A mean looks like a value that
        somebody has: the release does not say how wide a group is, nor who belongs to it. Groups with the same means
        are one class. Columns with a hierarchy and categories keep their boxes, and a group with nulls shows nothing.
        New rows can be given the same means by the private part of the recipe alone.
    weights
        How much a column's width counts in the choice of the cut, by name; multiplies the schema's weights.
    random_state
        Seeds the order of the rows, and which tied rows of a relaxed cut go where.

    Examples
    --------
    The chapter's table of six patients (table 20.1):

    >>> import pyarrow as pa
    >>> from discreet import Table, identifier, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({
    ...     "ssn": ["012", "823", "987", "382", "847", "422"], "age": [24, 37, 26, 38, 36, 25],
    ...     "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"]}),
    ...     {"ssn": identifier(), "age": quasi(), "disease": sensitive()})
    >>> release = Mondrian(KAnonymity(3)).release(table)
    >>> sorted(set(release.frame["age"].to_pylist())), release.verdict.ok
    (['[24, 26]', '[36, 38]'], True)

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006.
    """

    strict: bool = True
    summary: Literal["box", "mean"] = "box"
    weights: Mapping[str, float] | None = None

    constraints: ClassVar[Constraints] = {
        **PartitionPublisher.constraints,
        "strict": BOOL,
        "summary": OneOf(("box", "mean")),
        "weights": BY_COLUMN,
    }

    def _is_strict(self) -> bool:
        return self.strict

    def _shows_means(self) -> bool:
        return self.summary == "mean"

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        tuples = table.source.tuples_elsewhere(list(table.encoded.values())) if table.exceeds_memory else None
        if tuples is None:
            return super()._plan(table, rng)
        from discreet.publish.tables.mondrian_elsewhere import plan_elsewhere

        return plan_elsewhere(self, table, tuples, self._geometry(table))

    def _geometry(self, table: Table) -> Geometry:
        return _geometry(quasi_books(table), quasi_weights(table.schema, self.weights, owner=self))

    def _divided(self, table: Table, rng: np.random.Generator) -> tuple[Segments, CodeArray, bool]:
        """Return the segments, the tuple behind each row, and whether sensitive values refused some cut."""
        geometry = self._geometry(table)
        if self.strict and can_divide(self.guarantee, table):
            return divided(self.guarantee, table, geometry)
        codes, weights, tuples = self._rows(table)
        table_segment = Segments(codes, weights, np.zeros(1, np.int32), np.array([len(codes)], np.int32))
        refuse_infeasible(self.guarantee, table, segment_groups(self.guarantee, table, table_segment))
        segments, cuts, decided = self.cut_rows(table, codes, weights, tuples, geometry, rng)
        apart = self._apart(table, segments, cuts) if cuts else segments
        return apart, tuples, decided or apart is not segments

    def cut_rows(
        self,
        table: Table,
        codes: Any,
        weights: Any,
        tuples: CodeArray,
        geometry: Geometry,
        rng: np.random.Generator,
    ) -> tuple[Segments, list[tuple[int, int]], bool]:
        """Cut coded rows, in place, as long as both halves keep the guarantee.

        Returns the segments, the cuts that may have to be taken back, and whether sensitive values refused one.
        """
        pending = [(np.zeros(1, np.int32), np.array([len(codes)], np.int32), np.zeros(1, np.uint64))]
        finished = []
        cuts: list[tuple[int, int]] = []
        decided = False
        while pending:
            low, high, tried = pending.pop()
            proposed = self._cut(codes, weights, tuples, (low, high, tried), geometry, rng)
            low, high, tried, column, middle, final = proposed
            finished.append(final)
            ends = np.stack([low, middle, middle, high], axis=1).reshape(-1, 2)
            holds, by_values = self._judged(
                table, Segments(codes, weights, ends[:, 0].copy(), ends[:, 1].copy())
            )
            decided |= by_values
            # Halves begin with no column tried; where a cut is refused, the segment goes on with one column
            # less.
            refused = tried[~holds] | (np.uint64(1) << column[~holds].astype(np.uint64))
            halves = ends.reshape(-1, 2, 2)[holds].reshape(-1, 2)
            # Only then may groups that read alike break the guarantee together.
            if not self.guarantee.joinable:
                cuts += zip(low[holds].tolist(), high[holds].tolist(), strict=True)
            low = np.concatenate([halves[:, 0], low[~holds]])
            high = np.concatenate([halves[:, 1], high[~holds]])
            tried = np.concatenate([np.zeros(len(halves), np.uint64), refused])
            for at in range(0, low.size, _AT_ONCE):
                batch = slice(at, at + _AT_ONCE)
                pending.append((low[batch], high[batch], tried[batch]))
        low = np.sort(np.concatenate(finished))
        return Segments(codes, weights, low, np.append(low[1:], np.int32(len(codes)))), cuts, decided

    def _cut(
        self,
        codes: Any,
        weights: Any,
        tuples: CodeArray,
        batch: Batch,
        geometry: Any,
        rng: np.random.Generator,
    ) -> tuple[Any, ...]:
        """Cut each segment of a batch by its widest column that was not tried, in place.

        Tied rows of a relaxed cut are drawn anew for each cut that is tried, so that nothing but chance decides which
        of them go left: neither their sensitive values nor the order in which they came.

        Returns the low and high ends, the columns tried so far and the cut one of the segments that can be cut, where
        each was cut, and the low ends of those that cannot.
        """
        from discreet.kernels.tables import partition as kernels

        smallest = max(self.guarantee.smallest, 1)
        column, cut, quota = kernels.propose_cuts(codes, weights, *batch, smallest, not self.strict, geometry)
        open_ = column >= 0
        low, high, tried = (array[open_] for array in batch)
        column, cut, quota = column[open_], cut[open_], quota[open_]
        draws = rng.integers(2**64, size=int(quota[quota > 0].sum()), dtype=np.uint64)
        middle = kernels.split(codes, weights, tuples, low, high, column, cut, quota, draws)
        return low, high, tried, column, middle, batch[0][~open_]

    def _judged(self, table: Table, halves: Segments) -> tuple[BoolArray, bool]:
        """Return which cuts leave two halves that keep the guarantee, and whether sensitive values refused another."""
        groups = segment_groups(self.guarantee, table, halves)
        holds: BoolArray = np.all(self.guarantee.holds(groups).reshape(-1, 2), axis=1)
        sensitive = table.schema.sensitive
        if holds.all() or not self.guarantee.judged_values(sensitive):
            return holds, False
        # Whoever knows everybody's quasi-identifiers can work out which cuts sizes allow: one that was not
        # made shows something of values.
        allowed = blind(self.guarantee, sensitive).holds(groups).reshape(-1, 2).all(axis=1)
        return holds, bool((allowed & ~holds).any())

    def _apart(self, table: Table, segments: Segments, cuts: list[tuple[int, int]]) -> Segments:
        """Take back cuts where groups that read alike break the guarantee together."""
        books = quasi_books(table)

        def labels_of(some: Segments) -> list[Replacement]:
            return list(self._labels(books, boxes(books, some, overall_counts(table)), some).values())

        def judge(some: Segments) -> BoolArray:
            return self.guarantee.holds(segment_groups(self.guarantee, table, some))

        return rejoined(segments, cuts, labels_of, judge)

    def _check(self, table: Table) -> None:
        super()._check(table)
        if len(table.schema.quasi) > MOST_COLUMNS:
            raise SchemaError(f"Mondrian takes at most {MOST_COLUMNS} quasi-identifiers.")

    def _rows(self, table: Table) -> tuple[Any, Any, CodeArray]:
        """Return the coded rows to permute: the distinct tuples with weights, or one by one for relaxed cuts."""
        largest = max(book.n_codes for book in table.encoded.values())
        codes = table.tuples.codes.astype(np.min_scalar_type(largest))
        rows = np.arange(len(codes), dtype=np.int32)
        small = np.int32 if table.n_rows < 2**31 else np.int64
        if self.strict:
            return codes, table.tuples.counts.astype(small), rows
        rows = np.repeat(rows, table.tuples.counts)
        return codes[rows], np.ones(rows.size, small), rows


def _geometry(books: list[Codebook], weights: list[float]) -> Geometry:
    from discreet.kernels.tables.cuts import Geometry

    trees = [book.hierarchy for book in books]
    nodes = [np.concatenate(tree.levels) for tree in trees if tree is not None]
    widths = [
        np.concatenate([tree.losses(level)[of_codes] for level, of_codes in enumerate(tree.levels)])
        for tree in trees
        if tree is not None
    ]
    lengths = [0 if tree is None else sum(level.size for level in tree.levels) for tree in trees]
    cards = np.array([book.n_codes for book in books], np.int64)
    return Geometry(
        # The null has no position: it is cut off first.
        position=np.concatenate([np.nan_to_num(book.positions) for book in books]),
        start=np.cumsum(cards) - cards,
        node=np.concatenate([*nodes, np.empty(0, np.int32)]).astype(np.int32),
        width=np.concatenate([*widths, np.empty(0)]).astype(np.float64),
        tree=np.cumsum(lengths).astype(np.int64) - np.array(lengths, np.int64),
        height=np.array([0 if tree is None else tree.height for tree in trees], np.int64),
        card=cards,
        weight=np.array(weights, np.float64),
    )
