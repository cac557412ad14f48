"""Sources: where the rows live. A source gives distinct coded tuples with counts, and publishes recoded rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.engine import engine_of
from discreet.core.errors import InputError
from discreet.core.tables.encoding import Codebook

if TYPE_CHECKING:
    from discreet.core.tables.groups import Groups
    from discreet.core.tables.table import Table

DEALT = "pieces"
"""The use of the seed by which the rows of a divided tuple are dealt out, beside that of shuffling all rows."""


@dataclass(frozen=True, repr=False)
class Tuples:
    """The distinct combinations of a table's coded columns, with counts, in ascending order.

    ``codes`` has a row per tuple and a column per coded column, in the smallest integer type that holds them.
    ``rows`` gives the tuple of every row where the rows are in memory; a lazy source leaves it out.
    """

    codes: NDArray[Any]
    counts: IntArray
    rows: CodeArray | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows behind the tuples."""
        return int(self.counts.sum())

    def __repr__(self) -> str:
        return f"Tuples({self.counts.size} of {self.codes.shape[1]} columns, {self.n_rows} rows)"


@dataclass(frozen=True, repr=False)
class ClassShapes:
    """The classes of a table: those of one and two rows by what they hold, the others by their tuples.

    Where most tuples are distinct, nearly all classes are of one row, and there are no more kinds of those than there
    are combinations of sensitive values.

    Attributes
    ----------
    tuples
        The tuples of the classes of three rows and more.
    sizes
        The number of rows, 1 or 2, of each kind of small class.
    ends
        The lowest and the highest code of each sensitive column in it: a row per kind, two columns for each column.
    repeats
        How many classes are of each kind.
    """

    tuples: Tuples
    sizes: IntArray
    ends: IntArray
    repeats: IntArray

    def groups(self, table: Table) -> Groups:
        """Return the classes, one for all small classes of a kind."""
        from discreet.core.tables.beyond_memory import shape_groups

        return shape_groups(table, self)


@dataclass(frozen=True, repr=False)
class Replacement:
    """New cells of one column: a label number for each code (or piece), and the labels."""

    index: CodeArray
    labels: pa.Array


@dataclass(frozen=True, repr=False)
class Pieces:
    """Parts of tuples that are published alike: the tuple of each part, and how many of its rows belong to it."""

    tuple_: CodeArray
    counts: IntArray


class SegmentCut(NamedTuple):
    """How a segment of tuples is cut in two: those with codes up to one go left; and the numbers of the halves."""

    column: int
    code: int
    left: int
    right: int


Cuts: TypeAlias = Mapping[int, SegmentCut]
"""Cuts by the segment that they divide; all tuples together are segment 0."""


class CodeCounts(NamedTuple):
    """How many rows, and tuples, of a segment have a code in a column; an entry for each code that occurs."""

    segment: IntArray
    column: IntArray
    code: IntArray
    n_rows: IntArray
    n_tuples: IntArray


class PieceCodes(NamedTuple):
    """The rows of each piece of divided tuples, whether sensitive values refused a cut, and codes of the pieces.

    ``piece``, ``column`` and ``code`` have an entry for each code: of some columns the lowest and the highest of each
    piece, of others those that stand for all.
    """

    sizes: IntArray
    refused: bool
    piece: IntArray
    column: IntArray
    code: IntArray


class TuplesElsewhere(Protocol):
    """The distinct tuples of a table as codes, which an engine holds because they are too many to be fetched."""

    @property
    def most(self) -> int:
        """The most tuples that a worker divides by itself."""
        ...

    def code_counts(self, cuts: Cuts, segments: Sequence[int]) -> CodeCounts:
        """Count the codes of each column in some of the segments that cuts make."""
        ...

    def divided(
        self, cuts: Cuts, undivided: Sequence[int], divide: Callable[[pa.Table], pa.Table]
    ) -> AssignedTuples:
        """Return the piece of every tuple: segments in ``undivided`` are one piece, workers divide the others."""
        ...


class AssignedTuples(Protocol):
    """The piece of each tuple, where an engine holds it."""

    def pieces(self, n_quasi: int, sets: Sequence[int]) -> PieceCodes:
        """Return what each piece holds: the ends of its codes in each column, and in ``sets`` what stands for all."""
        ...

    def joined(self, rows: Any, labels: Mapping[str, Replacement]) -> Any:
        """Return coded rows of the engine with the new cells of their pieces beside them."""
        ...


@dataclass(frozen=True, repr=False)
class Recoding:
    """What is published: the columns in order, and how each gets its cells.

    A column in none of the mappings is published as it is. ``by_value`` replaces cells by their code, ``by_piece``
    by the piece their row belongs to. ``dropped`` marks pieces whose rows are left out. ``seed`` shuffles the rows,
    so that their order reveals nothing, and deals those of a divided tuple out; None keeps the order. ``renamed``
    holds new names of columns, and ``spreadsheet_safe`` makes texts harmless that a spreadsheet would run. ``assigned``
    holds the piece of each tuple where the tuples are too many to be fetched; ``tuples`` is empty then.
    """

    columns: tuple[str, ...]
    encoded: tuple[Codebook, ...]
    tuples: Tuples
    by_value: Mapping[str, Replacement] = field(default_factory=dict)
    by_piece: Mapping[str, Replacement] = field(default_factory=dict)
    pieces: Pieces | None = None
    dropped: BoolArray | None = None
    pseudonyms: Mapping[str, bytes] = field(default_factory=dict)
    seed: int | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    spreadsheet_safe: bool = False
    assigned: AssignedTuples | None = None

    @property
    def released_names(self) -> tuple[str, ...]:
        """The names of the released columns, in order."""
        return tuple(self.renamed.get(name, name) for name in self.columns)

    @property
    def parts(self) -> Pieces:
        """The pieces; a tuple is a piece of its own unless it was divided."""
        if self.pieces is not None:
            return self.pieces
        return Pieces(np.arange(self.tuples.counts.size, dtype=np.int32), self.tuples.counts)


class Singletons(NamedTuple):
    """The rows whose values in some columns no other row has, of the rows with any value, and the distinct values."""

    n_singletons: int
    n_rows: int
    n_distinct: int


class Source(Protocol):
    """Where rows live: a frame in memory, a file behind DuckDB, a cluster."""

    names: tuple[str, ...]
    native: Any
    rows: Any
    """The frame that came in, or its rows in memory where they were fetched: what to look through at once."""

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return the values of columns, cleaned; at least every distinct one."""
        ...

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Count the distinct combinations of the columns' codes."""
        ...

    def class_shapes(self, encoded: Sequence[Codebook], n_quasi: int) -> ClassShapes | None:
        """Return the classes by their shape where the distinct tuples exceed memory; None where they do not."""
        del encoded, n_quasi
        return None

    def tuples_elsewhere(self, encoded: Sequence[Codebook]) -> TuplesElsewhere | None:
        """Return the distinct tuples where the engine holds them, to be divided there; None where it cannot."""
        del encoded
        return None

    def columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return whole columns, cleaned, row by row."""
        ...

    def singletons(self, names: Sequence[str], unit: str | None = None) -> Singletons:
        """Count the rows whose values in the columns no other row, or unit, has; rows without any do not count."""
        ...

    def column_singletons(self, names: Sequence[str], unit: str | None = None) -> dict[str, Singletons]:
        """Count for each of some columns what `singletons` counts of it."""
        return {name: self.singletons([name], unit) for name in names}

    def has_few_singletons(self, columns: Mapping[str, Singletons], share: float) -> bool:
        """Whether surely no more than a share of the rows have a combination of their own in columns, by a cheap look.

        ``columns`` holds what was counted of each by itself. False says nothing: only `singletons` does.
        """
        del columns, share
        return False

    def has_only_large_classes(self, names: Sequence[str], unit: str, fewest: int, n_classes: int) -> bool:
        """Whether surely each of all classes of the columns has as many units, by a cheap look; False says nothing."""
        del names, unit, fewest, n_classes
        return False

    def small_classes(self, names: Sequence[str], unit: str, fewest: int) -> int:
        """Count the rows in classes of the columns with fewer units than some; a row without one counts as one."""
        ...

    def recode(self, recoding: Recoding) -> Any:
        """Publish the rows as the recoding says, as the kind of frame that came in."""
        ...

    def framed(self, rows: pa.Table) -> Any:
        """Return rows made elsewhere as the kind of frame that came in."""
        ...


def source_of(frame: Any) -> Source:
    """Return the source of a frame, made by the engine that holds its rows.

    A source is returned as it is, so that rows once read need not be read again.
    """
    if Source in type(frame).__mro__:
        source: Source = frame
        return source
    if isinstance(frame, str | bytes) or hasattr(frame, "__fspath__"):
        raise InputError("A Table is made from a frame; read a file with discreet.read(path) first.")
    return engine_of(frame).source(frame)
