"""Frames in memory: pandas, Polars, PyArrow and their like, through Narwhals; the same kind comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.pseudonym import pseudonyms
from discreet.core.tables.encoding import Codebook, cleaned, spell
from discreet.core.tables.source import Recoding, Replacement, Tuples


class FrameSource:
    """A frame in memory."""

    def __init__(self, native: Any, frame: nw.DataFrame[Any], *, lazy: bool) -> None:
        self.native = native
        self.names = tuple(frame.columns)
        self._frame = frame
        self._lazy = lazy
        self._spelled: dict[str, tuple[pa.Array, CodeArray]] = {}

    @classmethod
    def of(cls, native: Any) -> FrameSource:
        """Wrap any frame that Narwhals knows."""
        _refuse_repeated_names(native)
        try:
            frame = nw.from_native(native)
        except TypeError:
            raise InputError(
                f"A {type(native).__name__} is no table; give a pandas, Polars, PyArrow or DuckDB frame."
            ) from None
        if isinstance(frame, nw.LazyFrame):
            return cls(native, frame.collect(), lazy=True)
        return cls(native, frame, lazy=False)

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return the distinct values of columns; where each row's lies among them is kept until tuples are counted."""
        self._spelled = {name: spell(self._arrow(name), name) for name in names}
        return {name: values for name, (values, _) in self._spelled.items()}

    def _arrow(self, name: str) -> pa.Array | pa.ChunkedArray:
        try:
            return self._frame.get_column(name).to_arrow()
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError):
            raise SchemaError(
                f"Column '{name}' mixes types; make it one type, such as text, first."
            ) from None

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Encode the rows column by column, and count the distinct ones."""
        from discreet.kernels.tables.grouping import distinct, pack

        dtype = np.min_scalar_type(max(book.n_codes for book in encoded))
        columns = []
        for book in encoded:
            if book.name not in self._spelled:
                self._spelled[book.name] = spell(self._arrow(book.name), book.name)
            values, places = self._spelled.pop(book.name)
            columns.append(book.encode(values).astype(dtype)[places])
        first, rows, counts = distinct(pack(columns, [book.n_codes for book in encoded]))
        codes = np.empty((first.size, len(columns)), dtype)
        for number, column in enumerate(columns):
            codes[:, number] = column[first]
        return Tuples(codes, counts, rows)

    def columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return whole columns, cleaned, row by row."""
        return {name: cleaned(self._arrow(name), name) for name in names}

    def framed(self, rows: pa.Table) -> Any:
        """Return rows made elsewhere as the kind of frame that came in; pandas columns keep their own types."""
        if self._frame.implementation.is_pandas():
            return _as_pandas(rows, self._frame.to_native())
        made = nw.from_arrow(rows, backend=self._frame.implementation)
        return made.lazy().to_native() if self._lazy else made.to_native()

    def recode(self, recoding: Recoding) -> Any:
        """Publish the rows as the recoding says."""
        pieces = piece_of_rows(recoding)
        order = np.arange(pieces.size)
        if recoding.dropped is not None:
            order = order[~recoding.dropped[pieces]]
        if recoding.seed is not None:
            order = np.random.default_rng(recoding.seed).permutation(order)
        tuple_of_row = recoding.parts.tuple_[pieces]
        replaced: dict[str, pa.Array] = {}
        for name, replacement in recoding.by_piece.items():
            replaced[name] = spelled(replacement, pieces[order])
        for name, replacement in recoding.by_value.items():
            column = [book.name for book in recoding.encoded].index(name)
            replaced[name] = spelled(replacement, recoding.tuples.codes[tuple_of_row[order], column])
        for name, key in recoding.pseudonyms.items():
            replaced[name] = pseudonyms(cleaned(self._arrow(name), name).take(pa.array(order)), key)
        return self._joined(recoding.columns, replaced, order)

    def _joined(self, columns: tuple[str, ...], replaced: dict[str, pa.Array], order: Any) -> Any:
        kept = [name for name in columns if name not in replaced]
        parts: list[nw.DataFrame[Any]] = []
        if kept:
            parts.append(_without_index(self._frame.select(kept)[order]))
        if replaced:
            parts.append(nw.from_arrow(pa.table(replaced), backend=self._frame.implementation))
        whole = nw.concat(parts, how="horizontal") if len(parts) > 1 else parts[0]
        released = whole.select(list(columns))
        return released.lazy().to_native() if self._lazy else released.to_native()


def spelled(replacement: Replacement, codes: CodeArray) -> pa.Array:
    """Turn codes into the cells that stand for them."""
    index = pa.array(replacement.index[codes], pa.int32())
    return replacement.labels.take(index)


def piece_of_rows(recoding: Recoding) -> CodeArray:
    """Return the piece of every row, dealing a divided tuple's rows out in order."""
    rows = recoding.tuples.rows
    if rows is None:
        raise TypeError("the tuples of a lazy source know no rows")
    if recoding.pieces is None:
        return rows
    dealt = np.repeat(np.arange(recoding.pieces.counts.size, dtype=np.int32), recoding.pieces.counts)
    by_tuple = dealt[np.argsort(recoding.pieces.tuple_[dealt], kind="stable")]
    pieces = np.empty(rows.size, np.int32)
    pieces[np.argsort(rows, kind="stable")] = by_tuple
    return pieces


def _refuse_repeated_names(native: Any) -> None:
    if isinstance(native, pa.Table):
        names = native.column_names
    elif type(native).__module__.startswith("pandas"):
        names = [str(name) for name in native.columns]
    else:
        return
    if len(set(names)) < len(names):
        raise SchemaError("The table has several columns of the same name.")


def _as_pandas(rows: pa.Table, like: Any) -> Any:
    columns = {}
    for name in rows.column_names:
        dtype = like[name].dtype
        mapper = {rows[name].type: dtype}.get if hasattr(dtype, "__from_arrow__") else None
        columns[name] = rows[name].to_pandas(types_mapper=mapper)
    return type(like)(columns)


def _without_index(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    return nw.maybe_reset_index(frame)
