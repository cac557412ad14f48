"""DuckDB relations: tuples are counted and rows recoded by the engine, so files larger than memory work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.core.encoding import Encoded, cleaned
from discreet.core.errors import InputError
from discreet.core.pseudonym import LENGTH
from discreet.core.source import Recoding, Replacement, Tuples

if TYPE_CHECKING:
    import duckdb

_BATCH = 250_000
_HELD_ROWS = 1_000_000
"""A release of up to so many rows is worked out once and held; a larger one each time it is looked at."""
_BLOCK = 64


class RelationSource:
    """Rows behind DuckDB: a file, a query, a table of the user's."""

    def __init__(self, native: duckdb.DuckDBPyRelation) -> None:
        self.native = native
        self.names = tuple(native.columns)
        self._values: dict[str, pa.Array] = {}

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Give the distinct values of columns, cleaned, in one pass over the rows."""
        listed = ", ".join(quoted(name) for name in names)
        sets = ", ".join(f"({quoted(name)})" for name in names)
        sql = f"SELECT {listed}, grouping({listed})::BIGINT FROM source GROUP BY GROUPING SETS ({sets})"
        found: dict[str, list[pa.Array]] = {name: [] for name in names}
        for batch in _batches(run(self.native, sql)):
            absent = batch.column(len(names)).to_numpy()
            for number, name in enumerate(names):
                here = (absent >> (len(names) - 1 - number)) & 1 == 0
                found[name].append(batch.column(number).filter(pa.array(here)))
        self._values = {
            name: cleaned(pa.chunked_array(parts), name) for name, parts in found.items() if parts
        }
        return self._values

    def tuples(self, encoded: Sequence[Encoded]) -> Tuples:
        """Count the distinct combinations in the engine, and encode them batch by batch."""
        from discreet.kernels.grouping import distinct, pack

        names = ", ".join(quoted(book.name) for book in encoded)
        counted = run(self.native, f"SELECT {names}, count(*)::BIGINT FROM source GROUP BY ALL")
        dtype = np.min_scalar_type(max(book.n_codes for book in encoded))
        parts: list[list[np.ndarray[Any, Any]]] = []
        for batch in _batches(counted):
            codes = [
                book.encode(cleaned(batch.column(number), book.name)).astype(dtype)
                for number, book in enumerate(encoded)
            ]
            parts.append([*codes, batch.column(len(encoded)).to_numpy()])
        *columns, weights = [np.concatenate(column) for column in zip(*parts, strict=True)]
        first, _, counts = distinct(pack(columns, [book.n_codes for book in encoded]), weights)
        return Tuples(np.stack([column[first] for column in columns], axis=1), counts)

    def recode(self, recoding: Recoding) -> duckdb.DuckDBPyRelation:
        """Publish the rows as the recoding says, lazily: codes by small joins, labels by codes."""
        relation = self.native
        if recoding.seed is not None:
            relation = run(relation, "SELECT *, row_number() OVER () AS __row FROM source")
        by_piece = bool(recoding.by_piece) or recoding.dropped is not None
        for number, book in enumerate(recoding.encoded):
            if by_piece or book.name in recoding.by_value:
                relation = self._coded(relation, number, book, recoding.by_value.get(book.name))
        if by_piece:
            relation = _pieced(relation, recoding)
        order = f" ORDER BY hash(__row + {recoding.seed}::UBIGINT)" if recoding.seed is not None else ""
        kept = "" if recoding.dropped is None else " WHERE NOT __dropped"
        cells = ", ".join(self._cell(name, recoding) for name in recoding.columns)
        recoded = run(relation, f"SELECT {cells} FROM source{kept}{order}")
        if recoding.tuples.n_rows > _HELD_ROWS:
            return recoded
        held = pa.Table.from_batches(_batches(recoded), _schema_of(recoded))
        return run(self.native, "SELECT * FROM mapping", held)

    def _coded(
        self, relation: duckdb.DuckDBPyRelation, number: int, book: Encoded, replacement: Replacement | None
    ) -> duckdb.DuckDBPyRelation:
        found = self._values[book.name]
        if found.null_count == 0:
            found = pa.concat_arrays([found, pa.nulls(1, found.type)])
        codes = book.encode(found)
        columns = {"value": found, "code": pa.array(codes)}
        label = ""
        if replacement is not None:
            columns["label"] = replacement.labels.take(pa.array(replacement.index[codes], pa.int32()))
            label = f", mapping.label AS __label{number}"
        mapping = pa.table(columns)
        key = f"source.{quoted(book.name)}"
        if pa.types.is_floating(found.type):
            key = f"CASE WHEN isnan({key}) THEN NULL ELSE {key} END"
        return run(
            relation,
            f"SELECT source.*, mapping.code AS __code{number}{label} FROM source"
            f" LEFT JOIN mapping ON {key} IS NOT DISTINCT FROM mapping.value",
            mapping,
        )

    def _cell(self, name: str, recoding: Recoding) -> str:
        if name in recoding.by_piece:
            return f"__new{list(recoding.by_piece).index(name)} AS {quoted(name)}"
        if name in recoding.by_value:
            number = [book.name for book in recoding.encoded].index(name)
            return f"__label{number} AS {quoted(name)}"
        if name in recoding.pseudonyms:
            return f"{_hmac(quoted(name), recoding.pseudonyms[name])} AS {quoted(name)}"
        return quoted(name)


def run(
    relation: duckdb.DuckDBPyRelation, sql: str, mapping: pa.Table | None = None
) -> duckdb.DuckDBPyRelation:
    """Query a relation under the name ``source``, with an Arrow table at hand under the name ``mapping``."""
    import duckdb

    try:
        return relation.query("source", sql)
    except duckdb.Error as error:
        raise InputError(f"The engine could not plan a query ({type(error).__name__}).") from None


def quoted(name: str) -> str:
    """Quote a column's name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _pieced(relation: duckdb.DuckDBPyRelation, recoding: Recoding) -> duckdb.DuckDBPyRelation:
    pieces = recoding.parts
    numbers = range(len(recoding.encoded))
    keys = [f"__code{number}" for number in numbers]
    codes = recoding.tuples.codes[pieces.tuple_]
    columns = {key: pa.array(codes[:, number]) for number, key in enumerate(keys)}
    for number, replacement in enumerate(recoding.by_piece.values()):
        columns[f"__new{number}"] = replacement.labels.take(pa.array(replacement.index, pa.int32()))
    if recoding.dropped is not None:
        columns["__dropped"] = pa.array(recoding.dropped)
    fresh = [name for name in columns if name not in keys]
    meeting = " AND ".join(f"source.{key} = mapping.{key}" for key in keys)
    if recoding.pieces is not None:
        order = np.argsort(pieces.tuple_, kind="stable")
        stop = np.empty(order.size, np.int64)
        ends = np.cumsum(pieces.counts[order])
        start_of_tuple = np.concatenate([[0], np.cumsum(recoding.tuples.counts)[:-1]])
        stop[order] = ends - start_of_tuple[pieces.tuple_[order]]
        columns |= {"__stop": pa.array(stop), "__start": pa.array(stop - pieces.counts)}
        relation = run(
            relation,
            f"SELECT *, row_number() OVER (PARTITION BY {', '.join(keys)}) - 1 AS __rank FROM source",
        )
        meeting += " AND source.__rank >= mapping.__start AND source.__rank < mapping.__stop"
    mapping = pa.table(columns)
    chosen = ", ".join(f"mapping.{name}" for name in fresh)
    return run(relation, f"SELECT source.*, {chosen} FROM source JOIN mapping ON {meeting}", mapping)


def _hmac(column: str, key: bytes) -> str:
    import hashlib

    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner, outer = (f"unhex('{bytes(byte ^ pad for byte in block).hex()}')" for pad in (0x36, 0x5C))
    digest = f"sha256({outer} || unhex(sha256({inner} || encode({column}::VARCHAR))))"
    return f"{digest}[1:{LENGTH}]"


def _schema_of(relation: duckdb.DuckDBPyRelation) -> pa.Schema:
    return relation.limit(0).to_arrow_table().schema


def _batches(relation: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
    import duckdb

    try:
        yield from relation.to_arrow_reader(_BATCH)
    except (duckdb.Error, pa.ArrowException) as error:
        raise InputError(f"The engine could not read the table ({type(error).__name__}).") from None
