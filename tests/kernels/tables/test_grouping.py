"""Grouping and matching kernels against plain definitions."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.copies import ascend
from discreet.kernels.ragged import bounds
from discreet.kernels.tables import grouping
from discreet.kernels.tables.matching import first_match, matched_weight


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 1)), min_size=1))
def test_packed_keys_sort_like_rows(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array(column, np.uint8) for column in zip(*rows, strict=True)]
    keys = grouping.pack(columns, [4, 7, 2])
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            assert (keys[i] < keys[j]) == (a < b)


def test_packing_outgrows_62_bits() -> None:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 200) * (2**31 - 2) for _ in range(9)]
    keys = grouping.pack(columns, [2**31 - 1] * 9)
    rows = list(zip(*[column.tolist() for column in columns], strict=True))
    assert np.unique(keys).size == len(set(rows))
    assert sorted(range(200), key=lambda row: (keys[row], row)) == sorted(
        range(200), key=lambda row: (rows[row], row)
    )


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62) | st.integers(0, 5), st.integers(1, 9)), min_size=1))
def test_distinct_keys_with_weights(entries: list[tuple[int, int]]) -> None:
    keys = np.array([key for key, _ in entries], np.int64)
    weights = np.array([weight for _, weight in entries], np.int64)
    expected: Counter[int] = Counter()
    for key, weight in entries:
        expected[key] += weight
    for first, number, counts in (grouping.distinct(keys, weights), grouping._sorted_distinct(keys, weights)):
        assert keys[first].tolist() == sorted(expected)
        assert counts.tolist() == [expected[key] for key in sorted(expected)]
        assert (keys[first][number] == keys).all()


def test_many_different_keys_are_sorted_instead() -> None:
    keys = np.random.default_rng(0).permutation(600_000)
    first, number, counts = grouping.distinct(keys)
    assert (keys[first] == np.arange(600_000)).all()
    assert (number == keys).all()
    assert (counts == 1).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 5)), min_size=1))
def test_values_are_counted_per_group(entries: list[tuple[int, int, int]]) -> None:
    labels, values, weights = (np.array(column) for column in zip(*entries, strict=True))
    indptr, found, counts = grouping.count_values(labels.astype(np.int32), values, weights, 5, 4)
    expected: Counter[tuple[int, int]] = Counter()
    for label, value, weight in entries:
        expected[label, value] += weight
    got = {
        (group, int(found[place])): int(counts[place])
        for group in range(5)
        for place in range(indptr[group], indptr[group + 1])
    }
    assert got == expected


@given(st.data(), st.integers(1, 150), st.integers(1, 4), st.integers(1, 3))
def test_matching_equals_the_definition(data: st.DataObject, width: int, n: int, columns: int) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    admitted = [rng.random((3, width)) < 0.6 for _ in range(columns)]
    codes = rng.integers(0, 3, (n, columns)).astype(np.int32)
    weights = rng.integers(1, 9, width)
    expected = np.array(
        [np.logical_and.reduce([admitted[j][row[j]] for j in range(columns)]) for row in codes]
    )
    assert (matched_weight(codes, admitted, weights) == expected @ weights).all()
    first = np.where(expected.any(1), expected.argmax(1), -1)
    assert (first_match(codes, admitted) == first).all()


@given(st.lists(st.lists(st.integers(0, 3) | st.integers(0, 2**31 - 1), min_size=1, max_size=9), max_size=30))
def test_lists_are_numbered_as_they_first_appear(lists: list[list[int]]) -> None:
    indptr = bounds([len(entries) for entries in lists])
    first, number = grouping.distinct_lists(
        indptr, np.array([value for entries in lists for value in entries], np.int32)
    )
    numbers: dict[tuple[int, ...], int] = {}
    assert number.tolist() == [numbers.setdefault(tuple(entries), len(numbers)) for entries in lists]
    assert [tuple(lists[at]) for at in first.tolist()] == list(numbers)


@given(st.lists(st.integers(-5, 5) | st.integers(-(2**31), 2**31 - 1), max_size=60))
def test_arrays_ascend_in_place(values: list[int]) -> None:
    array = np.array(values, np.int64)
    ascend(array)
    assert array.tolist() == sorted(values)
