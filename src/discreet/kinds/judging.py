"""Judging: any table or baskets, whoever made them, by every measure at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict
from discreet.guarantees import Guarantee, KmAnonymity, PrivacyDegree, RulesHidden
from discreet.guarantees.per_unit import counted_by_unit
from discreet.guarantees.registry import probes_of

_MOST_KNOWN = 3
_MOST_SETS = 3e8
"""The most combinations of items that are counted to measure k^m-anonymity."""


_AT_MOST_ONE = ("(alpha, k)-anonymity", "t-closeness, t (equal)")
"""Measures of which any data reaches 1."""


@dataclass(frozen=True)
class Measure:
    """What data reaches in one measure: the guarantee it would just keep."""

    name: str
    column: str | None
    relation: str
    worst: float

    @property
    def is_informative(self) -> bool:
        """Whether the data reaches more than any data does, such as one different value; k always says something."""
        if self.relation == "<=" and self.name.startswith(_AT_MOST_ONE) and self.worst >= 1:
            return False
        trivial = 1.0 if self.relation == ">=" and self.column is not None else 0.0
        return math.isfinite(self.worst) and not (self.relation == ">=" and self.worst <= trivial)

    @property
    def reach(self) -> str:
        """Which parameters the data keeps: "up to", "from" or "above" its worst."""
        return {">=": "up to", "<=": "from", "<": "above"}[self.relation]

    def to_dict(self) -> dict[str, object]:
        """Return the measure as plain data for JSON."""
        return {"name": self.name, "column": self.column, "relation": self.relation, "worst": self.worst}


@dataclass(frozen=True)
class Judgment:
    """What data shows of a guarantee.

    Attributes
    ----------
    counts
        The numbers of rows and classes, or of baskets and groups, that were judged, by name.
    verdict
        The verdict on the guarantee, if one was named.
    measures
        What the data reaches in every measure.
    why
        Why the data cannot show all of the guarantee; empty where it can.
    """

    counts: Mapping[str, int]
    verdict: Verdict | None
    measures: tuple[Measure, ...] = ()
    why: str = ""

    @property
    def ok(self) -> bool:
        """Whether the named guarantee is kept."""
        return self.verdict is None or self.verdict.ok


def judge_table(
    table: Table,
    guarantee: Guarantee | None = None,
    *,
    suppressed: Literal["judged", "exempt"] = "judged",
    population: Any = None,
    measured: bool | None = None,
) -> Judgment:
    """Judge a table in one pass over its classes.

    Parameters
    ----------
    table
        Any table.
    guarantee
        The guarantee to judge by; None only measures.
    suppressed
        Whether the class of fully suppressed rows is judged like any other, or exempt.
    population
        A population table, to measure k-map and δ-presence as well.
    measured
        Whether to measure the table by all guarantees; None does so where no guarantee is named.
    """
    groups = table.groups() if table.units is None else table.unit_groups()
    verdict = None
    if isinstance(guarantee, RulesHidden):
        verdict = guarantee.check(table)
    elif guarantee is not None:
        verdict = counted_by_unit(guarantee, table).check(groups, suppressed=suppressed)
    measures = tuple(
        Measure(
            name,
            column,
            probe.relation,
            counted_by_unit(probe, table).check(groups, suppressed=suppressed).worst,
        )
        for name, column, probe in (probes_of(table, population) if _is_measured(measured, guarantee) else ())
    )
    return Judgment({"rows": groups.n_rows, "classes": groups.counted()[0]}, verdict, measures)


def _is_measured(measured: bool | None, guarantee: Guarantee | None) -> bool:
    return guarantee is None if measured is None else measured


def judge_baskets(
    data: Baskets | GroupedBaskets, guarantee: Guarantee | None = None, *, measured: bool | None = None
) -> Judgment:
    """Judge baskets by a guarantee; ``measured`` measures them by those that fit them, as `judge_table` does."""
    is_measured = _is_measured(measured, guarantee)
    if isinstance(data, GroupedBaskets):
        if not isinstance(guarantee, PrivacyDegree | None):
            raise InputError(
                "These baskets are grouped, with sensitive items apart; judge them by a privacy degree."
            )
        verdict = None if guarantee is None else guarantee.check(data)
        degrees = [PrivacyDegree(1).check(data)] if is_measured else []
        measures = tuple(
            Measure("privacy degree, p", None, reached.relation, reached.worst) for reached in degrees
        )
        return Judgment({"baskets": len(data), "groups": data.n_groups}, verdict, measures)
    if not isinstance(guarantee, KmAnonymity | RulesHidden | None):
        raise InputError("A privacy degree is about groups of baskets, and these have none.")
    verdict = None if guarantee is None else guarantee.check(data)
    lengths = data.lengths.astype(np.float64)
    measures_ = []
    sets = np.ones(len(data))
    for m in range(1, _MOST_KNOWN + 1 if is_measured else 1):
        # C(n, m) = C(n, m - 1) (n - m + 1)/m: as many combinations as are to be counted.
        sets = sets * np.maximum(lengths - m + 1, 0) / m
        if m == 1 or sets.sum() <= _MOST_SETS:
            reached = KmAnonymity(1, m).check(data)
            measures_.append(Measure(f"k^{m}-anonymity, k", None, reached.relation, reached.worst))
    return Judgment({"baskets": len(data)}, verdict, tuple(measures_))
