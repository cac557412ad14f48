"""The state of a condensed stream: group statistics that records join one after the other; no record is in it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.errors import InputError
from discreet.core.records.group_statistics import GroupStatistics

if TYPE_CHECKING:
    from discreet.kernels.points.streaming import Live

_LEAST_ROOM = 16


class StreamState:
    """Groups of a stream, with room for more.

    A record joins the group with the nearest mean among those that are large enough for its level. A group splits in
    two once each half is as large as the largest level in it, or by the mean level (the paper's rule). Distances are in
    units of each column's spread over all records so far, rounded to half octaves and renewed each time their number
    has doubled.

    Parameters
    ----------
    statistics
        The groups to begin with; each at least as large as the largest level in it.
    integral
        Which columns have held whole numbers only.
    max_groups
        The most groups there may be.
    by_mean
        Whether groups split by the mean level.
    """

    def __init__(
        self, statistics: GroupStatistics, integral: BoolArray, *, max_groups: int, by_mean: bool = False
    ) -> None:
        from discreet.kernels.points.streaming import renew, thin_out

        rows = statistics.n_rows
        # Relative to one of the means, so that large numbers lose no digits.
        origin = (statistics.n / rows) @ (statistics.mean - statistics.mean[0]) + statistics.mean[0]
        counts = np.array([statistics.n_groups, rows, 0, max_groups, by_mean], np.int64)
        self._live = _arranged(statistics, integral, origin, np.ones(origin.size), counts)
        renew(self._live)
        thin_out(self._live)

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self._live.counts[0])

    @property
    def n_rows(self) -> int:
        """The number of records so far."""
        return int(self._live.counts[1])

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self._live.origin.size)

    @property
    def by_mean(self) -> bool:
        """Whether groups have been allowed to split by the mean level, and may be smaller than a level in them."""
        from discreet.kernels.points.streaming import BY_MEAN

        return bool(self._live.counts[BY_MEAN])

    @property
    def whole(self) -> BoolArray:
        """Which columns have held whole numbers only."""
        return np.asarray(self._live.whole, np.bool_)

    @property
    def scale(self) -> FloatArray:
        """The unit of each column in which distances are measured."""
        return np.asarray(1.0 / self._live.unit)

    def statistics(self) -> GroupStatistics:
        """Return the statistics of the groups as they are now."""
        live, used = self._live, slice(0, self.n_groups)
        arrays = (live.n, live.mean, live.scatter, live.levels, live.largest)
        return GroupStatistics(*(array[used].copy() for array in arrays))

    def absorb(self, values: FloatArray, levels: IntArray, *, max_groups: int, by_mean: bool = False) -> None:
        """Let records join, one after the other; ``levels`` holds a level for each, or one for all.

        Groups that once may have split by the mean level stay so: what was divided cannot be put together again.
        """
        from discreet.kernels.points.streaming import BY_MEAN, MOST, absorb

        self._live.counts[MOST] = max_groups
        self._live.counts[BY_MEAN] |= by_mean
        done = absorb(values, levels, self._live, 0)
        while done < len(values):
            self._live = _roomier(self._live)
            done = absorb(values, levels, self._live, done)

    def merged(self, other: StreamState, *, max_groups: int) -> StreamState:
        """Return the state of both streams' records; where there are too many groups, the smallest are merged."""
        both = GroupStatistics.concat([self.statistics(), other.statistics()])
        by_mean = self.by_mean or other.by_mean
        return StreamState(both, self.whole & other.whole, max_groups=max_groups, by_mean=by_mean)

    def to_arrays(self) -> dict[str, Any]:
        """Return the state as named arrays, without the room that is not used."""
        live = self._live
        return self.statistics().to_arrays() | {
            "origin": live.origin.copy(),
            "unit": live.unit.copy(),
            "whole": live.whole.copy(),
            "counts": live.counts.copy(),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> StreamState:
        """Read what ``to_arrays`` returned; arrays that do not fit together are refused."""
        from discreet.kernels.points.streaming import BY_MEAN

        statistics = GroupStatistics.from_arrays(arrays)
        d = statistics.n_columns
        if any(name not in arrays or arrays[name].shape != (d,) for name in ("origin", "unit", "whole")):
            raise InputError("This is no state of a stream: the arrays do not fit together.")
        counts = np.asarray(arrays.get("counts"))
        if counts.shape == (BY_MEAN,):  # written before there was another rule than the largest level
            counts = np.append(counts, 0)
        expected = (statistics.n_groups, statistics.n_rows)
        if (
            counts.shape != (BY_MEAN + 1,)
            or tuple(counts[:2].tolist()) != expected
            or not statistics.n_groups
        ):
            raise InputError("This is no state of a stream: the counts do not fit the groups.")
        n, levels = statistics.n, statistics.levels
        # By the paper's rule a group may have half a record less than its mean level, as the guarantee bounds
        # it.
        lacking = 2 * levels > n * (2 * n + 1) if counts[BY_MEAN] else n < statistics.largest
        if lacking.any():
            raise InputError("This is no state of a stream: a group is smaller than a level in it.")
        state = cls.__new__(cls)
        # States of earlier versions hold an exact origin and exact units, from which the newest record may follow.
        unit = 2.0 ** (np.round(2 * np.log2(np.array(arrays["unit"], np.float64))) / 2)
        origin = np.round(np.array(arrays["origin"], np.float64) * unit) / unit
        state._live = _arranged(
            statistics,
            np.asarray(arrays["whole"], np.bool_),
            origin,
            unit,
            np.array(counts, np.int64),
        )
        return state

    def __getstate__(self) -> dict[str, Any]:
        return self.to_arrays()

    def __setstate__(self, arrays: dict[str, Any]) -> None:
        self._live = StreamState.from_arrays(arrays)._live

    def __repr__(self) -> str:
        return f"StreamState({self.n_groups} groups, {self.n_rows} rows, {self.n_columns} columns)"


def _arranged(
    statistics: GroupStatistics, integral: BoolArray, origin: FloatArray, unit: FloatArray, counts: IntArray
) -> Live:
    """Arrange statistics with room for as many groups again; room that is not used is zero."""
    from discreet.kernels.points.streaming import Live

    room = max(_LEAST_ROOM, 2 * statistics.n_groups)
    padded = {field.name: _padded(getattr(statistics, field.name), room) for field in fields(statistics)}
    turned = np.ascontiguousarray(_padded((statistics.mean - origin) * unit, room).T)
    flags = np.asarray(integral, np.uint8).copy()
    return Live(**padded, turned=turned, origin=origin, unit=unit, whole=flags, counts=counts)


def _roomier(live: Live) -> Live:
    """Return a state with twice the room."""
    room = 2 * live.n.size
    padded = {
        name: _padded(getattr(live, name), room) for name in ("n", "mean", "scatter", "levels", "largest")
    }
    return live._replace(**padded, turned=np.ascontiguousarray(_padded(live.turned.T, room).T))


def _padded(array: Any, room: int) -> Any:
    padded = np.zeros((room, *array.shape[1:]), array.dtype)
    padded[: len(array)] = array
    return padded
