"""The engine for frames in memory: pandas, Polars, PyArrow and their like; the same kind comes back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.engine import Engine, Facts, Layout, ValueType
from discreet.core.errors import OutputError, SchemaError
from discreet.core.pseudonym import pseudonyms
from discreet.core.rng import keyed_order
from discreet.core.tables.admission import admitted, in_memory, package_of
from discreet.core.tables.encoding import (
    Codebook,
    cleaned,
    refuse_unpublishable,
    spell,
    type_name,
    whole_array,
)
from discreet.core.tables.publication import publishable
from discreet.core.tables.source import DEALT, Recoding, Replacement, Singletons, Source, Tuples
from discreet.core.tables.spreadsheet import defused, formulas_in
from discreet.engines import formats
from discreet.engines.formats import refuse_alike_names
from discreet.engines.sheets import write_sheet

_WIDE = 1 << 31
_BATCH = 1 << 17


class Memory(Engine):
    """Frames whose rows are in memory, or fetched into it at once, such as lazy ones of Polars.

    What is a query rather than a computation is left to the embedded engine, which reads Arrow in place.
    """

    @property
    def errors(self) -> tuple[type[Exception], ...]:  # type: ignore[override]
        """What the embedded engine raises, which writes text files."""
        return self._embedded.errors

    @cached_property
    def _embedded(self) -> Engine:
        from discreet.engines.duckdb.engine import ENGINE as EMBEDDED

        return EMBEDDED

    def _lent(self, frame: Any) -> Any:
        """Return a frame as one of the embedded engine."""
        return self._embedded.framed(self.arrow(frame))

    def source(self, frame: Any) -> FrameSource:
        """Return the rows as searches and judgments use them."""
        return FrameSource.of(frame)

    def value_types(self, frame: Any) -> dict[str, ValueType]:
        """Return what the values of each column are."""
        return self._embedded.value_types(self._lent(frame))

    def schema(self, frame: Any) -> pa.Schema:
        """Return the names and Arrow types of the columns."""
        return self.arrow(frame).schema

    def arrow(self, frame: Any) -> pa.Table:
        """Return all rows as an Arrow table, without the row labels of pandas."""
        if isinstance(frame, pa.Table):
            return frame
        if isinstance(frame, pa.RecordBatch):
            return pa.Table.from_batches([frame])
        if isinstance(frame, pa.RecordBatchReader):
            return frame.read_all()
        if package_of(frame) == "pandas":
            return pa.Table.from_pandas(frame.rename(columns=str), preserve_index=False)
        return in_memory(frame).to_arrow()

    def batches(self, frame: Any) -> Iterator[pa.RecordBatch]:
        """Return the rows batch by batch."""
        yield from self.arrow(frame).to_reader(_BATCH)

    def first_rows(self, frame: Any, n: int) -> pa.Table:
        """Return the first rows; of a lazy frame only they are fetched."""
        return in_memory(admitted(frame).head(n)).to_arrow()

    def select(self, frame: Any, names: Sequence[str], *, numbers: Sequence[str] = ()) -> Any:
        """Return a frame of some columns; those in ``numbers`` become floats."""
        cells = [nw.col(name).cast(nw.Float64) if name in numbers else nw.col(name) for name in names]
        return admitted(frame).select(*cells).to_native()

    def shuffled(self, frame: Any, secret: int) -> pa.Table:
        """Return the rows in an order that follows from a secret number."""
        rows = self.arrow(frame)
        return rows.take(pa.array(keyed_order(secret, rows.num_rows)))

    def framed(self, rows: pa.Table | pa.RecordBatchReader, *, like: Any = None) -> Any:
        """Return rows made elsewhere, as PyArrow has them or as the same kind as another frame."""
        if like is None:
            return self.arrow(rows)
        frame = admitted(like)
        rebuilt = nw.from_arrow(self.arrow(rows), backend=frame.implementation)
        return rebuilt.lazy().to_native() if isinstance(frame, nw.LazyFrame) else rebuilt.to_native()

    def facts(self, frame: Any) -> list[Facts]:
        """Count what can be said about each column without showing its values."""
        return self._embedded.facts(self._lent(frame))

    def value_sets(self, frame: Any, names: Sequence[str]) -> dict[str, frozenset[Any]]:
        """Return the different values of columns that have few of them."""
        return self._embedded.value_sets(self._lent(frame), names)

    def value_counts(self, frame: Any, name: str) -> tuple[pa.Array, IntArray]:
        """Return the different values of a column in order, and how often each occurs."""
        return self._embedded.value_counts(self._lent(frame), name)

    def outside_counts(
        self, frame: Any, ranges: Mapping[str, tuple[float, float]]
    ) -> tuple[int, dict[str, tuple[int, int]]]:
        """Return the number of rows, and how many values of each column are not finite or out of range."""
        return self._embedded.outside_counts(self._lent(frame), ranges)

    def formula_cells(self, frame: Any) -> int:
        """Count the cells and column names that a spreadsheet would run."""
        eager = in_memory(frame)
        dtypes = (nw.String, nw.Categorical, nw.Enum)
        texts = [name for name, dtype in eager.schema.items() if isinstance(dtype, dtypes)]
        return formulas_in(eager.columns, eager.select(texts).to_arrow())

    def defused(self, frame: Any) -> pa.Table:
        """Return the rows with an apostrophe before every text that a spreadsheet would run."""
        rows = self.arrow(frame)
        return pa.Table.from_arrays([defused(column) for column in rows.columns], names=rows.column_names)

    def layout(self, frame: Any) -> None:
        """Return None: a frame in memory comes from no file."""
        del frame

    def write(self, frame: Any, path: Path, format_: str, *, packing: str, layout: Layout) -> None:
        """Write the rows as they may leave."""
        rows = _readable(publishable(self.arrow(frame)), format_)
        if format_ == "arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
                writer.write_table(rows, _BATCH)
        elif format_ == "parquet":
            from pyarrow import parquet

            parquet.write_table(rows, str(path), compression=formats.PARQUET_COMPRESSION)
        else:
            refuse_alike_names(rows.column_names)
            if format_ == "xlsx":
                write_sheet(rows, path)
            else:
                self._write_text(rows, path, format_, packing, layout)

    def _write_text(self, rows: pa.Table, path: Path, format_: str, packing: str, layout: Layout) -> None:
        """Write a text file by the embedded engine."""
        from discreet.engines.duckdb.connection import connect

        # One thread: with several, DuckDB has been seen to wait for ever on a full disk.
        relation = connect(threads=1).from_arrow(rows)
        self._embedded.write(relation, path, format_, packing=packing, layout=layout)

    def typed(self, frame: Any, types: Mapping[str, pa.DataType], *, decimal: str = ".") -> Any:
        """Return some columns, those of text cast to the types they had."""
        return self._embedded.typed(self._lent(frame), types, decimal=decimal)

    def types_were_found(self, frame: Any) -> bool:
        """Return False: a frame in memory states its types."""
        del frame
        return False

    def typed_by_others(self, original: Any, remaining: Any, names: Sequence[str]) -> list[str]:
        """Return nothing: the types of a frame in memory were not found in its values."""
        del original, remaining, names
        return []


ENGINE = Memory()


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
        self._spelled = {name: spell(self._arrow(name), name) for name in names}
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

    def singletons(self, names: Sequence[str], unit: str | None = None) -> Singletons:
        """Count the rows whose values in the columns no other row, or unit, has; rows without any do not count."""
        from discreet.kernels.tables.grouping import distinct, pack

        spelled_ = [spell(self._arrow(name), name, judged=False) for name in names]
        keys = pack([places for _, places in spelled_], [len(values) for values, _ in spelled_])
        first, numbers, counts = distinct(keys)
        empty = np.ones(first.size, np.bool_)
        for values, places in spelled_:
            empty &= np.asarray(values.is_null())[places[first]]
        alone = counts == 1
        if unit is not None:
            whose = spell(self._arrow(unit), unit, judged=False)[1].astype(np.int64)
            pairs = np.unique(numbers.astype(np.int64) * (int(whose.max()) + 1) + whose) // (
                int(whose.max()) + 1
            )
            alone = np.bincount(pairs, minlength=first.size) == 1
        held = counts[~empty]
        return Singletons(int(counts[~empty & alone].sum()), int(held.sum()), held.size)

    def small_classes(self, names: Sequence[str], unit: str, fewest: int) -> int:
        """Count the rows in classes of the columns with fewer units than some; a row without one counts as one."""
        from discreet.kernels.tables.grouping import distinct, pack

        spelled_ = [spell(self._arrow(name), name, judged=False) for name in names]
        first, numbers, counts = distinct(
            pack([places for _, places in spelled_], [len(values) for values, _ in spelled_])
        )
        values, whose = spell(self._arrow(unit), unit, judged=False)
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
            replaced[name] = spelled(replacement, pieces[order])
        for name, replacement in recoding.by_value.items():
            column = [book.name for book in recoding.encoded].index(name)
            replaced[name] = spelled(replacement, recoding.tuples.codes[tuple_of_row[order], column])
        for name, key in recoding.pseudonyms.items():
            replaced[name] = pseudonyms(cleaned(self._arrow(name), name).take(pa.array(order)), key, name)
        return self._joined(recoding, replaced, pa.array(order))

    def _joined(self, recoding: Recoding, replaced: dict[str, pa.Array], order: pa.Array) -> Any:
        """Join new columns and those that stay, which are published as they were judged."""
        cells = [
            replaced[name] if name in replaced else taken(self._arrow(name), order)
            for name in recoding.columns
        ]
        if recoding.spreadsheet_safe:
            cells = [defused(cell) for cell in cells]
        rows = pa.Table.from_arrays(cells, names=list(recoding.released_names))
        return self.framed(rows, original_dtypes=[name for name in recoding.columns if name not in replaced])


def spelled(replacement: Replacement, codes: CodeArray) -> pa.Array:
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


def taken(column: pa.Array | pa.ChunkedArray, order: pa.Array) -> pa.Array | pa.ChunkedArray:
    """Return some rows of a column, in an order; views of text become text, of many bytes with wider offsets."""
    if pa.types.is_string_view(column.type) or (pa.types.is_string(column.type) and column.nbytes >= _WIDE):
        column = column.cast(pa.large_string())
    if pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())
    return whole_array(column).take(order)


def _readable(rows: pa.Table, format_: str) -> pa.Table:
    """Turn numbers of 16 bits into those of 32, which every reader knows; refuse by name what none knows."""
    for number, field in enumerate(rows.schema):
        if pa.types.is_float16(field.type):
            rows = rows.set_column(number, field.name, rows.column(number).cast(pa.float32()))
        if pa.types.is_decimal256(field.type):
            raise OutputError(
                f"Column '{field.name}' holds decimals of more than 38 digits; make it text first."
            )
        if format_ == "parquet" and pa.types.is_interval(field.type):
            raise OutputError(
                f"Column '{field.name}' holds intervals, which Parquet cannot write; make it text first, or choose "
                "another format."
            )
    return rows


def _as_pandas(rows: pa.Table, like: Any, original: Collection[str]) -> Any:
    """Return rows as a pandas frame with a plain index and no attributes."""
    columns = {
        name: _pandas_column(rows[name], like[name].dtype) if name in original else rows[name].to_pandas()
        for name in rows.column_names
    }
    return type(like)(columns)


def _pandas_column(column: pa.ChunkedArray, dtype: Any) -> Any:
    if dtype.name == "object":
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
