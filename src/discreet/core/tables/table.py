"""Table: a frame, the roles of its columns, and integer codes made once, when it is read."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.adapters import PICTURE, load
from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.boundary import is_on_cluster, public, takes_clusters
from discreet.core.engine import engine_of
from discreet.core.errors import InputError, SchemaError
from discreet.core.hierarchy.bound import safely_cast
from discreet.core.schema import DROPPED, Column, Role, Schema
from discreet.core.tables.encoding import (
    Codebook,
    ColumnType,
    column_type,
    in_stated_order,
    overall,
    sorted_domain,
)
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.tables.label_coverage import LabelCover
from discreet.core.tables.labels import STAR
from discreet.core.tables.publication import defused, formula_names
from discreet.core.tables.source import (
    ClassShapes,
    Recoding,
    Replacement,
    Singletons,
    Source,
    Tuples,
    source_of,
)
from discreet.core.tables.units import Units, units_of

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy

UNITS = "units"
"""The name of the array of evidence that holds the unit of each released row."""
_NO_TUPLES = Tuples(np.empty((0, 0), np.int32), np.empty(0, np.int64))


@public
class Table:
    """A frame with a role for every column.

    Nulls are a value of their own: two nulls are alike, a null and a value are not; NaN counts as null. That is the
    safe reading: a row with a null is hidden only among rows with the same null.

    Parameters
    ----------
    frame
        A pandas, Polars or PyArrow frame, or a DuckDB relation (as `discreet.read` gives it).
    columns
        The role of every column, made by `identifier`, `person`, `quasi`, `sensitive` and `other`.
    spreadsheet_safe
        Whether released texts that a spreadsheet would run as a formula get an apostrophe before them.
    types
        The Arrow types by which columns are labeled, and published where they are not generalized, if all their values
        fit; by default their own. So whole numbers that a frame holds as floats are published as whole numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> frame = pa.table({"age": [24, 26, 24], "disease": ["flu", "flu", "cold"]})
    >>> Table(frame, {"age": quasi(), "disease": sensitive()}).groups()
    Groups(2 groups, 3 rows, smallest 1)
    """

    @takes_clusters
    def __init__(
        self,
        frame: Any,
        columns: Mapping[str, Column],
        *,
        spreadsheet_safe: bool = False,
        types: Mapping[str, pa.DataType] | None = None,
    ) -> None:
        schema = columns if isinstance(columns, Schema) else Schema(columns)
        self.source: Source = source_of(frame)
        self.schema = schema.fitted(self.source.names)
        self.spreadsheet_safe = spreadsheet_safe
        self._types = types or {}

    @property
    def frame(self) -> Any:
        """The frame that came in."""
        return self.source.native

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.tuples.n_rows if self._shapes is None else self.groups().n_rows

    @property
    def judged(self) -> tuple[str, ...]:
        """The columns that guarantees look at: quasi-identifiers, sensitive columns, and whose row it is."""
        whose = () if self.schema.person is None else (self.schema.person,)
        return (*self.schema.quasi, *self.schema.sensitive, *whose)

    # Codes. A row's judged values are counted as integer codes; only `_books` and `_row_tuples` read the frame. Where
    # rows belong to units, hidden columns follow the judged ones: the pairs of units and sensitive values.

    @cached_property
    def encoded(self) -> dict[str, Codebook]:
        """The code books of the judged columns, then those of the pairs of units and sensitive values."""
        pairs = {} if self.units is None else self.units.pairs
        return self._books | {name: unit_pairs.book(name) for name, unit_pairs in pairs.items()}

    @cached_property
    def tuples(self) -> Tuples:
        """The distinct combinations of the judged columns, with counts; pairs of units and values follow from them."""
        if self.units is None or not self.units.pairs:
            return self._row_tuples
        pairs = [unit_pairs.codes for unit_pairs in self.units.pairs.values()]
        return replace(self._row_tuples, codes=np.column_stack([self._row_tuples.codes, *pairs]))

    @cached_property
    def units(self) -> Units | None:
        """The people, households or sites whose rows they are; None where every row is somebody else's."""
        if self.schema.person is None:
            return None
        columns = dict(zip(self._books, self._row_tuples.codes.T, strict=True))
        sensitive = {name: (columns[name], self._books[name]) for name in self.schema.sensitive}
        return units_of(self.schema.person, columns[self.schema.person], sensitive, set(self.source.names))

    @cached_property
    def _books(self) -> dict[str, Codebook]:
        """The code books of the judged columns."""
        values = self.source.values(self.judged)
        if any(name not in values or len(values[name]) == 0 for name in self.judged):
            raise InputError("The table has no rows.")
        return {
            name: _codebook(name, self.schema[name], values[name], self._types.get(name))
            for name in self.judged
        }

    @cached_property
    def _row_tuples(self) -> Tuples:
        """The distinct combinations of the judged columns, with counts."""
        return self.source.tuples(list(self._books.values()))

    @cached_property
    def _shapes(self) -> ClassShapes | None:
        """The classes by their shape, where the distinct tuples exceed memory; None where they do not."""
        if self.schema.person is not None:
            return None
        return self.source.class_shapes(list(self._books.values()), len(self.schema.quasi))

    @property
    def exceeds_memory(self) -> bool:
        """Whether the distinct tuples are more than may be held in memory."""
        return self._shapes is not None

    def codes(self, name: str) -> NDArray[Any]:
        """Return the codes of one column in the distinct tuples."""
        codes: NDArray[Any] = self.tuples.codes[:, list(self.encoded).index(name)]
        return codes

    def overall(self, name: str) -> IntArray:
        """Count each code of one column in the whole table."""
        if self._shapes is not None:
            counted = self.source.tuples([self.encoded[name]])
            return overall(counted.codes[:, 0], counted.counts, self.encoded[name].n_codes)
        return overall(self.codes(name), self.tuples.counts, self.encoded[name].n_codes)

    def singletons(self, name: str) -> Singletons:
        """Count the rows whose value in a judged column no other row has."""
        counts = self.overall(name)[1:]
        return Singletons(int((counts == 1).sum()), int(counts.sum()), int((counts > 0).sum()))

    def sensitive_codes(self) -> dict[str, tuple[CodeArray, IntArray, Hierarchy | None]]:
        """Return, for each column that is counted in classes, the tuples' codes, the table's counts and the tree.

        Those are the sensitive columns and, where rows belong to units, the units and their pairs with values.
        """
        return {
            name: (self.codes(name), self.overall(name), book.hierarchy)
            for name, book in list(self.encoded.items())[len(self.schema.quasi) :]
        }

    # Classes. Tuples lie in ascending order with the quasi-identifiers first, so that a class is a run of tuples.

    @cached_property
    def _starts(self) -> IntArray:
        """Where each class begins in the tuples."""
        codes = self.tuples.codes
        begins = np.zeros(len(codes), np.bool_)
        begins[0] = True
        for number in range(len(self.schema.quasi)):
            begins[1:] |= codes[1:, number] != codes[:-1, number]
        return np.flatnonzero(begins)

    @cached_property
    def classes(self) -> tuple[CodeArray, CodeArray]:
        """The class of each tuple, and the quasi-identifiers' codes of each class."""
        widths = np.diff(self._starts, append=self.tuples.counts.size)
        labels = np.repeat(np.arange(self._starts.size, dtype=np.int32), widths)
        return labels, self.tuples.codes[self._starts, : len(self.schema.quasi)].astype(np.int32)

    def part(self, chosen: BoolArray) -> Table:
        """Return the table of some of the distinct tuples, for searches; it has their counts, but not the rows."""
        return self.with_tuples(Tuples(self.tuples.codes[chosen], self.tuples.counts[chosen]))

    def with_tuples(self, tuples: Tuples) -> Table:
        """Return the table of some rows, known by their tuples; it has no rows."""
        part = copy.copy(self)
        # All that was worked out from the tuples that there were.
        for cached in ("_shapes", "_starts", "classes", "_groups", "_unit_groups", "counted"):
            part.__dict__.pop(cached, None)
        part.__dict__ |= {"tuples": tuples, "_shapes": None}
        return part

    def groups(self) -> Groups:
        """Return the classes of rows with the same quasi-identifiers."""
        return self._groups

    @cached_property
    def _groups(self) -> Groups:
        if self._shapes is None:
            return self._groups_with(self.schema.sensitive)
        return self._shapes.groups(self)

    def unit_groups(self) -> Groups:
        """Return the classes with what distinguishes units in them, for `Units.counted`; only with units."""
        return self._unit_groups

    @cached_property
    def _unit_groups(self) -> Groups:
        return self._groups_with(list(self.encoded)[len(self.schema.quasi) + len(self.schema.sensitive) :])

    @cached_property
    def counted(self) -> Groups:
        """The classes with units counted, or rows where every row is somebody else's."""
        if self.units is None:
            return self.groups()
        return self.units.counted(self.unit_groups(), self.schema.sensitive)

    def _groups_with(self, names: Sequence[str]) -> Groups:
        """Return the classes with the counts of the values of some columns."""
        from discreet.kernels.tables.partition import values_of

        low, counts, codes = self._starts, self.tuples.counts, self.tuples.codes
        high = np.append(low[1:], counts.size)
        sensitive = {}
        for column, (name, book) in enumerate(self.encoded.items()):
            if name in names:
                indptr, values, value_counts = values_of(codes, counts, low, high, column, book.n_codes)
                sensitive[name] = SensitiveCounts(
                    name, indptr, values, value_counts, self.overall(name), book.hierarchy, book=book
                )
        books = [self.encoded[name] for name in self.schema.quasi]
        classes = codes[low, : len(books)].astype(np.int32)
        return Groups(
            np.add.reduceat(counts, low),
            {name: sensitive[name] for name in names},
            suppressed=_suppressed(classes, books),
            cover=LabelCover(classes, tuple(books)),
        )

    # Publication. A `Recoding` says how the rows are published; the engine that holds them does it.

    def recoding(self, **changes: Any) -> Recoding:
        """Return how the rows are published: identifiers dropped or replaced by pseudonyms, the rest by the changes."""
        keys = {name: self.schema[name].key for role in DROPPED for name in self.schema.named(role)}
        by_value, by_piece = changes.pop("by_value", {}), changes.get("by_piece", {})
        retyped = {
            name: _true_cells(book)
            for name, book in self._books.items()
            if book.retyped and name not in by_piece
        }
        return Recoding(
            columns=tuple(name for name in self.schema if name not in keys or keys[name] is not None),
            encoded=tuple(self._books.values()),
            tuples=_NO_TUPLES if changes.get("assigned") is not None else self._row_tuples,
            by_value={**retyped, **by_value},
            pseudonyms={name: key for name, key in keys.items() if key is not None},
            spreadsheet_safe=self.spreadsheet_safe,
            **changes,
        )

    def recode(self, recoding: Recoding) -> Any:
        """Publish the rows as a `recoding` of this table says."""
        if self.spreadsheet_safe:
            _refuse_formulas(recoding.released_names)
        return self.source.recode(recoding)

    def framed(self, rows: pa.Table) -> Any:
        """Publish rows made elsewhere, as the kind of frame that came in."""
        if self.spreadsheet_safe:
            _refuse_formulas(rows.column_names)
            rows = pa.Table.from_arrays([defused(column) for column in rows.columns], names=rows.column_names)
        return self.source.framed(rows)

    def released_rows(self, recoding: Recoding, *, true: Sequence[str], published: Sequence[str] = ()) -> Any:
        """Return the rows that a recoding publishes, in any order: some columns with their true cells, some published.

        They are private: nothing of them is published.
        """
        rows = replace(
            recoding,
            columns=(*published, *true),
            by_value={name: cells for name, cells in recoding.by_value.items() if name in published},
            by_piece={name: cells for name, cells in recoding.by_piece.items() if name in published},
            pseudonyms={},
            renamed={},
            seed=None,
            spreadsheet_safe=False,
        )
        return self.source.recode(rows)

    def recoded_units(self, recoding: Recoding) -> dict[str, Any]:
        """Return the number of the unit of each row that `recode` publishes, if units are not published themselves.

        On a cluster it is a column beside the rows, which stay there.
        """
        whose = self.schema.person
        if whose is None or self.schema[whose].key is not None:
            return {}
        numbers = np.arange(self.encoded[whose].n_codes, dtype=np.int32)
        by_value = {whose: Replacement(numbers, pa.array(numbers))}
        units = replace(recoding, columns=(whose,), by_value=by_value, pseudonyms={}, renamed={})
        if is_on_cluster(self.frame):
            beside = {**recoding.by_value, **by_value}
            units = replace(recoding, columns=(*recoding.columns, whose), by_value=beside, seed=None)
            return {UNITS: self.source.recode(units)}
        column = source_of(self.source.recode(units)).columns([whose])[whose]
        return {UNITS: np.asarray(column, np.int64)}

    def with_units(self, units: Any) -> Table:
        """Return the judged columns of the rows with the unit of each row beside them."""
        if is_on_cluster(units):
            return self._with_units_of(units)
        unit = "unit"
        while unit in self.judged:
            unit += "_"
        columns = self.source.columns(self.judged)
        if any(len(column) != units.size for column in columns.values()):
            raise InputError("There must be one unit for each row.")
        roles = {name: self.schema[name] for name in self.judged} | {unit: Column(Role.PERSON)}
        return Table(pa.table(columns | {unit: pa.array(units)}), roles)

    def _with_units_of(self, rows: Any) -> Table:
        """Return the same rows on a cluster with their units, which are the last column; they must be the same ones."""
        engine = engine_of(rows)
        unit = engine.schema(rows).names[-1]
        roles = {name: self.schema[name] for name in self.judged}
        same = Table(engine.select(rows, self.judged), roles)
        if not self.is_like(same):
            raise InputError("There must be one unit for each row.")
        return Table(engine.select(rows, [*self.judged, unit]), roles | {unit: Column(Role.PERSON)})

    def is_like(self, other: Table) -> bool:
        """Whether the rows of another table have the same judged values, each combination as often."""
        books = zip(self.encoded.values(), other.encoded.values(), strict=True)
        return (
            all(book.values.equals(same.values) for book, same in books)
            and np.array_equal(self.tuples.codes, other.tuples.codes)
            and np.array_equal(self.tuples.counts, other.tuples.counts)
        )

    def _repr_html_(self) -> str:
        return str(load(PICTURE)(self))

    def __repr__(self) -> str:
        roles = ", ".join(f"{name}: {column.role.value}" for name, column in self.schema.items())
        return f"Table({roles})"


def _codebook(name: str, column: Column, values: pa.Array, type_: pa.DataType | None) -> Codebook:
    """Return the code book of a column from its values, in another type where all of them fit it."""
    kind = column_type(values.type, name)
    domain = sorted_domain(values)
    converted = None if type_ is None else safely_cast(domain, type_)
    retyped = converted is not None and bool(converted.type != domain.type)
    if converted is not None:
        domain = converted
    if column.hierarchy is not None:
        tree = column.hierarchy.bind(domain, column=name)
        return Codebook(name, kind, domain.type, tree.leaves, tree, retyped)
    if column.ordered is not None:
        ordered = in_stated_order(domain, column.ordered, name)
        return Codebook(name, ColumnType.ORDERED, domain.type, ordered, retyped=retyped)
    return Codebook(name, kind, domain.type, domain, retyped=retyped)


def _true_cells(book: Codebook) -> Replacement:
    """Return the cells of a column whose values are published in another type than the frame has."""
    cells = pa.concat_arrays([pa.nulls(1, book.values.type), book.values])
    return Replacement(np.arange(len(cells), dtype=np.int32), cells)


def _refuse_formulas(names: Sequence[str]) -> None:
    """Refuse names of columns that a spreadsheet would run."""
    if formula_names(pa.array(list(names), pa.string())):
        raise SchemaError("The name of a column starts as a formula of a spreadsheet does; rename it.")


def _suppressed(classes: CodeArray, books: list[Codebook]) -> BoolArray:
    """Return which classes show a star in every column."""
    starred = np.ones(len(classes), np.bool_)
    for number, book in enumerate(books):
        star = 0
        if pa.types.is_string(book.values.type):
            star = book.values.index(STAR).as_py() + 1
        starred &= (classes[:, number] == star) & (star > 0)
    return starred
