"""Columns of a vault: the public ones as distinct combinations, the sensitive ones as exact sums of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.errors import SchemaError

Nulls = Literal["refuse", "public"]
_LIMB = 32


@dataclass(frozen=True, repr=False)
class SecretColumn:
    """The values of one sensitive column, added up exactly for each element (records that agree in all public columns).

    Values are whole multiples of ``unit``. Sums are kept as limbs of 32 bits, which add up without rounding.

    Attributes
    ----------
    unit : Fraction
        The number that every value is a multiple of.
    sizes : array
        How many values every element has; records without a value do not count.
    limbs : array
        The sum of every element in units, lowest limb first; the last limb is signed.
    largest, smallest : tuple of int
        The extreme values of every element in units; 0 where it has none.
    distinct : bool
        Whether no two values are equal.
    floating : bool
        Whether the values are floating-point numbers as they are, not rounded to a declared step.
    """

    unit: Fraction
    sizes: IntArray
    limbs: IntArray
    largest: tuple[int, ...]
    smallest: tuple[int, ...]
    distinct: bool
    floating: bool = False

    @classmethod
    def of(
        cls, values: Sequence[Any], elements: IntArray | None = None, *, step: Fraction | None = None
    ) -> SecretColumn:
        """Return the column of these numbers; by default every record is an element of its own.

        With a step every value is rounded to its nearest multiple first, halves upward. The nearest doubles of decimal
        numbers are no multiples of anything that everyone knows, and their sums differ in the last digits.

        >>> column = SecretColumn.of([0.1, 0.2, None], np.array([0, 0, 1]), step=Fraction(1, 10))
        >>> column.sizes.tolist(), column.total(np.array([True, True]))
        ([2, 0], Fraction(3, 10))
        """
        owners = np.arange(len(values)) if elements is None else elements
        count = int(owners.max(initial=-1)) + 1
        unit, exact = in_units(values, step)
        sums, largest, smallest = [0] * count, [0] * count, [0] * count
        sizes = np.zeros(count, np.int64)
        for element, units in zip(owners.tolist(), exact, strict=True):
            if units is None:
                continue
            first = sizes[element] == 0
            sizes[element] += 1
            sums[element] += units
            largest[element] = units if first else max(largest[element], units)
            smallest[element] = units if first else min(smallest[element], units)
        present = [one for one in exact if one is not None]
        distinct = len(set(present)) == len(present)
        floating = step is None and any(isinstance(value, float) for value in values)
        return cls(unit, sizes, _limbs(sums), tuple(largest), tuple(smallest), distinct, floating)

    def total(self, members: BoolArray) -> Fraction | None:
        """Return the exact sum over the records of some elements; None without records."""
        if not self.sizes[members].any():
            return None
        # Limbs of 32 bits in words of 64: the sum of up to 2^31
        # elements is exact, and carries are settled once below.
        limbs: list[int] = self.limbs[members].sum(axis=0).tolist()
        return self.unit * sum(limb << (_LIMB * place) for place, limb in enumerate(limbs))

    def extreme(self, members: BoolArray, which: Literal["min", "max"]) -> Fraction | None:
        """Return the exact minimum or maximum over the records of some elements; None without records."""
        filled = np.flatnonzero(members & (self.sizes > 0)).tolist()
        if not filled:
            return None
        units = self.largest if which == "max" else self.smallest
        return self.unit * (max if which == "max" else min)(units[element] for element in filled)

    def count(self, members: BoolArray) -> int:
        """Return how many values some elements have."""
        return int(self.sizes[members].sum())

    @property
    def coarser(self) -> bool:
        """Whether the extreme values of all elements are multiples of a number above the unit."""
        return math.gcd(*self.largest, *self.smallest) > 1

    def truth(self, aggregate: str, members: BoolArray) -> Fraction | None:
        """Return the exact sum, minimum or maximum over the records of some elements."""
        if aggregate == "sum":
            return self.total(members)
        return self.extreme(members, "max" if aggregate == "max" else "min")


@dataclass(frozen=True)
class PublicColumn:
    """One public column: its kind and type, its distinct values, and the code of every element's value."""

    name: str
    kind: str
    type: pa.DataType
    values: tuple[Any, ...]
    codes: IntArray


def secret_values(name: str, column: pa.ChunkedArray, *, nulls: Nulls) -> list[Any]:
    """Return the values of a sensitive column; what cannot be added up exactly is refused."""
    kind = column.type
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    ):
        raise SchemaError(f"The sensitive column {name!r} does not hold numbers; only those can be audited.")
    values: list[Any] = column.to_pylist()
    if column.null_count and nulls != "public":
        raise SchemaError(
            f"The sensitive column {name!r} has missing values. Allow them with nulls='public' if it is no secret "
            "whose value is missing, or leave those rows out."
        )
    if pa.types.is_floating(kind) and any(value is not None and not np.isfinite(value) for value in values):
        raise SchemaError(f"The sensitive column {name!r} holds NaN or infinite numbers.")
    return values


def elements_of(columns: dict[str, pa.ChunkedArray]) -> tuple[IntArray, list[PublicColumn]]:
    """Return the element of every record, and the public columns over elements.

    Records with equal values in all public columns form one element, since no predicate distinguishes them.
    """
    coded = {name: _coded(name, column) for name, column in columns.items()}
    n_rows = len(next(iter(columns.values()))) if columns else 0
    elements = np.zeros(n_rows, np.int64)
    for codes, values, _, _ in coded.values():
        _, elements = np.unique(elements * (len(values) + 1) + codes, return_inverse=True)
    _, first = np.unique(elements, return_index=True)
    public = [
        PublicColumn(name, kind, type_, values, codes[first])
        for name, (codes, values, kind, type_) in coded.items()
    ]
    return elements.astype(np.int64), public


def _coded(name: str, column: pa.ChunkedArray) -> tuple[IntArray, tuple[Any, ...], str, pa.DataType]:
    """Return the codes of a column's values, the values, their kind and type; NaN counts as missing."""
    kind = public_kind(name, column.type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pa.compute.if_else(pa.compute.is_nan(column), None, column)
    encoded = pa.array(column.to_pylist(), column.type).dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, tuple(encoded.dictionary.to_pylist()), kind, column.type


def public_kind(name: str, kind: pa.DataType) -> str:
    """Return whether a public column holds numbers, texts, truth values, dates or times."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    if pa.types.is_boolean(kind):
        return "truth value"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return "time"
    raise SchemaError(
        f"The public column {name!r} must hold numbers, texts, truth values, dates or times without a zone."
    )


class InUnits(NamedTuple):
    """The unit of a column, and every value as a multiple of it."""

    unit: Fraction
    values: list[int | None]


def in_units(values: Sequence[Any], step: Fraction | None) -> InUnits:
    """Return a column in its unit, which everyone may know.

    The unit of whole numbers is 1, that of decimals their last decimal place; with a step, the least common multiple of
    both, since who knows that values are whole knows more than that they are multiples of 0.1.
    """
    ratios = [None if value is None else value.as_integer_ratio() for value in values]
    places = max((-int(v.as_tuple().exponent) for v in values if isinstance(v, Decimal)), default=0)
    unit = Fraction(1, 10 ** max(places, 0))
    floating = any(isinstance(value, float) for value in values)
    if floating and step is None:
        unit = Fraction(1, math.lcm(*(ratio[1] for ratio in ratios if ratio is not None)))
    elif step is not None:
        unit = step if floating else _common_multiple(step, unit)
    over, under = unit.numerator, unit.denominator
    return InUnits(
        unit,
        [
            # The nearest multiple in whole numbers, halves upward, also below zero.
            None if ratio is None else (2 * ratio[0] * under + ratio[1] * over) // (2 * ratio[1] * over)
            for ratio in ratios
        ],
    )


def _common_multiple(first: Fraction, second: Fraction) -> Fraction:
    return Fraction(
        math.lcm(first.numerator, second.numerator), math.gcd(first.denominator, second.denominator)
    )


def _limbs(sums: Sequence[int]) -> IntArray:
    """Cut signed numbers into limbs of 32 bits, the last of which carries the sign."""
    bits = max((abs(one).bit_length() for one in sums), default=0) + 1
    count = -(-bits // _LIMB)
    raw = b"".join(one.to_bytes(4 * count, "little", signed=True) for one in sums)
    limbs = np.frombuffer(raw, np.uint32).reshape(len(sums), count).astype(np.int64)
    if limbs.size:
        # Two's complement: where the highest bit of the last limb is set, its value is less by 2^32.
        limbs[:, -1] -= (limbs[:, -1] >> (_LIMB - 1)) << _LIMB
    return limbs
