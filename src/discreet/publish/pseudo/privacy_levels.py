"""Privacy levels: how many records each record wants to be among, from a column, an array or one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.errors import SchemaError
from discreet.core.params import IntIn, require
from discreet.core.tables.encoding import type_name
from discreet.core.tables.table import Table


def read_levels(owner: object, levels: Any, table: Table, n: int) -> IntArray:
    """Return the level of every row of a table; a text names the column that holds them."""
    if not isinstance(levels, str):
        return levels_of(owner, levels, n)
    if levels not in table.schema:
        raise SchemaError(f"The levels are to be in column '{levels}', which the table does not have.")
    column = table.source.columns([levels])[levels]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise SchemaError(f"Column '{levels}' is to hold levels, but has the type {type_name(column.type)}.")
    if column.null_count:
        raise SchemaError(
            f"Column '{levels}' holds no level in {column.null_count} rows; every row needs one."
        )
    numbers = column.cast(pa.float64(), safe=False)
    wrong = pc.sum(pc.or_(pc.less(numbers, 1.0), pc.not_equal(numbers, pc.floor(numbers)))).as_py() or 0
    if wrong:
        raise SchemaError(f"Column '{levels}' must hold whole numbers of at least 1; {wrong} rows do not.")
    return _capped(numbers.to_numpy(zero_copy_only=False))


def levels_of(owner: object, levels: Any, n: int) -> IntArray:
    """Return the level of each of n records from one number, or from an array with one for each."""
    require(owner, "k", levels, IntIn(1), OnePerRow(n), secret=True)
    if isinstance(levels, int | np.integer):
        return np.full(n, min(int(levels), np.iinfo(np.int64).max), np.int64)
    return _capped(np.asarray(levels, np.float64))


def _capped(numbers: Any) -> IntArray:
    """Return whole floats as ints; levels beyond any number of records stay beyond it."""
    return np.asarray(np.minimum(numbers, 2.0**62), np.int64)


@dataclass(frozen=True)
class OnePerRow:
    """A level for each row; for each of n rows where their number is known."""

    n: int | None = None

    def admits(self, value: object) -> bool:
        """Return whether the value holds whole numbers of at least 1, one for each row."""
        if isinstance(value, str) or not hasattr(value, "__len__"):
            return False
        try:
            numbers = np.asarray(value)
        except (ValueError, TypeError):
            return False
        if numbers.ndim != 1 or self.n not in (None, numbers.size) or numbers.dtype.kind not in "iuf":
            return False
        return bool(
            np.isfinite(numbers).all() and (numbers >= 1).all() and (numbers == np.floor(numbers)).all()
        )

    def __str__(self) -> str:
        several = "" if self.n is None else f"{self.n} "
        return f"the name of a column or {several}whole numbers of at least 1, one for each row"
