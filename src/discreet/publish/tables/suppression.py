"""Suppression: rows whose class would break the promise are left out, up to a stated share."""

from __future__ import annotations

import math

from discreet.core.arrays import BoolArray
from discreet.core.errors import InfeasibleError
from discreet.core.tables.groups import Groups
from discreet.guarantees import Guarantee


def kept_groups(guarantee: Guarantee, groups: Groups, *, limit: int | None = None) -> BoolArray:
    """Find the groups that keep the promise once those that break it are left out.

    Where groups are compared with the whole table, leaving some out moves it, so the rest is judged again until all
    hold, or until more rows than the limit are left out.
    """
    kept = guarantee.holds(groups)
    while guarantee.relative and kept.any() and not kept.all():
        if limit is not None and groups.sizes[~kept].sum() > limit:
            break
        held = guarantee.holds(groups.only(kept))
        if held.all():
            break
        kept[kept] = held
    return kept


def allowed_rows(max_suppressed: float, n_rows: int) -> int:
    """Return how many rows a share allows to be left out; 0.29 of 100 is 29, whatever a float makes of it."""
    return math.floor(max_suppressed * n_rows + 1e-9)


def share_for(n_dropped: int, n_rows: int) -> float:
    """Return a short share that allows so many rows to be left out."""
    return math.ceil(n_dropped / n_rows * 10_000 - 1e-9) / 10_000


def refuse_too_many(guarantee: Guarantee, n_dropped: int, n_rows: int, max_suppressed: float) -> None:
    """Raise an InfeasibleError where more rows must be left out than may be, or all; it says what would do."""
    if n_dropped <= allowed_rows(max_suppressed, n_rows) and n_dropped < n_rows:
        return
    remedy, fix = "generalize further or ask for less", {}
    if n_dropped < n_rows:
        fix = {"max_suppressed": share_for(n_dropped, n_rows)}
        remedy = f"allow max_suppressed={fix['max_suppressed']:g}"
    raise InfeasibleError(
        f"{n_dropped} of {n_rows} rows ({n_dropped / n_rows:.2%}) would have to be suppressed to keep {guarantee}, "
        f"and at most {max_suppressed:.2%} may be; {remedy}.",
        fix=fix,
    )
