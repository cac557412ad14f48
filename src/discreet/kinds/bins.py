"""Bins: round places to cut a line of numbers or dates, chosen so that no bin holds only a few people."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.tables.labels import Exact, Interval, datetimes, parse_label, value_kind

MOST = 12
_DAY = 86_400.0
_UNITS = ((14, "D", 1), (95, "D", 7), (430, "M", 1), (1_300, "M", 3), (4_500, "Y", 1))


@dataclass(frozen=True, repr=False)
class Bins:
    """A line cut at ``edges`` into one bin more; the outer bins are open, so that no extreme value shows."""

    edges: FloatArray
    labels: tuple[str, ...]
    low: float
    high: float
    whole: bool

    def of(self, line: FloatArray) -> IntArray:
        """Return the bin of each place on the line."""
        return np.searchsorted(self.edges, line, side="right").astype(np.int64)

    def spread(self, low: FloatArray, high: FloatArray, weights: IntArray) -> FloatArray:
        """Spread each weight evenly from its low to its high place, and add up per bin."""
        # An open end reaches as far as the middle of the data, or to the other end where that lies beyond.
        low = np.where(np.isfinite(low), low, np.minimum(self.low, high))
        high = np.where(np.isfinite(high), high, np.maximum(self.high, low))
        width = (high - low)[:, None]
        reached = np.clip((self.edges - low[:, None]) / np.where(width > 0, width, 1.0), 0.0, 1.0)
        # A point on an edge belongs to the bin above, as in `of`.
        reached = np.where(width > 0, reached, self.edges > low[:, None])
        below = np.concatenate([np.zeros((low.size, 1)), reached, np.ones((low.size, 1))], axis=1)
        return np.asarray(weights @ np.diff(below, axis=1), dtype=np.float64)


def line_of(values: pa.Array) -> FloatArray | None:
    """Place numbers, or dates as days, on a line; None where the values are neither."""
    kind = value_kind(values.type)
    if kind == "number":
        return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    if kind == "date":
        return np.asarray(datetimes(values).astype("datetime64[s]").astype(np.int64) / _DAY, np.float64)
    return None


def cut(values: pa.Array, counts: IntArray, fewest: int) -> Bins | None:
    """Cut a column's line at round places, where every bin holds nobody or at least ``fewest`` people."""
    line = line_of(values)
    if line is None or counts.sum() < fewest:
        return None
    low, high = _middle(line, counts)
    dates = value_kind(values.type) == "date"
    is_integer = pa.types.is_integer(values.type) or pa.types.is_date(values.type)
    edges, unit = _date_edges(low, high) if dates else (_number_edges(low, high, is_integer=is_integer), "")
    edges = _merged(edges, line, counts, fewest)
    labels = _date_labels(edges, unit) if dates else _number_labels(edges, is_integer=is_integer)
    return Bins(edges, labels, low, high, is_integer)


def ends_of(labels: list[str], bins: Bins, *, dates: bool) -> tuple[FloatArray, FloatArray] | None:
    """Read labels as stretches of the line; None where one cannot be read so."""
    low, high = np.empty(len(labels)), np.empty(len(labels))
    # Of whole numbers, [20, 29] covers the line up to 30.
    step = 1.0 if bins.whole else 0.0
    for number, label in enumerate(labels):
        meaning = parse_label(label)
        try:
            if isinstance(meaning, Interval):
                low[number] = -np.inf if meaning.low is None else _place(meaning.low, dates=dates)
                high[number] = np.inf if meaning.high is None else _place(meaning.high, dates=dates)
                low[number] += 0.0 if meaning.closed_low else step
                high[number] += step if meaning.closed_high else 0.0
            elif isinstance(meaning, Exact):
                low[number] = high[number] = _place(label, dates=dates)
            else:
                return None
        except ValueError:
            return None
    return low, high


def _place(written: str, *, dates: bool) -> float:
    if not dates:
        return float(written)
    moment = dt.datetime.fromisoformat(written).replace(tzinfo=None)
    return (moment - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)  # noqa: DTZ001


def _middle(line: FloatArray, counts: IntArray) -> tuple[float, float]:
    """Find between which places all but a hundredth of the people at either end lie."""
    order = np.argsort(line)
    reached = np.cumsum(counts[order]) / counts.sum()
    last = line.size - 1
    low, high = np.searchsorted(reached, [0.01, 0.99]).clip(0, last)
    return float(line[order][low]), float(line[order][high])


def _number_edges(low: float, high: float, *, is_integer: bool) -> FloatArray:
    rough = (high - low) / (MOST - 2)
    if not rough > 0:
        return np.empty(0)
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(step for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))
    step = max(step, 1.0) if is_integer else step
    first, last = np.floor(low / step) + 1, np.floor(high / step)
    return np.asarray(np.arange(first, last + 1) * step)


def _date_edges(low: float, high: float) -> tuple[FloatArray, str]:
    days, unit, count = next((span for span in _UNITS if high - low <= span[0]), (0, "Y", 0))
    if not days:
        count = int(_number_edges(0.0, (high - low) / 365.25, is_integer=True)[0])
    calendar = np.array([low, high]).astype("datetime64[D]").astype(f"datetime64[{unit}]").astype(np.int64)
    shift = 3 if unit == "D" and count == 7 else 1970 if unit == "Y" else 0
    first, last = (calendar + shift) // count
    starts = np.arange(first + 1, last + 1) * count - shift
    edges = starts.astype(f"datetime64[{unit}]").astype("datetime64[D]").astype(np.float64)
    return edges, unit if count == 1 or unit != "M" else "Q"


def _merged(edges: FloatArray, line: FloatArray, counts: IntArray, fewest: int) -> FloatArray:
    """Drop edges until no bin holds between one and ``fewest`` people."""
    while edges.size:
        n_in_bin = np.bincount(
            np.searchsorted(edges, line, side="right"), weights=counts, minlength=edges.size + 1
        )
        few = np.flatnonzero((n_in_bin > 0) & (n_in_bin < fewest))
        if not few.size:
            break
        bin_ = int(few[np.argmin(n_in_bin[few])])
        before = n_in_bin[bin_ - 1] if bin_ > 0 else np.inf
        after = n_in_bin[bin_ + 1] if bin_ < edges.size else np.inf
        edges = np.delete(edges, bin_ - 1 if before <= after else bin_)
    return edges


def _number_labels(edges: FloatArray, *, is_integer: bool) -> tuple[str, ...]:
    if not edges.size:
        return ("all values",)
    written = [f"{edge:,.10g}" for edge in edges]
    inner = []
    for low, high in pairwise(edges):
        if is_integer:
            inner.append(f"{low:,.10g}" if high - low == 1 else f"{low:,.10g}–{high - 1:,.10g}")
        else:
            inner.append(f"{low:,.10g} to {high:,.10g}")
    return (f"under {written[0]}", *inner, f"{written[-1]} or more")


def _date_labels(edges: FloatArray, unit: str) -> tuple[str, ...]:
    if not edges.size:
        return ("all dates",)
    starts = [dt.date(1970, 1, 1) + dt.timedelta(days=int(edge)) for edge in edges]
    first = [_written(start, unit) for start in starts]
    last = [_written(start - dt.timedelta(days=1), unit) for start in starts]
    inner = (
        low if low == high else f"{low} – {high}" for low, high in zip(first[:-1], last[1:], strict=True)
    )
    return (f"until {last[0]}", *inner, f"from {first[-1]}")


def _written(day: dt.date, unit: str) -> str:
    if unit == "Y":
        return f"{day.year}"
    if unit == "Q":
        return f"{day.year} Q{(day.month + 2) // 3}"
    return f"{day.year}-{day.month:02}" if unit == "M" else day.isoformat()
