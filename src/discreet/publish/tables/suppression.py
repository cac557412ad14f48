"""Suppression: rows whose class would break the guarantee are left out, up to a number or a share of them."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.arrays import BoolArray
from discreet.core.baskets.supports import is_count
from discreet.core.errors import InfeasibleError
from discreet.core.params import FloatIn, IntIn
from discreet.core.tables.groups import Groups
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict
from discreet.guarantees import Guarantee

SUPPRESSIBLE = (IntIn(0), FloatIn(0, 1))
"""What ``max_suppressed`` must be: an int is a number of rows, a float a share, so that 1 is a row and 1.0 is all."""


def kept_groups(guarantee: Guarantee, groups: Groups, *, limit: int | None = None) -> BoolArray:
    """Find the groups that keep the guarantee once those that break it are left out.

    Where groups are compared with the whole table, leaving some out moves it, so the rest is judged again until all
    hold, or until more rows than the limit are left out.
    """
    kept = guarantee.holds(groups)
    while guarantee.relative and kept.any() and not kept.all():
        if limit is not None and groups.sizes[~kept].sum() > limit:
            break
        holds = guarantee.holds(groups.only(kept))
        if holds.all():
            break
        kept[kept] = holds
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
    return (
        f"{verdict.guarantee} asks for {verdict.measure} {verdict.relation} {verdict.bound:g}, and the whole table "
        f"as one class ({verdict.n_rows} rows) reaches {verdict.worst:g}; ask for that at the most"
    )
