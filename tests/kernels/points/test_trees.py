"""The loops of trees, beside slow definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.points.trees import bin_counts, class_counts, deal, mixed_keys, part

sizes = st.integers(0, 60)
seeds = st.integers(0, 2**32 - 1)


def drawn(n: int, seed: int, columns: int = 3, kinds: int = 4):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, kinds, (n, columns)).astype(np.int32)
    labels = rng.integers(0, 2, n).astype(np.int32)
    rows = np.flatnonzero(rng.random(n) < 0.7)
    return codes, labels, rng.permutation(rows)


@given(sizes, seeds)
def test_classes_are_counted_by_place(n: int, seed: int) -> None:
    codes, labels, rows = drawn(n, seed)
    counts = class_counts(codes, labels, rows, 4, 2)
    for column in range(3):
        for place in range(4):
            for label in range(2):
                wanted = sum(codes[row, column] == place and labels[row] == label for row in rows)
                assert counts[column, place, label] == wanted
        assert (bin_counts(codes, labels, rows, column, 4, 2) == counts[column]).all()


@given(sizes, seeds)
def test_rows_are_parted_in_order(n: int, seed: int) -> None:
    codes, _, rows = drawn(n, seed)
    left = np.array([True, False, True, False])
    before = rows.tolist()
    n_left = part(rows, codes, 1, left)
    assert rows[:n_left].tolist() == [row for row in before if left[codes[row, 1]]]
    assert rows[n_left:].tolist() == [row for row in before if not left[codes[row, 1]]]


@given(sizes, seeds)
def test_as_many_rows_get_each_place_as_was_said(n: int, seed: int) -> None:
    bins, labels, rows = drawn(n, seed)
    rng = np.random.default_rng(seed)
    held = bin_counts(bins, labels, rows, 0, 4, 2)
    upto = np.zeros((4, 2, 3), np.int64)
    for cell in range(4):
        for label in range(2):
            cuts = np.sort(rng.integers(0, held[cell, label] + 1, 2))
            upto[cell, label] = [*cuts, held[cell, label]]
    codes = np.full_like(bins, -1)
    deal(bins, labels, rows, 0, upto, codes)
    for cell in range(4):
        for label in range(2):
            here = [codes[row, 0] for row in rows if bins[row, 0] == cell and labels[row] == label]
            assert here == sorted(here)
            wanted = np.diff(upto[cell, label], prepend=0)
            assert np.bincount(np.array(here, np.int64), minlength=3).tolist() == wanted.tolist()
    untouched = np.setdiff1d(np.arange(n), rows)
    assert (codes[untouched] == -1).all()
    assert (codes[:, 1:] == -1).all()


def test_keys_are_made_of_the_row_alone_and_spread() -> None:
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 30, (20_000, 4)).astype(np.int32)
    labels = rng.integers(0, 2, 20_000).astype(np.int32)
    keys = mixed_keys(bins, labels)
    shuffled = rng.permutation(20_000)
    assert (mixed_keys(bins[shuffled], labels[shuffled]) == keys[shuffled]).all()
    different = np.unique(np.column_stack([bins, labels]), axis=0).shape[0]
    assert np.unique(keys).size == different
    places = np.argsort(np.argsort(keys)) / 20_000
    for column in (*bins.T, labels):
        assert abs(np.corrcoef(places, column)[0, 1]) < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("one", [0, 1, 2])
def test_keys_distinguish_classes_and_columns(one: int) -> None:
    bins, labels = np.zeros((2, 2), np.int32), np.zeros(2, np.int32)
    if one < 2:
        bins[1, one] = 1
    else:
        labels[1] = 1
    first, second = mixed_keys(bins, labels)
    assert first != second
