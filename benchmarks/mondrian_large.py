"""Mondrian on generated tables of 1 and 10 million rows and 8 columns: CPU seconds and memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from measuring import fresh, peak
from rows import Row, within

K, DISEASES = 5, 30
CARDS = {"one byte": (80, 2, 200, 7, 16, 41, 8, 200), "two bytes": (80, 2, 5000, 7, 16, 41, 8, 1000)}
"""How many values the columns have; more than 255 in one column make every code two bytes wide."""
SECONDS = {1_000_000: 0.25, 10_000_000: 2.0}
DIVERSE = 3.0
"""The limit with a sensitive column and entropy diversity, 10 million rows."""
MEMORY = 3.0


def run() -> list[Row]:
    """Partition each table in a process of its own."""
    rows = []
    for n_rows, limit in SECONDS.items():
        for width, cards in CARDS.items():
            found = fresh("mondrian_large", "measure", n_rows, cards)
            what = f"{n_rows // 1_000_000}M × {len(cards)}, codes of {width}"
            rows.append(
                within(
                    f"partitioning {what}", found["seconds"], limit, "s", note=f"{found['groups']:,} groups"
                )
            )
            if n_rows == max(SECONDS):
                shown = {"ours": f"{found['added'] / 1e6:,.0f} MB", "peer": f"{found['coded'] / 1e6:,.0f} MB"}
                ratio = found["added"] / found["coded"]
                note = "memory that partitioning adds, beside the coded table"
                rows.append(within(f"memory of {what}", ratio, MEMORY, "×", **shown, note=note))
    diverse = fresh("mondrian_large", "measure", max(SECONDS), CARDS["one byte"], DISEASES)
    what = f"partitioning {max(SECONDS) // 1_000_000}M × 8 under entropy diversity"
    rows.append(within(what, diverse["seconds"], DIVERSE, "s", note=f"{diverse['groups']:,} groups"))
    return rows


def measure(n_rows: int, cards: list[int], diseases: int = 0) -> dict[str, Any]:
    """Partition a coded table, the kernels being warm; gives CPU seconds and memory."""
    from discreet.guarantees import EntropyDiversity, KAnonymity
    from discreet.publish import Mondrian

    mondrian = Mondrian(KAnonymity(K) & EntropyDiversity(2) if diseases else KAnonymity(K))
    mondrian.partition(_table(20_000, cards, diseases))
    table = _table(n_rows, cards, diseases)
    coded = table.tuples.codes.nbytes
    found: list[Any] = []
    cost = peak(lambda: found.append(mondrian.partition(table)))
    groups = int(found[0][0].low.size)
    return {"seconds": cost.seconds, "added": cost.added, "coded": coded, "groups": groups}


def _table(n_rows: int, cards: list[int], diseases: int = 0) -> Any:
    import pyarrow as pa

    from discreet import Table, quasi, sensitive

    rng = np.random.default_rng(0)
    columns = {f"column{number}": _column(rng, n_rows, card) for number, card in enumerate(cards)}
    roles = {name: quasi() for name in columns}
    if diseases:
        columns["disease"] = (rng.random(n_rows) ** 3 * diseases).astype(np.int32)
        roles["disease"] = sensitive()
    return Table(pa.table(columns), roles)


def _column(rng: np.random.Generator, n_rows: int, card: int) -> Any:
    """Draw bell-shaped values, as ages, incomes and codes of regions are."""
    return (rng.normal(0.5, 0.15, n_rows).clip(0, 0.999) * card).astype(np.int32)
