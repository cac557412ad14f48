"""Coarse tables: places are joined as the definition says, and nowhere else than the tables around allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracles.coarse_tables import blocks

from discreet.parties.shares.coarse_tables import CoarseTable, coarse_local, coarse_tables

few = st.integers(0, 6)
Rows = list[tuple[int, int]]


@given(st.lists(st.tuples(few, few), min_size=1, max_size=11), st.integers(2, 5))
def test_coarse_tables_are_those_of_the_definition(rows: list[tuple[int, int]], least: int) -> None:
    found = coarse_local(np.array(rows), least)
    ends = np.unique(found.last).tolist()
    assert ends == [last for _, last in blocks(rows, least)]
    for first, last in blocks(rows, least):
        assert found.counts[last].tolist() == [
            sum(row[at] for row in rows[first : last + 1]) for at in (0, 1)
        ]
    assert found.spread.sum(axis=0).tolist() == pytest.approx([sum(row[at] for row in rows) for at in (0, 1)])


class Plain:
    """Compares and opens counts that nobody hides; it keeps the counts that it was asked to compare."""

    def __init__(self) -> None:
        self.compared: list[int] = []

    def none_small(self, share: NDArray[np.uint64], groups: Any, least: int, *, largest: int) -> Any:
        self.compared += share.tolist()
        small = (share > 0) & (share < least)
        return groups.summed(small.astype(np.uint64)) == 0

    def opened(self, share: NDArray[np.uint64]) -> Any:
        return share.astype(np.int64)


@given(st.lists(st.tuples(few, few), min_size=1, max_size=11), st.integers(2, 5))
def test_shared_tables_are_joined_as_those_of_one_party(rows: Rows, least: int) -> None:
    [shared] = coarse_tables(Plain(), [np.array(rows, np.uint64)], least, largest=99)
    local = coarse_local(np.array(rows), least)
    assert shared.last.tolist() == local.last.tolist()
    assert shared.counts.tolist() == local.counts.tolist()


@given(st.lists(st.tuples(few, few), min_size=1, max_size=11), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_a_part_is_cut_only_where_the_whole_was(rows: Rows, least: int, seed: int) -> None:
    whole = coarse_local(np.array(rows), least)
    part = np.random.default_rng(seed).integers(0, 9, (len(rows), 3)).astype(np.uint64)
    [found] = coarse_tables(Plain(), [part], least, largest=99, within=[whole])
    assert set(found.last.tolist()) <= set(whole.last.tolist())
    assert found.counts.sum(axis=0).tolist() == part.sum(axis=0).tolist()


def test_what_is_not_tried_is_not_compared() -> None:
    comparer = Plain()
    joined = CoarseTable(np.zeros((4, 1), np.int64), np.array([3, 3, 3, 3]))
    part = np.array([[7], [8], [9], [6]], np.uint64)
    [found] = coarse_tables(comparer, [part], 5, largest=99, within=[joined])
    assert set(comparer.compared) == {0}
    assert found.counts.tolist() == [[0], [0], [0], [30]]
