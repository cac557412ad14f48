"""Global recoding of ARX's Adult (30,162 rows, nine quasi-identifiers, k = 5) beside the best levels of columns."""

from __future__ import annotations

from typing import Any

from adult_tables import adult_table
from measuring import cpu
from rows import Row, within

K = 5
MOST_SECONDS = 2.0
SHARES = (0.0, 0.02)
ROUNDING = 1e-9


def run() -> list[Row]:
    """Time the recoding of the coded table, and compare its loss with that of the node it begins at."""
    from discreet.guarantees import KAnonymity
    from discreet.measure import loss
    from discreet.publish import GlobalRecoding, OptimalLattice

    table, rows = adult_table(), []
    for share in SHARES:
        released: list[Any] = []
        method = GlobalRecoding(KAnonymity(K), max_suppressed=share)
        seconds = cpu(
            lambda method=method, released=released: released.append(method.release(table)), times=3, warm=1
        )
        release = released[-1]
        assert release.verdict.ok
        ours = loss(release).total
        best = loss(OptimalLattice(KAnonymity(K), max_suppressed=share).release(table)).total
        opened = release.evidence.details["specialized"]
        note = f"{opened} branches opened, {release.evidence.suppressed:,} rows suppressed"
        name = f"at most {share:.0%} suppressed"
        rows += [
            within(f"CPU seconds, the table being coded, {name}", seconds, MOST_SECONDS, "s", note=note),
            within(
                f"loss by that of OptimalLattice, {name}",
                ours / best,
                1.0 + ROUNDING,
                "×",
                ours=f"{ours:.4f}",
                peer=f"{best:.4f}",
                note=note,
            ),
        ]
    return rows
