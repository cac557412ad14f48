"""The engine for frames in memory: pandas, Polars, PyArrow and their like; the same kind comes back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.boundary import admitted, in_memory, package_of
from discreet.core.engine import Engine, Facts, TextLayout, ValueType
from discreet.core.errors import DiscreetError, OutputError
from discreet.core.rng import keyed_order
from discreet.core.tables.publication import defused, formulas_in, matching_values, publishable
from discreet.engines import formats
from discreet.engines.formats import format_named, refuse_alike_names
from discreet.engines.frames import FrameSource
from discreet.engines.sheets import write_sheet
from discreet.engines.statistics import write_statistics

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
        self, frame: Any, ranges: Mapping[str, tuple[float | None, float | None]]
    ) -> tuple[int, dict[str, tuple[int, int]]]:
        """Return the number of rows, and how many values of each column are not finite or out of range."""
        return self._embedded.outside_counts(self._lent(frame), ranges)

    def matching_texts(
        self, frame: Any, expression: str, without: Collection[str] = ()
    ) -> Iterator[tuple[Facts, pa.Array]]:
        """Return facts of each column of texts or whole numbers, and its different texts with an expression in them."""
        eager = in_memory(frame)
        dtypes = (nw.String, nw.Categorical, nw.Enum, nw.Int64, nw.UInt64)
        names = [
            name for name, dtype in eager.schema.items() if isinstance(dtype, dtypes) and name not in without
        ]
        for name, column in zip(names, eager.select(names).to_arrow().columns if names else (), strict=True):
            yield _matching(name, column, expression)

    def formula_cells(self, frame: Any, without: Collection[str] = ()) -> int:
        """Count the cells and column names that a spreadsheet would run."""
        eager = in_memory(frame)
        dtypes = (nw.String, nw.Categorical, nw.Enum)
        texts = [
            name for name, dtype in eager.schema.items() if isinstance(dtype, dtypes) and name not in without
        ]
        return formulas_in(eager.columns, eager.select(texts).to_arrow())

    def defused(self, frame: Any) -> pa.Table:
        """Return the rows with an apostrophe before every text that a spreadsheet would run."""
        rows = self.arrow(frame)
        return pa.Table.from_arrays([defused(column) for column in rows.columns], names=rows.column_names)

    def layout(self, frame: Any) -> None:
        """Return None: a frame in memory comes from no file."""
        del frame

    def write(self, frame: Any, path: Path, format_: str, *, packing: str, layout: TextLayout) -> None:
        """Write the rows as they may leave; a stream of batches is gone through once, and never held as a whole."""
        if isinstance(frame, pa.RecordBatchReader):
            self._write_stream(frame, path, format_, packing, layout)
            return
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
            elif format_named(format_).reader == "statistics":
                write_statistics(rows, path, format_, layout.labels)
            else:
                self._write_text(rows, path, format_, packing, layout)

    def _write_stream(
        self, stream: pa.RecordBatchReader, path: Path, format_: str, packing: str, layout: TextLayout
    ) -> None:
        """Write batches by the embedded engine; an error of ours in the stream is raised as it is."""
        failures: list[DiscreetError] = []

        def watched() -> Iterator[pa.RecordBatch]:
            try:
                yield from stream
            except DiscreetError as error:
                failures.append(error)
                raise

        reader = pa.RecordBatchReader.from_batches(stream.schema, watched())
        try:
            self._embedded.write(self._embedded.framed(reader), path, format_, packing=packing, layout=layout)
        except (*self.errors, pa.ArrowException, OSError):
            if failures:
                raise failures[0] from None
            raise

    def _write_text(self, rows: pa.Table, path: Path, format_: str, packing: str, layout: TextLayout) -> None:
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


def _matching(name: str, column: pa.ChunkedArray, expression: str) -> tuple[Facts, pa.Array]:
    """Count one column, and find an expression in its different texts; every text is looked at once."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_integer(column.type):
        return matching_values(name, pc.unique(column.drop_null()), None, column.null_count, expression)
    counted = pc.value_counts(column.drop_null().cast(pa.large_string()))
    return matching_values(
        name, counted.field("values"), counted.field("counts"), column.null_count, expression
    )


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
