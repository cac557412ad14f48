"""Old and new rows in one release: joined as they are published, judged together, shuffled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from discreet.core.engine import arrow_table, engine_of
from discreet.core.errors import SchemaError
from discreet.core.release import Release
from discreet.core.rng import RandomState, generator
from discreet.core.tables import labels
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee


def failing_classes(release: Release, guarantee: Guarantee) -> set[tuple[str | None, ...]]:
    """Return the published cells of the classes that break the guarantee, as text."""
    table = release.table
    bad = ~guarantee.together(table.groups())
    _, codes = table.classes
    books = [table.encoded[name] for name in table.schema.quasi]
    texts: list[list[str | None]] = [[None, *labels.texts(book.values).to_pylist()] for book in books]
    return {tuple(text[code] for text, code in zip(texts, row, strict=True)) for row in codes[bad].tolist()}


class ReleasedRows:
    """The rows that were released before, to be joined with new ones."""

    def __init__(self, table: Table, released: Any) -> None:
        self.table = table
        self.old = as_arrow(released)

    def joined(self, new: Release, random_state: RandomState) -> Release:
        """Return a release of the old rows and the new ones, shuffled."""
        rows = as_arrow(new.frame)
        if set(rows.column_names) != set(self.old.column_names):
            raise SchemaError("The rows released before do not have the columns that the new release has.")
        old = pa.table({name: _typed(self.old[name], rows[name].type, name) for name in rows.column_names})
        together = pa.concat_tables([old, rows])
        order = generator(random_state, owner="apply").permutation(together.num_rows)
        shuffled = together.take(pa.array(order)).combine_chunks()
        evidence = replace(new.evidence, recoding=None)
        return replace(new, data=self._framed(shuffled), evidence=evidence)

    def _framed(self, rows: pa.Table) -> Any:
        return engine_of(self.table.frame).framed(rows, like=self.table.frame)


def as_arrow(frame: Any) -> pa.Table:
    """Return a released frame, of whatever kind, as an Arrow table."""
    return arrow_table(frame).replace_schema_metadata(None)


def _typed(column: pa.ChunkedArray, type_: pa.DataType, name: str) -> pa.ChunkedArray:
    """Bring an old column to the type of the new one; numbers become text where labels are text."""
    if column.type == type_:
        return column
    try:
        if pa.types.is_string(type_) or pa.types.is_large_string(type_):
            return pa.chunked_array([labels.texts(column.combine_chunks()).cast(type_)])
        return column.cast(type_)
    except (pa.ArrowException, TypeError):
        raise SchemaError(
            f"Column '{name}' of the rows released before has another type than the new rows'."
        ) from None
