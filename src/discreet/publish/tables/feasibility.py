"""Feasibility: a promise that not even the whole table as one class keeps is refused before any search."""

from __future__ import annotations

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.core.tables.groups import Groups
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict
from discreet.guarantees import Guarantee


def refuse_infeasible(guarantee: Guarantee, table: Table, whole: Groups | None = None) -> None:
    """Raise an InfeasibleError unless the whole table as one class keeps the promise."""
    guarantee.columns(table.schema.sensitive)
    verdict = guarantee.check(whole_table(table) if whole is None else whole)
    if verdict.ok:
        return
    broken = [part for part in verdict.parts or (verdict,) if not part.ok]
    raise InfeasibleError(
        "No release can keep the promise: " + "; ".join(_shortfall(part) for part in broken) + "."
    )


def whole_table(table: Table) -> Groups:
    """Return the whole table as one class."""
    one = np.zeros(table.tuples.counts.size, np.int32)
    return Groups.of(one, table.tuples.counts, 1, table.sensitive_codes())


def _shortfall(verdict: Verdict) -> str:
    return (
        f"{verdict.guarantee} asks for {verdict.measure} {verdict.relation} {verdict.bound:g}, and the whole table "
        f"as one class ({verdict.n_rows} rows) reaches {verdict.worst:g}; ask for that at the most"
    )
