"""Small relations: fetched once, coded and recoded in memory, and published as relations again."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

import narwhals as nw
import pyarrow as pa

from discreet.core.tables.source import Source
from discreet.engines.duckdb.admission import Normalized, as_relation, normalize
from discreet.engines.duckdb.large import RelationSource
from discreet.engines.duckdb.queries import fetch_batches, schema_of
from discreet.engines.frames import FrameSource, refuse_repeated_names

if TYPE_CHECKING:
    import duckdb

HELD_ROWS = 1_000_000
"""A relation of up to this many rows is fetched; a larger one stays in the engine."""
_HELD_BYTES = 256 << 20
_ESTIMATE = re.compile(r"~([\d,]+) rows?")


class HeldSource(FrameSource):
    """Rows of a small relation, in memory."""

    def __init__(self, native: duckdb.DuckDBPyRelation, normalized_rows: Normalized, rows: pa.Table) -> None:
        refuse_repeated_names(rows)
        super().__init__(native, nw.from_native(rows), lazy=False)
        self.rows = rows
        self._normalized = normalized_rows

    def framed(
        self, rows: pa.Table, *, original_dtypes: Collection[str] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return rows made elsewhere as a relation of the same connection."""
        return as_relation(
            self.native, self._normalized, rows, self.names if original_dtypes is None else original_dtypes
        )


def relation_source(native: duckdb.DuckDBPyRelation) -> Source:
    """Take a relation into memory if it is small, and leave it in the engine otherwise."""
    rows = normalize(native)
    fetched = _fetched(rows.relation) if _is_small(native) else None
    if fetched is None:
        return RelationSource(native, rows)
    return HeldSource(native, rows, fetched.rename_columns(list(rows.names)))


def _is_small(native: duckdb.DuckDBPyRelation) -> bool:
    """Return whether the engine expects few rows; where it does not say, it may be many."""
    estimate = _ESTIMATE.search(native.explain())
    return estimate is not None and int(estimate[1].replace(",", "")) <= HELD_ROWS


def _fetched(native: duckdb.DuckDBPyRelation) -> pa.Table | None:
    """Fetch the rows, unless they turn out to be many."""
    parts: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in fetch_batches(native):
        parts.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows > HELD_ROWS or n_bytes > _HELD_BYTES:
            return None
    return pa.Table.from_batches(parts, parts[0].schema if parts else schema_of(native))
