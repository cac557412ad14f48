"""Suppression: rows whose class would break the promise are left out, up to a stated share."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray
from discreet.core.errors import InfeasibleError
from discreet.core.groups import Groups
from discreet.core.table import Table
from discreet.guarantees import Guarantee


def suppressed_tuples(
    guarantee: Guarantee,
    table: Table,
    labels: CodeArray,
    max_suppressed: float,
    *,
    homeless: BoolArray | None = None,
) -> BoolArray:
    """Find the tuples to leave out so that every class left keeps the promise.

    Leaving rows out changes the whole table's distribution, so the classes left are judged again until all hold.
    ``homeless`` tuples belong to no class and go first. More than the allowed share is an InfeasibleError that names
    the share it would take.
    """
    counts = table.tuples.counts
    dropped = np.zeros(counts.size, np.bool_) if homeless is None else homeless.copy()
    while not dropped.all():
        failing = _failing(guarantee, table, labels, ~dropped)
        if not failing.any():
            break
        dropped |= failing
    n_dropped = int(counts[dropped].sum())
    if n_dropped > math.floor(max_suppressed * table.n_rows) or dropped.all():
        share = n_dropped / table.n_rows
        remedy = (
            "generalise further or ask for less" if dropped.all() else f"allow max_suppressed={share:.4f}"
        )
        raise InfeasibleError(
            f"{n_dropped} of {table.n_rows} rows ({share:.2%}) would have to be suppressed to keep {guarantee}, "
            f"and at most {max_suppressed:.2%} may be; {remedy}."
        )
    return dropped


def _failing(guarantee: Guarantee, table: Table, labels: CodeArray, kept: BoolArray) -> BoolArray:
    present, numbers = np.unique(labels[kept], return_inverse=True)
    counts = table.tuples.counts[kept]
    sensitive = {}
    for name, (codes, overall, tree) in table.sensitive_codes().items():
        left = np.bincount(codes[kept], weights=counts, minlength=overall.size).astype(np.int64)
        sensitive[name] = (codes[kept], left, tree)
    groups = Groups.of(numbers.astype(np.int32), counts, present.size, sensitive)
    failing = np.zeros(kept.size, np.bool_)
    failing[kept] = ~guarantee.holds(groups)[numbers]
    return failing
