"""Histograms: noisy values or rows counted in fine bins, all that reconstruction needs; those of batches add up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
_MOST_CELLS = 1 << 24
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
        total: Histogram | None = None
        for part in _parts(values):
            ends = [float(part.min()) / width, float(part.max()) / width]
            # Before any bin is allocated: one outlier would make the
            # array too large. "Not below" refuses infinity as well.
            if ends[1] - ends[0] >= _MOST_BINS or not max(map(abs, ends)) < FARTHEST:
                raise InputError(
                    f"The values spread over more than {_MOST_BINS:,} bins; use wider bins or look for outliers."
                )
            first = math.floor(ends[0])
            bins = np.floor(part / width).astype(np.int64)
            counted = cls(width, first, np.bincount(bins - first).astype(np.int64))
            total = counted if total is None else total + counted
        if total is None:
            raise InputError("There are no values to count.")
        return total

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
        first, counts = _added(
            ((self.first,), self.counts),
            ((other.first,), other.counts),
            _MOST_BINS,
            f"Together the histograms would have more than {_MOST_BINS:,} bins.",
        )
        return Histogram(self.width, first[0], counts)

    def coarser(self, factor: int) -> Histogram:
        """Join every ``factor`` neighboring bins into one."""
        require(self, "factor", factor, IntIn(1))
        # Joined bins begin at multiples of the coarser width, so
        # that coarser histograms of the same width still add up.
        before = self.first % factor
        after = -(before + self.counts.size) % factor
        joined = np.pad(self.counts, (before, after)).reshape(-1, factor).sum(axis=1)
        return Histogram(self.width * factor, self.first // factor, joined)

    def to_dict(self) -> dict[str, Any]:
        """Return the histogram as plain data for JSON; ``from_dict`` reads it."""
        return {"width": self.width, "first": self.first, "counts": self.counts.tolist()}

    @classmethod
    @reads("The histogram")
    def from_dict(cls, record: Mapping[str, Any]) -> Histogram:
        """Read what ``to_dict`` returns."""
        try:
            return cls(record["width"], record["first"], record["counts"])
        except (KeyError, TypeError):
            raise InputError("This is no histogram, or it is damaged.") from None

    def __repr__(self) -> str:
        return f"Histogram({self.n} values in {self.counts.size} bins of {self.width:g})"


@public
@dataclass(frozen=True, repr=False, eq=False)
class JointHistogram:
    """Counts in a grid: along axis a, bin i holds what has the place ``first[a] + i``.

    ``widths`` are those of the bins that numbers were placed in, 1 where the places are those of categories.
    """

    names: tuple[str, ...]
    widths: tuple[float, ...]
    first: tuple[int, ...]
    counts: IntArray

    def __post_init__(self) -> None:
        counts = whole_counts(self.counts)
        if len({len(self.names), len(self.widths), len(self.first), counts.ndim}) > 1:
            raise InputError("A joint histogram needs a name, a width and a first place for each axis.")
        for width, first in zip(self.widths, self.first, strict=True):
            require(self, "widths", width, FloatIn(0, closed="neither"))
            require(self, "first", first, IntIn(-FARTHEST, FARTHEST))
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(
        cls, names: tuple[str, ...], widths: tuple[float, ...], places: Sequence[IntArray]
    ) -> JointHistogram:
        """Count rows by their places along each axis."""
        if not places[0].size:
            raise InputError("There are no rows to count.")
        first = tuple(int(bins.min()) for bins in places)
        shape = tuple(int(bins.max()) - low + 1 for bins, low in zip(places, first, strict=True))
        _require_few(shape, _MOST_CELLS, _SPREAD_OUT)
        counts = np.zeros(int(np.prod(shape)), np.int64)
        for start in range(0, places[0].size, _CHUNK):
            part = tuple(bins[start : start + _CHUNK] - low for bins, low in zip(places, first, strict=True))
            counts += np.bincount(np.ravel_multi_index(part, shape), minlength=counts.size)
        return cls(names, widths, first, counts.reshape(shape))

    @property
    def n(self) -> int:
        """The number of rows counted."""
        return int(self.counts.sum())

    def __add__(self, other: JointHistogram) -> JointHistogram:
        """Add the counts of another histogram of the same columns and widths."""
        require(self, "other", other, InstanceOf((JointHistogram,), "a JointHistogram"))
        if (self.names, self.widths) != (other.names, other.widths):
            raise InputError(
                "Joint histograms add up only if their columns and the widths of bins are the same."
            )
        first, counts = _added(
            (self.first, self.counts), (other.first, other.counts), _MOST_CELLS, _SPREAD_OUT
        )
        return JointHistogram(self.names, self.widths, first, counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the histogram as plain data for JSON."""
        return {
            "names": list(self.names),
            "widths": list(self.widths),
            "first": list(self.first),
            "shape": list(self.counts.shape),
            "counts": self.counts.ravel().tolist(),
        }

    @classmethod
    @reads("The histogram")
    def from_dict(cls, record: Mapping[str, Any]) -> JointHistogram:
        """Read what ``to_dict`` returns."""
        try:
            counts = whole_counts(record["counts"]).reshape(record["shape"])
            return cls(tuple(record["names"]), tuple(record["widths"]), tuple(record["first"]), counts)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError("This is no joint histogram, or it is damaged.") from None

    def __repr__(self) -> str:
        return f"JointHistogram({', '.join(self.names)}; {self.n} rows in {self.counts.size} cells)"


_SPREAD_OUT = (
    f"The noisy rows would fall into more than {_MOST_CELLS:,} cells; use fewer or wider intervals, "
    "or look for outliers."
)
_Part = tuple[tuple[int, ...], IntArray]
"""Where counts begin along each axis, and the counts."""


def _added(part: _Part, other: _Part, most: int, refusal: str) -> _Part:
    """Add counts on grids of the same bins, over one or several axes; a sum on too large a grid is refused."""
    begins = np.array([part[0], other[0]])
    ends = begins + np.array([part[1].shape, other[1].shape])
    first = begins.min(axis=0)
    shape = tuple((ends.max(axis=0) - first).tolist())
    _require_few(shape, most, refusal)
    total = np.zeros(shape, np.int64)
    for (_, counts), begin in zip((part, other), begins - first, strict=True):
        total[tuple(slice(at, at + size) for at, size in zip(begin, counts.shape, strict=True))] += counts
    return tuple(first.tolist()), total


def _require_few(shape: Sequence[int], most: int, refusal: str) -> None:
    if np.prod([float(size) for size in shape]) > most:
        raise InputError(refusal)


def whole_counts(counts_like: Any) -> IntArray:
    """Read counts: whole numbers, 0 or more, which can be added up."""
    try:
        counts = np.asarray(counts_like)
    except ValueError:
        counts = np.empty(0)
    if not counts.size or counts.dtype.kind not in "iu" or bool((counts < 0).any()):
        raise InputError("A histogram needs a whole number of values, 0 or more, for each of its bins.")
    # As floats, which do not wrap around.
    if counts.sum(dtype=np.float64) >= FARTHEST:
        raise InputError("A histogram holds too many values to be counted.")
    return counts.astype(np.int64, copy=False)


def _parts(values: Any) -> Iterable[FloatArray]:
    """Return finite numbers, chunk by chunk."""
    listed = isinstance(values, list | tuple) and any(isinstance(part, np.ndarray) for part in values)
    for part in values if listed or hasattr(values, "__next__") else (values,):
        array = array_of(part, shown="noisy")
        if array.dtype.kind not in "iuf":
            raise InputError("The noisy values must be numbers.")
        array = array.ravel()
        for start in range(0, array.size, _CHUNK):
            yield finite(array[start : start + _CHUNK], "of the noisy values", then="drop them first")
