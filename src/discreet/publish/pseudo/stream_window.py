"""The window before a stream's first groups: the only place where records are kept, and only in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.errors import InfeasibleError, OutputError
from discreet.core.records.group_statistics import GroupStatistics
from discreet.core.records.vectors import Vectors
from discreet.guarantees import Indistinguishability
from discreet.publish.pseudo.construct_groups import construct_groups
from discreet.publish.pseudo.microaggregation import SegmentMethod


class Window:
    """The first records of a stream, kept until there are enough of them to be condensed.

    They are never written: neither pickled nor saved. Once they are condensed the memory they were in is wiped.
    """

    def __init__(self, size: int, n_columns: int) -> None:
        self._values: FloatArray = np.zeros((size, n_columns))
        self._levels: IntArray = np.zeros(size, np.int64)
        self.n_rows = 0

    @property
    def room(self) -> int:
        """How many records are still missing."""
        return len(self._values) - self.n_rows

    @property
    def values(self) -> FloatArray:
        """The records that are held."""
        return self._values[: self.n_rows]

    def require_feasible(self, levels: IntArray) -> None:
        """Refuse levels that the first groups could not keep."""
        size = len(self._values)
        high = int((levels > size).sum())
        if high:
            raise InfeasibleError(
                f"{high} of the first records have levels above the number of records condensed at first: the "
                f"largest level is {int(levels.max())}, and init_number is {size}. init_number={int(levels.max())} "
                "would do."
            )

    def take(self, values: FloatArray, levels: IntArray) -> None:
        """Keep records; there is room for them."""
        rows = slice(self.n_rows, self.n_rows + len(values))
        self._values[rows] = values
        self._levels[rows] = levels
        self.n_rows += len(values)

    def condensed(
        self, *, method: SegmentMethod, rng: np.random.Generator
    ) -> tuple[GroupStatistics, BoolArray]:
        """Condense the records; return the statistics and which columns are whole. The records are wiped."""
        values, levels = self._values[: self.n_rows], self._levels[: self.n_rows]
        points = Vectors((), values, (), np.empty((len(values), 0), np.int32)).points()
        grouping = construct_groups(points, levels, method=method, rng=rng)
        statistics = GroupStatistics.of(values, grouping.labels, levels, grouping.n_groups)
        integral = np.asarray((values == np.floor(values)).all(axis=0))
        self.wipe()
        return statistics, integral

    def wipe(self) -> None:
        """Overwrite the records in memory."""
        self._values.fill(0)
        self._levels.fill(0)

    def __getstate__(self) -> NoReturn:
        raise OutputError(unsaved(self.n_rows))

    def __repr__(self) -> str:
        return f"Window({self.n_rows} of {len(self._values)} rows)"


def unsaved(n_records: int) -> str:
    """Return why a stream cannot be saved yet."""
    return (
        f"The stream still holds its first {n_records} records as they came, and records are never written. It can be "
        "saved once they are condensed: when init_number records have come, or by initialize()."
    )


def needs_no_conversion(X: Any, n_columns: int) -> bool:
    """Return whether rows need no conversion: a matrix of doubles with the right number of columns, row after row."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[1] == n_columns
        and X.shape[0] > 0
        and X.flags.c_contiguous
    )


def require_takeable(window: Window, levels: IntArray, n: int) -> None:
    """Refuse records before any of them is taken: those for the window, and those that would join afterwards."""
    of_rows = np.broadcast_to(levels, n)
    window.require_feasible(of_rows[: window.room])
    require_enough(of_rows[window.room :], window.n_rows + window.room)


def require_enough(levels: IntArray, rows: int) -> None:
    """Refuse records whose level is above the number of records that have come with them."""
    # A record counts itself and those of the batch before it.
    high = levels > rows + 1 + np.arange(levels.size)
    if high.any():
        raise InfeasibleError(
            f"{int(high.sum())} records have levels above the number of records so far: {rows} came before. "
            "None of the batch was taken."
        )


class OneLevel:
    """An Indistinguishability with one level for all records."""

    def admits(self, value: object) -> bool:
        """Return whether the value is an Indistinguishability, and its level a number."""
        return isinstance(value, Indistinguishability) and isinstance(value.k, int)

    def __str__(self) -> str:
        return "an Indistinguishability with one level"


class Bounds:
    """None, or two ends for each column."""

    def __init__(self, n_columns: int | None) -> None:
        self.n_columns = n_columns

    def admits(self, value: object) -> bool:
        """Return whether the value is none, or two ends in order that fit the columns."""
        if value is None:
            return True
        try:
            low, high = (np.asarray(end, np.float64) for end in value)  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            return False
        shapes = ((),) if self.n_columns is None else ((), (self.n_columns,))
        fits = self.n_columns is None or (low.shape in shapes and high.shape in shapes)
        return bool(fits and np.all(low <= high))

    def __str__(self) -> str:
        return "None or (low, high), a number or one for each column"


class Names:
    """None, or a name for each column."""

    def __init__(self, n_columns: int | None) -> None:
        self.n_columns = n_columns

    def admits(self, value: object) -> bool:
        """Return whether the value is none, or as many different names as there are columns."""
        if value is None:
            return True
        if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
            return False
        fits = self.n_columns is None or len(value) == self.n_columns
        return fits and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)

    def __str__(self) -> str:
        return "None or a name for each column"
