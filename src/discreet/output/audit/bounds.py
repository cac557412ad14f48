"""What everyone is taken to know of a sensitive column: its bounds, and the step that its values are multiples of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.params import NONE, POSITIVE, FloatIn, require
from discreet.output.audit.auditor import Bound
from discreet.output.audit.gate.columns import SecretColumn

_FEW_STEPS = 1_000
"""A column whose values lie within so few steps is taken to have bounds that everyone knows."""


def decimal(number: float | None) -> Fraction | None:
    """Return a parameter as the decimal number that was written: 0.1 is one tenth, not the nearest double.

    >>> decimal(0.1)
    Fraction(1, 10)
    """
    return None if number is None else Fraction(str(number))


@dataclass(frozen=True)
class Domain:
    """The values a record may have: whole multiples of ``step`` between two bounds, either of which may be missing.

    Sums are counted in steps above the lower bound, or, where only the upper one is there, in steps below it, so that
    they are whole numbers from 0 on.
    """

    low: Fraction | None
    high: Fraction | None
    step: Fraction

    @property
    def span(self) -> int | None:
        """How many steps lie between the bounds; None if one is missing."""
        if self.low is None or self.high is None:
            return None
        return math.floor(self.high / self.step) - math.ceil(self.low / self.step)

    @property
    def least(self) -> Fraction | None:
        """The least possible value."""
        return None if self.low is None else math.ceil(self.low / self.step) * self.step

    @property
    def most(self) -> Fraction | None:
        """The largest possible value."""
        return None if self.high is None else math.floor(self.high / self.step) * self.step

    @property
    def _origin(self) -> Fraction:
        origin = self.least if self._upward else self.most
        assert origin is not None
        return origin

    @property
    def _upward(self) -> bool:
        return self.low is not None

    def steps(self, total: Fraction, count: int) -> int:
        """Return the sum of ``count`` records in steps from the bound."""
        distance = (total - count * self._origin) / self.step
        # Whole for sums of multiples of the step; an inequality
        # that was kept as a double may be off by its last bit.
        return round(distance if self._upward else -distance)

    def total(self, steps: int, count: int) -> Fraction:
        """Return the sum that so many steps stand for."""
        return count * self._origin + (steps if self._upward else -steps) * self.step

    def bound(self, relation: Literal["at most", "at least"], steps: int, count: int) -> Bound:
        """Return an inequality in steps as one about the sum itself."""
        total = self.total(steps, count)
        value = int(total) if total.denominator == 1 else float(total)
        if self._upward:
            return Bound(relation, value)
        return Bound("at least" if relation == "at most" else "at most", value)

    def relation(self, bound: Bound) -> Literal["at most", "at least"]:
        """Return the relation of a released inequality in steps."""
        if self._upward:
            return bound.relation
        return "at least" if bound.relation == "at most" else "at most"


def require_bounds(owner: object, low: float | None, high: float | None, *, both: bool = True) -> None:
    """Refuse parameters that are no interval."""
    missing = () if both else (NONE,)
    require(owner, "low", low, FloatIn(), *missing)
    require(owner, "high", high, FloatIn(), *missing)
    if low is not None and high is not None and low >= high:
        raise ParameterError(f"The 'low' parameter of {type(owner).__name__} must be below 'high'.")


def require_step(owner: object, step: float | None) -> None:
    """Refuse a step that is no positive number."""
    require(owner, "step", step, POSITIVE, NONE)


def require_between(
    name: str, column: SecretColumn, low: float | Fraction | None, high: float | Fraction | None
) -> None:
    """Refuse a column with values outside the bounds, without showing any."""
    least = None if low is None else Fraction(low) / column.unit
    most = None if high is None else Fraction(high) / column.unit
    for size, smallest, largest in zip(column.sizes, column.smallest, column.largest, strict=True):
        if size and ((least is not None and smallest < least) or (most is not None and largest > most)):
            raise SchemaError(
                f"The column {name!r} has values outside the declared bounds. Widen them, or clip the values first."
            )


def require_exact(name: str, column: SecretColumn) -> None:
    """Refuse floating-point numbers without a step: their sums are rounded in a way that depends on every value."""
    if column.floating:
        raise SchemaError(
            f"The column {name!r} holds floating-point numbers, whose last digits disclose values in sums. Declare the "
            "step that its values are rounded to (step), such as 0.01; everyone may know it."
        )


def require_unbounded(name: str, column: SecretColumn) -> None:
    """Refuse a column whose values look as if everyone knew bounds of them, where none are declared."""
    filled = [element for element, size in enumerate(column.sizes.tolist()) if size]
    if not filled:
        return
    least = min(column.smallest[element] for element in filled)
    most = max(column.largest[element] for element in filled)
    if least >= 0 and most * column.unit <= 1:
        raise SchemaError(
            f"The column {name!r} has values between 0 and 1 alone. Declare 0 as its 'low' and 1 as its 'high', or use "
            "the boolean auditor for a 0/1 column."
        )
    if least >= 0 or most <= 0 or most - least < _FEW_STEPS:
        side = (
            "no value below 0" if least >= 0 else "no value above 0" if most <= 0 else "values close together"
        )
        raise SchemaError(
            f"The column {name!r} has {side}, and who knows its bounds learns values from extreme answers. Declare "
            "what everyone may know of it as its 'low' and 'high', or use the interval auditor."
        )
