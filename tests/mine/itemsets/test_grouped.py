"""Mining published groups, against equation 2 of the CAHD paper computed set by set."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.cahd import count

from discreet import read_published
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError, ParameterError
from discreet.mine import FoundGroupedItemsets, Itemsets, rules
from discreet.publish import AprioriAnonymization, Cahd

ORDINARY, SECRET = "abcd", "xyz"


@st.composite
def shops(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]], list[int]]:
    n = draw(st.integers(1, 10))
    ordinary = draw(st.lists(st.lists(st.sampled_from(ORDINARY), unique=True), min_size=n, max_size=n))
    held = draw(st.lists(st.lists(st.sampled_from(SECRET), unique=True), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return ordinary, held, [order[label] for label in labels]


def published(ordinary: list[list[str]], held: list[list[str]], groups: list[int]) -> GroupedBaskets:
    return GroupedBaskets.of(Baskets.from_lists(ordinary), groups, Baskets.from_lists(held))


def estimate(ordinary: Any, held: Any, groups: list[int], items: frozenset[str]) -> Fraction:
    """Sum over the groups: the matches among ordinary items, times the share of each sensitive one."""
    total = Fraction(0)
    for group in set(groups):
        rows = [row for row, one in enumerate(groups) if one == group]
        value = Fraction(sum(items & set(ORDINARY) <= set(ordinary[row]) for row in rows))
        for item in items & set(SECRET):
            value *= Fraction(sum(item in held[row] for row in rows), len(rows))
        total += value
    return total


@given(shops(), st.integers(1, 3), st.none() | st.integers(1, 3))
def test_every_set_has_the_count_of_the_definition(shop: Any, least: int, longest: int | None) -> None:
    ordinary, held, groups = shop
    found = Itemsets(least, max_length=longest).mine(published(*shop))
    assert isinstance(found, FoundGroupedItemsets)
    occurring = sorted({item for one in (*ordinary, *held) for item in one})
    expected = {}
    for size in range(1, (longest or len(occurring)) + 1):
        for items in map(frozenset, combinations(occurring, size)):
            value = estimate(ordinary, held, groups, items)
            if value >= least:
                expected[items] = value
    names = [frozenset(one) for one, _ in found]
    assert dict(zip(names, found.estimates.tolist(), strict=True)) == {
        items: pytest.approx(float(value)) for items, value in expected.items()
    }
    for items, guess in zip(names, found.estimated.tolist(), strict=True):
        assert guess is (bool(items & set(SECRET)) and len(items) > 1)
        if len(items & set(SECRET)) == 1:
            (secret,) = items & set(SECRET)
            holders = [secret in one for one in held]
            assert expected[items] == count(ordinary, groups, holders, set(items) - {secret}, set())
    assert [(len(one), sorted(one)) for one in names] == sorted((len(one), sorted(one)) for one in names)


def test_shares_names_and_tables() -> None:
    data = published([["a", "b"], ["a"], ["b"], ["a", "b"]], [["x"], [], [], []], [0, 0, 1, 1])
    found = Itemsets(0.25).mine(data)
    table = found.table.to_pylist()
    assert {"itemsets": ["a", "x"], "support": 0.25, "count": 1.0, "length": 2, "estimated": True} in table
    assert found.keep(np.asarray(found.estimated)).table.num_rows == sum(row["estimated"] for row in table)
    only = Itemsets(0.1, include=["a", "x"]).mine(data)
    assert set().union(*(set(names) for names, _ in only)) == {"a", "x"}
    without = Itemsets(0.1, exclude=["x"]).mine(data)
    assert not without.estimated.any()
    strong = rules(found, metric="confidence", min_threshold=0.9)
    assert isinstance(strong, pa.Table)


def test_a_release_is_mined_and_ordinary_sets_are_exact() -> None:
    rng = np.random.default_rng(2)
    data = Baskets.from_lists(
        [rng.choice(20, rng.integers(1, 7), replace=False).tolist() for _ in range(200)]
    )
    release = Cahd(3, sensitive=[0, 1], random_state=1).release(data)
    found = Itemsets(5).mine(release)
    assert isinstance(found, FoundGroupedItemsets)
    ordinary = Itemsets(5, exclude=[0, 1]).mine(data)
    exact = found.keep(~found.estimated)
    published = [basket for basket in data if set(basket) - {0, 1}]
    singles = {frozenset([code]): sum(code in basket for basket in published) for code in (0, 1)}
    assert exact.as_dict() == {**ordinary.as_dict(), **singles}
    for (names, _), value in zip(found, found.estimates, strict=True):
        secrets = {0, 1} & set(names)
        if len(secrets) == 1:
            asked = release.data.count(secrets.pop(), with_items=set(names) - {0, 1})
            assert value == pytest.approx(asked)


def test_generalized_baskets_are_mined_as_they_are() -> None:
    data = Baskets.from_lists([["a", "b"], ["a"], ["b"], ["a", "b"]])
    release = AprioriAnonymization(2, 2, random_state=1).release(data)
    assert Itemsets(2).mine(release).as_dict() == Itemsets(2).mine(release.data).as_dict()


def test_bad_input_is_named() -> None:
    data = published([["a"]], [["x"]], [0])
    with pytest.raises(ParameterError, match="The 'kind' parameter"):
        Itemsets(1, kind="closed").mine(data)
    with pytest.raises(InputError, match="do not occur"):
        Itemsets(1, include=["nothing"]).mine(data)


def test_a_written_release_is_mined(tmp_path: Path) -> None:
    data = Baskets.from_lists([["a", "b"], ["a"], ["b"], ["a", "x"]])
    folder = Cahd(2, sensitive=["x"], random_state=1).release(data).write(tmp_path / "release")
    read = read_published(folder)
    assert Itemsets(1).mine(read).table.num_rows >= 4
