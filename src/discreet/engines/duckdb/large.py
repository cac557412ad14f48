"""Large DuckDB relations: tuples are counted and rows recoded by the engine, so files larger than memory work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.pseudonym import LENGTH
from discreet.core.tables.encoding import Codebook, cleaned, column_type
from discreet.core.tables.publication import FORMULA, NUMBER, QUOTED, formula_names
from discreet.core.tables.source import DEALT, Recoding, Replacement, Singletons, Source, Tuples
from discreet.engines.duckdb.admission import Normalized, as_relation, normalize, select_list
from discreet.engines.duckdb.connection import (
    fetch_batches,
    in_any_order,
    query,
    query_sorted,
    quoted_name,
    quoted_text,
    schema_of,
)

if TYPE_CHECKING:
    import duckdb

_BLOCK = 64
_LARGEST_KEY = 1 << 62


class RelationSource(Source):
    """Rows behind DuckDB: a file, a query, a table of the user's.

    In all queries the user's columns are called ``c0``, ``c1``, … by their places, so that every other name is ours.
    """

    def __init__(self, native: duckdb.DuckDBPyRelation, rows: Normalized | None = None) -> None:
        self.native = self.rows = native
        self._normalized = normalize(native) if rows is None else rows
        self.names = self._normalized.names
        unsorted = in_any_order(native)
        self._unsorted = self._normalized.relation if unsorted is native else normalize(unsorted).relation
        self._values: dict[str, pa.Array] = {}

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return the distinct values of columns, cleaned, in one pass over the rows."""
        inner = [self._normalized.inner(name) for name in names]
        listed_ = ", ".join(inner)
        sets = ", ".join(f"({column})" for column in inner)
        chosen = query(self._unsorted, f"SELECT {listed_} FROM source")
        for name, field in zip(names, schema_of(chosen), strict=True):
            column_type(field.type, name)
        sql = f"SELECT {listed_}, grouping({listed_})::BIGINT FROM source GROUP BY GROUPING SETS ({sets})"
        parts_by_name: dict[str, list[pa.Array]] = {name: [] for name in names}
        for batch in fetch_batches(query(self._unsorted, sql)):
            absent = batch.column(len(names)).to_numpy()
            for number, name in enumerate(names):
                here = (absent >> (len(names) - 1 - number)) & 1 == 0
                parts_by_name[name].append(batch.column(number).filter(pa.array(here)))
        self._values = {
            name: pc.unique(cleaned(pa.chunked_array(parts), name))
            for name, parts in parts_by_name.items()
            if parts
        }
        return self._values

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Code the rows and count the distinct ones in the engine; only whole numbers come back."""
        relation = self._coded(self._unsorted, dict(enumerate(encoded)), {})
        blocks = _blocks([book.n_codes for book in encoded])
        keys = ", ".join(_packed(block, encoded) for block in blocks)
        counted = query(relation, f"SELECT {keys}, count(*)::BIGINT FROM source GROUP BY ALL")
        *packed, counts = _columns(counted, len(blocks) + 1)
        order = np.lexsort(packed[::-1])
        counts = counts[order]
        codes = np.empty(
            (order.size, len(encoded)), np.min_scalar_type(max(book.n_codes for book in encoded))
        )
        for block in reversed(blocks):
            digits = packed.pop()[order]
            for number in reversed(block):
                codes[:, number] = digits % encoded[number].n_codes
                digits //= encoded[number].n_codes
        return Tuples(codes, counts)

    def columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return whole columns, cleaned, row by row."""
        inner = ", ".join(self._normalized.inner(name) for name in names)
        chosen = query(self._normalized.relation, f"SELECT {inner} FROM source")
        rows = pa.Table.from_batches(fetch_batches(chosen), schema_of(chosen))
        return {name: cleaned(rows.column(number), name) for number, name in enumerate(names)}

    def singletons(self, names: Sequence[str], unit: str | None = None) -> Singletons:
        """Count the rows whose values in the columns no other row, or unit, has; rows without any do not count."""
        inner = [self._normalized.inner(name) for name in names]
        owners = "count(*)" if unit is None else f"count(DISTINCT {self._normalized.inner(unit)})"
        with_value = " OR ".join(f"{column} IS NOT NULL" for column in inner)
        held = f"WHERE {with_value} GROUP BY "
        counted = f"SELECT count(*) AS n, {owners} AS owners FROM source {held}"
        counts = "coalesce(sum(n) FILTER (WHERE owners <= 1), 0), coalesce(sum(n), 0), count(*)"
        ((lone, held, different),) = query(
            self._unsorted, f"SELECT {counts} FROM ({counted}{', '.join(inner)})"
        ).fetchall()
        return Singletons(int(lone), int(held), int(different))

    def small_classes(self, names: Sequence[str], unit: str, fewest: int) -> int:
        """Count the rows in classes of the columns with fewer units than some; a row without one counts as one."""
        inner, whose = ", ".join(self._normalized.inner(name) for name in names), self._normalized.inner(unit)
        owners = f"count(DISTINCT {whose}) + count(*) - count({whose})"
        counted = f"SELECT count(*) AS n, {owners} AS owners FROM source GROUP BY {inner}"
        few = f"SELECT coalesce(sum(n) FILTER (WHERE owners < {int(fewest)}), 0) FROM ({counted})"
        ((rows,),) = query(self._unsorted, few).fetchall()
        return int(rows)

    def framed(self, rows: pa.Table) -> duckdb.DuckDBPyRelation:
        """Return rows made elsewhere as a relation of the same connection."""
        return as_relation(self.native, self._normalized, rows, self.names)

    def recode(self, recoding: Recoding) -> duckdb.DuckDBPyRelation:
        """Publish the rows as the recoding says, lazily: codes by small joins, labels by codes."""
        relation = self._normalized.relation
        if recoding.seed is not None:
            relation = query(relation, "SELECT *, row_number() OVER () AS place FROM source")
        divided = recoding.dropped is not None and recoding.pieces is not None
        by_piece = bool(recoding.by_piece) or divided
        by_tuple = by_piece or recoding.dropped is not None
        books = dict(enumerate(recoding.encoded))
        coded = {number: book for number, book in books.items() if by_tuple or book.name in recoding.by_value}
        if coded:
            relation = self._coded(relation, coded, recoding.by_value)
        if by_piece:
            relation = _pieced(relation, recoding)
        elif recoding.dropped is not None:
            relation = _without(relation, recoding.tuples.codes[recoding.dropped])
        condition = " WHERE NOT dropped" if by_piece and recoding.dropped is not None else ""
        cells = [self._cell(name, recoding) for name in recoding.columns]
        if recoding.spreadsheet_safe:
            types = query(relation, f"SELECT {', '.join(cells)} FROM source").types
            cells = [defused_cell(cell, str(type_)) for cell, type_ in zip(cells, types, strict=True)]
        sql = f"SELECT {select_list(cells, recoding.released_names)} FROM source{condition}"
        if recoding.seed is None:
            return query(relation, sql)
        digest = f"sha256('{recoding.seed:064x}' || place)"
        return query_sorted(relation, sql, f"CAST('0x' || {digest}[1:16] AS UBIGINT)")

    def _coded(
        self,
        relation: duckdb.DuckDBPyRelation,
        books: Mapping[int, Codebook],
        replacements: Mapping[str, Replacement],
    ) -> duckdb.DuckDBPyRelation:
        """Add the codes of columns, and the labels that replace them, by one small join each."""
        columns: dict[str, pa.Array] = {}
        cells, joins = [], []
        for number, book in books.items():
            values = self._values[book.name]
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
            joins.append(
                f"LEFT JOIN (SELECT * FROM mapping WHERE code{number} IS NOT NULL) AS of{number}"
                f" ON source.{self._normalized.inner(book.name)} IS NOT DISTINCT FROM of{number}.value{number}"
            )
        longest = max(map(len, columns.values()))
        mapping = pa.table({name: _padded(array, longest) for name, array in columns.items()})
        return query(relation, f"SELECT source.*, {', '.join(cells)} FROM source {' '.join(joins)}", mapping)

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


def _blocks(cards: Sequence[int]) -> list[list[int]]:
    """Divide the columns into runs whose codes fit one whole number of 62 bits together.

    >>> _blocks([1 << 40, 1 << 20, 1 << 20])
    [[0, 1], [2]]
    """
    blocks: list[list[int]] = [[]]
    size = 1
    for number, card in enumerate(cards):
        if size * card > _LARGEST_KEY:
            blocks.append([])
            size = 1
        blocks[-1].append(number)
        size *= card
    return blocks


def _packed(block: Sequence[int], encoded: Sequence[Codebook]) -> str:
    """Write the key of a run of columns: their codes as the digits of one number."""
    key = f"code{block[0]}::BIGINT"
    for number in block[1:]:
        key = f"({key} * {encoded[number].n_codes} + code{number})"
    return f"{key} AS key{block[0]}"


def _columns(relation: duckdb.DuckDBPyRelation, count: int) -> list[IntArray]:
    """Fetch columns of whole numbers; batches are let go as soon as they are joined."""
    parts: list[list[IntArray]] = [[] for _ in range(count)]
    for batch in fetch_batches(relation):
        for part, column in zip(parts, batch.columns, strict=True):
            part.append(column.to_numpy())
    columns = []
    while parts:
        columns.append(np.concatenate(parts.pop(0)))
    return columns


def _without(relation: duckdb.DuckDBPyRelation, dropped: CodeArray) -> duckdb.DuckDBPyRelation:
    """Leave out the rows of some tuples."""
    keys = [f"code{number}" for number in range(dropped.shape[1])]
    mapping = pa.table({key: pa.array(dropped[:, number]) for number, key in enumerate(keys)})
    meeting = " AND ".join(f"source.{key} = mapping.{key}" for key in keys)
    return query(relation, f"SELECT source.* FROM source ANTI JOIN mapping ON {meeting}", mapping)


def _pieced(relation: duckdb.DuckDBPyRelation, recoding: Recoding) -> duckdb.DuckDBPyRelation:
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
        relation = query(relation, f"SELECT *, row_number() OVER ({window}) - 1 AS rank FROM source")
        meeting += " AND source.rank >= mapping.start AND source.rank < mapping.stop"
    mapping = pa.table(columns)
    chosen = ", ".join(f"mapping.{name}" for name in fresh)
    return query(relation, f"SELECT source.*, {chosen} FROM source JOIN mapping ON {meeting}", mapping)


def _hmac(column: str, key: bytes) -> str:
    import hashlib

    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner, outer = (f"unhex('{bytes(byte ^ pad for byte in block).hex()}')" for pad in (0x36, 0x5C))
    digest = f"sha256({outer} || unhex(sha256({inner} || encode({column}::VARCHAR))))"
    return f"{digest}[1:{LENGTH}]"


def defused_cell(cell: str, type_: str) -> str:
    """Write a cell with an apostrophe before a text that a spreadsheet would run; other cells stay."""
    if type_ != "VARCHAR":
        return cell
    return f"CASE WHEN {_runs(cell, QUOTED)} THEN '''' || {cell} ELSE {cell} END"


def defused_relation(frame: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation with an apostrophe before every text that a spreadsheet would run; such a name is refused."""
    if formula_names(pa.array(frame.columns, pa.string())):
        raise SchemaError("The name of a column starts as a formula of a spreadsheet does; rename it.")
    cells = [
        f"{defused_cell(f'c{number}', str(type_))} AS {quoted_name(name)}"
        for number, (name, type_) in enumerate(zip(frame.columns, frame.types, strict=True))
    ]
    columns = ", ".join(f"c{number}" for number in range(len(cells)))
    return query(frame, f"SELECT {', '.join(cells)} FROM source AS defused({columns})")


def count_formulas(frame: duckdb.DuckDBPyRelation) -> int:
    """Count the cells and column names of a relation that a spreadsheet would run."""
    texts = [
        number
        for number, type_ in enumerate(frame.types)
        if str(type_) == "VARCHAR" or str(type_).startswith("ENUM")
    ]
    names = formula_names(pa.array(frame.columns, pa.string()))
    if not texts:
        return names
    columns = ", ".join(f"c{number}" for number in range(len(frame.columns)))
    counts = " + ".join(
        f"count(*) FILTER (WHERE {_runs(f'CAST(c{number} AS VARCHAR)', FORMULA)})" for number in texts
    )
    totals = query(in_any_order(frame), f"SELECT {counts} FROM source AS counted({columns})").fetchall()
    return names + int(totals[0][0])


def _runs(cell: str, pattern: str) -> str:
    """Write whether a spreadsheet would run a text; the engine reads the same regular expressions as Arrow."""
    formula = f"regexp_matches({cell}, {quoted_text(pattern)})"
    return f"({formula} AND NOT regexp_matches({cell}, {quoted_text(NUMBER)}))"
