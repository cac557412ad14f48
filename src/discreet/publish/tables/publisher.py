"""The base of table publishers: checks, units, suppression, recoding, recipe, evidence and release."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.baskets.supports import is_count
from discreet.core.errors import InfeasibleError
from discreet.core.guarantee import A_GUARANTEE
from discreet.core.params import BY_COLUMN, Constraints, FloatIn, InstanceOf, IntIn, check_parameters, require
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, late_generator, secret_seed
from discreet.core.tables.groups import Groups
from discreet.core.tables.source import AssignedTuples, Pieces, Replacement
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict
from discreet.guarantees import DeltaPresence, Guarantee
from discreet.guarantees.per_unit import by_unit
from discreet.measure.tables.risk import refuse_singling_out
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
    assigned
        The piece of each distinct tuple, where an engine holds it because they are too many to be fetched.
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
    assigned: AssignedTuples | None = None
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
            assigned=self.assigned,
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
        table = self._seen(table)
        rng = late_generator(self.random_state, owner=self)
        seed = secret_seed(None if self.random_state is None else rng)
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

    def _seen(self, table: Table) -> Table:
        """Return the table as the search sees it."""
        return table

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


SUPPRESSIBLE = (IntIn(0), FloatIn(0, 1))
"""What ``max_suppressed`` must be: an int is a number of rows, a float a share, so that 1 is a row and 1.0 is all."""


def kept_groups(guarantee: Guarantee, groups: Groups, *, limit: int | None = None) -> BoolArray:
    """Find the groups that keep the guarantee once those that break it are left out.

    Where groups are compared with the whole table, leaving some out moves it, so the rest is judged again until all
    hold, or until more rows than the limit are left out.
    """
    kept = guarantee.together(groups)
    # Groups are only taken away, so that there is an end.
    while guarantee.relative and kept.any() and not kept.all():
        if limit is not None and groups.sizes[~kept].sum() > limit:
            break
        holds = guarantee.together(groups.only(kept))
        if holds.all():
            break
        kept[kept] = holds
    return kept


def with_starred(guarantee: Guarantee, groups: Groups, *, limit: int | None = None) -> BoolArray:
    """Find the groups that keep the guarantee where the rows of the others stay in the table as one class of stars.

    That class keeps it too: it takes in the smallest groups, in steps that double, until it does or has more rows than
    the limit. As all rows stay, groups are compared with the table as it came.
    """
    kept, n_taken, most = guarantee.together(groups), 0, groups.sizes.sum() if limit is None else limit
    order = np.flatnonzero(kept)[np.argsort(groups.sizes[kept], kind="stable")]
    while not kept.all() and n_taken < order.size and groups.sizes[~kept].sum() <= most:
        if guarantee.holds(groups.joined(~kept))[0]:
            break
        n_taken = 2 * n_taken + 1
        kept[order[:n_taken]] = False
    return kept


def allowed_rows(max_suppressed: float, n_rows: int) -> int:
    """Return how many rows may be left out: an int is their number, a float a share.

    Rows are counted, also where each belongs to a unit. 0.29 of 100 is 29, whatever a float makes of it.

    >>> allowed_rows(1, 100), allowed_rows(1.0, 100), allowed_rows(0.29, 100), allowed_rows(7, 5)
    (1, 100, 29, 5)
    """
    if is_count(max_suppressed):
        return min(int(max_suppressed), n_rows)
    return math.floor(max_suppressed * n_rows + 1e-9)


def allowance(max_suppressed: float) -> str:
    """Return in words how many rows may be left out.

    >>> allowance(2), allowance(0.02)
    ('2 rows', '2.00% of the rows')
    """
    if is_count(max_suppressed):
        return f"{max_suppressed} row{'s' * (max_suppressed != 1)}"
    return f"{max_suppressed:.2%} of the rows"


def enough_for(n_dropped: int, n_rows: int, max_suppressed: float) -> float:
    """Return what would allow some rows to be left out, written as the limit that does not: rows, or a short share."""
    # A 0 says nothing about how the next limit will be written.
    return n_dropped if is_count(max_suppressed) and max_suppressed > 0 else share_for(n_dropped, n_rows)


def share_for(n_dropped: int, n_rows: int) -> float:
    """Return a short share that allows so many rows to be left out."""
    # A quotient that rounding puts just above a short share counts as that share.
    return math.ceil(n_dropped / n_rows * 10_000 - 1e-9) / 10_000


def refuse_too_many(guarantee: Guarantee, n_dropped: int, n_rows: int, max_suppressed: float) -> None:
    """Raise an InfeasibleError where more rows must be left out than may be, or all; it says what would do."""
    if n_dropped <= allowed_rows(max_suppressed, n_rows) and n_dropped < n_rows:
        return
    remedy, fix = "generalize further or ask for less", {}
    if n_dropped < n_rows:
        fix = {"max_suppressed": enough_for(n_dropped, n_rows, max_suppressed)}
        remedy = f"allow max_suppressed={fix['max_suppressed']:g}"
    raise InfeasibleError(
        f"{n_dropped} of {n_rows} rows ({n_dropped / n_rows:.2%}) would have to be suppressed to keep {guarantee}, "
        f"and at most {allowance(max_suppressed)} may be; {remedy}.",
        fix=fix,
    )


def refuse_infeasible(guarantee: Guarantee, table: Table, groups: Groups | None = None) -> None:
    """Raise an InfeasibleError unless the whole table as one class keeps the guarantee."""
    guarantee.columns(table.schema.sensitive)
    verdict = guarantee.check(_whole_table(table) if groups is None else groups)
    if verdict.ok:
        return
    broken = [part for part in verdict.parts or (verdict,) if not part.ok]
    raise InfeasibleError(
        "No release can keep the guarantee: " + "; ".join(_shortfall(part) for part in broken) + "."
    )


def _whole_table(table: Table) -> Groups:
    """Return the whole table as one class."""
    labels = np.zeros(table.tuples.counts.size, np.int32)
    return Groups.of(labels, table.tuples.counts, 1, table.sensitive_codes())


def _shortfall(verdict: Verdict) -> str:
    remedy = "ask for that at the most"
    if verdict.measure == DeltaPresence.measured and verdict.worst > 1:
        remedy = "the population lacks people of the table, so name one that holds them all"
    return (
        f"{verdict.guarantee} asks for {verdict.measure} {verdict.relation} {verdict.bound:g}, and the whole table "
        f"as one class ({verdict.n_rows} rows) reaches {verdict.worst:g}; {remedy}"
    )
