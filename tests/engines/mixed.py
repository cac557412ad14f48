"""Rows of every type that is kept, for engines that live elsewhere: nulls, -0.0, decimals, time zones, any Unicode."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pyarrow as pa

from discreet import Table, identifier, other, quasi, sensitive

DAY = dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC)
ROLES = {
    "name": identifier(),
    "Age": quasi(),
    "age": quasi(),
    "city": quasi(),
    **dict.fromkeys(("dose", "weight", "seen", "huge", "ok", "note", "born"), other()),
    "disease": sensitive(),
}


def mixed_rows(n: int = 240) -> pa.Table:
    """Return rows of every type that is kept: nulls, -0.0, decimals, wide numbers, time zones, any Unicode."""
    cities = ["Zürich", "zürich", "Ōsaka 🏯", 'a "quoted", one', None, "tab\there"]
    return pa.table(
        {
            "name": [f"person {number}" for number in range(n)],
            "Age": pa.array([20 + number * 7 % 40 for number in range(n)], pa.int16()),
            "age": pa.array([None if number % 9 == 0 else number % 3 for number in range(n)], pa.int64()),
            "city": [cities[number % 6] for number in range(n)],
            "dose": pa.array(
                [decimal.Decimal(number % 4) / 4 - 1 for number in range(n)], pa.decimal128(10, 2)
            ),
            "weight": [[-0.0, 0.0, 1e300, None, 0.1][number % 5] for number in range(n)],
            "seen": pa.array(
                [DAY + dt.timedelta(hours=number % 4) for number in range(n)], pa.timestamp("us", "UTC")
            ),
            "huge": pa.array([(-1) ** number * (2**62 + number % 3) for number in range(n)], pa.int64()),
            "ok": [None if number % 11 == 0 else number % 2 == 0 for number in range(n)],
            "note": [["", " blank ", "back\\slash", "it's"][number % 4] for number in range(n)],
            "born": pa.array([dt.date(1, 1, 1) if number % 5 else None for number in range(n)]),
            "disease": [["flu", "cold", None][number % 3] for number in range(n)],
        }
    )


def released(frame: Any, method: Any) -> Any:
    """Return the release of a frame of such rows by a method."""
    names = frame.column_names if isinstance(frame, pa.Table) else frame.columns
    return method.release(Table(frame, {name: ROLES[name] for name in names}))
