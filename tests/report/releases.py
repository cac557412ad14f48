"""Small releases to report on, some of them with things planted that must never be seen again."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa

from discreet import Table, identifier, intervals, masked, other, quasi, sensitive
from discreet.core.release import Release
from discreet.guarantees import Guarantee, KAnonymity
from discreet.publish import Mondrian

PLANTED = (
    "Zyxwv Planted",
    "plantedtown",
    "plantedjob",
    "planted-disease",
    "planted-note",
    "7654321",
    "1877-03-09",
)
EVIL = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "<!-- naïve 名前 \u202e ${alert(3)} 'q'",
)


def planted_frame(n: int = 400) -> pa.Table:
    """Return a table in which one person has a unique value everywhere."""
    rng = np.random.default_rng(0)
    day = dt.date(1950, 1, 1)
    columns = {
        "name": [f"person {number}" for number in range(n)],
        "age": rng.integers(0, 95, n).tolist(),
        "income": rng.integers(10, 90, n).tolist(),
        "born": [day + dt.timedelta(days=int(one)) for one in rng.integers(0, 20_000, n)],
        "town": rng.choice(["north", "south", "east"], n).tolist(),
        "job": rng.choice(["cook", "clerk", "nurse", "smith"], n).tolist(),
        "disease": rng.choice(["flu", "cold", "gout", "cough"], n).tolist(),
        "note": ["-"] * n,
    }
    columns["name"][7], columns["town"][7], columns["job"][7] = PLANTED[:3]
    columns["disease"][7], columns["note"][7] = PLANTED[3:5]
    columns["income"][7], columns["born"][7] = int(PLANTED[5]), dt.date.fromisoformat(PLANTED[6])
    return pa.table(columns)


def planted_columns() -> dict[str, object]:
    """Return the planted table's roles."""
    return {
        "name": identifier(),
        "age": quasi(intervals(5, 10, 20)),
        "income": quasi(),
        "born": quasi(),
        "town": quasi(),
        "job": quasi(masked(width=10)),
        "disease": sensitive(),
        "note": other(),
    }


def evil_release() -> Release:
    """Return a release whose names and values try to break out of the page."""
    rng = np.random.default_rng(0)
    frame = pa.table({
        EVIL[0]: rng.integers(0, 90, 300),
        EVIL[1]: [EVIL[number % 3] for number in range(300)],
        EVIL[2]: [EVIL[number % 2] for number in range(300)],
    })  # fmt: skip
    return released(frame, {EVIL[0]: quasi(), EVIL[1]: quasi(), EVIL[2]: sensitive()})


def released(frame: object, columns: dict[str, object], guarantee: Guarantee | None = None) -> Release:
    """Release a frame by Mondrian."""
    return Mondrian(guarantee or KAnonymity(5), random_state=0).release(Table(frame, columns))  # type: ignore[arg-type]
