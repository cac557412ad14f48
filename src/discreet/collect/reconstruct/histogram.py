"""Histogram: noisy values counted in fine bins, all that reconstruction needs; histograms of batches add up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public, reads
from discreet.core.errors import InputError
from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.core.validation import array_of, finite

_CHUNK = 1 << 20
_MOST_BINS = 4_000_000
FARTHEST = 2**53
"""The farthest bin from zero, and the most that is counted: whole numbers up to it are distinct as floats."""


@public
@dataclass(frozen=True, repr=False, eq=False)
class Histogram:
    """Counts of values in bins of one width: bin i holds [(first + i)·width, (first + i + 1)·width).

    The bins are at multiples of the width, so histograms of the same width add up, whoever made them.

    Examples
    --------
    >>> monday, tuesday = (Histogram.of(values, width=10) for values in ([12.0, 18.0, 31.0], [7.0, 12.5]))
    >>> week = monday + tuesday
    >>> week.edges.tolist(), week.counts.tolist()
    ([0.0, 10.0, 20.0, 30.0, 40.0], [1, 3, 0, 1])
    """

    width: float
    first: int
    counts: IntArray

    def __post_init__(self) -> None:
        require(self, "width", self.width, FloatIn(0, closed="neither"))
        require(self, "first", self.first, IntIn(-FARTHEST, FARTHEST))
        counts = whole_counts(self.counts)
        if counts.ndim != 1:
            raise InputError("A histogram needs one count for each of its bins.")
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "width", float(self.width))

    @classmethod
    def of(cls, values: Any, *, width: float) -> Histogram:
        """Count values: an array, or an iterable of arrays that is gone through once."""
        require(cls.__name__, "width", width, FloatIn(0, closed="neither"))
        whole: Histogram | None = None
        for part in _parts(values):
            ends = [float(part.min()) / width, float(part.max()) / width]
            if ends[1] - ends[0] >= _MOST_BINS or not max(map(abs, ends)) < FARTHEST:
                raise InputError(
                    f"The values spread over more than {_MOST_BINS:,} bins; use wider bins or look for outliers."
                )
            lowest = math.floor(ends[0])
            places = np.floor(part / width).astype(np.int64)
            counted = cls(width, lowest, np.bincount(places - lowest).astype(np.int64))
            whole = counted if whole is None else whole + counted
        if whole is None:
            raise InputError("There are no values to count.")
        return whole

    @property
    def n(self) -> int:
        """The number of values counted."""
        return int(self.counts.sum())

    @property
    def edges(self) -> FloatArray:
        """The ends of the bins."""
        return np.asarray((self.first + np.arange(self.counts.size + 1)) * self.width)

    @property
    def middles(self) -> FloatArray:
        """The middles of the bins."""
        return np.asarray((self.first + np.arange(self.counts.size) + 0.5) * self.width)

    def __add__(self, other: Histogram) -> Histogram:
        """Add the counts of another histogram of the same width."""
        require(self, "other", other, InstanceOf((Histogram,), "a Histogram"))
        if other.width != self.width:
            raise InputError("Histograms add up only if their bins have the same width.")
        first = min(self.first, other.first)
        last = max(one.first + one.counts.size for one in (self, other))
        if last - first > _MOST_BINS:
            raise InputError(f"Together the histograms would have more than {_MOST_BINS:,} bins.")
        counts = np.zeros(last - first, np.int64)
        for one in (self, other):
            counts[one.first - first :][: one.counts.size] += one.counts
        return Histogram(self.width, first, counts)

    def coarser(self, factor: int) -> Histogram:
        """Join every ``factor`` neighboring bins into one."""
        require(self, "factor", factor, IntIn(1))
        before = self.first % factor
        after = -(before + self.counts.size) % factor
        joined = np.pad(self.counts, (before, after)).reshape(-1, factor).sum(axis=1)
        return Histogram(self.width * factor, self.first // factor, joined)

    def to_dict(self) -> dict[str, Any]:
        """Return the histogram as plain data for JSON; ``from_dict`` reads it."""
        return {"width": self.width, "first": self.first, "counts": self.counts.tolist()}

    @classmethod
    @reads("The histogram")
    def from_dict(cls, plain: Mapping[str, Any]) -> Histogram:
        """Read what ``to_dict`` returns."""
        try:
            return cls(plain["width"], plain["first"], plain["counts"])
        except (KeyError, TypeError):
            raise InputError("This is no histogram, or it is damaged.") from None

    def __repr__(self) -> str:
        return f"Histogram({self.n} values in {self.counts.size} bins of {self.width:g})"


def whole_counts(counts_like: Any) -> IntArray:
    """Read counts: whole numbers, 0 or more, which can be added up."""
    try:
        counts = np.asarray(counts_like)
    except ValueError:
        counts = np.empty(0)
    if not counts.size or counts.dtype.kind not in "iu" or bool((counts < 0).any()):
        raise InputError("A histogram needs a whole number of values, 0 or more, for each of its bins.")
    if counts.sum(dtype=np.float64) >= FARTHEST:
        raise InputError("A histogram holds too many values to be counted.")
    return counts.astype(np.int64, copy=False)


def _parts(values: Any) -> Iterable[FloatArray]:
    """Return finite numbers, chunk by chunk."""
    listed = isinstance(values, list | tuple) and any(isinstance(one, np.ndarray) for one in values)
    for one in values if listed or hasattr(values, "__next__") else (values,):
        array = array_of(one, shown="noisy")
        if array.dtype.kind not in "iuf":
            raise InputError("The noisy values must be numbers.")
        array = array.ravel()
        for start in range(0, array.size, _CHUNK):
            yield finite(array[start : start + _CHUNK], "of the noisy values", then="drop them first")
