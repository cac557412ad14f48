"""Large DuckDB relations: tuples are counted and rows recoded by the engine, so files larger than memory work."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from discreet.core.errors import InputError, SchemaError
from discreet.core.tables.encoding import Codebook
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
from discreet.engines.sql.shapes import class_shapes, coded_tuples, column_values
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
        self._values = column_values(self, self._unsorted, names)
        return self._values

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Code the rows and count the distinct ones in the engine; only whole numbers come back."""
        relation = self._coded(self._unsorted, dict(enumerate(encoded)), {})
        self._refuse_too_many(relation, encoded)
        return coded_tuples(self, relation, encoded)

    def class_shapes(self, encoded: Sequence[Codebook], n_quasi: int) -> ClassShapes | None:
        """Count the classes in the engine, which spills, where the distinct tuples exceed memory."""
        relation = self._coded(self._unsorted, dict(enumerate(encoded)), {})
        if self._n_tuples(relation, encoded) <= most_tuples():
            return None
        return class_shapes(
            self,
            relation,
            encoded,
            n_quasi,
            most_tuples(),
            lambda part: self._refuse_too_many(part, encoded),
        )

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
