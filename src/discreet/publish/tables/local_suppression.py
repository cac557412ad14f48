"""Local suppression: single cells are published as ``*``, as few as can be (Meyerson & Williams 2004)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, SchemaError
from discreet.core.params import BOOL, BY_COLUMN, NONE, Constraints, EachOf, InstanceOf
from discreet.core.release import Release
from discreet.core.schema import Role, quasi_weights
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.leftover_merging import Merging
from discreet.publish.tables.local_recoding import (
    RAISE,
    RAISES,
    cheapest_recoding,
    local_plan,
    most_starred,
    partitioned,
)
from discreet.publish.tables.publisher import (
    SUPPRESSIBLE,
    Plan,
    TablePublisher,
    allowance,
    allowed_rows,
    refuse_infeasible,
)
from discreet.publish.tables.recoding_rounds import Recoded, Rounds, Steps, joined, ladder

_MOST_ROUNDS = 20_000
_MOST_CHOICES = 8_000
"""How many ways to star the distinct tuples there may be for the optimum to be looked for."""
_MOST_BRANCHES = 200
"""How many branches of the integer program are looked at: a number, so that the same data has the same release."""
_TIE = 1e-4


@public
@dataclass(kw_only=True, repr=False, eq=False)
class LocalSuppression(TablePublisher):
    """Publish every cell as it is or as ``*``, with as few stars as the guarantee allows.

    A star is a value of its own: rows are alike only where they have their stars in the same columns. Tools that let a
    star match anything star less, and protect less: whoever knows several people may tell their rows apart. Hierarchies
    are not looked at.

    Where the guarantee is a matter of class sizes and the table is small, the stars are the fewest there can be
    where equal rows are published alike, by an integer program: ``optimal`` in the evidence. Publishing equal
    rows apart may need fewer. Elsewhere classes are published from the fewest stars up,
    and each row that is left joins the class with which it loses least, as in `LocalRecoding`. Under a guarantee about
    sensitive values every release carries its caution.

    Parameters
    ----------
    importance
        Columns from the most important down. A cell of one costs more than cells of all less important columns
        together; columns that are not named come last, and count by the schema's weights.
    max_cells
        The largest share of the cells of a column that may be starred, by name. A row left out counts in all.
    max_suppressed
        The rows that may be left out: their number as an int, or a share as a float. One costs as much as its cells.
    exact
        Whether to look for the fewest stars where the table is small.

    Examples
    --------
    The eight people of sdcMicro's example, by their four categories; four of them are unique:

    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> people = pa.table({"key1": [1, 1, 1, 3, 4, 4, 6, 1], "key2": [2, 2, 2, 3, 3, 3, 2, 2],
    ...     "key3": [5, 1, 1, 1, 1, 1, 1, 5], "key4": [1, 1, 1, 5, 4, 1, 5, 1]})
    >>> table = Table(people, dict.fromkeys(people.column_names, quasi()))
    >>> release = LocalSuppression(KAnonymity(2)).release(table)
    >>> for row in sorted(zip(*release.frame.to_pydict().values())):
    ...     print(*row)
    * * 1 5
    * * 1 5
    1 2 1 1
    1 2 1 1
    1 2 5 1
    1 2 5 1
    4 3 1 *
    4 3 1 *
    >>> release.evidence.details["optimal"], release.evidence.details["stars"]
    (True, {'key1': 2, 'key2': 2, 'key3': 0, 'key4': 2})

    References
    ----------
    A. Meyerson, R. Williams: On the complexity of optimal k-anonymity. PODS 2004.

    M. Templ, A. Kowarik, B. Meindl: Statistical disclosure control for micro-data using the R package sdcMicro. Journal
    of Statistical Software 67(4), 2015.
    """

    importance: Sequence[str] | None = None
    max_cells: Mapping[str, float] | None = None
    max_suppressed: int | float = 0.0
    exact: bool = True

    constraints: ClassVar[Constraints] = {
        **TablePublisher.constraints,
        "importance": (
            EachOf(InstanceOf((str,), "the name of a column"), "a list of the names of columns"),
            NONE,
        ),
        "max_cells": BY_COLUMN,
        "max_suppressed": SUPPRESSIBLE,
        "exact": BOOL,
    }

    def release(self, table: Table) -> Release:
        """Protect a table and publish it, with its rows in random order."""
        return super().release(_flattened(table) if isinstance(table, Table) else table)

    def _check(self, table: Table) -> None:
        super()._check(table)
        for name in self.importance or ():
            if name not in table.schema.quasi:
                raise SchemaError(f"The 'importance' parameter names '{name}', which is no quasi-identifier.")

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        del rng
        exact = [name for name in table.schema.quasi if (self.max_cells or {}).get(name) == 0]
        lattice = Lattice(table, highest=dict.fromkeys(exact, 0))
        limit = allowed_rows(self.max_suppressed, table.n_rows)
        most = most_starred(self, lattice)
        weights, cheapest, optimal = self._weights(table), None, False
        if self._is_small(lattice):
            fewest = _fewest(lattice, weights, self.guarantee.smallest, limit, most)
            optimal = fewest is not None
            recodings = [] if fewest is None else [fewest]
            cheapest = cheapest_recoding(self.guarantee, lattice, weights, limit, recodings)
        for _ in range(RAISES if cheapest is None else 0):
            greedy = _recodings(lattice, weights, self.guarantee)
            cheapest = cheapest_recoding(self.guarantee, lattice, weights, limit, greedy)
            if cheapest is None or not (over := _stars(lattice, cheapest[0]) > most).any():
                break
            weights = np.where(over, RAISE * weights, weights)
        if cheapest is None or (_stars(lattice, cheapest[0]) > most).any():
            raise self._infeasible(table)
        stars = dict(zip(lattice.names, _stars(lattice, cheapest[0]).tolist(), strict=True))
        return replace(local_plan(lattice, *cheapest), details={"stars": stars, "optimal": optimal})

    def _is_small(self, lattice: Lattice) -> bool:
        n_choices = len(lattice.table.classes[1]) * lattice.n_nodes
        return self.exact and self.guarantee.by_size and n_choices <= _MOST_CHOICES

    def _weights(self, table: Table) -> FloatArray:
        """Return what a star costs by column: more than all of the less important ones together."""
        weights = np.array(quasi_weights(table.schema, None, owner=self), np.float64)
        named = [table.schema.quasi.index(name) for name in dict.fromkeys(self.importance or ())]
        weights[named] = 0
        for column in reversed(named):
            weights[column] = weights.sum() + weights[weights > 0].min(initial=1.0)
        return np.asarray(weights / weights.max(), np.float64)

    def _infeasible(self, table: Table) -> InfeasibleError:
        refuse_infeasible(self.guarantee, table)
        limits = " and the shares of max_cells" if self.max_cells else ""
        return InfeasibleError(
            f"No suppression of cells was found that keeps {self.guarantee} with at most "
            f"{allowance(self.max_suppressed)} left out{limits}; allow more, or ask for less."
        )


def _flattened(table: Table) -> Table:
    """Return the table without the hierarchies of its quasi-identifiers: a cell is exact or a star."""
    schema = table.schema
    if not any(schema[name].hierarchy for name in schema.quasi):
        return table
    columns = {
        name: replace(column, hierarchy=None) if column.role is Role.QUASI else column
        for name, column in schema.items()
    }
    return Table(table.source, columns, spreadsheet_safe=table.spreadsheet_safe, types=table._types)


def _stars(lattice: Lattice, recoded: Recoded) -> IntArray:
    """Count the cells of each column that are starred, or left out with their row."""
    counts = lattice.table.tuples.counts
    return np.asarray(recoded.sizes(counts) @ recoded.levels + counts[recoded.rest].sum(), np.int64)


def _recodings(lattice: Lattice, weights: FloatArray, guarantee: Guarantee) -> Iterator[Recoded]:
    """Return recodings to choose from: rounds with the last rows merged, joined or left out, and Mondrian's groups."""
    rounds = Rounds(lattice, guarantee)
    # Of patterns that cost the same, those that star columns with many values come first: they join the most rows.
    n_values = np.array([lattice.card(column, 0) for column in range(len(weights))])
    dearer = weights * (1 - _TIE * np.argsort(np.argsort(n_values, kind="stable")))
    ways = [
        Steps.of(column, len(weights), range(levels), dearer[column] * np.arange(levels))
        for column, levels in enumerate(lattice.dims)
    ]
    swept = rounds.run(ladder(lattice.bottom, ways, _MOST_ROUNDS), Recoded.nothing(lattice))
    for recoded in (swept, Merging(rounds, weights, cells=False).run(swept)):
        yield recoded
        if recoded.rest.size and (complete := joined(rounds, recoded, cells=False)) is not None:
            yield complete
    by_column = dict(zip(lattice.names, weights.tolist(), strict=True))
    if (divided := partitioned(lattice, guarantee, by_column, cells=False)) is not None:
        yield divided


def _fewest(
    lattice: Lattice, weights: FloatArray, smallest: int, limit: int, most: IntArray
) -> Recoded | None:
    """Find the cheapest stars with which every class has enough rows, or None where the program is too hard.

    A variable for each distinct row and pattern of stars says whether the row is published so, and a variable for each
    class whether it is published: a class that is has enough rows, and a row goes to a class that is. The last pattern
    is that of rows left out.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    labels, codes = lattice.table.classes
    counts = np.bincount(labels, lattice.table.tuples.counts).astype(np.int64)
    patterns = np.array(list(product(*map(range, lattice.dims))), np.bool_)
    row, pattern, class_ = _choices(codes, counts, patterns, smallest)
    if not row.size:
        return None
    n_rows, n_choices, n_classes = counts.size, row.size, int(class_.max()) + 1
    n_left = n_rows if limit else 0
    n_variables = n_choices + n_classes + n_left
    choice, left = np.arange(n_choices), n_choices + n_classes + np.arange(n_left)
    starred = patterns[pattern].T * counts[row]

    def matrix(rows: Any, columns: Any, values: Any, n: int) -> Any:
        return coo_array((np.broadcast_to(values, np.shape(rows)), (rows, columns)), shape=(n, n_variables))

    # In turn: each row is published once or left out, a published class has enough rows, rows go to published
    # classes, and columns and rows stay within their limits of stars and of rows left out.
    each = matrix(np.append(row, np.arange(n_left)), np.append(choice, left), 1.0, n_rows)
    sizes = matrix(class_, choice, counts[row], n_classes) + matrix(
        np.arange(n_classes), n_choices + np.arange(n_classes), -float(smallest), n_classes
    )
    open_ = matrix(choice, choice, 1.0, n_choices) + matrix(choice, n_choices + class_, -1.0, n_choices)
    columns = np.concatenate(
        [starred, np.zeros((len(most), n_classes)), np.tile(counts[:n_left], (len(most), 1))], 1
    )
    suppressed = matrix(np.zeros(n_left, np.int64), left, counts[:n_left], 1)
    constraints = [
        LinearConstraint(each, 1, 1),
        LinearConstraint(sizes, 0, np.inf),
        LinearConstraint(open_, -np.inf, 0),
        LinearConstraint(columns, -np.inf, most),
        LinearConstraint(suppressed, -np.inf, limit),
    ]
    # Without a gap, since the evidence calls the result optimal.
    solution = milp(
        weights @ columns,
        constraints=constraints,
        bounds=Bounds(0, 1),
        integrality=np.ones(n_variables, np.int64),
        options={"mip_rel_gap": 0.0, "node_limit": _MOST_BRANCHES},
    )
    if solution.status != 0:
        return None
    chosen = np.flatnonzero(solution.x[:n_choices] > 0.5)
    group_of_row = np.full(n_rows, -1, np.int32)
    used, numbers = np.unique(class_[chosen], return_inverse=True)
    group_of_row[row[chosen]] = numbers
    levels = np.zeros((used.size, len(weights)), np.int64)
    levels[numbers] = patterns[pattern[chosen]]
    return Recoded(group_of_row[labels], levels)


def _choices(
    codes: CodeArray, counts: IntArray, patterns: BoolArray, smallest: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the rows, patterns and classes that may come together: of classes that can have enough rows."""
    found: list[IntArray] = []
    n_classes = 0
    for number, pattern in enumerate(patterns):
        labels = np.unique(np.where(pattern, -1, codes), axis=0, return_inverse=True)[1].reshape(-1)
        enough = np.bincount(labels, counts) >= smallest
        rows = np.flatnonzero(enough[labels])
        places = n_classes + np.cumsum(enough) - 1
        found.append(np.stack([rows, np.full(rows.size, number), places[labels[rows]]]))
        n_classes += int(enough.sum())
    row, pattern_of, class_ = np.concatenate(found, axis=1)
    return row, pattern_of, class_
