from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import cahd as oracles_cahd
from tests.strategies import baskets as strategies_baskets

from discreet.core.baskets.baskets import Baskets
from discreet.kernels.baskets import cuthill_mckee as band
from discreet.kernels.baskets.cahd_groups import cahd_groups
from discreet.kernels.baskets.cuthill_mckee import band_order, degrees
from discreet.kernels.baskets.lexicographic import lexicographic_order

NAMES = strategies_baskets.number_names(max_size=10)
BASKETS = strategies_baskets.baskets(names=NAMES, max_baskets=25)


def random_baskets(n: int, n_items: int, mean: float, seed: int = 0) -> Baskets:
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), rng.poisson(mean, n))
    codes = np.minimum(rng.geometric(min(8 / n_items, 0.5), rows.size) - 1, n_items - 1).astype(np.int32)
    return Baskets.from_entries(rows, codes, pa.array(range(n_items)), n=n)


def shared(baskets: Baskets) -> np.ndarray:
    held = np.zeros((len(baskets), baskets.n_items), np.float32)
    held[baskets.rows(), baskets.items] = 1
    return ((held @ held.T) > 0).sum(axis=1)


@given(BASKETS)
def test_the_order_is_that_of_the_explicit_graph(baskets: Baskets) -> None:
    order = band_order(baskets.indptr, baskets.items, baskets.n_items)
    assert order.tolist() == oracles_cahd.reverse_cuthill_mckee(list(baskets))


def test_larger_baskets_are_ordered_as_on_the_explicit_graph() -> None:
    baskets = random_baskets(400, 60, 2.0)
    expected = oracles_cahd.reverse_cuthill_mckee(list(baskets))
    assert band_order(baskets.indptr, baskets.items, baskets.n_items).tolist() == expected


def test_long_levels_are_sorted_as_short_ones() -> None:
    n = 3 * band._FEW
    baskets = Baskets.from_lists([[0, 1 + row % 3] for row in range(n)])
    order = band_order(baskets.indptr, baskets.items, baskets.n_items)
    assert sorted(order.tolist()) == list(range(n))
    assert (np.diff(order[: n - 1]) < 0).all(), "one level of equal degrees, reversed"


def test_degrees_are_exact_over_several_blocks() -> None:
    baskets = random_baskets(9000, 200, 3.0)
    found = degrees(baskets.indptr, baskets.items, baskets.n_items)
    assert (found == shared(baskets)).all()


def test_many_baskets_are_counted_among_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    baskets = random_baskets(3000, 100, 3.0)
    exact = degrees(baskets.indptr, baskets.items, baskets.n_items)
    monkeypatch.setattr(band, "EXACT", 1000)
    monkeypatch.setattr(band, "SAMPLE", 1000)
    sampled = degrees(baskets.indptr, baskets.items, baskets.n_items)
    assert ((sampled == 0) >= (exact == 0)).all()
    assert np.corrcoef(exact, sampled)[0, 1] > 0.98
    order = band_order(baskets.indptr, baskets.items, baskets.n_items)
    assert sorted(order.tolist()) == list(range(3000))


def test_similar_baskets_become_neighbors() -> None:
    rng = np.random.default_rng(3)
    topic = rng.integers(0, 20, 2000)
    baskets = Baskets.from_lists([sorted(set((10 * one + rng.integers(0, 10, 4)).tolist())) for one in topic])
    order = band_order(baskets.indptr, baskets.items, baskets.n_items)
    changes = np.count_nonzero(np.diff(topic[order]))
    assert changes == 19, "every topic is a component of its own"


def words(baskets: Baskets) -> list[list[int]]:
    rank = np.empty(baskets.n_items, np.int64)
    rank[np.argsort(-baskets.counts, kind="stable")] = np.arange(baskets.n_items)
    return [sorted(rank[basket].tolist()) for basket in baskets]


@pytest.mark.parametrize("n_items", [3, 40, 5000])
def test_the_lexicographic_order_is_that_of_words(n_items: int) -> None:
    baskets = random_baskets(3000, n_items, 6.0)
    letters = words(baskets)
    order = lexicographic_order(baskets.indptr, baskets.items, baskets.n_items)
    expected = sorted(range(len(baskets)), key=lambda row: (not letters[row], letters[row], row))
    assert order.tolist() == expected


@given(BASKETS)
def test_the_lexicographic_order_of_any_baskets(baskets: Baskets) -> None:
    letters = words(baskets)
    order = lexicographic_order(baskets.indptr, baskets.items, baskets.n_items)
    assert order.tolist() == sorted(
        range(len(baskets)), key=lambda row: (not letters[row], letters[row], row)
    )


def partition(group: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(group == one).tolist()) for one in np.unique(group)}


def form(order: np.ndarray, ordinary: Baskets, held: Baskets, p: int, alpha: int) -> np.ndarray:
    group, _ = cahd_groups(
        order,
        (ordinary.indptr, ordinary.items, ordinary.n_items),
        (held.indptr, held.items, held.n_items),
        p=p,
        alpha=alpha,
    )
    return group


@given(
    baskets=strategies_baskets.baskets(
        names=strategies_baskets.number_names(min_size=4, max_size=9), min_baskets=1, max_baskets=30
    ),
    m=st.integers(1, 3),
    p=st.integers(1, 4),
    alpha=st.integers(1, 3),
    seed=st.integers(0, 99),
)
@settings(max_examples=200)
def test_the_groups_are_those_of_the_pseudocode(
    baskets: Baskets, m: int, p: int, alpha: int, seed: int
) -> None:
    is_held = np.arange(baskets.n_items) < m
    ordinary, held = baskets.keep(~is_held), baskets.keep(is_held)
    if held.counts.max(initial=0) * p > len(baskets):
        return
    order = np.random.default_rng(seed).permutation(len(baskets)).astype(np.int32)
    expected = oracles_cahd.greedy_groups(order.tolist(), list(ordinary), list(held), p=p, alpha=alpha)
    assert partition(form(order, ordinary, held, p, alpha)) == expected


@pytest.mark.parametrize("free", [True, False])
def test_a_long_run_of_conflicts_is_stepped_over(free: bool) -> None:
    """A thousand neighbors hold the same item: each is grouped with others from beyond the run."""
    n, p = 4000, 4
    lists = [[row // 1000] if row < 1000 or not free else [] for row in range(n)]
    held = Baskets.from_lists(lists)
    ordinary = Baskets.from_lists([[row % 5] for row in range(n)])
    group = form(np.arange(n, dtype=np.int32), ordinary, held, p, 1)
    for members in partition(group):
        counts = np.bincount([item for row in members for item in lists[row]], minlength=4)
        assert counts.max(initial=0) * p <= len(members)
    assert len(partition(group)) == 1000
