"""Published rows as pandas and Polars frames: columns that hold cells as they came get the type they had."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa


def as_pandas(rows: pa.Table, like: Any, kept: Collection[str]) -> Any:
    """Return rows as a pandas frame with a plain index and no attributes."""
    columns = {
        name: _pandas_column(rows[name], like[name].dtype) if name in kept else rows[name].to_pandas()
        for name in rows.column_names
    }
    return type(like)(columns)


def _pandas_column(column: pa.ChunkedArray, dtype: Any) -> Any:
    if dtype.name == "object":
        return column.to_pandas(integer_object_nulls=True).astype(object)
    if hasattr(dtype, "__from_arrow__") and dtype.name != "category":
        mapper = {column.type: dtype}.get
        return column.to_pandas(types_mapper=mapper)
    return column.to_pandas()


def as_polars(rows: pa.Table, like: Any, kept: Collection[str]) -> Any:
    """Return rows as a Polars frame; an Enum becomes one of the values that occur."""
    import polars as pl

    frame: Any = pl.from_arrow(rows)
    casts = []
    for name in rows.column_names:
        if name not in kept or like.schema[name] == frame.schema[name]:
            continue
        dtype: Any = like.schema[name]
        if isinstance(dtype, pl.Enum):
            present = set(frame[name].unique().cast(pl.String))
            dtype = pl.Enum([one for one in dtype.categories if one in present])
        casts.append(
            pl.col(name).cast(pl.String).cast(dtype)
            if isinstance(dtype, pl.Enum)
            else pl.col(name).cast(dtype)
        )
    return frame.with_columns(casts) if casts else frame
