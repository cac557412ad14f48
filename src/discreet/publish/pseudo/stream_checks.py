"""Checks of the records and the parameters of a stream, before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.errors import InfeasibleError
from discreet.guarantees import Indistinguishability
from discreet.publish.pseudo.stream_window import Window


def require_takeable(window: Window, levels: IntArray, n: int) -> None:
    """Refuse records before any of them is taken: those for the window, and those that would join afterwards."""
    of_rows = np.broadcast_to(levels, n)
    window.require_feasible(of_rows[: window.room])
    require_enough(of_rows[window.room :], window.n_rows + window.room)


def require_enough(levels: IntArray, rows: int) -> None:
    """Refuse records whose level is above the number of records that have come with them."""
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
