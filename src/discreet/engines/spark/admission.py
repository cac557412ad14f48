"""Admission: the columns of a Spark frame, in types that are kept exactly; others can only be dropped."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import DiscreetError, SchemaError
from discreet.engines.spark.session import arrow_type, failures
from discreet.engines.sql.source import Normalized

_FLOATS = {"FloatType": "FLOAT", "DoubleType": "DOUBLE"}


@dataclass(frozen=True, repr=False)
class FrameColumns(Normalized):
    """Rows as they are judged, and the types of the columns that are not kept."""

    types: tuple[tuple[str, str], ...] = ()

    def refusal(self, name: str) -> DiscreetError:
        """Return why a column can only be dropped."""
        return SchemaError(
            f"Column '{name}' has the type {dict(self.types)[name]} of Spark, which is not kept exactly: drop it as an "
            "identifier, or make it text first."
        )


def frame_columns(frame: Any) -> FrameColumns:
    """Return the rows of a frame under names of our own, cleaned, without the metadata of their columns."""
    with failures("The columns cannot be read"):
        fields = frame.schema.fields
        names = tuple(field.name for field in fields)
        _refuse_repeated(names)
        inner = [f"c{number}" for number in range(len(names))]
        refused = {
            field.name: _type_name(field.dataType) for field in fields if arrow_type(field.dataType) is None
        }
        cells = [
            f"{_cell(column, field.dataType)} AS {column}"
            for column, field in zip(inner, fields, strict=True)
        ]
        rows = frame.toDF(*inner).selectExpr(*cells)
        if any(field.metadata for field in fields):
            rows = rows.select(*(rows[column].alias(column, metadata={}) for column in inner))
    return FrameColumns(rows, names, (None,) * len(names), frozenset(refused), tuple(refused.items()))


def _refuse_repeated(names: tuple[str, ...]) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise SchemaError(f"The frame has two columns named '{repeated}'; rename one.")


def _cell(column: str, type_: Any) -> str:
    """Write a cell as it is judged: NaN is null and -0.0 is 0, texts are compared byte by byte."""
    name = type(type_).__name__
    if arrow_type(type_) is None:
        return "CAST(NULL AS BINARY)"
    if name in _FLOATS:
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} + CAST(0 AS {_FLOATS[name]}) END"
    if name == "NullType":
        return "CAST(NULL AS STRING)"
    if getattr(type_, "collation", "UTF8_BINARY") != "UTF8_BINARY":
        return f"{column} COLLATE UTF8_BINARY"
    return column


def _type_name(type_: Any) -> str:
    """Return the name of a type, without what it is made of: names of fields may be data."""
    return re.split(r"\W", str(type_.typeName()))[0]
