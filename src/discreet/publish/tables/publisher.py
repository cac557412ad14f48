"""The base of table publishers: checks, units, recoding, recipe, evidence and release; a method adds its search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.guarantee import A_GUARANTEE
from discreet.core.params import BY_COLUMN, Constraints, InstanceOf, check_parameters, require
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator, secret_seed
from discreet.core.tables.source import Pieces, Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.guarantees.per_unit import by_unit
from discreet.measure.tables.singling_out import refuse_singling_out
from discreet.publish.recipes.recipe_parts import Cut, RecipeParts, recipe_of


@dataclass(frozen=True, repr=False)
class Plan:
    """What a search found: how each row is published, and what that costs.

    Attributes
    ----------
    sizes
        The rows of each group that is published.
    cells
        What the cells of each quasi-identifier cost, by group.
    by_value, by_piece
        The new cells of columns, by the code of a value or by the piece that a row belongs to.
    pieces
        How distinct tuples are divided, where a group takes only some of their rows.
    dropped
        Which pieces are left out.
    suppressed
        The number of rows left out.
    levels
        The level of each quasi-identifier, where whole columns were generalized.
    details
        What the method reports beyond that; private.
    published, groups, boxes, means, cut
        What the recipe records; see `recipe_of`.
    """

    sizes: IntArray
    cells: Mapping[str, Cells]
    by_value: Mapping[str, Replacement] = field(default_factory=dict)
    by_piece: Mapping[str, Replacement] = field(default_factory=dict)
    pieces: Pieces | None = None
    dropped: BoolArray | None = None
    suppressed: int = 0
    levels: Mapping[str, int] | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    published: Mapping[str, Collection[str | None]] | None = None
    groups: Mapping[str, Replacement] | None = None
    boxes: Mapping[str, Mapping[str, Any]] | None = None
    means: bool = False
    cut: Cut | None = None

    def release(self, table: Table, guarantee: Guarantee, recipe: RecipeParts, seed: int) -> Release:
        """Publish a table as planned; the seed shuffles its rows, so that their order reveals nothing."""
        recoding = table.recoding(
            by_value=self.by_value,
            by_piece=self.by_piece,
            pieces=self.pieces,
            dropped=self.dropped,
            seed=seed,
        )
        return Release(
            data=table.recode(recoding),
            schema=table.schema.released(),
            guarantee=guarantee,
            evidence=Evidence(
                table.n_rows,
                self.sizes,
                self.cells,
                self.suppressed,
                self.levels,
                self.details,
                arrays=table.recoded_units(recoding),
                recoding=recoding,
            ),
            recipe=recipe.public,
            original=table,
            private=recipe.private,
        )


@dataclass(repr=False, eq=False)
class TablePublisher(ABC):
    """A publisher of tables: whatever it finds is checked, counted, recoded, recorded and released here.

    A method declares its parameters as fields, what they must be in ``constraints``, and writes `_plan`.

    Parameters
    ----------
    guarantee
        What every class must keep; any guarantee or conjunction of them.
    random_state
        Seeds the order of the rows, which is all that is random.

    Examples
    --------
    A publisher that stars every quasi-identifier:

    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> class Starred(TablePublisher):
    ...     def _plan(self, table, rng):
    ...         n_tuples, stars = table.tuples.counts.size, pa.array(["*"])
    ...         one_cell = {name: Replacement(np.zeros(n_tuples, np.int32), stars) for name in table.schema.quasi}
    ...         return Plan(np.array([table.n_rows]), {}, by_piece=one_cell)
    >>> table = Table(pa.table({"age": [24, 37, 26]}), {"age": quasi()})
    >>> release = Starred(KAnonymity(3)).release(table)
    >>> release.frame["age"].to_pylist(), release.verdict.ok
    (['*', '*', '*'], True)
    """

    guarantee: Guarantee
    _: KW_ONLY
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {"guarantee": A_GUARANTEE, "random_state": RANDOM_STATE}
    not_in_recipe: ClassVar[tuple[str, ...]] = ("guarantee", "random_state")
    """The parameters that the recipe does not list: it has its own entries for them, or no use."""

    def __post_init__(self) -> None:
        """Refuse parameters of the wrong type where they are passed, not when a table comes."""
        check_parameters(self)

    @by_unit
    def release(self, table: Table) -> Release:
        """Protect a table and publish it, with its rows in random order."""
        self._check(table)
        refuse_singling_out(table)
        rng = generator(self.random_state, owner=self)
        seed = secret_seed(rng)
        plan = self._plan(table, rng)
        recipe = recipe_of(
            self,
            table,
            parameters=self._parameters(),
            levels=plan.levels,
            cut=plan.cut,
            published=plan.published,
            groups=plan.groups,
            boxes=plan.boxes,
            means=plan.means,
        )
        return plan.release(table, self.guarantee, recipe, seed)

    @abstractmethod
    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        """Search: return how the table is to be published, so that its classes keep the guarantee."""

    def _check(self, table: Table) -> None:
        check_parameters(self)
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        self.guarantee.columns(table.schema.sensitive)

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters that are written into a recipe."""
        return {
            name: dict(getattr(self, name) or {}) if constraint is BY_COLUMN else getattr(self, name)
            for name, constraint in self.constraints.items()
            if name not in self.not_in_recipe
        }
