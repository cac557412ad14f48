"""Small relations: fetched once, coded and recoded in memory, and published as relations again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from discreet.core.tables.encoding import Codebook
from discreet.core.tables.frames import FrameSource
from discreet.core.tables.source import Recoding, Singletons, Source, Tuples
from discreet.engines.duckdb.admission import Normalized, framed, normalized
from discreet.engines.duckdb.large import RelationSource
from discreet.engines.duckdb.queries import batches, schema_of

if TYPE_CHECKING:
    import duckdb

HELD_ROWS = 1_000_000
"""A relation of up to this many rows is fetched; a larger one stays in the engine."""
_HELD_BYTES = 256 << 20
_ESTIMATE = re.compile(r"~([\d,]+) rows?")


class HeldSource(Source):
    """Rows of a small relation, in memory."""

    def __init__(self, native: duckdb.DuckDBPyRelation, normalized: Normalized, rows: pa.Table) -> None:
        self.native = native
        self.names = normalized.names
        self._normalized = normalized
        self.rows = rows
        self._held = FrameSource.of(rows)

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return the distinct values of columns, cleaned."""
        return self._held.values(names)

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Encode the rows column by column, and count the distinct ones."""
        return self._held.tuples(encoded)

    def columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return whole columns, cleaned, row by row."""
        return self._held.columns(names)

    def singletons(self, names: Sequence[str], unit: str | None = None) -> Singletons:
        """Count the rows whose values in the columns no other row, or unit, has; rows without any do not count."""
        return self._held.singletons(names, unit)

    def small_classes(self, names: Sequence[str], unit: str, fewest: int) -> int:
        """Count the rows in classes of the columns with fewer units than some; a row without one counts as one."""
        return self._held.small_classes(names, unit, fewest)

    def recode(self, recoding: Recoding) -> duckdb.DuckDBPyRelation:
        """Publish the rows as the recoding says, as a relation of the same connection."""
        replaced = {*recoding.by_piece, *recoding.by_value, *recoding.pseudonyms}
        kept = [name for name in recoding.columns if name not in replaced]
        return framed(self.native, self._normalized, self._held.recode(recoding), kept)

    def framed(self, rows: pa.Table) -> duckdb.DuckDBPyRelation:
        """Return rows made elsewhere as a relation of the same connection."""
        return framed(self.native, self._normalized, rows, self.names)


def relation_source(native: duckdb.DuckDBPyRelation) -> Source:
    """Take a relation into memory if it is small, and leave it in the engine otherwise."""
    rows = normalized(native)
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
    for batch in batches(native):
        parts.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows > HELD_ROWS or n_bytes > _HELD_BYTES:
            return None
    return pa.Table.from_batches(parts, parts[0].schema if parts else schema_of(native))
