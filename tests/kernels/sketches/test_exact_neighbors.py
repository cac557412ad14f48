"""Exact neighbors of sparse rows beside dense brute force: sets, weights, negative values, ties and partitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import k_variance as oracle

from discreet.datasets import quest
from discreet.kernels.sketches import exact_neighbors as exact_neighbors
from discreet.kernels.sketches import sliced_neighbors as sliced_neighbors
from discreet.kernels.sketches.exact_neighbors import Compressed, nearest_exactly, nearest_inside
from discreet.kernels.sketches.row_partitions import similar_rows


def compressed(dense: np.ndarray, *, weights: bool) -> Compressed:
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype(np.int64)
    values = dense[dense != 0].astype(np.float64) if weights else None
    return Compressed(indptr, np.nonzero(dense)[1].astype(np.int32), values, dense.shape[1])


def wanted(dense: np.ndarray, queries: np.ndarray, k: int, *, same: bool) -> list[list[int]]:
    rows = dense.tolist()
    return [
        oracle.cosine_order(query, rows, place if same else None)[:k]
        for place, query in enumerate(queries.tolist())
    ]


@st.composite
def matrices(draw, low: int = 0, high: int = 1) -> np.ndarray:
    n, width = draw(st.integers(2, 25)), draw(st.integers(1, 12))
    seed, share = draw(st.integers(0, 2**32)), draw(st.sampled_from([0.1, 0.4, 0.8]))
    rng = np.random.default_rng(seed)
    held = rng.random((n, width)) < share
    return np.where(held, rng.integers(low, high + 1, (n, width)), 0) if low else held.astype(np.int64)


@given(matrices(), st.data())
@settings(max_examples=60)
def test_sets(dense: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(dense) - 1))
    for weights in (False, True):
        found = nearest_exactly(compressed(dense, weights=weights), k)
        assert found.rows.tolist() == wanted(dense, dense, k, same=True)
        rows, near = dense.astype(float), found.rows
        norms = np.sqrt((rows**2).sum(axis=1))
        scale = norms[:, None] * norms[near]
        dots = (rows[:, None, :] * rows[near]).sum(axis=2)
        assert np.allclose(found.cosines, np.where(scale > 0, dots / np.where(scale > 0, scale, 1), 0))


@given(matrices(), st.data())
@settings(max_examples=40)
def test_other_rows_ask(dense: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(dense)))
    queries = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, (9, dense.shape[1]))
    for weights in (False, True):
        found = nearest_exactly(
            compressed(dense, weights=weights), k, queries=compressed(queries, weights=weights)
        )
        assert found.rows.tolist() == wanted(dense, queries, k, same=False)


@given(st.one_of(matrices(1, 4), matrices(-3, 3)), st.data())
@settings(max_examples=60)
def test_weights_of_either_sign(dense: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(dense) - 1))
    found = nearest_exactly(compressed(dense, weights=True), k)
    assert found.rows.tolist() == wanted(dense, dense, k, same=True)


@pytest.mark.parametrize("longest", [5, 15, 16, 17, 40, 300])
def test_rows_of_any_length(longest: int) -> None:
    """Counts need more bit planes the longer the rows are."""
    rng = np.random.default_rng(longest)
    dense = (rng.random((40, longest)) < rng.random((40, 1))).astype(np.int64)
    dense[3] = 1
    dense[17] = 1
    assert nearest_exactly(compressed(dense, weights=False), 7).rows.tolist() == wanted(
        dense, dense, 7, same=True
    )


@pytest.mark.parametrize("name", ["T10.I4.D20K.N200", "T20.I4.D20K.N1K"])
def test_several_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    baskets = quest(name, random_state=3)
    rows = Compressed(baskets.indptr, baskets.items, None, baskets.n_items)
    found = nearest_exactly(rows, 10)
    chosen = np.random.default_rng(0).integers(0, len(baskets), 60)
    matrix = baskets.to_sparse().astype(np.float64)
    dots = (matrix[chosen] @ matrix.T).toarray()
    keys = dots**2 / baskets.lengths
    keys[np.arange(60), chosen] = -1
    order = np.lexsort((np.broadcast_to(np.arange(len(baskets)), keys.shape), -keys))[:, :10]
    assert (found.rows[chosen] == order).all()
    monkeypatch.setattr(exact_neighbors, "_MOST_BYTES", 0)
    indexed = nearest_exactly(rows, 10)
    assert (indexed.rows == found.rows).all()
    assert np.allclose(indexed.cosines, found.cosines)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_matter(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    baskets = quest("T10.I4.D20K.N200", random_state=3)
    rows = Compressed(baskets.indptr, baskets.items, None, baskets.n_items)
    before = nearest_exactly(rows, 5)
    monkeypatch.setattr(sliced_neighbors, "processors", lambda: threads)
    assert (nearest_exactly(rows, 5).rows == before.rows).all()


def test_equal_rows_come_by_number() -> None:
    dense = np.ones((30, 4), np.int64)
    for weights in (False, True):
        found = nearest_exactly(compressed(dense, weights=weights), 3)
        assert found.rows[0].tolist() == [1, 2, 3]
        assert found.rows[29].tolist() == [0, 1, 2]
        assert (found.cosines == 1).all()


def test_partitions_hold_every_row_once_and_like_rows_together() -> None:
    baskets = quest("T10.I4.D5K.N200", random_state=1)
    rows = Compressed(baskets.indptr, baskets.items, None, baskets.n_items)
    parts = similar_rows(rows.indptr, rows.items, rows.weights(), rows.n_items, 7)
    assert sorted(np.concatenate(parts).tolist()) == list(range(5000))
    assert max(part.size for part in parts) - min(part.size for part in parts) <= 7
    inside, n_parts = nearest_inside(rows, 5, 800)
    assert n_parts == 7
    exact, one = nearest_inside(rows, 5, 5000)
    assert one == 1
    assert (inside.cosines <= exact.cosines + 1e-12).all()
    at_random = np.random.default_rng(0).permutation(5000)[:714]
    by_chance = nearest_exactly(rows.take(np.sort(at_random)), 5).cosines.mean()
    assert inside.cosines.mean() > by_chance + 0.3 * (exact.cosines.mean() - by_chance)


def test_partitions_have_more_rows_than_neighbors() -> None:
    rows = compressed(np.eye(20, dtype=np.int64), weights=False)
    inside, n_parts = nearest_inside(rows, 6, 2)
    assert n_parts == 2
    assert all(len({*near, place}) == 7 for place, near in enumerate(inside.rows.tolist()))
