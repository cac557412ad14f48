"""Loss of Mondrian on 8 columns of Adult, beside a plain textbook strict Mondrian."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measuring import cpu
from mondrian_adult import adult_csv
from rows import Row, faster, within

LEFT_OUT = "salary-class"
NUMBERS = ("age",)
KS = (5, 10)
ROUNDING = 1.001
PUBLISHED = {5: 0.075}
"""The loss reported of the common strict Mondrian on GitHub, on 8 columns of Adult."""

IntColumn = NDArray[np.intp]
Records = list[tuple[int, ...]]


def run() -> list[Row]:
    """Compare loss and CPU seconds; both get the same whole numbers, the ranks of the values in an order."""
    with tempfile.TemporaryDirectory() as folder:
        ranked = _ranked(adult_csv(Path(folder)))
    rows = []
    for k in KS:
        for order, ranks in ranked.items():
            rows += _compared(ranks, k, order)
    return rows


def _compared(ranks: dict[str, IntColumn], k: int, order: str) -> list[Row]:
    import pyarrow as pa

    from discreet import Table, quasi

    table = Table(pa.table(ranks), {name: quasi() for name in ranks})
    records = list(zip(*(column.tolist() for column in ranks.values()), strict=True))
    spans = [max(column) - min(column) for column in zip(*records, strict=True)]
    groups: list[Records] = []
    theirs = cpu(lambda: _textbook(records, spans, k, groups), times=1, warm=0)
    mine = cpu(lambda: _partition(table, k), times=11, warm=2)
    reference, ours = _loss(groups, spans), _loss(_ours(table, k), spans)
    shown = {"ours": f"{ours:.4f}", "peer": f"{reference:.4f}"}
    what = f"k = {k}, categories ranked {order}"
    rows = [within(f"GCP, {what}", ours / reference, ROUNDING, "×", **shown)]
    if k in PUBLISHED:
        rows.append(within(f"GCP, {what}, beside the published one", ours, PUBLISHED[k], ""))
    return [*rows, faster(f"partitioning, {what}", mine, theirs)]


def _ranked(source: Path) -> dict[str, dict[str, IntColumn]]:
    """Return the columns as ranks: categories by their names, and as they first appear; numbers by size."""
    import discreet

    frame = discreet.read(source).to_arrow_table()
    ranked: dict[str, dict[str, IntColumn]] = {"by name": {}, "as they appear": {}}
    for name in frame.column_names:
        if name == LEFT_OUT:
            continue
        _, first, rank = np.unique(frame[name].to_pylist(), return_index=True, return_inverse=True)
        ranked["by name"][name] = rank
        appeared = np.argsort(np.argsort(first))[rank]
        ranked["as they appear"][name] = rank if name in NUMBERS else appeared
    return ranked


def _partition(table: Any, k: int) -> Any:
    from discreet.guarantees import KAnonymity
    from discreet.publish import Mondrian

    return Mondrian(KAnonymity(k)).partition(table)[0]


def _ours(table: Any, k: int) -> list[Records]:
    segments = _partition(table, k)
    groups = []
    for low, high in zip(segments.low, segments.high, strict=True):
        codes = np.repeat(segments.codes[low:high], segments.weights[low:high], axis=0)
        groups.append([tuple(row) for row in codes.tolist()])
    return groups


def _textbook(records: Records, spans: list[int], k: int, groups: list[Records]) -> None:
    """Cut at the median of the widest column where both halves keep k rows, and go on in each half."""
    columns = list(zip(*records, strict=True))
    widths = [(max(column) - min(column)) / span for column, span in zip(columns, spans, strict=True)]
    for column in sorted(range(len(spans)), key=lambda column: -widths[column]):
        if widths[column] == 0:
            break
        median = sorted(columns[column])[(len(records) - 1) // 2]
        left = [record for record in records if record[column] <= median]
        right = [record for record in records if record[column] > median]
        if len(left) >= k and len(right) >= k:
            _textbook(left, spans, k, groups)
            _textbook(right, spans, k, groups)
            return
    groups.append(records)


def _loss(groups: list[Records], spans: list[int]) -> float:
    """Average over all cells how much of its column's range a cell's interval takes (GCP)."""
    lost = 0.0
    for records in groups:
        for column, span in zip(zip(*records, strict=True), spans, strict=True):
            lost += len(records) * (max(column) - min(column)) / span
    return lost / (sum(map(len, groups)) * len(spans))
