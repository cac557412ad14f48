"""The window before a stream's first groups: the only place where records are kept, and only in memory."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.errors import InfeasibleError, OutputError
from discreet.core.group_statistics import GroupStatistics
from discreet.core.vectors import Vectors
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
        self._values.fill(0)
        self._levels.fill(0)
        return statistics, integral

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


def is_plain(X: Any, n_columns: int) -> bool:
    """Return whether rows need no conversion: a matrix of doubles with the right number of columns, row after row."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[1] == n_columns
        and X.shape[0] > 0
        and X.flags.c_contiguous
    )
