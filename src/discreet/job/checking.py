"""Judging: any table, whoever made it, by every measure at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict
from discreet.guarantees import Guarantee, RulesHidden
from discreet.guarantees.per_unit import counted_by_unit
from discreet.guarantees.registry import probes_of


@dataclass(frozen=True)
class Measure:
    """What a table reaches in one measure: the promise it would just keep."""

    name: str
    column: str | None
    relation: str
    worst: float

    def to_dict(self) -> dict[str, object]:
        """Return the measure as plain data for JSON."""
        return {"name": self.name, "column": self.column, "relation": self.relation, "worst": self.worst}


@dataclass(frozen=True)
class Judgment:
    """The verdict on a promise, if one was named, and what the table reaches in every measure."""

    n_rows: int
    n_classes: int
    verdict: Verdict | None
    measures: tuple[Measure, ...]

    @property
    def ok(self) -> bool:
        """Whether the named promise is kept."""
        return self.verdict is None or self.verdict.ok


def judge(
    table: Table,
    guarantee: Guarantee | None = None,
    *,
    suppressed: Literal["judged", "exempt"] = "judged",
    population: Any = None,
) -> Judgment:
    """Judge a table in one pass over its classes.

    Parameters
    ----------
    table
        Any table.
    guarantee
        The promise to judge by; None only measures.
    suppressed
        Whether the class of fully suppressed rows is judged like any other, or exempt.
    population
        A population table, to measure k-map as well.
    """
    groups = table.groups() if table.units is None else table.unit_groups()
    verdict = None
    if isinstance(guarantee, RulesHidden):
        verdict = guarantee.check(table)
    elif guarantee is not None:
        verdict = counted_by_unit(guarantee, table).check(groups, suppressed=suppressed)
    measures = tuple(
        Measure(
            name, column, one.relation, counted_by_unit(one, table).check(groups, suppressed=suppressed).worst
        )
        for name, column, one in probes_of(table, population)
    )
    return Judgment(groups.n_rows, groups.n_groups, verdict, measures)
