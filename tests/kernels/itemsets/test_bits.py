"""The kernels of bit columns and of the threads that drive them, beside plain Python."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.baskets import baskets

from discreet import Baskets
from discreet.kernels.itemsets.bits import BASKETS, columns_of, counts_of, rows_of
from discreet.kernels.threads import in_threads, processors


@given(baskets(), st.data())
def test_columns_hold_a_bit_for_every_entry(found: Baskets, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(found.n_items)))
    n_columns = data.draw(st.integers(0, found.n_items))
    column = np.full(found.n_items, -1, np.int32)
    column[order[:n_columns]] = np.arange(n_columns, dtype=np.int32)
    blocks = columns_of(found.indptr, found.items, column, n_columns)
    ones = {
        (int(column[item]), basket) for basket, row in enumerate(found) for item in row if column[item] >= 0
    }
    read = {
        (item, block * BASKETS + word * 64 + bit)
        for block, item, word in np.argwhere(blocks).tolist()
        for bit in range(64)
        if int(blocks[block, item, word]) >> bit & 1
    }
    assert read == ones
    assert counts_of(blocks).tolist() == [sum(place == c for place, _ in ones) for c in range(n_columns)]


@given(st.integers(0, 3 * BASKETS), st.integers(0, 5), st.integers(0, 2**32))
def test_rows_come_back(n: int, n_items: int, seed: int) -> None:
    dense = np.random.default_rng(seed).random((n, n_items)) < 0.3
    indptr = np.concatenate([[0], np.cumsum(dense.sum(axis=1))])
    items = np.nonzero(dense)[1].astype(np.int32)
    blocks = columns_of(indptr, items, np.arange(n_items, dtype=np.int32), n_items)
    again, codes = rows_of(blocks, n)
    assert (again == indptr).all()
    assert (codes == items).all()
    assert (counts_of(blocks) == dense.sum(axis=0)).all()


@given(st.integers(0, 50), st.integers(1, 8))
def test_ranges_cover_everything_in_order(size: int, threads: int) -> None:
    parts = in_threads(lambda start, stop: list(range(start, stop)), size, threads=threads)
    assert [place for part in parts for place in part] == list(range(size))
    assert len(parts) == max(1, min(threads, size))


def test_threads_run_side_by_side_and_raise_errors() -> None:
    assert processors() >= 1
    together = threading.Barrier(2, timeout=10)
    in_threads(lambda start, stop: together.wait(), 2, threads=2)
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda start, stop: 1 // start, 2, threads=2)
