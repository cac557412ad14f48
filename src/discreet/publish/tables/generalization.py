"""Full-domain generalization to given levels: every cell of a column goes to the same level of its tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.guarantee import A_GUARANTEE
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.params import Constraints, FloatIn, InstanceOf, IntIn, check_parameters, require
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, secret_seed
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.guarantees.per_unit import by_unit
from discreet.measure.tables.singling_out import refuse_singling_out
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.recipes.published import TOP
from discreet.publish.recipes.recipe import recipe_of
from discreet.publish.tables.minimality import MINIMALITY, blind
from discreet.publish.tables.suppression import kept_groups, refuse_too_many


@public
class Generalization:
    """Generalize whole columns to given levels of their hierarchies, and publish if that keeps the promise.

    Rows in classes that break the promise are suppressed (left out and counted), up to ``max_suppressed`` of all.
    A column without a hierarchy has two levels, itself and ``*``. Works on files larger than memory.

    Parameters
    ----------
    guarantee
        What every class must keep.
    levels
        The level of each quasi-identifier by name, or ``"top"``; a missing one stays at level 0.
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

    constraints: ClassVar[Constraints] = {
        "guarantee": A_GUARANTEE,
        "levels": InstanceOf((Mapping,), "a mapping from columns to levels"),
        "max_suppressed": FloatIn(0, 1),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        guarantee: Guarantee,
        *,
        levels: Mapping[str, int | Literal["top"]],
        max_suppressed: float = 0.0,
        random_state: RandomState = None,
    ) -> None:
        self.guarantee = guarantee
        self.levels = levels
        self.max_suppressed = max_suppressed
        self.random_state = random_state

    @by_unit
    def release(self, table: Table) -> Release:
        """Generalize the table and publish it."""
        self._check(table)
        lattice = Lattice(table)
        node = tuple(self._level(name, tree) for name, tree in zip(lattice.names, lattice.trees, strict=True))
        parameters = {"max_suppressed": self.max_suppressed}
        return release_node(self, lattice, node, self.max_suppressed, parameters=parameters)

    def _check(self, table: Table) -> None:
        check_parameters(self)
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        for name in self.levels:
            if name not in table.schema.quasi:
                raise SchemaError(f"A level is given for '{name}', which is no quasi-identifier.")
        self.guarantee.columns(table.schema.sensitive)

    def _level(self, name: str, tree: Hierarchy) -> int:
        level = tree.height if self.levels.get(name) == TOP else self.levels.get(name, 0)
        if not IntIn(0, tree.height).admits(level):
            raise ParameterError(
                f"The 'levels' parameter of {type(self).__name__} must give '{name}' an int in [0, {tree.height}] "
                f"or '{TOP}'."
            )
        return int(level)


def release_node(
    publisher: Any,
    lattice: Lattice,
    node: Node,
    max_suppressed: float,
    *,
    parameters: Mapping[str, object],
    details: Mapping[str, object] | None = None,
) -> Release:
    """Publish a table at a node of its lattice; rows whose class breaks the promise are left out, up to a share."""
    table, guarantee = lattice.table, publisher.guarantee
    refuse_singling_out(table)
    groups, labels, codes = lattice.groups(node)
    kept = kept_groups(guarantee, groups)
    n_dropped = int(groups.sizes[~kept].sum())
    details = dict(details or {})
    if n_dropped and guarantee.judged_values(table.schema.sensitive):
        # A class that is large enough and missing all the same shows that its values broke the promise.
        missing = blind(guarantee, table.schema.sensitive).holds(groups) & ~kept
        details[MINIMALITY] = details.get(MINIMALITY) or guarantee.relative or bool(missing.any())
    refuse_too_many(guarantee, n_dropped, table.n_rows, max_suppressed)
    changed: dict[str, Replacement] = {}
    cells: dict[str, Cells] = {}
    shown: dict[str, list[str | None]] = {}
    for column, (name, tree, level) in enumerate(zip(lattice.names, lattice.trees, node, strict=True)):
        if level > 0:
            changed[name] = Replacement(tree.levels[level], pa.array(tree.labels[level], pa.string()))
        covered = np.bincount(tree.levels[level], weights=table.overall(name)).astype(np.int64)
        cells[name] = Cells(codes[column][kept], lattice.losses(column, level), covered)
        shown[name] = [tree.labels[level][node] for node in np.unique(codes[column][kept])]
    levels = lattice.levels(node)
    recipe = recipe_of(publisher, table, parameters=parameters, levels=levels, shown=shown)
    recoding = table.recoding(
        by_value=changed,
        dropped=~kept[labels] if n_dropped else None,
        seed=secret_seed(publisher.random_state, owner=publisher),
    )
    return Release(
        data=table.recode(recoding),
        schema=table.schema.released(),
        guarantee=guarantee,
        evidence=Evidence(
            table.n_rows,
            groups.sizes[kept],
            cells,
            n_dropped,
            levels,
            details,
            arrays=table.recoded_units(recoding),
            recoding=recoding,
        ),
        recipe=recipe.public,
        original=table,
        private=recipe.private,
    )
