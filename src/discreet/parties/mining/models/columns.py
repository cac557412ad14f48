"""A party's own columns: numbers on a public grid, categories as codes, and exact products of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError, ParameterError

Grid = NDArray[np.int64]
MAX_BITS = 39
"""A number on the grid lies within ±2^39, so that products of two are exact."""
MAX_ROWS = 1 << 23
"""The most rows of one party, so that its own sums fit into 64 bits."""
_LIMB, _ROWS = 20, 1 << 12


def read_columns(path: str | os.PathLike[str], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return some columns of a file, by name."""
    from discreet.core.engine import arrow_table
    from discreet.core.tables.encoding import require_flat
    from discreet.engines.files import read

    table = arrow_table(read(path))
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise InputError(f"{path} has no column '{missing[0]}', which the session names.")
    require_flat(table.select(list(dict.fromkeys(names))))
    return {name: _arrow_array(table.column(name), name) for name in names}


def own_columns(data: Any, names: Sequence[str]) -> list[NDArray[Any]]:
    """Return the named columns of a mapping or a frame as arrays of one length; nulls are refused.

    >>> [column.tolist() for column in own_columns({"a": [1, 2], "b": ["x", "y"]}, ["b", "a"])]
    [['x', 'y'], [1, 2]]
    """
    import narwhals as nw

    if isinstance(data, Mapping):
        values: Any = data
    else:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise InputError("The data must be a frame, or a mapping from names of columns to values.")
        values = {name: frame.get_column(name).to_numpy() for name in frame.columns}
    missing = [name for name in names if name not in values]
    if missing:
        raise InputError(f"The data has no column '{missing[0]}', which the session names.")
    columns = [_one_column(values[name], name) for name in names]
    if len({column.shape[0] for column in columns}) > 1:
        raise InputError("The columns of the data differ in length.")
    if columns and columns[0].shape[0] > MAX_ROWS:
        raise InputError(f"The data has more than {MAX_ROWS:,} rows, the most a party may have.")
    return columns


@dataclass(frozen=True, repr=False)
class Placed:
    """Columns of numbers on a grid: each value is ``middle + step * row``, and a row lies within ±``limits``."""

    rows: Grid
    middle: NDArray[np.float64]
    step: NDArray[np.float64]
    limits: tuple[int, ...]

    def values(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the values that rows on the grid stand for."""
        values: NDArray[np.float64] = self.middle + self.step * rows
        return values


def placed_on_grid(columns: Sequence[NDArray[Any]], names: Sequence[str], *, fraction_bits: int) -> Placed:
    """Return columns of numbers as multiples of 2^−fraction_bits.

    >>> placed_on_grid([np.array([0.5, 7.0])], ["x"], fraction_bits=1).rows.tolist()
    [[1], [14]]
    """
    rows = np.empty((columns[0].shape[0] if columns else 0, len(columns)), np.int64)
    for at, (column, name) in enumerate(zip(columns, names, strict=True)):
        values = finite_numbers(column, name)
        with np.errstate(over="ignore"):
            scaled = np.rint(np.ldexp(values, fraction_bits))
        if values.size and max(float(scaled.max()), -float(scaled.min())) >= 1 << MAX_BITS:
            raise InputError(
                f"Column '{name}' holds values beyond ±{2.0 ** (MAX_BITS - fraction_bits):g}, the most that "
                f"{fraction_bits} fraction bits admit; agree on fewer, or rescale the column."
            )
        rows[:, at] = scaled
    d = len(columns)
    return Placed(rows, np.zeros(d), np.full(d, 2.0**-fraction_bits), (1 << MAX_BITS,) * d)


def placed_in_ranges(
    columns: Sequence[NDArray[Any]],
    names: Sequence[str],
    ranges: Mapping[str, Any],
    *,
    bits: int,
    clip: bool,
    same_step: bool = False,
) -> Placed:
    """Return columns of numbers within public ranges, as signed integers of ``bits`` bits around the middle.

    Values beyond a range are clipped to it, or refused. With ``same_step`` all columns have the step of the widest.

    >>> placed_in_ranges([np.array([0.0, 9.0, 10.0])], ["x"], {"x": (0, 10)}, bits=4, clip=False).rows.tolist()
    [[-7], [6], [7]]
    """
    low, high = np.array([ranges[name] for name in names], np.float64).reshape(-1, 2).T
    half = (high - low) / 2
    # Symmetric around the middle: the lowest signed integer
    # is left out, so both ends of the range are on the grid.
    most = (1 << bits - 1) - 1
    step = np.full(len(half), half.max(initial=0) / most) if same_step else half / most
    rows = np.empty((columns[0].shape[0] if columns else 0, len(columns)), np.int64)
    for at, (column, name) in enumerate(zip(columns, names, strict=True)):
        values = finite_numbers(column, name)
        if not clip and values.size and (values.min() < low[at] or values.max() > high[at]):
            raise InputError(f"Column '{name}' holds values beyond its range of the session.")
        rows[:, at] = np.rint((np.clip(values, low[at], high[at]) - low[at] - half[at]) / step[at])
    limits = tuple(int(np.rint(limit)) for limit in half / step)
    return Placed(rows, low + half, step, limits)


def finite_numbers(column: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return a column as finite numbers."""
    if column.size and column.dtype.kind not in "iufb":
        raise InputError(f"Column '{name}' must hold numbers.")
    values = column.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError(
            f"Column '{name}' holds values that are missing or infinite; fill or drop them first."
        )
    return values


def codes(column: NDArray[Any], name: str, categories: Sequence[Any]) -> NDArray[np.int64]:
    """Return the place of each value among public categories; a value that is none of them is refused.

    >>> codes(np.array(["b", "a"]), "letter", ("a", "b")).tolist()
    [1, 0]
    """
    texts = all(isinstance(category, str) for category in categories)
    places = {category: code for code, category in enumerate(categories)}
    if texts and column.size and column.dtype.kind in "iufb":
        raise InputError(f"Column '{name}' holds numbers where the session names texts.")
    distinct, inverse = np.unique(column, return_inverse=True) if column.size else (column, np.zeros(0, int))
    positions = [places.get(value, -1) for value in distinct.tolist()]
    if -1 in positions:
        raise InputError(f"{positions.count(-1)} values of column '{name}' are none that the session names.")
    return np.array(positions, np.int64)[inverse.reshape(-1)] if column.size else np.zeros(0, np.int64)


def exact_gram(rows: Grid) -> list[list[int]]:
    """Return XᵀX in integers of any size: products of 20 bits in floating point, which are exact for 4,096 rows.

    >>> exact_gram(np.array([[1 << 38, 1], [1 << 38, -1]]))
    [[151115727451828646838272, 0], [0, 2]]
    """
    d = rows.shape[1]
    low_low, low_high, high_high = (np.zeros((d, d), np.int64) for _ in range(3))
    for start in range(0, rows.shape[0], _ROWS):
        part = rows[start : start + _ROWS]
        # Two limbs of 20 bits, the lower one without a sign: high · 2^20 + low also for a negative value.
        # Products are below 2^40, and 4,096 of them below 2^52, so the matrix product is exact in floats;
        # 2^23 rows stay within int64.
        low = (part & ((1 << _LIMB) - 1)).astype(np.float64)
        high = (part >> _LIMB).astype(np.float64)
        low_low += (low.T @ low).astype(np.int64)
        low_high += (low.T @ high).astype(np.int64)
        high_high += (high.T @ high).astype(np.int64)
    crossed = low_high.astype(object) + low_high.T.astype(object)
    total = low_low.astype(object) + (crossed << _LIMB) + (high_high.astype(object) << 2 * _LIMB)
    return [[int(value) for value in row] for row in total]


def require_ranges(owner: object, ranges: Mapping[str, Any], names: Sequence[str], *, all_of: bool) -> None:
    """Raise a ParameterError unless ranges are pairs of numbers, the lower first, of known columns."""
    whose = type(owner).__name__
    for name, pair in ranges.items():
        if name not in names:
            raise ParameterError(
                f"The 'ranges' parameter of {whose} names '{name}', which is no column of it."
            )
        fits = isinstance(pair, list | tuple) and len(pair) == 2
        fits = fits and all(isinstance(end, int | float) and not isinstance(end, bool) for end in pair)
        if not (fits and np.isfinite([*pair, float(pair[1]) - float(pair[0])]).all() and pair[0] < pair[1]):
            raise ParameterError(
                f"The 'ranges' parameter of {whose} must have [low, high] with low < high and a finite difference."
            )
    lacking = [name for name in names if name not in ranges]
    if all_of and lacking:
        raise ParameterError(
            f"The 'ranges' parameter of {whose} must have the public range of '{lacking[0]}'."
        )


def _one_column(values: Any, name: str) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1:
        raise InputError(f"Column '{name}' must have one value for each row.")
    if column.dtype.kind == "O":
        items = column.tolist()
        if any(item is None or item != item for item in items):
            raise InputError(f"Column '{name}' has missing values; fill or drop them first.")
        column = np.array(items) if len({type(item) for item in items}) == 1 else column
    return column


def _arrow_array(column: Any, name: str) -> NDArray[Any]:
    if column.null_count:
        raise InputError(f"Column '{name}' has missing values; fill or drop them first.")
    array: NDArray[Any] = column.to_numpy()
    return np.array(array.tolist()) if array.dtype.kind == "O" else array


def require_names(owner: object, parameter: str, names: Any) -> None:
    """Raise a ParameterError unless names of columns are different texts, at least one."""
    fits = isinstance(names, tuple) and bool(names) and all(isinstance(name, str) for name in names)
    if not fits or len(set(names)) < len(names):
        raise ParameterError(
            f"The '{parameter}' parameter of {type(owner).__name__} must be different names of columns."
        )


def sort_classes(owner: Any) -> None:
    """Check the public classes of a frozen protocol and put them in order, as scikit-learn has them."""
    require_categories(owner, "classes", owner.classes)
    object.__setattr__(owner, "classes", tuple(sorted(owner.classes)))


def require_categories(owner: object, parameter: str, categories: Any) -> None:
    """Raise a ParameterError unless categories are at least two different texts or whole numbers, all of one kind."""
    listed = list(categories) if isinstance(categories, list | tuple) else []
    one_kind = len({type(category) for category in listed}) == 1 and type(listed[0]) in (str, int, bool)
    if not one_kind or len(set(listed)) < max(2, len(listed)):
        raise ParameterError(
            f"The '{parameter}' parameter of {type(owner).__name__} must have at least two different texts or integers."
        )
