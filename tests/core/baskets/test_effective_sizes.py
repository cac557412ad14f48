from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.empty_baskets import highest_probability

from discreet.core.baskets import grouped as module
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets, group_item_counts
from discreet.guarantees import PrivacyDegree
from discreet.measure import sensitive_tie

MOST_ARRANGEMENTS = 20_000


def effective(empty: int, filled: int, counts: list[int]) -> float:
    held = group_item_counts(
        np.zeros(len(counts), np.int64),
        np.arange(len(counts)),
        np.array(counts, np.int64),
        n_groups=1,
        n_items=len(counts),
    )
    return float(module.effective_sizes(np.array([empty + filled]), np.array([empty]), held)[0])


@st.composite
def groups(draw: st.DrawFn) -> tuple[int, int, list[int]]:
    empty, filled = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    size = max(empty + filled, 1)
    counts = draw(st.lists(st.integers(1, size), min_size=1, max_size=4))
    while math.prod(math.comb(size, count) for count in counts) > MOST_ARRANGEMENTS:
        counts.pop()
    return empty, size - empty, counts


@given(groups())
@settings(max_examples=300)
def test_they_are_those_of_all_arrangements(group: tuple[int, int, list[int]]) -> None:
    empty, filled, counts = group
    highest = highest_probability(empty, filled, counts)
    assert max(counts) / effective(empty, filled, counts) == pytest.approx(float(highest), rel=1e-12)
    for p in range(1, 12):
        assert (max(counts) * p <= effective(empty, filled, counts)) == (highest <= Fraction(1, p))


@given(groups())
def test_what_takes_too_long_is_bounded_from_below(group: tuple[int, int, list[int]]) -> None:
    empty, filled, counts = group
    exact = effective(empty, filled, counts)
    module._mixed.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_WORK", 0.0)
        assert 0 < effective(empty, filled, counts) <= exact
    module._mixed.cache_clear()


def test_many_baskets_and_occurrences_are_exact() -> None:
    """One empty basket of a million and one occurrence: it is there. Of two items, on either with nearly 1/2."""
    assert effective(1, 999_999, [1]) == 1.0
    assert 1 / effective(1, 999_999, [1, 1]) == pytest.approx(0.5, rel=1e-5)
    assert effective(700, 50_000, [264, 264, 264]) == pytest.approx(264 / 0.34, rel=0.2)


def published(groups: list[tuple[list[list[str]], dict[str, int]]]) -> GroupedBaskets:
    """Put groups together: their ordinary items, and how many hold each sensitive one."""
    ordinary, held, number = [], [], []
    for at, (baskets, counts) in enumerate(groups):
        for row, basket in enumerate(baskets):
            ordinary.append(basket)
            held.append([name for name, count in counts.items() if row < count])
            number.append(at)
    return GroupedBaskets.of(Baskets.from_lists(ordinary), number, Baskets.from_lists(held))


def test_a_basket_that_stands_out_breaks_the_degree() -> None:
    wine = [["wine"]] * 9
    certain = published([([[], *wine], {"s": 1})])
    assert PrivacyDegree(1).check(certain).worst == 1.0
    assert not PrivacyDegree(2).check(certain).ok
    tie = sensitive_tie(certain)
    assert tie is not None
    assert tie.highest == tie.mean == 1.0
    three = published([([[], *wine], {"s": 1, "t": 1, "u": 1}), ([["wine"]] * 10, {"s": 1})])
    # 1000 arrangements of three items, 729 of them without any in the empty basket; 100 with a given one in it.
    assert PrivacyDegree(2).measure(three.groups()).tolist() == [pytest.approx(271 / 100), 10.0]
    assert PrivacyDegree(2).check(three).ok
    verdict = PrivacyDegree(3).check(three)
    assert (verdict.ok, verdict.failing_groups, verdict.failing_rows) == (False, 1, 10)
    alone = published([([[]] * 10, {"s": 1}), ([["wine"]] * 10, {"s": 1})])
    assert PrivacyDegree(10).check(alone).ok, "in a group of empty baskets none stands out"


def test_a_sensitive_item_among_ordinary_ones_is_known_for_certain() -> None:
    exposed = published([([["wine"]] * 9 + [["wine", "s"]], {}), ([["wine"]] * 10, {"s": 1, "t": 2})])
    assert PrivacyDegree(2).measure(exposed.groups()).tolist() == [1.0, 5.0]
    assert not PrivacyDegree(2).check(exposed).ok
    tie = sensitive_tie(exposed)
    assert tie is not None
    assert tie.highest == 1.0
    both = published([([["wine"]] * 9 + [["s"]], {"s": 1, "t": 1})])
    assert PrivacyDegree(2).check(both).worst == 1.0
