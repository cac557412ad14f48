"""Full-domain generalisation to given levels: every cell of a column goes to the same level of its tree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.hierarchies import flat
from discreet.core.hierarchy import Hierarchy
from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import RandomState
from discreet.core.source import Replacement
from discreet.core.table import Table
from discreet.guarantees import Guarantee
from discreet.publish.recipe import recipe_of, row_seed
from discreet.publish.suppression import suppressed_tuples


class Generalization:
    """Generalise whole columns to given levels of their hierarchies, and publish if that keeps the promise.

    Rows in classes that break the promise are suppressed (left out and counted), up to ``max_suppressed`` of all.
    A column without a hierarchy has two levels, itself and ``*``. Works on files larger than memory.

    Parameters
    ----------
    guarantee
        What every class must keep.
    levels
        The level of each quasi-identifier by name; a missing one stays at level 0.
    max_suppressed
        The share of rows that may be left out.
    random_state
        Seeds the order of the rows, which is all that is random.

    Examples
    --------
    The chapter's table 20.3, from table 20.1 and the trees of figure 20.1:

    >>> import pyarrow as pa
    >>> from discreet import Table, intervals, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({
    ...     "age": [24, 37, 26, 38, 36, 25],
    ...     "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"]}),
    ...     {"age": quasi(intervals(10, 20)), "disease": sensitive()})
    >>> release = Generalization(KAnonymity(3), levels={"age": 1}).release(table)
    >>> sorted(set(release.frame["age"].to_pylist())), release.verdict.ok
    (['[20, 29]', '[30, 39]'], True)
    """

    def __init__(
        self,
        guarantee: Guarantee,
        *,
        levels: Mapping[str, int],
        max_suppressed: float = 0.0,
        random_state: RandomState = None,
    ) -> None:
        self.guarantee = guarantee
        self.levels = levels
        self.max_suppressed = max_suppressed
        self.random_state = random_state

    def release(self, table: Table) -> Release:
        """Generalise the table and publish it."""
        from discreet.kernels.grouping import distinct, pack

        self._check(table)
        trees = {name: _tree(table, name) for name in table.schema.quasi}
        levels = {name: self._level(name, tree) for name, tree in trees.items()}
        columns = [tree.levels[levels[name]][table.codes(name)] for name, tree in trees.items()]
        cards = [len(tree.labels[levels[name]]) for name, tree in trees.items()]
        first, classes, sizes = distinct(pack(columns, cards), table.tuples.counts)
        dropped = suppressed_tuples(self.guarantee, table, classes, self.max_suppressed)
        n_dropped = int(table.tuples.counts[dropped].sum())
        frame = table.recode(
            by_value={
                name: Replacement(tree.levels[levels[name]], pa.array(tree.labels[levels[name]], pa.string()))
                for name, tree in trees.items()
                if levels[name] > 0
            },
            dropped=dropped if n_dropped else None,
            seed=row_seed(self.random_state, self),
        )
        kept = np.ones(first.size, np.bool_)
        kept[classes[dropped]] = False
        cells = {
            name: _cells(tree, levels[name], nodes[first[kept]], table.overall(name))
            for (name, tree), nodes in zip(trees.items(), columns, strict=True)
        }
        return Release(
            frame=frame,
            schema=table.schema.released(),
            guarantee=self.guarantee,
            evidence=Evidence(table.n_rows, sizes[kept], cells, n_dropped, levels),
            recipe=recipe_of(self, table, parameters={"max_suppressed": self.max_suppressed}, levels=levels),
            original=table,
        )

    def _check(self, table: Table) -> None:
        require(self, "guarantee", self.guarantee, InstanceOf((Guarantee,), "a guarantee"))
        require(self, "levels", self.levels, InstanceOf((Mapping,), "a mapping from columns to levels"))
        require(self, "max_suppressed", self.max_suppressed, FloatIn(0, 1))
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        for name in self.levels:
            if name not in table.schema.quasi:
                raise SchemaError(f"A level is given for '{name}', which is no quasi-identifier.")
        self.guarantee.columns(table.schema.sensitive)

    def _level(self, name: str, tree: Hierarchy) -> int:
        level = self.levels.get(name, 0)
        if not IntIn(0, tree.height).admits(level):
            raise ParameterError(
                f"The 'levels' parameter of {type(self).__name__} must give '{name}' an int in [0, {tree.height}]."
            )
        return int(level)


def _cells(tree: Hierarchy, level: int, nodes: CodeArray, overall: IntArray) -> Cells:
    loss = (tree.leaves_under(level) - 1) / max(tree.n_leaves - 1, 1)
    return Cells(nodes, loss, np.bincount(tree.levels[level], weights=overall).astype(np.int64))


def _tree(table: Table, name: str) -> Hierarchy:
    book = table.encoded[name]
    return book.hierarchy or flat().bind(book.values, column=name)
