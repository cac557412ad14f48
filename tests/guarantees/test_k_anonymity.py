from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guarantees.small_tables import Rows, groups_of, rows_of, tables
from tests.oracles import tables as oracles

from discreet.core.errors import ParameterError
from discreet.guarantees import KAnonymity


@given(tables(), st.integers(1, 6))
def test_agrees_with_counting(rows: Rows, k: int) -> None:
    sizes = [len(members) for members in oracles.equivalence_classes(rows, ["class"])]
    groups = groups_of(rows)
    assert KAnonymity(k).measure(groups).tolist() == sizes
    assert KAnonymity(k).holds(groups).tolist() == [size >= k for size in sizes]
    verdict = KAnonymity(k).check(groups)
    assert verdict.ok is (min(sizes) >= k)
    assert verdict.worst == min(sizes)
    assert verdict.failing_groups == sum(size < k for size in sizes)
    assert verdict.failing_rows == sum(size for size in sizes if size < k)
    assert verdict.n_rows == len(rows)


def test_looks_at_no_sensitive_column() -> None:
    assert KAnonymity(2).columns(["ward"]) == ()


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "5", None])
def test_k_is_a_positive_int(k: object) -> None:
    with pytest.raises(ParameterError, match="The 'k' parameter of KAnonymity must be an int"):
        KAnonymity(k)  # type: ignore[arg-type]


def test_numpy_numbers_become_plain() -> None:
    assert repr(KAnonymity(np.int64(5))) == "KAnonymity(k=5)"  # type: ignore[arg-type]
    assert KAnonymity(np.int32(5)) == KAnonymity(5)  # type: ignore[arg-type]


def test_says_its_promise() -> None:
    expected = "Every row shares all quasi-identifying values with at least 4 others."
    assert KAnonymity(5).describe() == expected
    assert "one other" in KAnonymity(2).describe()


def test_is_a_pruning_hint_and_monotone() -> None:
    assert KAnonymity(7).smallest == 7
    assert KAnonymity.monotone


def test_suppressed_class_is_judged_unless_exempt() -> None:
    groups = groups_of(rows_of({"u": "abc", "*": "a"}), suppressed=[False, True])
    assert not KAnonymity(3).check(groups)
    exempt = KAnonymity(3).check(groups, suppressed="exempt")
    assert exempt.ok
    assert (exempt.n_groups, exempt.n_rows, exempt.worst) == (1, 3, 3.0)
    with pytest.raises(ParameterError, match="'suppressed' parameter of KAnonymity"):
        KAnonymity(3).check(groups, suppressed="ignored")  # type: ignore[arg-type]
