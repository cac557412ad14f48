"""Rows behind an engine that speaks SQL: tuples are counted and rows recoded there, by queries written once.

The queries are in the SQL of DuckDB, and use nothing that other engines lack once they are transpiled. The rows go by
the name ``source`` in them, a small table beside the rows by the name ``mapping``.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray
from discreet.core.engine import SMALLEST_NUMBER
from discreet.core.errors import DiscreetError, InputError
from discreet.core.pseudonym import LENGTH
from discreet.core.tables.encoding import Codebook, cleaned, column_type, unpublishable, value_codes
from discreet.core.tables.publication import FORMULA, NUMBER, QUOTED
from discreet.core.tables.source import DEALT, Recoding, Replacement, Singletons, Source, Tuples

MOST_TUPLES = 20_000_000
"""The most distinct tuples that are fetched from an engine elsewhere."""
_BLOCK = 64
_SEPARATOR, _NULL = "\x1f", "\x1e"


@dataclass(frozen=True, repr=False)
class Normalized:
    """Rows as they are judged: columns ``c0``, ``c1``, …, and the type each one gets back, where it had another.

    Columns in ``refused`` hold what is neither judged nor published. They can only be dropped, so they are not read.
    """

    relation: Any
    names: tuple[str, ...]
    back: tuple[str | None, ...]
    refused: frozenset[str] = frozenset()

    def inner(self, name: str) -> str:
        """Return the name that a column has in our queries; one that is used although it cannot be is refused."""
        if name in self.refused:
            raise self.refusal(name)
        return f"c{self.names.index(name)}"

    def refusal(self, name: str) -> DiscreetError:
        """Return why a column can only be dropped."""
        return unpublishable(name)

    def outer(self, name: str, cell: str) -> str:
        """Write a column's own cell in the type the column had."""
        type_ = self.back[self.names.index(name)]
        return cell if type_ is None else f"CAST({cell} AS {type_})"


class TooManyTuplesError(InputError):
    """There are more distinct tuples than are fetched from an engine."""


class SqlSource(Source):
    """Rows behind an engine that speaks SQL.

    In all queries the user's columns are called ``c0``, ``c1``, … by their places, so that every other name is ours.
    """

    beyond = "round values first, or judge fewer columns"
    """What to do about more distinct tuples than are fetched."""

    def __init__(self, native: Any, rows: Normalized) -> None:
        self.native = self.rows = native
        self._normalized = rows
        self._unsorted = rows.relation
        self.names = rows.names
        self._values: dict[str, pa.Array] = {}

    @abstractmethod
    def _query(self, relation: Any, sql: str, mapping: pa.Table | None = None) -> Any:
        """Query a relation under the name ``source``, with an Arrow table at hand under the name ``mapping``."""

    @abstractmethod
    def _batches(self, relation: Any) -> Iterator[pa.RecordBatch]:
        """Fetch a relation's rows, batch by batch."""

    @abstractmethod
    def _schema(self, relation: Any) -> pa.Schema:
        """Return the schema of a relation's rows as they leave the engine."""

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return the distinct values of columns, cleaned; they are taken from the distinct tuples."""
        counted = self._counted(names)
        self._values = {name: value_codes(counted.column(name), name)[0] for name in names} if counted else {}
        return self._values

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Count the distinct tuples in the engine, and code them here; they come in ascending order."""
        from discreet.kernels.tables.grouping import distinct, pack

        names = [book.name for book in encoded]
        counted = self._counted(names)
        dtype = np.min_scalar_type(max(book.n_codes for book in encoded))
        codes = np.empty((counted.num_rows, len(encoded)), dtype)
        for number, book in enumerate(encoded):
            values, places = value_codes(counted.column(book.name), book.name)
            codes[:, number] = book.encode(values)[places]
        # Values that differ in the engine may share a code, such as texts of one label: their rows are added up.
        keys = pack(list(codes.T), [book.n_codes for book in encoded])
        first, numbers, _ = distinct(keys)
        counts = np.bincount(numbers, weights=counted.column("n").to_numpy(), minlength=first.size)
        return Tuples(codes[first], counts.astype(np.int64))

    def _counted(self, names: Sequence[str]) -> pa.Table:
        """Fetch the distinct tuples of columns with their counts, once for the same columns."""
        if getattr(self, "_fetched", (None,))[0] != tuple(names):
            inner = [self._normalized.inner(name) for name in names]
            chosen = ", ".join(inner)
            types = self._schema(self._query(self._unsorted, f"SELECT {chosen} FROM source"))
            for name, field in zip(names, types, strict=True):
                column_type(field.type, name)
            sql = f"SELECT {chosen}, CAST(count(*) AS BIGINT) AS n FROM source GROUP BY {chosen}"
            counted = self._query(self._unsorted, f"{sql} LIMIT {MOST_TUPLES + 1}")
            rows = pa.Table.from_batches(self._batches(counted), self._schema(counted))
            if rows.num_rows > MOST_TUPLES:
                raise TooManyTuplesError(
                    f"There are more than {MOST_TUPLES:,} distinct tuples of the judged columns, which are not "
                    f"fetched from the engine: {self.beyond}."
                )
            self._fetched = (tuple(names), rows.rename_columns([*names, "n"]))
        return self._fetched[1]

    def columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return whole columns, cleaned, row by row."""
        inner = ", ".join(self._normalized.inner(name) for name in names)
        chosen = self._query(self._normalized.relation, f"SELECT {inner} FROM source")
        rows = pa.Table.from_batches(self._batches(chosen), self._schema(chosen))
        return {name: cleaned(rows.column(number), name) for number, name in enumerate(names)}

    def singletons(self, names: Sequence[str], unit: str | None = None) -> Singletons:
        """Count the rows whose values in the columns no other row, or unit, has; rows without any do not count."""
        inner = [self._normalized.inner(name) for name in names]
        owners = "count(*)" if unit is None else f"count(DISTINCT {self._normalized.inner(unit)})"
        with_value = " OR ".join(f"{column} IS NOT NULL" for column in inner)
        classes = f"SELECT count(*) AS n, {owners} AS owners FROM source WHERE {with_value} GROUP BY {', '.join(inner)}"
        return Singletons(
            *self._counts(["sum(CASE WHEN owners <= 1 THEN n END)", "sum(n)", "count(*)"], classes)
        )

    def small_classes(self, names: Sequence[str], unit: str, fewest: int) -> int:
        """Count the rows in classes of the columns with fewer units than some; a row without one counts as one."""
        inner, whose = ", ".join(self._normalized.inner(name) for name in names), self._normalized.inner(unit)
        owners = f"count(DISTINCT {whose}) + count(*) - count({whose})"
        classes = f"SELECT count(*) AS n, {owners} AS owners FROM source GROUP BY {inner}"
        return self._counts([f"sum(CASE WHEN owners < {int(fewest)} THEN n END)"], classes)[0]

    def _counts(self, counts: Sequence[str], classes: str) -> list[int]:
        """Return what aggregates of whole numbers say about classes; of none, they are zero."""
        cells = ", ".join(f"CAST(coalesce({count}, 0) AS BIGINT) AS n{at}" for at, count in enumerate(counts))
        counted = self._query(self._unsorted, f"SELECT {cells} FROM ({classes}) AS classes")
        return [
            int(column[0].as_py())
            for column in pa.Table.from_batches(self._batches(counted), self._schema(counted)).columns
        ]

    def recode(self, recoding: Recoding) -> Any:
        """Publish the rows as the recoding says, lazily: codes by small joins, labels by codes."""
        relation = self._normalized.relation
        if recoding.seed is not None:
            relation = self._placed(relation)
        divided = recoding.dropped is not None and recoding.pieces is not None
        by_piece = bool(recoding.by_piece) or divided
        by_tuple = by_piece or recoding.dropped is not None
        books = dict(enumerate(recoding.encoded))
        coded = {number: book for number, book in books.items() if by_tuple or book.name in recoding.by_value}
        if coded:
            relation = self._coded(relation, coded, recoding.by_value)
        if by_piece:
            relation = self._pieced(relation, recoding)
        elif recoding.dropped is not None:
            relation = self._without(relation, recoding.tuples.codes[recoding.dropped])
        condition = " WHERE NOT dropped" if by_piece and recoding.dropped is not None else ""
        cells = [self._cell(name, recoding) for name in recoding.columns]
        if recoding.spreadsheet_safe:
            types = self._schema(self._query(relation, f"SELECT {', '.join(cells)} FROM source")).types
            cells = [
                defused_cell(cell, is_text=pa.types.is_string(type_))
                for cell, type_ in zip(cells, types, strict=True)
            ]
        sql = f"SELECT {select_list(cells, recoding.released_names)} FROM source{condition}"
        if recoding.seed is None:
            return self._query(relation, sql)
        return self._sorted(relation, sql, recoding.seed)

    def shuffled(self, secret: int) -> Any:
        """Return the rows in an order that follows from a secret number of up to 256 bits, lazily."""
        cells = [self._normalized.outer(name, f"c{number}") for number, name in enumerate(self.names)]
        sql = f"SELECT {select_list(cells, self.names)} FROM source"
        placed = self._placed(self._normalized.relation)
        return self._sorted(placed, sql, secret)

    def _placed(self, relation: Any) -> Any:
        """Return what identifies every row: its cells, and its number among rows with the same cells.

        Engines elsewhere keep no order, and number rows otherwise each time. A digest of this place with a secret
        follows from the rows alone. Without the number, rows that are alike would lie side by side and so be known.
        """
        held = [
            f"c{number}" for number, name in enumerate(self.names) if name not in self._normalized.refused
        ]
        number = f"row_number() OVER (PARTITION BY {', '.join(held)} ORDER BY {held[0]})"
        place = f"{row_text(held)} || '{_SEPARATOR}' || CAST({number} AS VARCHAR)"
        return self._query(relation, f"SELECT *, {place} AS place FROM source")

    def _sorted(self, relation: Any, sql: str, seed: int) -> Any:
        """Query a relation and sort its rows by a digest of their places and a secret."""
        return self._query(relation, f"{sql} ORDER BY {place_digest(seed)}")

    def _coded(
        self,
        relation: Any,
        books: Mapping[int, Codebook],
        replacements: Mapping[str, Replacement],
    ) -> Any:
        """Add the codes of columns, and the labels that replace them, by one small join each."""
        columns: dict[str, pa.Array] = {}
        cells, joins = [], []
        for number, book in books.items():
            values = self._values[book.name]
            # Null is a value as well: rows with one must find its code.
            if values.null_count == 0:
                values = pa.concat_arrays([values, pa.nulls(1, values.type)])
            codes = book.encode(values)
            columns |= {f"value{number}": values, f"code{number}": pa.array(codes)}
            cells.append(f"of{number}.code{number}")
            if book.name in replacements:
                replacement = replacements[book.name]
                columns[f"label{number}"] = replacement.labels.take(
                    pa.array(replacement.index[codes], pa.int32())
                )
                cells.append(f"of{number}.label{number}")
            # Mappings of several columns lie side by side, filled up with nulls. The plain sign of equality
            # never joins nulls.
            joins.append(
                f"LEFT JOIN (SELECT * FROM mapping WHERE code{number} IS NOT NULL) AS of{number}"
                f" ON source.{self._normalized.inner(book.name)} IS NOT DISTINCT FROM of{number}.value{number}"
            )
        longest = max(map(len, columns.values()))
        mapping = pa.table({name: _padded(array, longest) for name, array in columns.items()})
        return self._query(
            relation, f"SELECT source.*, {', '.join(cells)} FROM source {' '.join(joins)}", mapping
        )

    def _without(self, relation: Any, dropped: CodeArray) -> Any:
        """Leave out the rows of some tuples."""
        keys = [f"code{number}" for number in range(dropped.shape[1])]
        mapping = pa.table({key: pa.array(dropped[:, number]) for number, key in enumerate(keys)})
        meeting = " AND ".join(f"source.{key} = mapping.{key}" for key in keys)
        return self._query(
            relation,
            f"SELECT source.* FROM source WHERE NOT EXISTS (SELECT 1 FROM mapping WHERE {meeting})",
            mapping,
        )

    def _pieced(self, relation: Any, recoding: Recoding) -> Any:
        pieces = recoding.parts
        numbers = range(len(recoding.encoded))
        keys = [f"code{number}" for number in numbers]
        codes = recoding.tuples.codes[pieces.tuple_]
        columns = {key: pa.array(codes[:, number]) for number, key in enumerate(keys)}
        for number, replacement in enumerate(recoding.by_piece.values()):
            columns[f"new{number}"] = replacement.labels.take(pa.array(replacement.index, pa.int32()))
        if recoding.dropped is not None:
            columns["dropped"] = pa.array(recoding.dropped)
        fresh = [name for name in columns if name not in keys]
        meeting = " AND ".join(f"source.{key} = mapping.{key}" for key in keys)
        if recoding.pieces is not None:
            # Where each piece begins and ends among the rows of its tuple, as they are ranked below.
            order = np.argsort(pieces.tuple_, kind="stable")
            stop = np.empty(order.size, np.int64)
            ends = np.cumsum(pieces.counts[order])
            start_of_tuple = np.concatenate([[0], np.cumsum(recoding.tuples.counts)[:-1]])
            stop[order] = ends - start_of_tuple[pieces.tuple_[order]]
            columns |= {"stop": pa.array(stop), "start": pa.array(stop - pieces.counts)}
            by_chance = (
                "" if recoding.seed is None else f" ORDER BY sha256('{recoding.seed:064x}{DEALT}' || place)"
            )
            window = f"PARTITION BY {', '.join(keys)}{by_chance}"
            relation = self._query(
                relation, f"SELECT *, row_number() OVER ({window}) - 1 AS rank FROM source"
            )
            meeting += " AND source.rank >= mapping.start AND source.rank < mapping.stop"
        mapping = pa.table(columns)
        chosen = ", ".join(f"mapping.{name}" for name in fresh)
        return self._query(
            relation, f"SELECT source.*, {chosen} FROM source JOIN mapping ON {meeting}", mapping
        )

    def _cell(self, name: str, recoding: Recoding) -> str:
        if name in recoding.by_piece:
            return f"new{list(recoding.by_piece).index(name)}"
        if name in recoding.by_value:
            return f"label{[book.name for book in recoding.encoded].index(name)}"
        column = self._normalized.inner(name)
        if name in recoding.pseudonyms:
            return _hmac(column, recoding.pseudonyms[name])
        return self._normalized.outer(name, column)


def _padded(array: pa.Array, length: int) -> pa.Array:
    return pa.concat_arrays([array, pa.nulls(length - len(array), array.type)])


def _hmac(column: str, key: bytes) -> str:
    # HMAC (RFC 2104) made of two digests, which engines have, while none has HMAC itself.
    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner, outer = (f"unhex('{bytes(byte ^ pad for byte in block).hex()}')" for pad in (0x36, 0x5C))
    digest = f"sha256({outer} || unhex(sha256({inner} || encode(CAST({column} AS VARCHAR)))))"
    return f"left({digest}, {LENGTH})"


# Names, texts and cells, as our queries have them.


def row_text(columns: Sequence[str]) -> str:
    """Write all cells of a row as one text, different for rows that differ in a printable cell."""
    texts = (f"coalesce(CAST({column} AS VARCHAR), '{_NULL}')" for column in columns)
    return f" || '{_SEPARATOR}' || ".join(texts)


def place_digest(seed: int) -> str:
    """Write the digest of a row's place and a secret."""
    return f"sha256('{seed:064x}' || place)"


def quoted_name(name: str) -> str:
    """Quote a column or table name for SQL.

    >>> quoted_name('the "zip" code')
    '"the ""zip"" code"'
    """
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Quote a text for SQL.

    >>> quoted_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def inner_names(count: int) -> str:
    """List the names of columns in our queries."""
    return ", ".join(f"c{number}" for number in range(count))


def select_list(cells: Sequence[str], names: Sequence[str]) -> str:
    """Write cells under names for a SELECT."""
    return ", ".join(f"{cell} AS {quoted_name(name)}" for cell, name in zip(cells, names, strict=True))


def defused_cell(cell: str, *, is_text: bool) -> str:
    """Write a cell with an apostrophe before a text that a spreadsheet would run; other cells stay."""
    return f"CASE WHEN {_runs(cell, QUOTED)} THEN '''' || {cell} ELSE {cell} END" if is_text else cell


def is_formula(cell: str) -> str:
    """Write whether a spreadsheet would run a text."""
    return _runs(cell, FORMULA)


def text_columns(types: Mapping[str, str], without: Collection[str] = ()) -> list[str]:
    """Return the columns of texts and of whole numbers, by the types of all."""
    return [name for name, type_ in types.items() if type_ in ("text", "whole") and name not in without]


def text_query(column: str, expression: str, *, is_text: bool) -> str:
    """Write the query of rows, different texts, mean length and spaces, and texts with an expression in them.

    Texts are brought together first, so that each is looked at once.
    """
    if not is_text:
        likely = f"list(DISTINCT {column}::VARCHAR) FILTER (WHERE {column} >= {SMALLEST_NUMBER})"
        return f"SELECT count({column}), 0, 0.0::DOUBLE, 0.0::DOUBLE, count(*), {likely} FROM source"
    means = (
        f"coalesce(sum(n * {size}) / sum(n) FILTER (WHERE value IS NOT NULL), 0)::DOUBLE"
        for size in ("length(value)", _SPACES)
    )
    likely = f"list(value) FILTER (WHERE regexp_matches(value, {quoted_text(expression)}))"
    return (
        f"SELECT coalesce(sum(n) FILTER (WHERE value IS NOT NULL), 0)::BIGINT, count(value), {', '.join(means)}, "
        f"coalesce(sum(n), 0)::BIGINT, {likely} FROM (SELECT {column} AS value, count(*) AS n FROM source GROUP BY 1)"
    )


_SPACES = "(length(value) - length(replace(value, ' ', '')))"


def has_identifier(column: str, expression: str, *, is_text: bool) -> str:
    """Write whether an expression is found in a text, or whether a whole number is long enough for a card."""
    if not is_text:
        return f"{column} >= {SMALLEST_NUMBER}"
    return f"regexp_matches({column}, {quoted_text(expression)})"


def _runs(cell: str, pattern: str) -> str:
    """Write whether a spreadsheet would run a text; engines read the same regular expressions as Arrow."""
    formula = f"regexp_matches({cell}, {quoted_text(pattern)})"
    return f"({formula} AND NOT regexp_matches({cell}, {quoted_text(NUMBER)}))"
