"""SparseRows: records as compressed rows of weighted items, whatever they came as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.tables.encoding import type_name
from discreet.kernels.ragged import bounds, entries_of

SMALLEST, LARGEST = 2.0**-500, 2.0**500
"""The sizes that the largest value of a record may have, so that squares neither vanish nor overflow."""
_MOST_MARKED = 1 << 24


@public
@dataclass(frozen=True, repr=False, eq=False)
class SparseRows:
    """Records with a value for some items and zero for all others.

    Record t holds the items ``items[indptr[t]:indptr[t + 1]]``, each once, with the values at the same places of
    ``weights``, none of them zero; without weights every value is 1. The name of item i is ``names[i]``. Columns of a
    matrix that hold nothing but zeros are left out.

    Examples
    --------
    >>> rows = SparseRows.of([{"tea": 2, "milk": 1}, {"milk": 0.5}, {}])
    >>> rows
    SparseRows(3 records, 2 items, 3 entries)
    >>> rows.squared_norms.tolist(), rows.largest.tolist()
    ([5.0, 0.25, 0.0], [2.0, 0.5, 0.0])
    """

    indptr: IntArray
    items: CodeArray
    weights: FloatArray | None
    names: Sequence[Any]

    @classmethod
    def of(cls, rows: Any, *, names: Iterable[Any] | None = None) -> SparseRows:
        """Take records of any kind.

        Parameters
        ----------
        rows
            A scipy sparse matrix or array (what scikit-learn's vectorizers give), ``Baskets``, a sequence of mappings
            from names to values, an array with a column for each item, or ``SparseRows``.
        names
            The names of the columns of a matrix or an array; by default their numbers, from 0.
        """
        if isinstance(rows, cls):
            return rows
        matrix = hasattr(rows, "tocsr") or isinstance(rows, np.ndarray)
        if names is not None and not matrix:
            raise ParameterError(
                "The 'names' parameter is for the columns of a matrix; these records name their items."
            )
        if isinstance(rows, Baskets):
            return cls(rows.indptr, rows.items, None, rows.names.to_pylist())
        return _from_matrix(rows, names) if matrix else _from_records(rows)

    @property
    def binary(self) -> bool:
        """Whether every value is 1."""
        return self.weights is None or bool((self.weights == 1).all())

    @cached_property
    def lengths(self) -> IntArray:
        """The number of items of each record."""
        return np.diff(self.indptr)

    @cached_property
    def squared_norms(self) -> FloatArray:
        """The sum of the squares of each record's values."""
        if self.weights is None:
            return self.lengths.astype(np.float64)
        return self._reduced(np.add, self.weights**2)

    @cached_property
    def largest(self) -> FloatArray:
        """The largest value of each record, by size; 0 where it has none."""
        if self.weights is None:
            return (self.lengths > 0).astype(np.float64)
        return self._reduced(np.maximum, np.abs(self.weights))

    @cached_property
    def spare(self) -> FloatArray:
        """The sum of the squares of each record's values but the largest: what hides that one in a sketch.

        Of the values as they are or as sketches round them, whichever is less.
        """
        from discreet.kernels.sketches.exact_sums import on_grid, spare_squares

        if self.weights is None:
            return np.maximum(self.lengths - 1, 0).astype(np.float64)
        rounded = spare_squares(self.indptr, on_grid(self.indptr, self.weights))
        return np.minimum(spare_squares(self.indptr, self.weights), rounded)

    def take(self, records: IntArray) -> SparseRows:
        """Keep some records, in the order given; all names stay."""
        indptr, entries = entries_of(self.indptr, records)
        return SparseRows(
            indptr, self.items[entries], None if self.weights is None else self.weights[entries], self.names
        )

    def to_sparse(self) -> Any:
        """Return a scipy CSR array: a row for each record, a column for each item."""
        from scipy.sparse import csr_array

        weights = np.ones(self.items.size) if self.weights is None else self.weights
        return csr_array((weights, self.items, self.indptr), shape=(len(self), len(self.names)))

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __repr__(self) -> str:
        return f"SparseRows({len(self)} records, {len(self.names)} items, {self.items.size} entries)"

    def _reduced(self, join: np.ufunc, entries: FloatArray) -> FloatArray:
        results = np.zeros(len(self))
        nonempty = self.lengths > 0
        if nonempty.any():
            # For an empty segment `reduceat` would return the entry behind it.
            results[nonempty] = join.reduceat(entries, self.indptr[:-1][nonempty])
        return results


def _from_matrix(rows: Any, names: Iterable[Any] | None) -> SparseRows:
    """Take a matrix; what it holds twice is added up, and zeros are dropped."""
    from scipy.sparse import csr_array

    if rows.ndim != 2:
        raise InputError(
            f"An array of records has 2 dimensions, a column for each item; this one has {rows.ndim}."
        )
    if rows.dtype.kind not in "biuf":
        raise InputError(f"The records hold {type_name(rows.dtype)} and not numbers.")
    if isinstance(rows, np.ma.MaskedArray) and np.ma.is_masked(rows):
        missing = int(np.ma.getmaskarray(rows).sum())
        raise InputError(f"{missing} values of the records are masked; fill or drop them first.")
    if getattr(rows, "format", "") not in ("", "csr"):
        rows = _wide(rows)
    matrix = csr_array(rows)
    _require_bounds(matrix)
    if not matrix.has_canonical_format:
        matrix = _wide(matrix).copy()
        matrix.sum_duplicates()
    return _compressed(matrix, names)


def _wide(matrix: Any) -> Any:
    """Bring numbers to 8 bytes before any are added up, where small ones would overflow; truth values stay."""
    with np.errstate(over="ignore"):
        return matrix if matrix.dtype.kind == "b" else matrix.astype(np.float64)


def _require_bounds(matrix: Any) -> None:
    indptr = np.asarray(matrix.indptr)
    n_entries = min(matrix.indices.size, matrix.data.size)
    if indptr[0] != 0 or indptr[-1] > n_entries or (np.diff(indptr) < 0).any():
        raise InputError("The bounds of the sparse rows do not fit their entries.")


def _compressed(matrix: Any, names: Iterable[Any] | None) -> SparseRows:
    """Check the values of a matrix, drop zeros, and number the columns that hold something."""
    from discreet.kernels.sketches.exact_sums import inspect

    indptr = np.asarray(matrix.indptr, np.int64)
    with np.errstate(over="ignore"):
        weights = np.asarray(matrix.data[: indptr[-1]], np.float64)
    columns = np.asarray(matrix.indices[: indptr[-1]])
    n_columns = matrix.shape[1]
    # Columns that hold something are marked as entries are checked, unless there are too many columns.
    marked = np.zeros(n_columns if n_columns <= _MOST_MARKED else 0, np.bool_)
    zeros, others, bad, beyond, outside = inspect(
        indptr, columns, weights, n_columns, marked, SMALLEST, LARGEST
    )
    if outside:
        raise InputError(f"{outside} entries of the sparse rows lie outside their {n_columns} columns.")
    _refuse(bad, beyond)
    if zeros:
        nonzero = weights != 0
        # A record begins behind as many entries as are left before it.
        indptr = bounds(nonzero)[indptr]
        columns, weights = columns[nonzero], weights[nonzero]
    if not marked.size:
        used, items = np.unique(columns, return_inverse=True)
    elif marked.all():
        used, items = np.arange(n_columns), columns
    else:
        used = np.flatnonzero(marked)
        items = (np.cumsum(marked, dtype=np.int32) - np.int32(1))[columns]
    named = _named(used, names, n_columns)
    return SparseRows(indptr, items.astype(np.int32, copy=False), weights if others > zeros else None, named)


def _named(used: IntArray, names: Iterable[Any] | None, n_columns: int) -> list[Any]:
    if names is None:
        return list(used.tolist())
    labels = list(names)
    if len(labels) != n_columns:
        raise InputError(f"{len(labels)} names are given for {n_columns} columns.")
    try:
        distinct = len(set(labels))
    except TypeError:
        raise InputError("A column's name must be text, bytes, a number, None or a tuple of these.") from None
    if distinct < len(labels):
        raise InputError("Several columns have the same name.")
    return [labels[column] for column in used]


def _from_records(records: Any) -> SparseRows:
    """Take mappings from names to values, in any order of names."""
    if isinstance(records, Mapping) or not isinstance(records, Iterable) or isinstance(records, str | bytes):
        raise InputError("Records must be a sparse matrix, Baskets, an array or a sequence of mappings.")
    code_of: dict[Any, int] = {}
    ends, items, weights = [0], [], []
    for record in records:
        if not isinstance(record, Mapping):
            raise InputError("Records must be a sparse matrix, Baskets, an array or a sequence of mappings.")
        if not isinstance(record, dict) and len(set(record)) < len(record.items()):
            raise InputError(f"Record {len(ends) - 1} names an item more than once.")
        for name, value in record.items():
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                raise InputError(f"Record {len(ends) - 1} holds a value that is no number.") from None
            if number != 0:
                items.append(code_of.setdefault(name, len(code_of)))
                weights.append(number)
        ends.append(len(items))
    indptr = np.array(ends, np.int64)
    rows = SparseRows(indptr, np.array(items, np.int32), np.array(weights, np.float64), list(code_of))
    bad = int((~np.isfinite(rows.weights)).sum()) if rows.weights is not None else 0
    largest = rows.largest[rows.lengths > 0]
    _refuse(bad, int(((largest < SMALLEST) | (largest > LARGEST)).sum()))
    return rows


def _refuse(bad: int, beyond: int) -> None:
    if bad:
        raise InputError(f"{bad} values of the records are NaN or infinite; fill or drop them first.")
    if beyond:
        raise InputError(
            f"{beyond} records have values so small or so large that their squares vanish or overflow; "
            "scale them first."
        )
