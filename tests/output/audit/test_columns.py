"""Exact sums: whatever the type, size and sign, they are those of exact arithmetic."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import SchemaError
from discreet.output.audit.gate.columns import SecretColumn, elements_of, secret_values

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=4),
)


@given(st.lists(st.tuples(st.one_of(st.none(), NUMBERS), st.integers(0, 3), st.booleans()), min_size=1))
def test_sums_and_extremes_are_exact(rows) -> None:
    values = [value for value, _, _ in rows]
    elements = np.array([element for _, element, _ in rows])
    inside = np.zeros(elements.max() + 1, np.bool_)
    inside[[element for _, element, chosen in rows if chosen]] = True
    column = SecretColumn.of(values, elements)
    held = [Fraction(v) for v, e in zip(values, elements, strict=True) if v is not None and inside[e]]
    assert column.total(inside) == (sum(held) if held else None)
    assert column.extreme(inside, "max") == max(held, default=None)
    assert column.extreme(inside, "min") == min(held, default=None)
    assert column.count(inside) == len(held)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.chunked_array([["a"]]), "does not hold numbers"),
        (pa.chunked_array([[dt.date(2020, 1, 1)]]), "does not hold numbers"),
        (pa.chunked_array([[1, None]]), "missing"),
        (pa.chunked_array([[1.0, float("nan")]]), "NaN"),
        (pa.chunked_array([[1.0, float("-inf")]]), "infinite"),
    ],
)
def test_what_cannot_be_audited_is_refused(column, words) -> None:
    with pytest.raises(SchemaError, match=words):
        secret_values("pay", column, nulls="refuse")


def test_missing_values_may_be_declared_public() -> None:
    assert secret_values("pay", pa.chunked_array([[1, None]]), nulls="public") == [1, None]


def test_elements_are_the_distinct_combinations() -> None:
    elements, columns = elements_of(
        {
            "a": pa.chunked_array([["x", None, "x", "x", None]]),
            "b": pa.chunked_array([[1.0, float("nan"), 1.0, 2.0, None]]),
        }
    )
    assert elements[0] == elements[2]
    assert elements[1] == elements[4]
    assert len(set(elements.tolist())) == 3
    shown = {
        tuple(column.values[column.codes[element]] for column in columns) for element in elements.tolist()
    }
    assert shown == {("x", 1.0), (None, None), ("x", 2.0)}


def test_public_columns_of_odd_types() -> None:
    wide = pa.chunked_array([pa.array([2**63 + 5, 1], pa.uint64())])
    decimals = pa.chunked_array([pa.array([Decimal("1.10"), None])])
    coded = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode()])
    elements, columns = elements_of({"w": wide, "d": decimals, "c": coded})
    assert elements.tolist() == [0, 1] or elements.tolist() == [1, 0]
    assert [column.kind for column in columns] == ["number", "number", "text"]
    with pytest.raises(SchemaError, match="'n'"):
        elements_of({"n": pa.chunked_array([[[1]]])})
