"""The shares of categories that were redrawn: stated in a file before, or recovered afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.errors import InputError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.collect import RandomizedResponse
    from discreet.collect.category_estimates import Shares
    from discreet.core.engine import Engine


def stated_shares(path: Path, type_: pa.DataType) -> tuple[list[Any], list[float]]:
    """Read categories of a type and their shares from a file of two columns."""
    import pyarrow as pa

    from discreet.core.engine import engine_of
    from discreet.engines.files import read

    relation = read(path)
    table = engine_of(relation).arrow(relation)
    if table.num_columns != 2 or table.num_rows < 2:
        raise InputError(
            f"{path} must hold two columns, categories and their shares, and two categories at least."
        )
    try:
        categories, shares = (
            table.column(0).cast(type_).to_pylist(),
            table.column(1).cast(pa.float64()).to_pylist(),
        )
    except pa.ArrowException:
        raise InputError(
            f"{path} must hold categories of the column's type, and a number for each."
        ) from None
    if None in categories or None in shares or len(set(categories)) < len(categories):
        raise InputError(f"{path} must name each category once, with a share; none may be null.")
    return categories, shares


def recovered_shares(
    relation: Any, engine: Engine, column: str, channel: RandomizedResponse, *, by: str | None, **options: Any
) -> list[tuple[Any, Shares]]:
    """Recover the shares of a column of reports, in the whole file or for every value of another column.

    Reports are counted batch by batch; a value of the other column is in the answer if any row has it, null included.
    """
    from discreet.collect.category_estimates import codes_of

    counts: dict[Any, Any] = {}
    names = [column] if by is None else [column, by]
    for batch in engine.batches(engine.select(relation, names)):
        codes = codes_of(
            batch.column(batch.schema.get_field_index(column)), channel.categories, column=column
        )
        groups = (
            [None] * len(codes) if by is None else batch.column(batch.schema.get_field_index(by)).to_pylist()
        )
        for group in dict.fromkeys(groups):
            rows = np.array([other == group for other in groups])
            found = np.bincount(codes[rows], minlength=len(channel.categories))
            counts[group] = counts.get(group, 0) + found
    if not counts:
        raise InputError("There are no reports to learn from.")
    ordered = sorted(counts, key=lambda group: (group is not None, str(group)))
    return [(group, channel.reconstruct(counts=counts[group], **options)) for group in ordered]


def shares_table(found: Sequence[tuple[Any, Shares]], column: str, by: str | None) -> pa.Table:
    """Return recovered shares as a table, a row for each category, and each value of the other column."""
    import pyarrow as pa

    rows = [
        (group, category, float(share), float(error), shares.n)
        for group, shares in found
        for category, share, error in zip(
            shares.categories, shares.shares, shares.standard_errors, strict=True
        )
    ]
    names = [by or "", column, "share", "standard error", "reports"]
    columns = [list(values) for values in zip(*rows, strict=True)]
    if by is None:
        names, columns = names[1:], columns[1:]
    if len(set(names)) < len(names):
        raise SchemaError("A column of the shares would have the name of one that is there; rename it first.")
    return pa.table(dict(zip(names, columns, strict=True)))
