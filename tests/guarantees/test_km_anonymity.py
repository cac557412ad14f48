"""k^m-anonymity, against all combinations counted by hand."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.km import combination_counts
from tests.strategies.baskets import baskets

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import ParameterError
from discreet.core.tables.groups import Groups
from discreet.guarantees import KmAnonymity, guarantee_from_dict


@given(baskets(max_baskets=14), st.integers(1, 4), st.integers(1, 5))
def test_a_verdict_is_what_counting_gives(data: Baskets, k: int, m: int) -> None:
    lists = data.lists()
    counts = combination_counts(lists, m)
    verdict = KmAnonymity(k, m).check(data)
    rare = {one for one, count in counts.items() if count < k}
    assert verdict.ok is (not rare)
    assert verdict.n_groups == len(counts)
    assert verdict.failing_groups == len(rare)
    assert verdict.failing_rows == sum(any(one <= set(basket) for one in rare) for basket in lists)
    assert verdict.n_rows == sum(bool(basket) for basket in lists)
    assert (verdict.worst == min(counts.values())) if counts else math.isnan(verdict.worst)


def test_the_number_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    data = Baskets.from_lists(
        [rng.choice(40, rng.integers(0, 9), replace=False).tolist() for _ in range(400)]
    )
    found = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(
            "discreet.kernels.itemsets.combinations.processors", lambda threads=threads: threads
        )
        found.append(KmAnonymity(3, 3).check(data))
    assert found[0] == found[1] == found[2]
    assert found[0].failing_groups == sum(n < 3 for n in combination_counts(data.lists(), 3).values())


def test_rare_combinations_are_given_in_order() -> None:
    from discreet.kernels.itemsets.combinations import count_combinations, laid_out

    lists = [[0, 1, 2], [0, 1], [1, 2, 3], [0, 3]]
    data = Baskets.from_lists(lists)
    laid = laid_out(data.indptr, data.items, np.arange(4, dtype=np.int32))
    for m in (1, 2, 3):
        counts = combination_counts(lists, m)
        rare = sorted(tuple(sorted(one)) for one, n in counts.items() if n < 2 and len(one) == m)
        assert [tuple(one) for one in count_combinations(laid, 2, m, keep=True).rare.tolist()] == rare
    assert count_combinations(laid, 2, 2, hasty=True).n_rare > 0
    assert count_combinations(laid, 1, 3, hasty=True).n_rare == 0


def test_a_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="baskets"):
        KmAnonymity(2, 2).measure(Groups(np.array([3])))
    with pytest.raises(ParameterError, match="Baskets"):
        KmAnonymity(2, 2).check(Groups(np.array([3])))
    grouped = GroupedBaskets.of(Baskets.from_lists([["a"]]), [0], Baskets.from_lists([["s"]]))
    with pytest.raises(ParameterError, match="without groups"):
        KmAnonymity(2, 2).check(grouped)


@pytest.mark.parametrize(("k", "m", "name"), [(0, 2, "k"), (2, 0, "m"), (2.5, 1, "k"), (2, True, "m")])
def test_parameters_are_named(k: int, m: int, name: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of KmAnonymity"):
        KmAnonymity(k, m)


def test_it_goes_through_plain_data_and_says_itself() -> None:
    assert guarantee_from_dict(KmAnonymity(5, 2).to_dict()) == KmAnonymity(5, 2)
    assert "up to 2 items" in KmAnonymity(5, 2).describe()
    assert "one item" in KmAnonymity(5, 1).describe()


def test_real_baskets(shared_data: Path) -> None:
    from discreet.engines.baskets.files import read_baskets

    data = read_baskets(shared_data / "bms-webview-1" / "BMS-WebView-1.dat.gz")
    lists = data.lists()
    counts: Counter[frozenset[int]] = combination_counts(lists, 2)
    verdict = KmAnonymity(5, 2).check(data)
    assert (verdict.n_groups, verdict.failing_groups) == (len(counts), sum(n < 5 for n in counts.values()))


@pytest.mark.parametrize("k", [2**63 - 1, 10**30])
def test_more_baskets_than_any_file_has_are_never_found(k: int) -> None:
    verdict = KmAnonymity(k, 2).check(Baskets.from_lists([["a", "b"]] * 3))
    assert not verdict.ok
    assert verdict.failing_groups == 3
