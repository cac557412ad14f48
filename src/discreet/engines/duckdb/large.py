"""Large DuckDB relations: tuples are counted and rows recoded by the engine, so files larger than memory work."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.tables.encoding import Codebook, cleaned, column_type
from discreet.core.tables.publication import formula_names
from discreet.core.tables.source import ClassShapes, Tuples
from discreet.engines.duckdb.admission import as_relation, normalize
from discreet.engines.duckdb.connection import (
    TUPLE_BYTES,
    fetch_batches,
    in_any_order,
    most_tuples,
    query,
    query_sorted,
    schema_of,
)
from discreet.engines.sql.source import (
    Normalized,
    SqlSource,
    defused_cell,
    is_formula,
    place_digest,
    quoted_name,
)

if TYPE_CHECKING:
    import duckdb

_LARGEST_KEY = 1 << 62


class RelationSource(SqlSource):
    """Rows behind DuckDB: a file, a query, a table of the user's; only whole numbers come back from counting."""

    def __init__(self, native: duckdb.DuckDBPyRelation, rows: Normalized | None = None) -> None:
        super().__init__(native, normalize(native) if rows is None else rows)
        unsorted = in_any_order(native)
        self._unsorted = self._normalized.relation if unsorted is native else normalize(unsorted).relation

    def _query(
        self, relation: duckdb.DuckDBPyRelation, sql: str, mapping: pa.Table | None = None
    ) -> duckdb.DuckDBPyRelation:
        return query(relation, sql, mapping)

    def _batches(self, relation: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
        return fetch_batches(relation)

    def _schema(self, relation: duckdb.DuckDBPyRelation) -> pa.Schema:
        return schema_of(relation)

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
                # A bit for each column, the first the highest, is 0 where the row is of that column's set.
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
        self._refuse_too_many(relation, encoded)
        return self._tuples_in(relation, encoded)

    def _tuples_in(self, relation: duckdb.DuckDBPyRelation, encoded: Sequence[Codebook]) -> Tuples:
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

    def class_shapes(self, encoded: Sequence[Codebook], n_quasi: int) -> ClassShapes | None:
        """Count the classes in the engine, which spills, where the distinct tuples exceed memory."""
        relation = self._coded(self._unsorted, dict(enumerate(encoded)), {})
        if self._n_tuples(relation, encoded) <= most_tuples():
            return None
        sensitive = range(n_quasi, len(encoded))
        keys = [_packed(block, encoded) for block in _blocks([book.n_codes for book in encoded[:n_quasi]])]
        names = [f"key{number}" for number in range(len(keys))]
        keyed = query(relation, f"SELECT {', '.join(_named(keys))}, * FROM source")
        # Of a class of one or two rows the lowest and the highest code are all there is.
        ends = "".join(f", min(code{at}) AS low{at}, max(code{at}) AS high{at}" for at in sensitive)
        classes = query(
            keyed, f"SELECT {', '.join(names)}, count(*) AS n{ends} FROM source GROUP BY {', '.join(names)}"
        )
        own = ", ".join(f"CASE WHEN n > 2 THEN {name} END AS {name}" for name in names)
        of_small = "".join(
            f", CASE WHEN n <= 2 THEN {end}{at} ELSE 0 END AS {end}{at}"
            for at in sensitive
            for end in ("low", "high")
        )
        shapes = query(
            query(classes, f"SELECT least(n, 3)::BIGINT AS n{of_small}, {own} FROM source"),
            f"SELECT *, count(*)::BIGINT AS repeats FROM source GROUP BY ALL LIMIT {most_tuples() + 1}",
        )
        rows = pa.Table.from_batches(fetch_batches(shapes), schema_of(shapes))
        self._refuse(rows.num_rows)
        is_large = pc.equal(rows["n"], 3)
        large, small = rows.filter(is_large), rows.filter(pc.invert(is_large))
        tuples = Tuples(np.empty((0, len(encoded)), np.int32), np.empty(0, np.int64))
        if large.num_rows:
            meeting = " AND ".join(f"source.{name} = mapping.{name}" for name in names)
            sql = f"SELECT source.* FROM source WHERE EXISTS (SELECT 1 FROM mapping WHERE {meeting})"
            part = query(keyed, sql, large.select(names))
            self._refuse_too_many(part, encoded)
            tuples = self._tuples_in(part, encoded)
        columns = [small.column(1 + at).to_numpy() for at in range(2 * len(sensitive))]
        found = np.column_stack(columns) if columns else np.empty((small.num_rows, 0), np.int64)
        return ClassShapes(tuples, small["n"].to_numpy(), found, small["repeats"].to_numpy())

    def _n_tuples(self, relation: duckdb.DuckDBPyRelation, encoded: Sequence[Codebook]) -> int:
        """Return about how many distinct tuples there are; no more than rows, which are counted first."""
        ((n_rows,),) = query(self._unsorted, "SELECT count(*) FROM source").fetchall()
        if n_rows <= most_tuples():
            return int(n_rows)
        codes = ", ".join(f"code{number}" for number in range(len(encoded)))
        counted = query(relation, f"SELECT approx_count_distinct(hash({codes})) FROM source").fetchall()
        return int(counted[0][0])

    def _refuse_too_many(self, relation: duckdb.DuckDBPyRelation, encoded: Sequence[Codebook]) -> None:
        self._refuse(self._n_tuples(relation, encoded))

    def _refuse(self, n_tuples: int) -> None:
        """Refuse more distinct tuples than fit into the memory that may be used."""
        if n_tuples > most_tuples():
            raise InputError(
                f"There are about {n_tuples:,} distinct tuples of the judged columns, and a search holds them in "
                f"memory: set DISCREET_MEMORY to {-(-n_tuples * TUPLE_BYTES // 10**9)}GB, generalize to given levels "
                "(Generalization), round values first, or run on a cluster (the engine spark)."
            )

    def framed(self, rows: pa.Table) -> duckdb.DuckDBPyRelation:
        """Return rows made elsewhere as a relation of the same connection."""
        return as_relation(self.native, self._normalized, rows, self.names)

    def _placed(self, relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Return the rows with their numbers: the engine keeps their order."""
        return query(relation, "SELECT *, row_number() OVER () AS place FROM source")

    def _sorted(self, relation: duckdb.DuckDBPyRelation, sql: str, seed: int) -> duckdb.DuckDBPyRelation:
        """Sort rows by the first half of a digest as a number, which is faster than by its text."""
        return query_sorted(relation, sql, f"CAST('0x' || {place_digest(seed)}[1:16] AS UBIGINT)")


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


def _named(keys: Sequence[str]) -> list[str]:
    """Write keys under numbers of their own."""
    return [f"{key.rpartition(' AS ')[0]} AS key{number}" for number, key in enumerate(keys)]


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


def defused_relation(frame: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation with an apostrophe before every text that a spreadsheet would run; such a name is refused."""
    if formula_names(pa.array(frame.columns, pa.string())):
        raise SchemaError("The name of a column starts as a formula of a spreadsheet does; rename it.")
    cells = [
        f"{defused_cell(f'c{number}', is_text=str(type_) == 'VARCHAR')} AS {quoted_name(name)}"
        for number, (name, type_) in enumerate(zip(frame.columns, frame.types, strict=True))
    ]
    columns = ", ".join(f"c{number}" for number in range(len(cells)))
    return query(frame, f"SELECT {', '.join(cells)} FROM source AS defused({columns})")


def count_formulas(frame: duckdb.DuckDBPyRelation, without: Collection[str] = ()) -> int:
    """Count the cells and column names of a relation that a spreadsheet would run."""
    texts = [
        number
        for number, (name, type_) in enumerate(zip(frame.columns, frame.types, strict=True))
        if str(type_).startswith(("VARCHAR", "ENUM")) and name not in without
    ]
    names = formula_names(pa.array(frame.columns, pa.string()))
    if not texts:
        return names
    columns = ", ".join(f"c{number}" for number in range(len(frame.columns)))
    counts = " + ".join(
        f"count(*) FILTER (WHERE {is_formula(f'CAST(c{number} AS VARCHAR)')})" for number in texts
    )
    totals = query(in_any_order(frame), f"SELECT {counts} FROM source AS counted({columns})").fetchall()
    return names + int(totals[0][0])
