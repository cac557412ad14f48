"""Full-domain generalization to given levels: every cell of a column goes to the same level of its tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.params import BOOL, Constraints, InstanceOf, IntIn
from discreet.core.tables.beyond_memory import RolledUpTable
from discreet.core.tables.table import Table
from discreet.publish.lattice.lattice import Lattice, Node, column_tree
from discreet.publish.recipes.recipe_parts import TOP
from discreet.publish.tables.lattice_search import LatticePublisher


@public
@dataclass(kw_only=True, repr=False, eq=False)
class Generalization(LatticePublisher):
    """Generalize whole columns to given levels of their hierarchies, and publish if that keeps the guarantee.

    Rows in classes that break the guarantee are suppressed (left out and counted), up to ``max_suppressed``.
    A column without a hierarchy has two levels, itself and ``*``. Works on files larger than memory.

    Parameters
    ----------
    levels
        The level of each quasi-identifier by name, or ``"top"``; a missing one stays at level 0.
    keep_suppressed
        Whether suppressed rows stay, with ``*`` in every quasi-identifier. They are a class like any other, which keeps
        the guarantee too, and classes are compared with the table before suppression.

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

    levels: Mapping[str, int | Literal["top"]]
    keep_suppressed: bool = False

    constraints: ClassVar[Constraints] = {
        **LatticePublisher.constraints,
        "levels": InstanceOf((Mapping,), "a mapping from columns to levels"),
        "keep_suppressed": BOOL,
    }
    not_in_recipe: ClassVar[tuple[str, ...]] = (*LatticePublisher.not_in_recipe, "levels")

    def _check(self, table: Table) -> None:
        super()._check(table)
        for name in self.levels:
            if name not in table.schema.quasi:
                raise SchemaError(f"A level is given for '{name}', which is no quasi-identifier.")

    def _seen(self, table: Table) -> Table:
        """Return the table with its tuples counted at the levels, where those of its values exceed memory."""
        if not table.exceeds_memory:
            return table
        trees = {name: column_tree(table, name) for name in table.schema.quasi}
        return RolledUpTable(table, {name: (tree, self._level(name, tree)) for name, tree in trees.items()})

    @property
    def _stars_rows(self) -> bool:
        return self.keep_suppressed

    def _choose(self, table: Table) -> tuple[Lattice, Node, dict[str, Any]]:
        lattice = Lattice(table)
        trees = zip(lattice.names, lattice.trees, strict=True)
        return lattice, tuple(self._level(name, tree) for name, tree in trees), {}

    def _level(self, name: str, tree: Hierarchy) -> int:
        level = tree.height if self.levels.get(name) == TOP else self.levels.get(name, 0)
        if not IntIn(0, tree.height).admits(level):
            raise ParameterError(
                f"The 'levels' parameter of {type(self).__name__} must give '{name}' an int in [0, {tree.height}] "
                f"or '{TOP}'."
            )
        return int(level)
