from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import baskets as strategies_baskets

from discreet import Table, quasi, sensitive
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.tables.groups import Groups
from discreet.guarantees import EntropyDiversity, KAnonymity, PrivacyDegree, guarantee_from_dict
from discreet.publish import Mondrian


def degree(holders: list[list[int]], group: list[int], number: int) -> Fraction | float:
    members = [set(items) for items, one in zip(holders, group, strict=True) if one == number]
    counts = [sum(item in one for one in members) for item in set().union(*members)]
    return min((Fraction(len(members), count) for count in counts), default=math.inf)


@given(strategies_baskets.baskets(min_baskets=1), st.integers(1, 5), st.data())
def test_measure_and_judgment_are_those_of_the_definition(held: Baskets, p: int, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(held), max_size=len(held)))
    _, group = np.unique(labels, return_inverse=True)
    grouped = GroupedBaskets.of(held.keep(np.zeros(held.n_items, np.bool_)), group, held)
    expected = [degree(list(held), group.tolist(), number) for number in range(grouped.n_groups)]
    promise = PrivacyDegree(p)
    assert promise.measure(grouped.groups()).tolist() == [float(one) for one in expected]
    assert promise.holds(grouped.groups()).tolist() == [one >= p for one in expected]
    verdict = promise.check(grouped)
    assert verdict.ok == all(one >= p for one in expected)
    assert verdict.n_rows == len(held)
    assert (promise & KAnonymity(1)).check(grouped).ok == verdict.ok


def test_large_counts_are_compared_exactly() -> None:
    """Three times (2^53 + 1)/3 holders is one too many; floating point cannot tell."""
    n = 3 * (2**53 // 3) + 2
    most = n // 3
    held = Baskets.from_lists([["s"]])
    counts = GroupedBaskets.of(Baskets.from_lists([["a"]]), [0], held).sensitive
    object.__setattr__(counts, "counts", np.array([most + 1], np.int64))
    groups = Groups(np.array([n]), items=counts)
    assert not PrivacyDegree(3).check(groups).ok
    object.__setattr__(counts, "counts", np.array([most], np.int64))
    assert PrivacyDegree(3).check(groups).ok


def test_a_table_s_values_count_null_among_them() -> None:
    frame = pa.table({"zip": [1, 1, 1, 1], "disease": ["flu", None, None, "cold"]})
    table = Table(frame, {"zip": quasi(), "disease": sensitive()})
    assert PrivacyDegree(2).check(table).ok
    assert PrivacyDegree(2).check(table).worst == 2.0
    assert not PrivacyDegree(3).check(table).ok
    assert Mondrian(PrivacyDegree(2)).release(table).verdict.ok


@given(st.lists(st.integers(0, 1), min_size=1, max_size=8), st.integers(1, 4), st.data())
def test_no_division_fails_fewer_rows_than_the_bound(holders: list[int], p: int, data: st.DataObject) -> None:
    held = Baskets.from_lists([["s"] * one for one in holders] + [["s"]])
    whole = GroupedBaskets.of(Baskets.from_lists([["a"]] * len(held)), [0] * len(held), held)
    parts = data.draw(st.lists(st.integers(0, 3), min_size=len(held), max_size=len(held)))
    _, group = np.unique(parts, return_inverse=True)
    divided = GroupedBaskets.of(whole.baskets, group, held)
    failing = divided.sizes[~PrivacyDegree(p).holds(divided.groups())].sum()
    assert failing >= PrivacyDegree(p).failing_at_least(whole.groups())[0] - 1e-9


def test_the_promise_is_plain_data_and_says_itself() -> None:
    assert guarantee_from_dict(PrivacyDegree(4).to_dict()) == PrivacyDegree(4)
    assert "1/4" in PrivacyDegree(4).describe()
    with pytest.raises(ParameterError, match="'p' parameter of PrivacyDegree"):
        PrivacyDegree(0)
    with pytest.raises(ParameterError, match="'p'"):
        PrivacyDegree(2.5)  # type: ignore[arg-type]


def test_what_a_promise_cannot_judge_is_refused() -> None:
    frame = pa.table({"zip": [1, 1]})
    with pytest.raises(SchemaError, match="or a sensitive column"):
        PrivacyDegree(2).check(Groups(np.array([3])))
    with pytest.raises(SchemaError):
        PrivacyDegree(2).columns(Table(frame, {"zip": quasi()}).schema.sensitive)
    grouped = GroupedBaskets.of(Baskets.from_lists([["a"]]), [0], Baskets.from_lists([["s"]]))
    with pytest.raises(SchemaError, match="needs a sensitive column"):
        EntropyDiversity(2).check(grouped)


def test_some_groups_keep_their_items() -> None:
    held = Baskets.from_lists([["s"], [], ["t"], [], []])
    grouped = GroupedBaskets.of(Baskets.from_lists([["a"]] * 5), [0, 0, 1, 1, 1], held)
    some = grouped.groups().only(np.array([False, True]))
    assert PrivacyDegree(3).measure(some).tolist() == [3.0]


@pytest.mark.parametrize("p", [2**62, 2**63 - 1, 2**64, 10**30])
def test_a_degree_beyond_any_number_of_baskets_is_never_kept(p: int) -> None:
    held = Baskets.from_lists([["s"]] * 4 + [[]] * 4)
    grouped = GroupedBaskets.of(Baskets.from_lists([["a"]] * 8), [0] * 8, held)
    assert not PrivacyDegree(p).check(grouped).ok
