"""Local recoding: round after round, the rows still left are generalized further, as in ARX's local transformation."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, SchemaError
from discreet.core.params import BOOL, BY_COLUMN, Constraints, FloatIn, IntIn, require
from discreet.core.release import Cells
from discreet.core.tables.encoding import overall
from discreet.core.tables.groups import Groups
from discreet.core.tables.labels import STAR
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.recipes.recipe_parts import packed
from discreet.publish.tables.lattice_search import Measure
from discreet.publish.tables.leftover_merging import Merging
from discreet.publish.tables.mondrian import MOST_COLUMNS, Mondrian
from discreet.publish.tables.optimal_lattice import OptimalLattice
from discreet.publish.tables.publisher import Plan, TablePublisher, allowed_rows, kept_groups
from discreet.publish.tables.recoding_rounds import (
    Recoded,
    Rounds,
    Spelling,
    Steps,
    joined,
    label_cover,
    ladder,
    starred,
)

_CHEAP = 0.3
"""What the cheap nodes cost at most, as a share of the cost of the top."""
RAISES = 12
RAISE = 4.0
"""How often, and how much, a column of which too many cells are starred is made dearer."""


@public
@dataclass(kw_only=True, repr=False, eq=False)
class LocalRecoding(TablePublisher):
    """Publish each row at the lowest levels at which it finds company, so that rare rows do not blur common ones.

    The nodes of the lattice are taken in rounds, from the cheapest up. Each publishes those classes of the rows
    still left that keep the guarantee, and passes the others on. Each of the last rows then joins the group with
    which it loses least and that keeps the guarantee with it. Rows that no group takes join the groups published
    last, at the lowest node that holds them all, or are left out where that is allowed and costs less. Before the
    release all groups are judged together, by their labels, as a reader will see them. The best single node and
    Mondrian's groups, at the lowest levels that hold them, are judged alike, and whatever costs least is published.
    So the loss is never above the single node's; nor is it above Mondrian's where every column has a hierarchy and
    no level is limited, unless groups of Mondrian's that read alike break the guarantee together.

    Cells beyond the highest levels of the lattice may be starred where rows would be left out otherwise.

    Under a guarantee about sensitive values, whoever knows the method and everybody's quasi-identifiers learns from
    each class that is not finer, more than from any other method. Every such release carries a caution.

    Parameters
    ----------
    measure, aggregate, weights
        By what nodes are put in order, and what the best single node costs least by; see `OptimalLattice`.
    max_suppressed
        The rows that may be left out: their number as an int, or a share as a float.
    lowest
        The lowest level allowed for a column, by name.
    highest
        The highest level allowed for a column, by name.
    time_limit
        Seconds for the search of the best single node, after which the best so far will do, and again for the rounds,
        after which the rows left go to the last node.
    max_rounds
        The most nodes to go through. Where the lattice has more, columns go up together.
    cells
        Whether single cells may be starred although the highest level of their column is lower.
    max_cells
        The largest share of the cells of a column that may be starred, by name. A row left out counts in all. Columns
        that exceed theirs are made dearer, a few times; the search is not exact.

    Examples
    --------
    Six people, of whom two are from far away:

    >>> import pyarrow as pa
    >>> from discreet import Table, intervals, masked, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({
    ...     "age": [24, 24, 26, 38, 36, 25], "zip": ["10598", "10598", "10547", "90345", "89119", "10547"]}),
    ...     {"age": quasi(intervals(10, 20)), "zip": quasi(masked())})
    >>> release = LocalRecoding(KAnonymity(2)).release(table)
    >>> for row in sorted(set(zip(*release.frame.to_pydict().values()))):
    ...     print(*row)
    24 10598
    [20, 29] 10547
    [30, 39] *
    >>> [(part["levels"], part["rows"]) for part in release.evidence.details["rounds"]]
    [({'age': 0, 'zip': 0}, 2), ({'age': 1, 'zip': 0}, 2), ({'age': 1, 'zip': 5}, 2)]

    References
    ----------
    F. Prasser, J. Eicher, H. Spengler, R. Bild, K. Kuhn: Flexible data anonymization using ARX: current status and
    challenges ahead. Software: Practice and Experience, 2020.
    """

    measure: Measure = "loss"
    max_suppressed: int | float = 0.0
    aggregate: Literal["mean", "sum", "maximum", "geometric", "rank"] = "mean"
    weights: Mapping[str, float] | None = None
    lowest: Mapping[str, int] | None = None
    highest: Mapping[str, int] | None = None
    time_limit: float | None = None
    max_rounds: int = 20_000
    cells: bool = True
    max_cells: Mapping[str, float] | None = None

    constraints: ClassVar[Constraints] = {
        **{
            name: allowed
            for name, allowed in OptimalLattice.constraints.items()
            if name not in OptimalLattice.whole_columns_only
        },
        "max_rounds": IntIn(1),
        "cells": BOOL,
        "max_cells": BY_COLUMN,
    }

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        del rng
        lattice = Lattice(table, lowest=self.lowest, highest=self.highest)
        most = most_starred(self, lattice)
        limit = allowed_rows(self.max_suppressed, table.n_rows)
        search, infeasible = self, None
        for _ in range(RAISES if self.max_cells else 1):
            single, infeasible = search._single(table)
            weights = lattice.weights(search.weights)
            settled = _all_settled(
                self.guarantee, lattice, weights, limit, search._recodings(lattice, weights, single)
            )
            if not settled:
                break
            within = settled
            if self.max_cells:
                within = [tried for tried in settled if not (_starred(lattice, tried[0]) > most).any()]
            if within:
                recoded, loss = _cheapest(within)
                if search is not self:
                    spelling = [Spelling.of(lattice, column) for column in range(len(lattice.names))]
                    loss = _loss(lattice, spelling, lattice.weights(self.weights), recoded)
                return local_plan(lattice, recoded, loss)
            over = _starred(lattice, _cheapest(settled)[0]) > most
            dearer = {name: RAISE for name, too_many in zip(lattice.names, over, strict=True) if too_many}
            before = search.weights or {}
            search = copy.copy(search)
            search.weights = {name: before.get(name, 1.0) * dearer.get(name, 1.0) for name in lattice.names}
        shares = " and the shares of max_cells" if self.max_cells else ""
        raise infeasible or InfeasibleError(
            f"No local recoding keeps {self.guarantee} with at most {limit} of {table.n_rows} rows suppressed{shares}; "
            f"allow more with max_suppressed{' or max_cells' if shares else ''} or ask for less."
        )

    def _single(self, table: Table) -> tuple[Node | None, InfeasibleError | None]:
        """Find the best single node, or why there is none."""
        shared = OptimalLattice.constraints.keys() & self.constraints.keys()
        search = OptimalLattice(**{name: getattr(self, name) for name in shared})
        try:
            return tuple(search.best(table).values()), None
        except InfeasibleError as error:
            return None, error

    def _recodings(self, lattice: Lattice, weights: FloatArray, single: Node | None) -> Iterator[Recoded]:
        """Return the recodings to choose from: rounds with the last rows merged or left out, Mondrian, the single node.

        Where classes are compared with the whole table, expensive nodes tend to use up the rows that others would need
        to hide among, so that what the cheaper nodes publish is tried alone as well.
        """
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        rounds = Rounds(lattice, self.guarantee, deadline=deadline)
        merging = Merging(rounds, weights, cells=self.cells)
        nodes, n_cheap = self._nodes(lattice, weights)
        swept = rounds.run(nodes, Recoded.nothing(lattice))
        if self.cells:
            swept = starred(rounds, swept, weights, self.max_rounds)
        starts = [swept, merging.run(swept)]
        if self.guarantee.relative:
            cheap = rounds.run(nodes[:n_cheap], Recoded.nothing(lattice))
            if len(cheap.levels) < len(swept.levels):
                starts.append(merging.run(cheap))
        for recoded in starts:
            yield recoded
            if recoded.rest.size and (complete := joined(rounds, recoded, cells=self.cells)) is not None:
                yield complete
        if single is not None:
            yield rounds.run([single], Recoded.nothing(lattice))
        if (divided := partitioned(lattice, self.guarantee, self.weights, cells=self.cells)) is not None:
            yield divided

    def _nodes(self, lattice: Lattice, weights: FloatArray) -> tuple[list[Node], int]:
        """Return the nodes to go through, from the cheapest up, and how many of them count as cheap.

        Measures that levels say nothing of go by loss.
        """
        from discreet.publish.lattice.measures import MEASURES, LossMeasure

        kind = MEASURES[self.measure]
        measure = (kind if kind.prunes else LossMeasure)(lattice, weights, "mean")
        ways = [
            Steps.of(column, len(lattice.names), range(lattice.dims[column]), weights[column] * cost)
            for column, cost in enumerate(measure.columns)
        ]
        nodes = ladder(lattice.bottom, ways, self.max_rounds)
        places = np.array(nodes) - lattice.bottom
        cost = np.sum([way.cost[places[:, column]] for column, way in enumerate(ways)], axis=0)
        return nodes, int(np.searchsorted(cost, _CHEAP * cost[-1], side="right"))


def cheapest_recoding(
    guarantee: Guarantee, lattice: Lattice, weights: FloatArray, limit: int, recodings: Iterable[Recoded]
) -> tuple[Recoded, float] | None:
    """Return the recoding that loses least by its labels, with at most so many rows left out, and its loss, or None."""
    possible = _all_settled(guarantee, lattice, weights, limit, recodings)
    return _cheapest(possible) if possible else None


def _cheapest(possible: list[tuple[Recoded, float]]) -> tuple[Recoded, float]:
    """Return the recoding that loses least; at a tie the first, in the order in which they were tried."""
    return min(possible, key=lambda candidate: candidate[1])


def _all_settled(
    guarantee: Guarantee, lattice: Lattice, weights: FloatArray, limit: int, recodings: Iterable[Recoded]
) -> list[tuple[Recoded, float]]:
    """Return what of recodings keeps the guarantee with at most so many rows left out, each with its loss."""
    spelling = [Spelling.of(lattice, column) for column in range(len(lattice.names))]
    possible = []
    for recoded in recodings:
        settled = _settled(guarantee, lattice, spelling, recoded)
        left = int(lattice.table.tuples.counts[settled.rest].sum())
        if left <= limit and len(settled.levels):
            possible.append((settled, _loss(lattice, spelling, weights, settled)))
    return possible


def most_starred(owner: Any, lattice: Lattice) -> IntArray:
    """Return how many cells of each column may be starred, by the ``max_cells`` of a publisher."""
    shares = owner.max_cells or {}
    for name, share in shares.items():
        if name not in lattice.names:
            raise SchemaError(f"The 'max_cells' parameter names '{name}', which is no quasi-identifier.")
        require(owner, "max_cells", share, FloatIn(0, 1))
    n_rows = lattice.table.n_rows
    return np.array([allowed_rows(float(shares.get(name, 1.0)), n_rows) for name in lattice.names])


def _starred(lattice: Lattice, recoded: Recoded) -> IntArray:
    """Count the cells of each column that are starred, or left out with their row."""
    counts = lattice.table.tuples.counts
    sizes, left = recoded.sizes(counts), int(counts[recoded.rest].sum())
    stars = []
    for column in range(len(lattice.names)):
        spelling = Spelling.of(lattice, column)
        shown = spelling.labels_at(spelling.cells(recoded))
        stars.append(left + int(sizes[shown.index == shown.labels.index(STAR).as_py()].sum()))
    return np.array(stars, np.int64)


def partitioned(
    lattice: Lattice, guarantee: Guarantee, weights: Mapping[str, float] | None, *, cells: bool
) -> Recoded | None:
    """Return Mondrian's partition as a recoding, or None where it has none or leaves the limits of the lattice."""
    if len(lattice.names) > MOST_COLUMNS:
        return None
    try:
        segments, tuples = Mondrian(guarantee, weights=weights).partition(lattice.table)
    except InfeasibleError:
        return None
    group_of = np.empty(tuples.size, np.int32)
    group_of[tuples] = np.repeat(np.arange(segments.low.size, dtype=np.int32), segments.high - segments.low)
    levels = np.empty((segments.low.size, len(lattice.names)), np.int64)
    for column, tree in enumerate(lattice.trees):
        # Segments follow one another without a gap, so that each ends where the next begins.
        codes = segments.codes[:, column]
        low, high = np.minimum.reduceat(codes, segments.low), np.maximum.reduceat(codes, segments.low)
        level = np.maximum(tree.lowest_common(low, high)[0], lattice.bottom[column])
        above = level > lattice.top[column]
        if above.any() and not cells:
            return None
        # Beyond the highest level of the lattice only the star is left.
        levels[:, column] = np.where(above, tree.height, level)
    return Recoded(group_of, levels)


def _settled(guarantee: Guarantee, lattice: Lattice, spelling: list[Spelling], recoded: Recoded) -> Recoded:
    """Leave out the groups that break the guarantee in the whole release, where groups of the same labels are one."""
    from discreet.kernels.tables.grouping import distinct, pack

    if not len(recoded.levels):
        return recoded
    labels = [column.labels_at(column.cells(recoded)) for column in spelling]
    first, class_of, _ = distinct(
        pack([cells.index.astype(np.int64) for cells in labels], [len(cells.labels) for cells in labels])
    )
    inside = recoded.group_of >= 0
    counts = lattice.table.tuples.counts[inside]
    # Rows left out have no part in the distribution that classes are compared with.
    sensitive = {
        name: (codes[inside], overall(codes[inside], counts, totals.size), tree)
        for name, (codes, totals, tree) in lattice.table.sensitive_codes().items()
    }
    cover = label_cover(spelling, labels, first)
    groups = Groups.of(class_of[recoded.group_of[inside]], counts, first.size, sensitive, cover=cover)
    return recoded.only(kept_groups(guarantee, groups)[class_of])


def _loss(lattice: Lattice, spelling: list[Spelling], weights: FloatArray, recoded: Recoded) -> float:
    """Return the weighted mean loss of the columns; a row left out counts 1 in each."""
    counts = lattice.table.tuples.counts
    sizes = recoded.sizes(counts)
    total = int(counts[recoded.rest].sum()) * float(weights.sum())
    for weight, column in zip(weights, spelling, strict=True):
        total += weight * float(sizes @ column.loss[column.cells(recoded)])
    return total / (lattice.table.n_rows * len(weights))


def local_plan(lattice: Lattice, recoded: Recoded, loss: float) -> Plan:
    """Return the plan that publishes groups of tuples at levels of their own."""
    spelling = [Spelling.of(lattice, column) for column in range(len(lattice.names))]
    counts, left = lattice.table.tuples.counts, recoded.group_of < 0
    sizes = recoded.sizes(counts)
    cells = {column.name: column.cells(recoded) for column in spelling}
    groups = {column.name: column.labels_at(cells[column.name]) for column in spelling}
    return Plan(
        sizes,
        {column.name: Cells(cells[column.name], column.loss, column.covered) for column in spelling},
        by_piece={
            name: Replacement(groups[name].index[recoded.group_of], groups[name].labels)
            for column, name in enumerate(lattice.names)
            if recoded.levels[:, column].any()
        },
        dropped=left if left.any() else None,
        suppressed=int(counts[recoded.rest].sum()),
        details={"rounds": _rounds(lattice, recoded.levels, sizes), "loss": loss},
        groups=groups,
        boxes={
            name: {"index": packed(cell.index, len(cell.labels)), "labels": cell.labels.to_pylist()}
            for name, cell in groups.items()
        },
    )


def _rounds(lattice: Lattice, levels: IntArray, sizes: IntArray) -> list[dict[str, Any]]:
    """Return what was published at which levels: the levels in the order of the groups, and the rows."""
    rows: dict[tuple[int, ...], int] = {}
    for node, size in zip(map(tuple, levels.tolist()), sizes.tolist(), strict=True):
        rows[node] = rows.get(node, 0) + size
    return [{"levels": lattice.levels(node), "rows": n} for node, n in rows.items()]
