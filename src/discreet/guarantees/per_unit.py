"""Guarantees counted by unit: in people, households or sites where these have several rows each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.guarantee import A_GUARANTEE, AllOf, Guarantee, HasGroups, Relation, SensitiveGuarantee
from discreet.core.params import Constraints, InstanceOf
from discreet.core.tables.groups import Groups
from discreet.core.tables.table import Table
from discreet.core.tables.units import Units
from discreet.core.verdict import Verdict
from discreet.guarantees.k_anonymity import KAnonymity
from discreet.guarantees.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.guarantees.population import KMap

_MONOTONE = (KAnonymity, KMap)
_DIVERSITY = (DistinctDiversity, EntropyDiversity, RecursiveDiversity)

Found = TypeVar("Found")


@public
@dataclass(frozen=True, repr=False)
class PerUnit(Guarantee):
    """A guarantee about every class, with units counted instead of rows.

    The size of a class is the number of its units. A sensitive value counts as often as units in the class have it, so
    a unit with several values counts once for each. Shares of a value, where a guarantee limits them, are shares of the
    units; distributions, where it compares them, are those of all pairs of unit and value. A class that could not keep
    the guarantee with so few rows cannot with so few units, however many values they have. A class in which all units
    have one same value is not diverse, whatever others they have: it counts as if that were its only value.

    What is limited are shares of units. A release shows how many rows have a value, and who knows how many rows a unit
    has in a class may infer more from it; a caution of the release counts those of whom that is so.

    Publishers and ``check`` count so by themselves where a column has the role `person`.

    Parameters
    ----------
    guarantee
        What every class must keep; not a conjunction, whose parts are counted one by one.
    unit
        The column that names the units.

    Examples
    --------
    Three rows of one patient are one patient:

    >>> import pyarrow as pa
    >>> from discreet import Table, person, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({"patient": [1, 1, 1], "age": [60, 60, 60]}), {"patient": person(), "age": quasi()})
    >>> print(counted_by_unit(KAnonymity(3), table).check(table))
    KAnonymity(k=3) per 'patient': broken (units in a class 1, required >= 3; 1 of 1 classes (3 rows) fail)
    """

    guarantee: Guarantee
    unit: str
    units: Units | None = field(default=None, init=False, compare=False)

    constraints: ClassVar[Constraints] = {
        "guarantee": A_GUARANTEE,
        "unit": InstanceOf((str,), "the name of a column"),
    }

    def __post_init__(self) -> None:
        """Check the parameters; units of a conjunction are counted part by part."""
        super().__post_init__()
        if isinstance(self.guarantee, AllOf | PerUnit):
            raise SchemaError(
                "PerUnit counts units for one guarantee: make one for each part of a conjunction."
            )
        if self.guarantee.needs_original:
            raise SchemaError(
                f"{self.guarantee!r} compares rows with the original's; where people are counted, compare with the "
                "rows that are released: reference='released'."
            )

    @property
    def monotone(self) -> bool:  # type: ignore[override]  # as the guarantee and its counting are
        """Whether joining classes keeps the guarantee.

        Shares of units do not mix when a unit is in both classes, which may lack a value in one and have it in both.
        """
        return isinstance(self.guarantee, _MONOTONE) and self.guarantee.monotone

    @property
    def joinable(self) -> bool:  # type: ignore[override]  # as its counting is
        """Whether classes that keep the guarantee keep it when they are joined."""
        return self.monotone

    @property
    def relative(self) -> bool:  # type: ignore[override]  # as the guarantee is
        """Whether classes are compared with the whole table."""
        return self.guarantee.relative

    @property
    def table_wide(self) -> bool:  # type: ignore[override]  # as the guarantee is
        """Whether some bound is about all classes together."""
        return self.guarantee.table_wide

    @property
    def relation(self) -> Relation:  # type: ignore[override]  # as the guarantee's
        """How the measure of a class must compare with the bound."""
        return self.guarantee.relation

    @property
    def measured(self) -> str:  # type: ignore[override]  # as the guarantee's
        """What is measured, in words."""
        return "units in a class" if isinstance(self.guarantee, KAnonymity) else self.guarantee.measured

    @property
    def smallest(self) -> int:
        """A number of rows, and of units, below which no class can keep the guarantee."""
        return self.guarantee.smallest

    @property
    def bound(self) -> float:
        """The guarantee's own bound."""
        return self.guarantee.bound

    def bound_to(self, table: Table) -> PerUnit:
        """Return the guarantee for classes of this table's coded rows."""
        if table.units is None:
            raise SchemaError(
                f"{self!r} counts units, but no column of the table says whose row it is: mark one with person()."
            )
        bound = copy.copy(self)
        object.__setattr__(bound, "units", table.units)
        return bound

    def columns(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name the coded columns that the guarantee looks at: those that distinguish units."""
        return self._known().hidden(self.guarantee.columns(sensitive))

    def judged_values(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name those of a table's sensitive columns whose values decide: those of the guarantee, not the units."""
        return self.guarantee.judged_values(sensitive)

    def measure(self, groups: Groups) -> FloatArray:
        """Measure every class by its units; with too few of them it measures no better than their number."""
        sizes = self._sizes(groups)
        enough = np.inf if self.higher_is_better else 0.0
        few = sizes if self.higher_is_better else np.inf
        absent = np.where(sizes >= self.smallest, enough, few).astype(np.float64)
        return np.asarray(self._of_present(groups, self._measured, absent))

    def holds(self, groups: Groups) -> BoolArray:
        """Return for every class whether it keeps the guarantee."""
        return np.asarray(self._of_present(groups, self._held, self._sizes(groups) >= self.smallest))

    def together(self, groups: Groups) -> BoolArray:
        """Return which classes of a whole table to keep."""

        def judged(units: Groups) -> BoolArray:
            return np.asarray(self.guarantee.together(units) & self._can_hold(units))

        return np.asarray(self._of_present(groups, judged, self._sizes(groups) >= self.smallest))

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail, however the class is divided: units only get fewer."""
        del moved
        units = self._counted(groups)
        fails = ~self._held(units) if self.monotone else units.sizes < self.smallest
        return np.where(fails, groups.sizes, 0).astype(np.float64)

    def check(
        self, subject: Groups | HasGroups, *, suppressed: Literal["judged", "exempt"] = "judged"
    ) -> Verdict:
        """Judge a table, a release or its classes, by units."""
        table = getattr(subject, "judged_table", subject)
        if isinstance(table, Table):
            return Guarantee.check(self.bound_to(table), table.unit_groups(), suppressed=suppressed)
        return super().check(subject, suppressed=suppressed)

    @property
    def how_counted(self) -> str:
        """The sentence on what is counted."""
        return f"Counted by {self.unit} instead of rows: each counts once in a class."

    def describe(self) -> str:
        """Return the guarantee, how it is counted, and for values against whom it does not hold."""
        limits = isinstance(self.guarantee, SensitiveGuarantee)
        unless = " Those who know how many rows somebody has in a class may infer more." if limits else ""
        return f"{self.guarantee.describe()}{unless} {self.how_counted}"

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as plain data for JSON; ``guarantee_from_dict`` reads it."""
        return {"guarantee": "PerUnit", "of": self.guarantee.to_dict(), "unit": self.unit}

    def __repr__(self) -> str:
        return f"{self.guarantee!r} per {self.unit!r}"

    def _known(self) -> Units:
        if self.units is None:
            raise SchemaError(
                f"{self!r} counts units: judge a table with a person() column, not bare classes."
            )
        return self.units

    def _counted(self, groups: Groups) -> Groups:
        units = self._known()
        named = {hidden: pairs.name for hidden, pairs in units.pairs.items() if hidden in groups.sensitive}
        return units.counted(groups, self.guarantee.columns(tuple(named.values())))

    def _sizes(self, groups: Groups) -> IntArray:
        """Return the number of units in each class."""
        return np.diff(groups.sensitive[self._known().column].indptr).astype(np.int64)

    def _of_present(
        self, groups: Groups, judge: Callable[[Groups], NDArray[Any]], otherwise: NDArray[Any]
    ) -> NDArray[Any]:
        """Judge the classes whose units have values at all.

        In linked tables, a class may be of people without a row in the table of the values. Whoever knows its
        quasi-identifiers knows that; there is no value to learn, and only the number of people counts.
        """
        counted = self._known().pairs.items()
        named = {pairs.name: hidden for hidden, pairs in counted if hidden in groups.sensitive}
        absent = np.zeros(groups.n_groups, np.bool_)
        for name in self.guarantee.columns(tuple(named)):
            absent |= np.diff(groups.sensitive[named[name]].indptr) == 0
        if not absent.any():
            return judge(self._counted(groups))
        judged = otherwise.copy()
        if not absent.all():
            judged[~absent] = judge(self._counted(groups.only(~absent)))
        return judged

    def _measured(self, units: Groups) -> FloatArray:
        measure = self.guarantee.measure(units)
        if self.higher_is_better or self.smallest > 1:
            # As a class of a single value measures.
            measure = np.where(self._shares_value(units), 1.0 if self.higher_is_better else np.inf, measure)
        few = units.sizes < self.smallest
        at_best = np.minimum(measure, units.sizes) if self.higher_is_better else np.inf
        return np.where(few, at_best, measure)

    def _held(self, units: Groups) -> BoolArray:
        return np.asarray(self.guarantee.holds(units) & self._can_hold(units))

    def _can_hold(self, units: Groups) -> BoolArray:
        """Return for every class whether it has enough units, and no value that diversity forbids all of them."""
        enough = units.sizes >= self.smallest
        return np.asarray(enough & ~self._shares_value(units) if self.smallest > 1 else enough)

    def _shares_value(self, units: Groups) -> BoolArray:
        """Return for every class whether all of its units have one same value, which diversity is to prevent."""
        shared = np.zeros(units.n_groups, np.bool_)
        if isinstance(self.guarantee, _DIVERSITY):
            for name in self.guarantee.columns(tuple(units.sensitive)):
                counts = units.sensitive[name]
                shared[counts.group[counts.counts == units.sizes[counts.group]]] = True
        return shared

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        if self.table_wide:
            units = self._counted(groups)
            verdict, holds = self.guarantee._judge(units, judged)
            parts = tuple(
                replace(part, guarantee=f"{part.guarantee} per {self.unit!r}") for part in verdict.parts
            )
            return replace(verdict, guarantee=repr(self), parts=parts), holds
        holds = self.holds(groups)
        verdict = self._verdict(self.measure(groups), holds, groups, judged)
        return verdict, holds


def counted_by_unit(guarantee: Guarantee, table: Table) -> Guarantee:
    """Return the guarantee for a table: counted by its units where it has some, else as it is."""
    if isinstance(guarantee, AllOf):
        return AllOf(tuple(counted_by_unit(part, table) for part in guarantee.parts))
    if isinstance(guarantee, PerUnit):
        return guarantee.bound_to(table)
    if table.schema.person is None:
        return guarantee
    return PerUnit(guarantee, table.schema.person).bound_to(table)


def fitted(guarantee: Guarantee, table: Table) -> Guarantee:
    """Return the guarantee for what is made of a table: counted by its units, and compared with its counts."""
    return counted_by_unit(guarantee, table).with_original(table)


def by_unit(method: Callable[[Any, Table], Found]) -> Callable[[Any, Table], Found]:
    """Let a publisher's method count by units where its table has some, whatever guarantee the publisher has."""

    @wraps(method)
    def counted(self: Any, table: Table) -> Found:
        if isinstance(table, Table) and isinstance(self.guarantee, Guarantee):
            guarantee = fitted(self.guarantee, table)
            if guarantee is not self.guarantee:
                self = copy.copy(self)
                self.guarantee = guarantee
        return method(self, table)

    return counted


def refuse_units(publisher: object, table: Table) -> None:
    """Refuse a table whose rows belong to units, for publishers that count rows only."""
    if table.schema.person is not None:
        raise SchemaError(
            f"{type(publisher).__name__} counts rows, but '{table.schema.person}' says whose row it is: keep one row "
            "of each, or publish with Mondrian, LocalRecoding or a lattice method."
        )
