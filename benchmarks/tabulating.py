"""Tables of counts: complementary cells of a table of 10,000 cells, with the bound that proves how few they are."""

from __future__ import annotations

import time

import numpy as np

from measuring import fresh
from rows import Row, within

SECONDS = 30.0
MEANS = (30, 200)
"""The mean count of a cell: about 1,600 and 550 of the cells are small."""


def run() -> list[Row]:
    """Suppress the cells of tables of 100 by 100 categories in processes of their own."""
    rows = []
    for mean in MEANS:
        figures = fresh("tabulating", "suppressed", mean)
        note = (
            f"{figures['primary']:,} primary, {figures['complementary']:,} complementary cells of value "
            f"{figures['cost']:,.0f}; "
            f"no choice below {figures['lower_bound']:,.0f}; verdict {figures['word']}"
        )
        rows.append(
            within(f"10,201 cells, mean count {mean}, CPU", figures["seconds"], SECONDS, "s", note=note)
        )
    return rows


def suppressed(mean: int) -> dict[str, object]:
    """Suppress the small cells of a generated table, and judge it."""
    from discreet.output.tabular import CellSuppression, CellTable, Tabulation

    rng, names = np.random.default_rng(0), [f"c{number}" for number in range(100)]
    counts = rng.poisson(np.outer(rng.gamma(1, 1, 100), rng.gamma(1, 1, 100)) * mean)
    table = Tabulation.of_cells(CellTable.of_leaves({"a": names, "b": names}, counts))
    began = time.process_time()
    release = CellSuppression(5, time_limit=60).release(table)
    word = release.verdict.word
    return {"seconds": time.process_time() - began, "word": word, **release.evidence.details}
