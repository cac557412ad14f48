"""Stream condensation: records a second one at a time and in batches, at 8 columns with 1,000 groups on one core."""

from __future__ import annotations

from typing import Any

import numpy as np

from measuring import cpu, fresh
from rows import Row, rate

COLUMNS, GROUPS, K = 8, 1000, 10
ONE_BY_ONE, BATCH = 20_000, 100_000
N = {"one by one": 20_000, "batch": 200_000}


def run() -> list[Row]:
    """Measure in a process of its own; the kernel is serial, so CPU seconds are those of one core."""
    found = fresh("stream_condensation", "measure")
    kept = f"{found['groups']:,} groups of at least {found['smallest']:,} records"
    shown = f"{kept}, {found['bytes'] / 1e6:.1f} MB of state"
    return [
        rate("one record at a time through partial_fit", found["one by one"], ONE_BY_ONE, note=shown),
        rate("batches of 1,000", found["batch"], BATCH),
        Row(
            "the same, while groups split",
            ours=f"{found['splitting']:,.0f}/s",
            note=f"growing to {found['most']:,} groups",
        ),
    ]


def measure() -> dict[str, Any]:
    """Return records a second, the kernels being warm."""
    from discreet.publish import StreamCondensation

    rng = np.random.default_rng(0)
    values = rng.normal(size=(N["batch"], COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))
    rows = [values[i : i + 1] for i in range(N["one by one"])]
    batches = np.split(values, N["batch"] // 1000)

    def begun(max_groups: int) -> Any:
        return StreamCondensation(K, init_number=15_000, max_groups=max_groups, random_state=0).fit(
            values[:15_000]
        )

    def take(stream: Any, parts: Any) -> None:
        for part in parts:
            stream.partial_fit(part)

    prepare = lambda: begun(GROUPS)  # noqa: E731
    steady = begun(GROUPS)
    kept = steady.statistics_
    one = cpu(lambda stream: take(stream, rows), prepare=prepare)
    many = cpu(lambda stream: take(stream, batches), prepare=prepare)
    grown = begun(100_000)
    take(grown, batches[:25])
    splitting = cpu(lambda stream: take(stream, batches[:25]), prepare=lambda: begun(100_000))
    return {
        "one by one": len(rows) / one,
        "batch": len(values) / many,
        "splitting": 25_000 / splitting,
        "groups": kept.n_groups,
        "most": grown.statistics_.n_groups,
        "smallest": int(kept.n.min()),
        "bytes": sum(array.nbytes for array in kept.to_arrays().values()),
    }
