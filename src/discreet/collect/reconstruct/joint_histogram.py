"""Joint histogram: noisy rows counted in a grid of bins; histograms of batches add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.collect.reconstruct.histogram import FARTHEST, whole_counts
from discreet.core.arrays import IntArray
from discreet.core.boundary import public, reads
from discreet.core.errors import InputError
from discreet.core.params import FloatIn, InstanceOf, IntIn, require

MOST_CELLS = 1 << 24
_CHUNK = 1 << 20


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
        first = tuple(int(one.min()) for one in places)
        shape = tuple(int(one.max()) - low + 1 for one, low in zip(places, first, strict=True))
        _require_few(shape)
        counts = np.zeros(int(np.prod(shape)), np.int64)
        for start in range(0, places[0].size, _CHUNK):
            part = tuple(one[start : start + _CHUNK] - low for one, low in zip(places, first, strict=True))
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
        both = (self, other)
        first = tuple(min(ends) for ends in zip(self.first, other.first, strict=True))
        last = tuple(
            max(one.first[axis] + one.counts.shape[axis] for one in both) for axis in range(len(first))
        )
        shape = tuple(high - low for high, low in zip(last, first, strict=True))
        _require_few(shape)
        counts = np.zeros(shape, np.int64)
        for one in both:
            window = tuple(
                slice(own - low, own - low + size)
                for own, low, size in zip(one.first, first, one.counts.shape, strict=True)
            )
            counts[window] += one.counts
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
    def from_dict(cls, plain: dict[str, Any]) -> JointHistogram:
        """Read what ``to_dict`` returns."""
        try:
            counts = whole_counts(plain["counts"]).reshape(plain["shape"])
            return cls(tuple(plain["names"]), tuple(plain["widths"]), tuple(plain["first"]), counts)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError("This is no joint histogram, or it is damaged.") from None

    def __repr__(self) -> str:
        return f"JointHistogram({', '.join(self.names)}; {self.n} rows in {self.counts.size} cells)"


def _require_few(shape: Sequence[int]) -> None:
    if np.prod([float(size) for size in shape]) > MOST_CELLS:
        raise InputError(
            f"The noisy rows would fall into more than {MOST_CELLS:,} cells; use fewer or wider intervals, or look "
            "for outliers."
        )
