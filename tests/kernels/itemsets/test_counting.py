"""The kernels of mining: triangles of pairs, counts of sets, the join, the order and the subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.baskets.baskets import Baskets
from discreet.kernels.itemsets.candidates import join
from discreet.kernels.itemsets.counting import class_bounds, item_counts, pair_counts, set_counts
from discreet.kernels.itemsets.found_sets import immediate_subsets, in_order

SETS = st.integers(1, 4).flatmap(
    lambda k: st.sets(st.frozensets(st.integers(0, 6), min_size=k, max_size=k), min_size=1)
)


@pytest.fixture(scope="module")
def held() -> np.ndarray:
    """Three blocks of baskets, the last not full, and more items than a tile holds."""
    rng = np.random.default_rng(0)
    return rng.random((20_000, 41)) < rng.random(41)


@pytest.fixture(scope="module")
def blocks(held: np.ndarray) -> np.ndarray:
    n, n_items = held.shape
    return Baskets.from_entries(*np.nonzero(held), pa.array(range(n_items)), n=n).bits().blocks


@pytest.mark.parametrize(("start", "stop"), [(0, 41), (0, 1), (5, 23), (16, 40), (39, 41), (40, 41), (3, 3)])
def test_pairs_are_counted(held: np.ndarray, blocks: np.ndarray, start: int, stop: int) -> None:
    whole = held.astype(np.int64)
    expected = np.triu(whole.T @ whole, 1)[start:stop]
    assert (pair_counts(blocks, start, stop) == expected).all()


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("n_blocks", [1, 3])
def test_sets_are_counted(held: np.ndarray, blocks: np.ndarray, size: int, n_blocks: int) -> None:
    sets = np.array(list(combinations(range(0, 41, 4), size)), np.int32)
    expected = [held[: n_blocks * 8192, row].all(axis=1).sum() for row in sets]
    assert set_counts(blocks[:n_blocks], sets).tolist() == expected


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_items_are_counted(size: int) -> None:
    items = np.random.default_rng(1).integers(0, 9, size).astype(np.int32)
    assert item_counts(items, 12).tolist() == np.bincount(items, minlength=12).tolist()


def test_no_sets_and_no_blocks_count_nothing(blocks: np.ndarray) -> None:
    assert set_counts(blocks, np.empty((0, 3), np.int32)).size == 0
    assert pair_counts(blocks[:0], 0, 41).sum() == 0


@given(chosen=SETS)
def test_the_join_gives_the_sets_all_of_whose_subsets_are_there(chosen: set[frozenset[int]]) -> None:
    rows = sorted(tuple(sorted(items)) for items in chosen)
    size = len(rows[0])
    candidates, subsets = join(np.array(rows, np.int32))
    expected = [
        items
        for items in combinations(range(7), size + 1)
        if all(c in rows for c in combinations(items, size))
    ]
    assert candidates.tolist() == [list(items) for items in expected]
    for items, numbers in zip(expected, subsets.tolist(), strict=True):
        assert [rows[number] for number in numbers] == [
            items[:place] + items[place + 1 :] for place in range(size + 1)
        ]


def test_many_sets_are_joined_by_several_threads() -> None:
    rows = np.array(list(combinations(range(60), 3)), np.int32)
    candidates, subsets = join(rows)
    assert len(candidates) == 60 * 59 * 58 * 57 // 24
    assert (np.diff(candidates @ 60 ** np.arange(3, -1, -1)) > 0).all()
    assert (rows[subsets[:, 3]] == candidates[:, :3]).all()
    assert (rows[subsets[:, 0]] == candidates[:, 1:]).all()


def test_classes_share_all_items_but_the_last() -> None:
    assert class_bounds(np.array([[0, 1], [0, 2], [1, 2]], np.int32)).tolist() == [0, 2, 3]
    assert class_bounds(np.array([[0], [2]], np.int32)).tolist() == [0, 2]
    assert class_bounds(np.empty((0, 2), np.int32)).tolist() == [0]


@given(chosen=st.lists(st.sets(st.integers(0, 9), min_size=1), unique_by=frozenset), seed=st.integers(0, 99))
def test_sets_come_into_order_and_know_their_subsets(chosen: list[set[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(sorted(items)).tolist() for items in chosen]
    indptr = np.concatenate([[0], np.cumsum([len(items) for items in shuffled], dtype=np.int64)])
    flat = np.array([item for items in shuffled for item in items], np.int32)
    codes, order = in_order(indptr, flat, 10)
    expected = sorted((sorted(items) for items in chosen), key=lambda items: (len(items), items))
    assert codes.tolist() == [item for items in expected for item in items]
    assert [sorted(chosen[place]) for place in order] == expected
    bounds = np.concatenate([[0], np.cumsum([len(items) for items in expected], dtype=np.int64)])
    numbers = {tuple(items): number for number, items in enumerate(expected)}
    assert immediate_subsets(bounds, codes).tolist() == [
        numbers.get((*items[:place], *items[place + 1 :]), -1)
        for items in expected
        for place in range(len(items))
    ]
