"""Curves of collection, drawn anew while its settings are changed: what noise does to numbers, and p and q to items.

They run where the data is; what they return holds bars of many people's values, and figures of the channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.collect import EMask
from discreet.collect.choose_pq import Choices, point_of
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.engine import engine_of
from discreet.engines.baskets.files import read_baskets
from discreet.engines.files import read
from discreet.job.verbs import verb_job
from discreet.kinds.wording import number, percent

_MOST_ROWS, _BARS, _STEPS = 20_000, 40, 99
_MOST_ERROR = 5.0
_Q = 0.95
"""Beyond this q false items are few, so that distorted baskets stay short."""

Line = list[tuple[float, float]]


@public
def noise_curves(path: str, reading: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the distribution of each column before and after its noise, from the first rows."""
    job = verb_job({**document, "input": {"path": path, **reading}, "output": {}})
    assert job is not None
    made = job.make(lambda stage: None)
    relation = read(path, **reading)
    figures, curves = made.figures["columns"], []
    before = engine_of(relation).first_rows(relation, _MOST_ROWS)
    batches: list[pa.RecordBatch] = []
    for batch in made.data:
        batches.append(batch)
        if sum(map(len, batches)) >= _MOST_ROWS:
            break
    after = pa.Table.from_batches(batches)
    for name, channel in figures.items():
        values = [_numbers(table[name]) for table in (before, after)]
        if not all(line.size for line in values):
            continue
        low, high = (float(end(np.concatenate(values))) for end in (np.min, np.max))
        lines = [_shares(line, low, high) for line in values]
        spread = channel["privacy"]
        width = "" if spread is None else f"; 95 % of the noise spans {percent(spread)} of the range"
        epsilon = channel["epsilon"]
        worth = f"ε = {number(epsilon)}" if epsilon is not None and np.isfinite(epsilon) else "no finite ε"
        curves.append(_curve(name, f"{worth}{width}.", lines, low, high))
    return {"curves": curves, "names": ("true values", "with noise")}


def _numbers(column: pa.ChunkedArray) -> FloatArray:
    line = np.asarray(column.drop_null().cast(pa.float64(), safe=False).to_numpy(), np.float64)
    return line[np.isfinite(line)]


def _shares(line: FloatArray, low: float, high: float) -> Line:
    heights, edges = np.histogram(line, bins=_BARS, range=(low, high if high > low else low + 1))
    return list(zip(((edges[1:] + edges[:-1]) / 2).tolist(), (heights / line.size).tolist(), strict=True))


@public
def pq_curves(path: str, reading: Mapping[str, Any], p: float, q: float | None) -> dict[str, Any]:
    """Return how well a one is hidden, and how far supports are off, over all p for the q that is set."""
    baskets = read_baskets(path, **reading)
    support = float(baskets.counts.mean() / max(len(baskets), 1))
    required = Choices((), support, len(baskets), 90.0, 0.05, _Q)
    chosen = point_of(p, p if q is None else q, required)
    grid = [step / (_STEPS + 1) for step in range(1, _STEPS + 1)]
    # Where p + q is 1 nothing can be estimated.
    points = [point_of(at, at if q is None else q, required) for at in grid if abs(at + (q or at) - 1) > 1e-6]
    privacy = [(point.p, point.basic_privacy / 100) for point in points]
    error = [(point.p, min(point.error_ratio, _MOST_ERROR) / _MOST_ERROR) for point in points]
    epsilon = EMask(chosen.p, chosen.q).epsilon
    hidden = f"{percent(chosen.basic_privacy / 100)} at p = {number(p)}; ε of a bit is {number(epsilon)}."
    times = number(round(chosen.error_ratio, 2))
    ratio = f"{times} times as far as of MASK with p = q = 0.9; the picture ends at {_MOST_ERROR:g} times."
    return {
        "curves": [
            _curve("How well an item is hidden", hidden, [privacy], 0.0, 1.0, p),
            _curve("How far supports are off", ratio, [error], 0.0, 1.0, p),
        ],
        "names": (f"over all p, for q = {number(chosen.q)}" if q is not None else "over all p, for q = p",),
    }


def _curve(
    title: str, text: str, lines: list[Line], low: float, high: float, mark: float | None = None
) -> dict[str, Any]:
    """Return a curve as a page draws it: points between 0 and 100 both ways, and where its mark is."""
    top, span = max((y for line in lines for _, y in line), default=1.0) or 1.0, (high - low) or 1.0
    top = 1.0 if mark is not None else top
    drawn = [
        " ".join(f"{100 * (x - low) / span:.2f},{100 - 100 * y / top:.2f}" for x, y in line) for line in lines
    ]
    at = None if mark is None else round(100 * (mark - low) / span, 2)
    return {"title": title, "text": text, "lines": drawn, "low": low, "high": high, "mark": at}
