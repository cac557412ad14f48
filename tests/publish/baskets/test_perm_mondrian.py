from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import baskets as strategies_baskets

from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InfeasibleError
from discreet.kernels.baskets.item_splits import item_splits
from discreet.publish import Anatomy, PermMondrian


def divided(ordinary: Baskets, held: Baskets, p: int, *, shortcuts: bool = True) -> np.ndarray:
    group, n_groups = item_splits(
        (ordinary.indptr, ordinary.items, ordinary.n_items),
        (held.indptr, held.items, held.n_items),
        p=p,
        shortcuts=shortcuts,
    )
    assert sorted(set(group.tolist())) == list(range(n_groups))
    return group


def keeps(rows: list[int], held: list[list[int]], p: int) -> bool:
    counts = np.bincount([item for row in rows for item in held[row]], minlength=1)
    return bool(counts.max() * p <= len(rows))


@given(
    baskets=strategies_baskets.baskets(
        names=strategies_baskets.number_names(min_size=4, max_size=9), min_baskets=1, max_baskets=40
    ),
    m=st.integers(1, 3),
    p=st.integers(1, 4),
    shortcuts=st.booleans(),
)
@settings(max_examples=300)
def test_groups_keep_the_degree_and_none_can_be_divided_further(
    baskets: Baskets, m: int, p: int, shortcuts: bool
) -> None:
    is_held = np.arange(baskets.n_items) < m
    ordinary, held = baskets.keep(~is_held), list(baskets.keep(is_held))
    if baskets.keep(is_held).counts.max() * p > len(baskets):
        return
    group = divided(ordinary, baskets.keep(is_held), p, shortcuts=shortcuts)
    lists = list(ordinary)
    for number in set(group.tolist()):
        rows = np.flatnonzero(group == number).tolist()
        assert keeps(rows, held, p)
        if shortcuts and not any(held[row] for row in rows):
            continue
        for item in range(ordinary.n_items):
            inside = [row for row in rows if item in lists[row]]
            outside = [row for row in rows if item not in lists[row]]
            if inside and outside:
                assert not (keeps(inside, held, p) and keeps(outside, held, p))


def test_groups_differ_by_items() -> None:
    """Baskets with the same items are never split_baskets."""
    rng = np.random.default_rng(1)
    lists = [
        sorted(set(rng.integers(0, 6, 3).tolist())) + ([99] if rng.random() < 0.1 else []) for _ in range(600)
    ]
    baskets = Baskets.from_lists(lists)
    is_held = np.asarray([name == 99 for name in baskets.names.to_pylist()])
    group = divided(baskets.keep(~is_held), baskets.keep(is_held), 4)
    of = {}
    for items, number in zip(baskets.keep(~is_held).lists(), group.tolist(), strict=True):
        assert of.setdefault(tuple(items), number) == number


def test_the_even_split_is_taken_first() -> None:
    """Item 0 halves baskets and secrets; item 1 halves the baskets only, and leaves the secrets on one side."""
    lists = [[0], [0, 1], [1], [2]] * 10
    for row in (1, 2, 5, 6):
        lists[row] = [*lists[row], 9]
    baskets = Baskets.from_lists(lists)
    is_held = np.asarray([name == 9 for name in baskets.names.to_pylist()])
    group = divided(baskets.keep(~is_held), baskets.keep(is_held), 10)
    assert sorted(np.bincount(group).tolist()) == [20, 20]
    holds_zero = np.array([0 in one for one in lists])
    assert len(set(group[holds_zero].tolist())) == 1


def test_a_group_without_secrets_stays_whole() -> None:
    baskets = Baskets.from_lists([[1], [2], [3]] * 3 + [[4, 9]] + [[4]] * 9)
    release = PermMondrian(10, sensitive=[9]).release(baskets)
    assert sorted(release.data.sizes.tolist()) == [9, 10]


def test_infeasible_says_what_would_do() -> None:
    with pytest.raises(InfeasibleError, match="p=2 at most"):
        PermMondrian(3, sensitive=["s"]).release(Baskets.from_lists([["a", "s"], ["a"]]))


def holder_chances(has: np.ndarray, n_holders: int, p: int) -> np.ndarray:
    """Return how likely each basket of a group holds the sensitive item, given that no cut of the group was legal."""
    n, counts = len(has), has.sum(axis=0)
    held, n_fitting = np.zeros(n), 0
    for holders in itertools.combinations(range(n), n_holders):
        inside = has[list(holders)].sum(axis=0)
        halved = (counts > 0) & (counts < n)
        legal = halved & (inside * p <= counts) & ((n_holders - inside) * p <= n - counts)
        if not legal.any():
            n_fitting += 1
            held[list(holders)] += 1
    return held / n_fitting


def test_cuts_that_were_not_made_narrow_a_group_and_the_release_says_so() -> None:
    """The minimality attack, p = 4: nine baskets stay whole, so the holder is among the three with the first item."""
    lists = [["a", "s"], ["a"], ["a"], *[["b"]] * 6]
    release = PermMondrian(4, sensitive=["s"], random_state=1).release(Baskets.from_lists(lists))
    assert release.verdict.ok
    (number,) = np.unique(release.data.sensitive.group)
    rows = release.data.baskets.take(np.flatnonzero(release.data.group == number))
    n_holders = int(release.data.sensitive.counts.sum())
    has = np.array([[name in basket for name in "ab"] for basket in rows.lists()])
    assert holder_chances(has, n_holders, 4).max() == pytest.approx(1 / 3)
    (caution,) = [one for one in release.cautions if one.code == "group-forming"]
    assert caution.public
    assert "Anatomy" in caution.text
    drawn = Anatomy(4, sensitive=["s"], random_state=1).release(Baskets.from_lists(lists))
    assert "group-forming" not in [one.code for one in drawn.cautions]
