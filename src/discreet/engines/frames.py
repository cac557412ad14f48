"""Frames in memory as sources: pandas, Polars, PyArrow and their like; the same kind comes back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray
from discreet.core.boundary import admitted
from discreet.core.errors import SchemaError
from discreet.core.pseudonym import pseudonyms
from discreet.core.rng import keyed_order
from discreet.core.tables.encoding import (
    Codebook,
    cleaned,
    refuse_unpublishable,
    type_name,
    value_codes,
    whole_array,
)
from discreet.core.tables.publication import defused, publishable
from discreet.core.tables.source import DEALT, Recoding, Replacement, Singletons, Source, Tuples

_WIDE = 1 << 31


class FrameSource(Source):
    """A frame in memory."""

    def __init__(self, native: Any, frame: nw.DataFrame[Any], *, lazy: bool) -> None:
        self.native = native
        self.rows: Any = frame
        self.names = tuple(frame.columns)
        self._frame = frame
        self._lazy = lazy
        self._spelled: dict[str, tuple[pa.Array, CodeArray]] = {}

    @classmethod
    def of(cls, native: Any) -> FrameSource:
        """Wrap any frame that Narwhals knows."""
        refuse_repeated_names(native)
        frame = admitted(native)
        if isinstance(frame, nw.LazyFrame):
            return cls(native, frame.collect(), lazy=True)
        return cls(native, frame, lazy=False)

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return the distinct values of columns; where each row's lies among them is kept until tuples are counted."""
        self._spelled = {name: value_codes(self._arrow(name), name) for name in names}
        return {name: values for name, (values, _) in self._spelled.items()}

    def _arrow(self, name: str) -> pa.Array | pa.ChunkedArray:
        column = self._frame.get_column(name)
        if column.dtype == nw.Object and not self._frame.implementation.is_pandas_like():
            raise SchemaError(f"Column '{name}' holds Python objects; make it text first.")
        try:
            array = column.to_arrow()
        except UnicodeError:
            raise SchemaError(
                f"Column '{name}' holds text that is not valid Unicode; clean it first."
            ) from None
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise SchemaError(
                f"Column '{name}' mixes types or has one that is not known here ({type_name(column.dtype)}); make it "
                "one type, such as text, first."
            ) from None
        refuse_unpublishable(array.type, name)
        return array

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Encode the rows column by column, and count the distinct ones."""
        from discreet.kernels.tables.grouping import distinct, pack

        dtype = np.min_scalar_type(max(book.n_codes for book in encoded))
        columns = []
        for book in encoded:
            if book.name not in self._spelled:
                self._spelled[book.name] = value_codes(self._arrow(book.name), book.name)
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

    def singletons(self, names: Sequence[str], unit: str | None = None) -> Singletons:
        """Count the rows whose values in the columns no other row, or unit, has; rows without any do not count."""
        from discreet.kernels.tables.grouping import distinct, pack

        spelled_ = [value_codes(self._arrow(name), name, judged=False) for name in names]
        if len(names) == 1 and unit is None:
            values, places = spelled_[0]
            held = np.bincount(places, minlength=len(values))[~np.asarray(values.is_null())]
            return Singletons(int(np.count_nonzero(held == 1)), int(held.sum()), int(np.count_nonzero(held)))
        keys = pack([places for _, places in spelled_], [len(values) for values, _ in spelled_])
        first, numbers, counts = distinct(keys)
        empty = np.ones(first.size, np.bool_)
        for values, places in spelled_:
            empty &= np.asarray(values.is_null())[places[first]]
        alone = counts == 1
        if unit is not None:
            whose = value_codes(self._arrow(unit), unit, judged=False)[1].astype(np.int64)
            pairs = np.unique(numbers.astype(np.int64) * (int(whose.max()) + 1) + whose) // (
                int(whose.max()) + 1
            )
            alone = np.bincount(pairs, minlength=first.size) == 1
        held = counts[~empty]
        return Singletons(int(counts[~empty & alone].sum()), int(held.sum()), held.size)

    def small_classes(self, names: Sequence[str], unit: str, fewest: int) -> int:
        """Count the rows in classes of the columns with fewer units than some; a row without one counts as one."""
        from discreet.kernels.tables.grouping import distinct, pack

        spelled_ = [value_codes(self._arrow(name), name, judged=False) for name in names]
        first, numbers, counts = distinct(
            pack([places for _, places in spelled_], [len(values) for values, _ in spelled_])
        )
        values, whose = value_codes(self._arrow(unit), unit, judged=False)
        unknown = np.asarray(values.is_null())[whose]
        pairs = numbers[~unknown].astype(np.int64) * len(values) + whose[~unknown]
        owners = np.bincount(np.unique(pairs) // len(values), minlength=first.size)
        owners += np.bincount(numbers[unknown], minlength=first.size)
        return int(counts[owners < fewest].sum())

    def framed(self, rows: pa.Table, *, original_dtypes: Collection[str] | None = None) -> Any:
        """Return rows made elsewhere as the kind of frame that came in, and nothing but the rows.

        Columns that hold cells as they came get the type they had; all do unless some are named.
        """
        original = set(self.names if original_dtypes is None else original_dtypes)
        rows = publishable(rows)
        if self._frame.implementation.is_pandas():
            return _as_pandas(rows, self._frame.to_native(), original)
        rebuilt = nw.from_arrow(rows, backend=self._frame.implementation)
        if self._frame.implementation.is_polars():
            rebuilt = nw.from_native(_as_polars(rows, self._frame.to_native(), original))
        return rebuilt.lazy().to_native() if self._lazy else rebuilt.to_native()

    def recode(self, recoding: Recoding) -> Any:
        """Publish the rows as the recoding says."""
        pieces = piece_of_rows(recoding)
        order = np.arange(pieces.size)
        if recoding.dropped is not None:
            order = order[~recoding.dropped[pieces]]
        if recoding.seed is not None:
            order = order[keyed_order(recoding.seed, order.size)]
        tuple_of_row = recoding.parts.tuple_[pieces]
        replaced: dict[str, pa.Array] = {}
        for name, replacement in recoding.by_piece.items():
            replaced[name] = self._labeled(replacement, pieces[order])
        for name, replacement in recoding.by_value.items():
            column = [book.name for book in recoding.encoded].index(name)
            replaced[name] = self._labeled(replacement, recoding.tuples.codes[tuple_of_row[order], column])
        for name, key in recoding.pseudonyms.items():
            replaced[name] = pseudonyms(cleaned(self._arrow(name), name).take(pa.array(order)), key, name)
        return self._joined(recoding, replaced, pa.array(order))

    def _labeled(self, replacement: Replacement, codes: CodeArray) -> pa.Array:
        """Return the cells that stand for codes."""
        return label_cells(replacement, codes)

    def _joined(self, recoding: Recoding, replaced: dict[str, pa.Array], order: pa.Array) -> Any:
        """Join new columns and those that stay, which are published as they were judged."""
        cells = [
            replaced[name] if name in replaced else take_rows(self._arrow(name), order)
            for name in recoding.columns
        ]
        if recoding.spreadsheet_safe:
            cells = [defused(cell) for cell in cells]
        rows = pa.Table.from_arrays(cells, names=list(recoding.released_names))
        return self.framed(rows, original_dtypes=[name for name in recoding.columns if name not in replaced])


def label_cells(replacement: Replacement, codes: CodeArray) -> pa.Array:
    """Turn codes into the cells that stand for them."""
    index = pa.array(replacement.index[codes], pa.int32())
    return replacement.labels.take(index)


def piece_of_rows(recoding: Recoding) -> CodeArray:
    """Return the piece of every row, dealing a divided tuple's rows out by chance: their order may be known."""
    rows = recoding.tuples.rows
    if rows is None:
        raise TypeError("the tuples of a lazy source know no rows")
    if recoding.pieces is None:
        return rows
    dealt = np.repeat(np.arange(recoding.pieces.counts.size, dtype=np.int32), recoding.pieces.counts)
    by_tuple = dealt[np.argsort(recoding.pieces.tuple_[dealt], kind="stable")]
    pieces = np.empty(rows.size, np.int32)
    order = np.arange(rows.size) if recoding.seed is None else keyed_order(recoding.seed, rows.size, DEALT)
    # Rows by tuple, in random order within each, meet the pieces by tuple.
    pieces[order[np.argsort(rows[order], kind="stable")]] = by_tuple
    return pieces


def refuse_repeated_names(native: Any) -> None:
    """Refuse a frame with several columns of one name, or with a name that is no text."""
    if isinstance(native, pa.Table):
        names = native.column_names
    elif type(native).__module__.startswith("pandas"):
        names = list(native.columns)
        if not all(isinstance(name, str) for name in names):
            raise SchemaError("The names of columns must be text; rename those that are not.")
    else:
        return
    if len(set(names)) < len(names):
        raise SchemaError("The table has several columns of the same name.")


def take_rows(column: pa.Array | pa.ChunkedArray, order: pa.Array) -> pa.Array | pa.ChunkedArray:
    """Return some rows of a column, in an order; views of text become text, of many bytes with wider offsets."""
    if pa.types.is_string_view(column.type) or (pa.types.is_string(column.type) and column.nbytes >= _WIDE):
        column = column.cast(pa.large_string())
    if pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())
    return whole_array(column).take(order)


def _as_pandas(rows: pa.Table, like: Any, original: Collection[str]) -> Any:
    """Return rows as a pandas frame with a plain index and no attributes."""
    columns = {
        name: _pandas_column(rows[name], like[name].dtype) if name in original else rows[name].to_pandas()
        for name in rows.column_names
    }
    return type(like)(columns)


def _pandas_column(column: pa.ChunkedArray, dtype: Any) -> Any:
    if dtype.name == "object":
        # Otherwise whole numbers with nulls would come back as floats.
        return column.to_pandas(integer_object_nulls=True).astype(object)
    if hasattr(dtype, "__from_arrow__") and dtype.name != "category":
        mapper = {column.type: dtype}.get
        return column.to_pandas(types_mapper=mapper)
    return column.to_pandas()


def _as_polars(rows: pa.Table, like: Any, original: Collection[str]) -> Any:
    """Return rows as a Polars frame; an Enum becomes one of the values that occur."""
    import polars as pl

    frame: Any = pl.from_arrow(rows)
    casts = []
    for name in rows.column_names:
        if name not in original or like.schema[name] == frame.schema[name]:
            continue
        dtype: Any = like.schema[name]
        if isinstance(dtype, pl.Enum):
            present = set(frame[name].unique().cast(pl.String))
            dtype = pl.Enum([category for category in dtype.categories if category in present])
        casts.append(
            pl.col(name).cast(pl.String).cast(dtype)
            if isinstance(dtype, pl.Enum)
            else pl.col(name).cast(dtype)
        )
    return frame.with_columns(casts) if casts else frame
