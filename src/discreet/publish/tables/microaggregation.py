"""Microaggregation: near rows are grouped and published as their means (Domingo-Ferrer & Mateo-Sanz, TKDE 2002)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import BY_COLUMN, Constraints
from discreet.core.schema import quasi_weights
from discreet.core.tables.table import Table
from discreet.publish.pseudo.microaggregation import segment
from discreet.publish.tables.boxes import Segments, boxes
from discreet.publish.tables.minimality import alike_classes
from discreet.publish.tables.partition import PartitionPublisher, overall_counts, quasi_books, segment_groups
from discreet.publish.tables.publisher import refuse_infeasible


@public
@dataclass(kw_only=True, repr=False, eq=False)
class Microaggregation(PartitionPublisher):
    """Publish each row with the mean of a group of near rows in place of its numbers and dates.

    Groups are made by MDAV: around the row farthest from the middle, and around the one farthest from that, the nearest
    rows until a group is as large as the guarantee needs; and so on. Distances are those of standardized columns;
    categories lie on a line in the order of their values, or of the leaves of their tree, and nulls apart. Rows with
    equal quasi-identifiers stay together, and those that are enough by themselves stay exact. A group that breaks the
    guarantee joins the nearest one. Sensitive columns are published as they are.

    It promises what the guarantee says of classes, as the released data shows it: groups with the same means are one
    class. Columns with a hierarchy and categories are published by boxes, as `Mondrian` does with ``summary="mean"``.
    It does not promise that a mean is far from the values of its group: means are exact to as many decimals as the
    column has (one where its numbers are whole), and whoever knows all members of a group but one computes the last.
    Nor does a release of means say how wide a group is. Under a guarantee about sensitive values, groups that joined
    others reveal something about them, and the release carries a caution.

    Parameters
    ----------
    weights
        How much a column counts in distances, by name; multiplies the schema's weights.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({
    ...     "age": [24, 37, 26, 38, 36, 25], "pay": [20, 51, 22, 50, 49, 24],
    ...     "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"]}),
    ...     {"age": quasi(), "pay": quasi(), "disease": sensitive()})
    >>> release = Microaggregation(KAnonymity(3)).release(table)
    >>> sorted(set(zip(release.frame["age"].to_pylist(), release.frame["pay"].to_pylist()))), release.verdict.ok
    ([(25.0, 22.0), (37.0, 50.0)], True)

    References
    ----------
    J. Domingo-Ferrer, J. Mateo-Sanz: Practical data-oriented microaggregation for statistical disclosure control. IEEE
    TKDE 14(1), 2002.

    J. Domingo-Ferrer, V. Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation. DMKD
    11(2), 2005.
    """

    weights: Mapping[str, float] | None = None

    constraints: ClassVar[Constraints] = {**PartitionPublisher.constraints, "weights": BY_COLUMN}

    def _shows_means(self) -> bool:
        return True

    def _divided(self, table: Table, rng: np.random.Generator) -> tuple[Segments, CodeArray, bool]:
        whole, _ = _segments(table, np.zeros(table.tuples.counts.size, np.int64))
        refuse_infeasible(self.guarantee, table, segment_groups(self.guarantee, table, whole))
        points, counts, point_of = self._points(table)
        labels = _near(points, counts, max(self.guarantee.smallest, 1), rng)
        decided = False
        while True:
            labels = self._alike(table, labels, point_of)
            segments, tuples = _segments(table, labels[point_of])
            holds = self.guarantee.holds(segment_groups(self.guarantee, table, segments))
            if holds.all():
                return segments, tuples, decided
            # Without a group that failed, the groups would follow from quasi-identifiers alone.
            decided = bool(self.guarantee.judged_values(table.schema.sensitive))
            labels = _joined(points, counts, labels, ~holds)

    def _points(self, table: Table) -> tuple[FloatArray, IntArray, IntArray]:
        """Return the distinct quasi-identifiers as standardized points, their rows, and the point of each tuple.

        Sensitive values have no part in it, nor has the order of rows.
        """
        from discreet.kernels.tables.grouping import distinct, pack

        books = quasi_books(table)
        codes = [table.codes(book.name) for book in books]
        first, point_of, counts = distinct(pack(codes, [book.n_codes for book in books]), table.tuples.counts)
        points = np.empty((first.size, len(books)))
        for column, (book, of_tuples) in enumerate(zip(books, codes, strict=True)):
            # Positions lie in [0, 1], and nulls apart from all of them.
            line = np.nan_to_num(book.positions, nan=-1.0)[of_tuples[first]]
            middle = np.average(line, weights=counts)
            spread = np.sqrt(np.average((line - middle) ** 2, weights=counts))
            points[:, column] = (line - middle) / spread if spread > 0 else 0.0
        weights = np.array(quasi_weights(table.schema, self.weights, owner=self), np.float64)
        return points * (weights / weights.max()), counts, point_of.astype(np.int64)

    def _alike(self, table: Table, labels: IntArray, point_of: IntArray) -> IntArray:
        """Join groups that read alike, where a guarantee that holds for both may not hold for them together."""
        if self.guarantee.joinable:
            return labels
        books = quasi_books(table)
        while True:
            segments, _ = _segments(table, labels[point_of])
            shown = self._labels(books, boxes(books, segments, overall_counts(table)), segments)
            class_of = alike_classes(list(shown.values()))
            if class_of.max(initial=0) + 1 == segments.low.size:
                return labels
            labels = class_of[labels]


def _segments(table: Table, labels: IntArray) -> tuple[Segments, CodeArray]:
    """Return groups of tuples as segments, in the order of their numbers, and the tuple behind each row."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    low = np.flatnonzero(np.diff(labels[order], prepend=-1)).astype(np.int32)
    high = np.append(low[1:], np.int32(order.size))
    return Segments(table.tuples.codes[order], table.tuples.counts[order], low, high), order


def _near(points: FloatArray, counts: IntArray, smallest: int, rng: np.random.Generator) -> IntArray:
    """Return a group for each point: those of enough rows alone, the others by MDAV over their rows.

    Rows of one point that MDAV puts into several groups go to the one that has most of them. What is then too small
    fails and joins others.
    """
    labels = np.arange(counts.size, dtype=np.int64)
    few = np.flatnonzero(counts < smallest)
    if not few.size:
        return labels
    rows = np.repeat(few, counts[few])
    of_rows = segment(points[rows], smallest, method="auto", rng=rng)
    pairs, shared = np.unique(np.stack([rows, of_rows], axis=1), axis=0, return_counts=True)
    # The group with most of the point's rows; of equals the one with the lower number.
    order = np.lexsort([pairs[:, 1], -shared, pairs[:, 0]])
    most = order[np.unique(pairs[order, 0], return_index=True)[1]]
    labels[pairs[most, 0]] = counts.size + pairs[most, 1]
    return _numbered(labels)


def _joined(points: FloatArray, counts: IntArray, labels: IntArray, failing: BoolArray) -> IntArray:
    """Join each failing group with the one whose mean is nearest."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    sizes = np.bincount(labels, counts)
    sums = [np.bincount(labels, counts * column) for column in points.T]
    middle = np.stack(sums, axis=1) / sizes[:, None]
    alone = np.flatnonzero(failing)
    # The nearest of all is the group itself, or another with the same mean.
    nearest = np.asarray(cKDTree(middle).query(middle[alone], k=2)[1])
    other = np.where(nearest[:, 0] == alone, nearest[:, 1], nearest[:, 0])
    links = coo_array((np.ones(alone.size, np.int8), (alone, other)), shape=(sizes.size, sizes.size))
    return _numbered(connected_components(links, directed=False)[1].astype(np.int64)[labels])


def _numbered(labels: IntArray) -> IntArray:
    """Return the same groups, numbered from 0 without gaps."""
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
