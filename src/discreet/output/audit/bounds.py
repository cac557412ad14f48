"""Declared bounds of a sensitive column."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.errors import SchemaError
from discreet.output.audit.gate.columns import SecretColumn


def require_between(name: str, column: SecretColumn, low: float, high: float) -> None:
    """Refuse a column with values outside the bounds, without showing any."""
    least, most = Fraction(low) / column.unit, Fraction(high) / column.unit
    for size, smallest, largest in zip(column.sizes, column.smallest, column.largest, strict=True):
        if size and not least <= smallest <= largest <= most:
            raise SchemaError(
                f"The column {name!r} has values outside the declared bounds. Widen them, or clip the values first."
            )
