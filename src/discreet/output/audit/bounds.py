"""Declared bounds of a sensitive column."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.params import FloatIn, require
from discreet.output.audit.gate.columns import SecretColumn


def require_bounds(owner: object, low: float, high: float) -> None:
    """Refuse parameters that are no interval."""
    require(owner, "low", low, FloatIn())
    require(owner, "high", high, FloatIn())
    if low >= high:
        raise ParameterError(f"The 'low' parameter of {type(owner).__name__} must be below 'high'.")


def require_between(name: str, column: SecretColumn, low: float, high: float) -> None:
    """Refuse a column with values outside the bounds, without showing any."""
    least, most = Fraction(low) / column.unit, Fraction(high) / column.unit
    for size, smallest, largest in zip(column.sizes, column.smallest, column.largest, strict=True):
        if size and not least <= smallest <= largest <= most:
            raise SchemaError(
                f"The column {name!r} has values outside the declared bounds. Widen them, or clip the values first."
            )
