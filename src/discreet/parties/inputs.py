"""Private inputs: files read as columns, and checks with one line for each mistake and never a value in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError


def private_integers(
    data: Any, *, shape: tuple[int, ...], low: int, high: int, of: str
) -> NDArray[np.uint64]:
    """Return integers in [low, high] as words modulo 2^64; a vector stands for a matrix of one column.

    >>> private_integers([1, -1], shape=(2, 1), low=-8, high=7, of="vector").tolist()
    [[1], [18446744073709551615]]
    >>> private_integers([1, 9], shape=(2, 1), low=0, high=7, of="vector")
    Traceback (most recent call last):
    discreet.core.errors.InputError: The vector must hold integers in [0, 7].
    """
    values = _array(data, of)
    if values.ndim == 1 and len(shape) == 2 and shape[1] == 1:
        values = values[:, None]
    if values.shape != shape:
        expected, got = (" × ".join(map(str, value)) or "1" for value in (shape, values.shape))
        raise InputError(f"The {of} must have {expected} values, as the session says. Got {got}.")
    if values.dtype.kind == "O" and all(type(value) is int for value in values.flat):
        fits = all(low <= value <= high for value in values.flat)
        integers = values % (1 << 64) if fits else values
    elif values.dtype.kind in "bui" or (values.size == 0 and values.dtype.kind == "f"):
        fits = not values.size or (int(values.min()) >= low and int(values.max()) <= high)
        integers = values
    else:
        raise InputError(f"The {of} must hold integers; nulls, text and fractions are refused.")
    if not fits:
        raise InputError(f"The {of} must hold integers in [{low}, {high}].")
    return np.ascontiguousarray(integers.astype(np.uint64))


def _array(data: Any, of: str) -> NDArray[Any]:
    """Return the data as an array; lists of integers that fit into no word of 64 bits stay integers."""
    try:
        values = np.asarray(data)
        if values.dtype.kind == "f" and isinstance(data, list | tuple):
            # NumPy makes floats of integers without a common type, such as −1 and 2^63, and loses digits; as
            # objects they are checked one by one.
            values = np.asarray(data, object)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"The {of} must be a vector or a matrix of integers.") from None
    return values


def private_bits(data: Any, *, n: int, of: str) -> NDArray[np.bool_]:
    """Return n bits, given as truth values or as zeros and ones."""
    return private_integers(data, shape=(n,), low=0, high=1, of=of).astype(np.bool_)


def private_set(data: Any, *, max_size: int, of: str) -> dict[bytes, Any]:
    """Return the distinct elements of a set by their bytes: text in UTF-8, an integer in decimal digits.

    >>> private_set(["b", "a", "b", 7], max_size=3, of="set")
    {b'7': 7, b'a': 'a', b'b': 'b'}
    """
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InputError(f"The {of} must be a collection of texts, bytes or integers.")
    elements = {_element(value, of): value for value in data}
    ordered = {name: elements[name] for name in sorted(elements)}
    if len(ordered) > max_size:
        raise InputError(f"The {of} has more elements than the {max_size} the session admits.")
    return ordered


def _element(value: Any, of: str) -> bytes:
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value)).encode()
    try:
        if isinstance(value, str):
            return value.encode()
    except UnicodeEncodeError:
        raise InputError(f"The {of} holds text that is not valid Unicode.") from None
    raise InputError(f"The {of} must hold texts, bytes or integers; nulls and other values are refused.")


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


def read_texts(path: str | os.PathLike[str]) -> list[str]:
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
