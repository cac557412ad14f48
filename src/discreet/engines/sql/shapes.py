"""Tuples that an engine codes and counts itself, by queries written once, and classes by their shape beyond memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.errors import InputError
from discreet.core.tables.encoding import Codebook, cleaned, column_type
from discreet.core.tables.source import ClassShapes, Tuples
from discreet.engines.sql.source import SqlSource

_LARGEST_KEY = 1 << 62


def column_values(source: SqlSource, relation: Any, names: Sequence[str]) -> dict[str, pa.Array]:
    """Return the distinct values of columns, cleaned, in one pass over the rows."""
    inner = [source._normalized.inner(name) for name in names]
    listed = ", ".join(inner)
    sets = ", ".join(f"({column})" for column in inner)
    for name, field in zip(
        names, source._schema(source._query(relation, f"SELECT {listed} FROM source")), strict=True
    ):
        column_type(field.type, name)
    sql = (
        f"SELECT {listed}, CAST(grouping_id({listed}) AS BIGINT) FROM source GROUP BY GROUPING SETS ({sets})"
    )
    parts_by_name: dict[str, list[pa.Array]] = {name: [] for name in names}
    for batch in source._batches(source._query(relation, sql)):
        absent = batch.column(len(names)).to_numpy()
        for number, name in enumerate(names):
            # A bit for each column, the first the highest, is 0 where the row is of that column's set.
            here = (absent >> (len(names) - 1 - number)) & 1 == 0
            parts_by_name[name].append(batch.column(number).filter(pa.array(here)))
    return {
        name: pc.unique(cleaned(pa.chunked_array(parts), name))
        for name, parts in parts_by_name.items()
        if parts
    }


def coded_tuples(source: SqlSource, relation: Any, encoded: Sequence[Codebook]) -> Tuples:
    """Count the distinct tuples of coded rows in the engine; only whole numbers come back."""
    blocks = _blocks([book.n_codes for book in encoded])
    keys = _packed(blocks, encoded)
    positions = ", ".join(str(number + 1) for number in range(len(keys)))
    sql = f"SELECT {', '.join(keys)}, CAST(count(*) AS BIGINT) AS n FROM source GROUP BY {positions}"
    *packed, counts = _columns(source, source._query(relation, sql), len(blocks) + 1)
    order = np.lexsort(packed[::-1])
    counts = counts[order]
    codes = np.empty((order.size, len(encoded)), np.min_scalar_type(max(book.n_codes for book in encoded)))
    for block in reversed(blocks):
        digits = packed.pop()[order]
        for number in reversed(block):
            codes[:, number] = digits % encoded[number].n_codes
            digits //= encoded[number].n_codes
    return Tuples(codes, counts)


def class_shapes(
    source: SqlSource,
    relation: Any,
    encoded: Sequence[Codebook],
    n_quasi: int,
    most: int,
    refuse_too_many: Callable[[Any], None],
) -> ClassShapes:
    """Count the classes of coded rows in the engine; those of three rows and more come by their tuples.

    ``most`` is the most classes that may be fetched, and ``refuse_too_many`` refuses rows of more tuples than that.
    """
    sensitive = range(n_quasi, len(encoded))
    keys = _packed(_blocks([book.n_codes for book in encoded[:n_quasi]]), encoded)
    names = [f"key{number}" for number in range(len(keys))]
    keyed = source._query(relation, f"SELECT {', '.join(keys)}, * FROM source")
    # Of a class of one or two rows the lowest and the highest code are all there is.
    ends = "".join(f", min(code{at}) AS low{at}, max(code{at}) AS high{at}" for at in sensitive)
    classes = source._query(
        keyed, f"SELECT {', '.join(names)}, count(*) AS n{ends} FROM source GROUP BY {', '.join(names)}"
    )
    of_large = [f"CASE WHEN n > 2 THEN {name} END AS {name}" for name in names]
    of_small = [
        f"CASE WHEN n <= 2 THEN {end}{at} ELSE 0 END AS {end}{at}"
        for at in sensitive
        for end in ("low", "high")
    ]
    kinds = source._query(
        classes, f"SELECT {', '.join(['CAST(least(n, 3) AS BIGINT) AS n', *of_small, *of_large])} FROM source"
    )
    listed = ", ".join(["n", *(f"{end}{at}" for at in sensitive for end in ("low", "high")), *names])
    shapes = source._query(
        kinds,
        f"SELECT {listed}, CAST(count(*) AS BIGINT) AS repeats FROM source GROUP BY {listed} LIMIT {most + 1}",
    )
    rows = pa.Table.from_batches(source._batches(shapes), source._schema(shapes))
    if rows.num_rows > most:
        raise InputError(
            f"The table has more than {most:,} classes of three rows and more, which are held in memory to be judged: "
            "round values first, judge fewer columns, or raise DISCREET_MEMORY where the engine is this machine's."
        )
    is_large = pc.equal(rows["n"], 3)
    large, small = rows.filter(is_large), rows.filter(pc.invert(is_large))
    tuples = Tuples(np.empty((0, len(encoded)), np.int32), np.empty(0, np.int64))
    if large.num_rows:
        meeting = " AND ".join(f"source.{name} = mapping.{name}" for name in names)
        sql = f"SELECT source.* FROM source WHERE EXISTS (SELECT 1 FROM mapping WHERE {meeting})"
        part = source._query(keyed, sql, large.select(names))
        refuse_too_many(part)
        tuples = coded_tuples(source, part, encoded)
    columns = [small.column(1 + at).to_numpy() for at in range(2 * len(sensitive))]
    small_ends = np.column_stack(columns) if columns else np.empty((small.num_rows, 0), np.int64)
    return ClassShapes(tuples, small["n"].to_numpy(), small_ends, small["repeats"].to_numpy())


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


def _packed(blocks: Sequence[Sequence[int]], encoded: Sequence[Codebook]) -> list[str]:
    """Write a key for each run of columns: their codes as the digits of one number."""
    keys = []
    for at, block in enumerate(blocks):
        key = f"CAST(code{block[0]} AS BIGINT)"
        for number in block[1:]:
            key = f"({key} * {encoded[number].n_codes} + code{number})"
        keys.append(f"{key} AS key{at}")
    return keys


def _columns(source: SqlSource, relation: Any, count: int) -> list[IntArray]:
    """Fetch columns of whole numbers; batches are let go as soon as they are joined."""
    parts: list[list[IntArray]] = [[] for _ in range(count)]
    for batch in source._batches(relation):
        for part, column in zip(parts, batch.columns, strict=True):
            part.append(column.to_numpy())
    columns = []
    while parts:
        columns.append(np.concatenate(parts.pop(0)))
    return columns
