"""Files of a party: its private input read as columns, and its output written as a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from discreet.core.errors import InputError


def labelled_numbers(path: str | os.PathLike[str], labels: Sequence[str]) -> Any:
    """Return a column of numbers; with labels, the numbers of the column value in the order of the labels."""
    table = _read(path, text=("label",) if labels else ())
    if not labels:
        if table.num_columns != 1:
            raise InputError(f"{path} must have one column of numbers; it has {table.num_columns} columns.")
        return _numbers(path, table.column(0))
    if set(table.column_names) != {"label", "value"}:
        raise InputError(f"{path} must have the columns 'label' and 'value', as the session names labels.")
    numbers = _numbers(path, table.column("value"))
    places = {label: at for at, label in enumerate(table.column("label").to_pylist())}
    if len(places) != table.num_rows or set(places) != set(labels):
        raise InputError(f"{path} must have each label of the session once, and no other.")
    return numbers[[places[label] for label in labels]]


def number_columns(path: str | os.PathLike[str]) -> Any:
    """Return all columns of a file, which must be numbers, as a matrix."""
    import numpy as np

    table = _read(path)
    if not table.num_columns:
        raise InputError(f"{path} must have at least one column of numbers.")
    return np.column_stack([_numbers(path, column) for column in table.columns])


def texts(path: str | os.PathLike[str]) -> list[str]:
    """Return the only column of a file as texts, without nulls."""
    table = _read(path)
    if table.num_columns != 1:
        raise InputError(f"{path} must have one column; it has {table.num_columns} columns.")
    table = _read(path, text=table.column_names)
    return [value for value in table.column(0).to_pylist() if value is not None]


def _read(path: str | os.PathLike[str], text: Sequence[str] = ()) -> Any:
    from discreet.core.engine import arrow_table
    from discreet.engines.files import read

    return arrow_table(read(path, text=text))


def _numbers(path: str | os.PathLike[str], column: Any) -> Any:
    import pyarrow as pa

    if column.null_count:
        raise InputError(f"{path} has missing values; fill them in before the protocol runs.")
    if not (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_boolean(column.type)
    ):
        raise InputError(f"{path} must have a column of numbers.")
    return column.to_numpy()
