"""Engines: where data lives. Each works on the frames of one library by the same few verbs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import pyarrow as pa

from discreet.core.adapters import ENGINES, MEMORY, load
from discreet.core.arrays import IntArray
from discreet.core.boundary import package_of, refuse_lazy
from discreet.core.errors import InputError

if TYPE_CHECKING:
    from discreet.core.baskets.cluster_baskets import ClusterBaskets
    from discreet.core.tables.source import Source

ValueType = Literal["text", "whole", "real", "date", "uuid", "nested", "other"]
"""What the values of a column are, whatever its engine calls their type; nested values include bytes."""
_UNIQUE = 0.9
_WORDY, _LONG, _FEWEST_TEXTS, _OWN = 3, 40, 20, 0.2
SMALLEST_NUMBER = 10**12
"""The smallest number of 13 digits: no number of a payment card is shorter."""


@dataclass(frozen=True)
class TextLayout:
    """What separates and encloses the cells of delimited text, the decimal mark, and labels of statistics packages.

    ``labels`` holds for a column its ``label`` and the ``codes`` of its values, by the labels that stand for them.
    """

    delimiter: str = ","
    quote: str = '"'
    decimal: str = "."
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def safe(self) -> TextLayout:
        """Return the layout if it can be written, its marks being printable and different; else the usual one."""
        marks = (self.delimiter, self.quote)
        printable = all(len(mark) == 1 and (mark in "\t " or "!" <= mark <= "~") for mark in marks)
        fits = printable and marks[0] != marks[1] and not any(mark.isalnum() for mark in marks)
        return self if fits and self.decimal in (".", ",") else TextLayout(labels=self.labels)


@dataclass(frozen=True)
class Facts:
    """What can be said about a column without showing any of its values.

    ``length`` is the mean number of characters and ``words`` the mean number of spaces of texts; ``span`` is the
    distance between the smallest and the largest whole number.
    """

    name: str
    type: ValueType
    n_rows: int
    n_missing: int
    n_distinct: int
    length: float = 0.0
    words: float = 0.0
    span: float | None = None

    @property
    def is_text(self) -> bool:
        """Whether the column holds text."""
        return self.type == "text"

    @property
    def is_whole(self) -> bool:
        """Whether the column holds whole numbers."""
        return self.type == "whole"

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.type in ("whole", "real")

    @property
    def n_known(self) -> int:
        """The number of rows that have a value."""
        return self.n_rows - self.n_missing

    @property
    def uniqueness(self) -> float:
        """The share of different values among those that are there."""
        return self.n_distinct / max(self.n_known, 1)

    @property
    def missing(self) -> float:
        """The share of rows without a value."""
        return self.n_missing / max(self.n_rows, 1)

    @property
    def is_wordy(self) -> bool:
        """Whether the texts are sentences: three spaces and more, or long with a space."""
        return self.is_text and (self.words >= _WORDY or (self.length > _LONG and self.words >= 1))

    @property
    def is_free_text(self) -> bool:
        """Whether the column holds sentences, of which hardly any comes again."""
        return self.is_wordy and self.n_distinct > _FEWEST_TEXTS and self.uniqueness > _OWN

    @property
    def is_numbered(self) -> bool:
        """Whether the column counts the rows: whole numbers, all different, with hardly a gap."""
        close = self.span is not None and self.span < 2 * self.n_rows
        return self.is_whole and self.uniqueness > _UNIQUE and close


class ValueList(NamedTuple):
    """The number of different values of a column and of rows with any, and the values with counts, if they are few."""

    n_distinct: int
    n_known: int
    values: pa.Array
    counts: IntArray


class Engine(Protocol):
    """What works on the frames of one library, where their rows are.

    A frame is what the user has: a pandas, Polars or PyArrow frame, a DuckDB relation. Verbs that return a frame are
    lazy where the engine is; what they return is a frame of the same engine.
    """

    errors: tuple[type[Exception], ...]
    """What the library raises where it cannot do its work; the messages may hold data."""
    fetches: bool = True
    """Whether rows may be fetched to this machine."""

    def source(self, frame: Any) -> Source:
        """Return the rows as searches and judgments use them: distinct tuples with counts."""
        ...

    def value_types(self, frame: Any) -> dict[str, ValueType]:
        """Return what the values of each column are."""
        ...

    def schema(self, frame: Any) -> pa.Schema:
        """Return the names and Arrow types of the columns."""
        ...

    def arrow(self, frame: Any) -> pa.Table:
        """Return all rows as an Arrow table."""
        ...

    def batches(self, frame: Any) -> Iterator[pa.RecordBatch]:
        """Return the rows batch by batch."""
        ...

    def first_rows(self, frame: Any, n: int) -> pa.Table:
        """Return the first rows."""
        ...

    def select(self, frame: Any, names: Sequence[str], *, numbers: Sequence[str] = ()) -> Any:
        """Return a frame of some columns; those in ``numbers`` become floats."""
        ...

    def shuffled(self, frame: Any, secret: int) -> Any:
        """Return the rows in an order that follows from a secret number of up to 256 bits."""
        ...

    def framed(self, rows: pa.Table | pa.RecordBatchReader, *, like: Any = None) -> Any:
        """Return rows made elsewhere as a frame of the engine, of the same kind as another where there are several."""
        ...

    def facts(self, frame: Any) -> list[Facts]:
        """Count what can be said about each column without showing its values."""
        ...

    def value_lists(self, frame: Any, names: Sequence[str], most: int) -> dict[str, ValueList]:
        """Return how many different values columns have, and those with counts where there are no more than ``most``.

        An engine may list more values than that where it has them at hand.
        """
        del most
        lists = {name: self.value_counts(frame, name) for name in names}
        return {
            name: ValueList(len(values), int(counts.sum()), values, counts)
            for name, (values, counts) in lists.items()
        }

    def value_sets(self, frame: Any, names: Sequence[str]) -> dict[str, frozenset[Any]]:
        """Return the different values of columns that have few of them, nulls left out."""
        ...

    def value_counts(self, frame: Any, name: str) -> tuple[pa.Array, IntArray]:
        """Return the different values of a column in order, null left out, and how often each occurs."""
        ...

    def outside_counts(
        self, frame: Any, ranges: Mapping[str, tuple[float | None, float | None]]
    ) -> tuple[int, dict[str, tuple[int, int]]]:
        """Return the number of rows, and for each column how many values are no finite numbers or out of range.

        An end that is None is open.
        """
        ...

    def matching_texts(
        self, frame: Any, expression: str, without: Collection[str] = ()
    ) -> Iterator[tuple[Facts, pa.Array]]:
        """Return facts of each column of texts or whole numbers, and its different texts with an expression in them.

        Whole numbers match where they are long enough for any identifier; their digits are the texts.
        """
        ...

    def formula_cells(self, frame: Any, without: Collection[str] = ()) -> int:
        """Count the cells and column names that a spreadsheet would run; the cells of some columns are left out."""
        ...

    def defused(self, frame: Any) -> Any:
        """Return the frame with an apostrophe before every text that a spreadsheet would run."""
        ...

    def layout(self, frame: Any) -> TextLayout | None:
        """Return how the text file was laid out that a frame comes from; None for others."""
        ...

    def write(self, frame: Any, path: Path, format_: str, *, packing: str, layout: TextLayout) -> None:
        """Write the rows to a file as they were judged; ``packing`` is none, gzip or zstd."""
        ...

    def perturbed(
        self,
        frame: Any,
        names: Sequence[str],
        perturb: Callable[[pa.Table, Sequence[str]], tuple[pa.Table, Any]],
    ) -> Any:
        """Return the rows, in an order that means nothing, with columns distorted where they are; those become floats.

        ``perturb`` takes some rows of the columns, and a text that no other row of the frame has, and
        returns the distorted columns and a secret number of each row, by which the rows are put in order.
        """
        del frame, names, perturb
        raise InputError("Columns of this frame are distorted in memory.")

    def baskets(self, frame: Any, *, item: str, basket: str | None = None) -> ClusterBaskets:
        """Return baskets that stay where their rows are, of a frame with a row per entry or with a column of lists."""
        del frame, item, basket
        raise InputError("Baskets of this frame are made in memory (Baskets).")

    def written(self, path: Path, frame: Any) -> Any:
        """Return the rows of a frame as it wrote them to Parquet; None where any reader of files can read them."""
        del path, frame
        return None

    def typed(self, frame: Any, types: Mapping[str, pa.DataType], *, decimal: str = ".") -> Any:
        """Return some columns of a file that was read back, those of text cast to the types they had."""
        ...

    def types_were_found(self, frame: Any) -> bool:
        """Whether the types of columns were found in the values of a file, and not stated by it."""
        ...

    def typed_by_others(self, original: Any, remaining: Any, names: Sequence[str]) -> list[str]:
        """Name the columns whose type, found in all rows of a file, would be another by the kept rows alone."""
        ...


def engine_of(frame: Any) -> Engine:
    """Return the engine that works on a frame: that of its library, or else the one for frames in memory.

    >>> type(engine_of(pa.table({"age": [42]}))).__name__
    'Memory'
    """
    refuse_lazy(frame, clusters=True)
    engine: Engine = load(ENGINES.get(package_of(frame), MEMORY))
    return engine


def arrow_table(frame: Any) -> pa.Table:
    """Return a frame of any kind as an Arrow table.

    >>> arrow_table(pa.record_batch({"age": [42]})).num_rows
    1
    """
    return engine_of(frame).arrow(frame)
