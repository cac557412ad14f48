from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guarantees.small_tables import Rows, groups_of, rows_of, tables, wards
from tests.oracles import tables as oracles

from discreet.core.errors import ParameterError, SchemaError
from discreet.guarantees import DistinctDiversity, EntropyDiversity, RecursiveDiversity


@given(tables(), st.integers(1, 5))
def test_distinct_agrees_with_counting(rows: Rows, l: int) -> None:  # noqa: E741
    expected = [oracles.distinct_values(values) for values in wards(rows)[0]]
    groups = groups_of(rows)
    assert DistinctDiversity(l).measure(groups).tolist() == expected
    assert DistinctDiversity(l).holds(groups).tolist() == [count >= l for count in expected]


@given(tables(), st.floats(1, 5))
def test_entropy_agrees_with_the_definition(rows: Rows, l: float) -> None:  # noqa: E741
    expected = [oracles.effective_values(values) for values in wards(rows)[0]]
    groups = groups_of(rows)
    assert EntropyDiversity(l).measure(groups).tolist() == pytest.approx(expected, rel=1e-12)
    for holds, effective in zip(EntropyDiversity(l).holds(groups), expected, strict=True):
        assert holds == (effective >= l) or effective == pytest.approx(l, rel=1e-8)


@given(tables(), st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]), st.integers(1, 4))
def test_recursive_agrees_with_the_definition(rows: Rows, c: float, l: int) -> None:  # noqa: E741
    classes, _ = wards(rows)
    groups = groups_of(rows)
    guarantee = RecursiveDiversity(c, l)
    assert guarantee.measure(groups).tolist() == [oracles.recursive_ratio(values, l) for values in classes]
    assert guarantee.holds(groups).tolist() == [
        oracles.is_recursively_diverse(values, c, l) for values in classes
    ]


@pytest.mark.parametrize("l", range(1, 40))
@pytest.mark.parametrize("times", [1, 3, 7])
def test_equally_frequent_values_are_exactly_as_diverse_as_many(l: int, times: int) -> None:  # noqa: E741
    groups = groups_of(rows_of({"u": list(range(l)) * times}))
    assert EntropyDiversity(l).check(groups)
    assert not EntropyDiversity(l + 1e-6).check(groups)


def test_entropy_by_hand() -> None:
    groups = groups_of(rows_of({"u": "aab", "v": "abcd"}))
    assert EntropyDiversity(2).measure(groups).tolist() == pytest.approx([3 / 4 ** (1 / 3), 4.0], rel=1e-12)


def test_recursive_by_hand() -> None:
    """Counts 5, 3, 1: 5 < 2 (3 + 1), 5 is no less than 5/4 (3 + 1), and 5 < 6 (1)."""
    groups = groups_of(rows_of({"u": "aaaaabbbc"}))
    assert RecursiveDiversity(2, 2).measure(groups).tolist() == [1.25]
    assert RecursiveDiversity(2, 2).check(groups)
    assert not RecursiveDiversity(1.25, 2).check(groups)
    assert RecursiveDiversity(6, 3).check(groups)
    assert not RecursiveDiversity(5, 3).check(groups)
    assert RecursiveDiversity(100, 4).measure(groups).tolist() == [math.inf]


@pytest.mark.parametrize(("c", "most", "rest"), [(0.1, 1, 10), (0.3, 3, 10), (1.1, 11, 10), (0.7, 7, 10)])
def test_recursive_is_strict_for_decimal_fractions(c: float, most: int, rest: int) -> None:
    """c times the rest in floating point would land above the most frequent count for some of these."""
    values = [0] * most + list(range(1, rest + 1))
    groups = groups_of(rows_of({"u": values}))
    assert not RecursiveDiversity(c, 2).check(groups)
    assert RecursiveDiversity(c * 1.0001, 2).check(groups)


def test_null_is_a_value_like_any_other() -> None:
    groups = groups_of(rows_of({"u": ["a", None], "v": [None, None]}))
    assert DistinctDiversity(2).measure(groups).tolist() == [2, 1]
    assert EntropyDiversity(2).holds(groups).tolist() == [True, False]


def test_worst_of_several_columns() -> None:
    rows = [{"class": "u", "ward": ward, "drug": drug} for ward, drug in zip("abc", "xxy", strict=True)]
    groups = groups_of(rows, sensitive=["ward", "drug"])
    assert DistinctDiversity(2).measure(groups).tolist() == [2]
    assert DistinctDiversity(3, of="ward").check(groups)
    assert not DistinctDiversity(3, of=("ward", "drug")).check(groups)
    assert RecursiveDiversity(2, 2).measure(groups).tolist() == [2.0]
    assert DistinctDiversity(3, of=["ward"]).of == ("ward",)  # type: ignore[arg-type]


def test_smallest_never_rules_out_a_class_that_holds() -> None:
    assert EntropyDiversity(4).smallest == 4
    assert EntropyDiversity(4 + 1e-9).smallest == 4
    assert EntropyDiversity(3.2).smallest == 4
    assert EntropyDiversity(1).smallest == 1
    assert RecursiveDiversity(9, 3).smallest == DistinctDiversity(3).smallest == 3


@given(tables(), st.floats(1, 6))
def test_no_class_below_the_smallest_holds(rows: Rows, l: float) -> None:  # noqa: E741
    groups = groups_of(rows)
    for guarantee in (EntropyDiversity(l), DistinctDiversity(int(l)), RecursiveDiversity(9.0, int(l))):
        assert not np.any(guarantee.holds(groups) & (groups.sizes < guarantee.smallest))


def test_columns_must_be_sensitive() -> None:
    groups = groups_of(rows_of({"u": "ab"}))
    with pytest.raises(SchemaError, match=r"EntropyDiversity looks at the column 'drug'.*'ward'"):
        EntropyDiversity(2, of="drug").check(groups)
    with pytest.raises(SchemaError, match="DistinctDiversity needs a sensitive column"):
        DistinctDiversity(2).columns([])
    assert DistinctDiversity(2).columns(["ward", "drug"]) == ("ward", "drug")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: DistinctDiversity(0), "l"),
        (lambda: DistinctDiversity(2.5), "l"),
        (lambda: EntropyDiversity(0.5), "l"),
        (lambda: EntropyDiversity(math.nan), "l"),
        (lambda: RecursiveDiversity(0, 2), "c"),
        (lambda: RecursiveDiversity(2, 1.5), "l"),
        (lambda: EntropyDiversity(2, of=3), "of"),
        (lambda: EntropyDiversity(2, of=()), "of"),
        (lambda: EntropyDiversity(2, of=("ward", 1)), "of"),
    ],
)
def test_errors_name_the_parameter(make: object, name: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of"):
        make()  # type: ignore[operator]
