"""Mining by projections: the same sets as delivering occurrences, however work is shared out."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.itemsets import projection
from discreet.kernels.itemsets.eclat import mine_rows
from discreet.kernels.itemsets.projection import mine_projections

Mined = dict[tuple[int, ...], int]


def csr(baskets: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    lengths = [len(basket) for basket in baskets]
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.array(
        list(chain.from_iterable(baskets)), np.int32
    )


def as_dict(layout: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Mined:
    indptr, items, counts = layout
    sets = [tuple(sorted(items[low:high].tolist())) for low, high in pairwise(indptr.tolist())]
    assert len(set(sets)) == len(sets)
    return dict(zip(sets, counts.tolist(), strict=True))


def both(baskets: list[list[int]], n_items: int, least: int, longest: int) -> tuple[Mined, Mined]:
    indptr, items = csr(baskets)
    counts = np.bincount(items, minlength=n_items)
    frequent = np.flatnonzero(counts >= least)
    rarest = frequent[np.argsort(counts[frequent], kind="stable")]
    rank = np.full(n_items, -1, np.int32)
    rank[rarest] = np.arange(rarest.size)
    mined = mine_projections(indptr, items, rank, counts[rarest], least, longest)
    assert mined is not None
    return as_dict(mined), as_dict(mine_rows(indptr, items, rank, least, longest))


@st.composite
def baskets_of(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    n_items = draw(st.sampled_from([2, 5, 9, 70, 150]))
    item = st.integers(0, n_items - 1)
    basket = st.lists(item, unique=True, max_size=n_items).map(sorted)
    return draw(st.lists(basket, min_size=1, max_size=12)), n_items


@given(data=baskets_of(), least=st.integers(2, 5), longest=st.sampled_from([2, 3, 4]))
@settings(max_examples=150)
def test_the_same_sets_as_by_delivering_occurrences(
    data: tuple[list[list[int]], int], least: int, longest: int
) -> None:
    projected, delivered = both(*data, least, longest)
    assert projected == delivered


@pytest.mark.parametrize("entries", [1, 40, 10**6])
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_sharing_out_changes_nothing(entries: int, n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    baskets = [sorted(rng.choice(30, rng.integers(0, 12), replace=False).tolist()) for _ in range(200)]
    monkeypatch.setattr(projection, "_MOST_ENTRIES", entries)
    monkeypatch.setattr(projection, "processors", lambda: n_threads)
    projected, delivered = both(baskets, 30, 4, 30)
    assert projected == delivered
    assert max(map(len, projected)) > 2


def test_baskets_longer_than_a_word() -> None:
    rng = np.random.default_rng(5)
    baskets = [
        sorted(rng.choice(400, size, replace=False).tolist()) for size in (64, 65, 130, 200, 300, 2, 3)
    ]
    projected, delivered = both(baskets, 400, 3, 4)
    assert projected == delivered
    assert max(map(len, projected)) == 4


def test_a_table_that_would_be_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "_MOST_WORDS", 1)
    indptr, items = csr([[0, 1, 2]] * 3)
    rank = np.arange(3, dtype=np.int32)
    assert mine_projections(indptr, items, rank, np.array([3, 3, 3]), 2, 3) is None
    assert mine_projections(indptr, items, rank, np.array([3, 3, 3]), 2, 2) is not None
