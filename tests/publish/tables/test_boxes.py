"""Branches and sets of groups against a loop over the groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from discreet import Table, from_mapping, quasi
from discreet.publish.tables.boxes import Segments, boxes, branches

TREE = {"a": "ab", "b": "ab", "c": "c+", "d": "de", "e": "de", "f": "f+"}
ABOVE = {"ab": "abc", "c+": "abc", "de": "def", "f+": "def"}


@given(st.lists(st.lists(st.sampled_from([*TREE, None]), min_size=1, max_size=6), min_size=1, max_size=12))
def test_branches_are_the_nodes_just_below_the_lowest_that_holds_a_group(
    groups: list[list[str | None]],
) -> None:
    cells = [cell for group in groups for cell in group]
    # Every leaf occurs, so that the tree and the codes are the same for any groups.
    table = Table(
        pa.table({"x": pa.array([*cells, *TREE], pa.string())}), {"x": quasi(from_mapping(TREE, ABOVE))}
    )
    book = table.encoded["x"]
    tree = book.hierarchy
    assert tree is not None
    codes = book.encode(pa.array(cells, pa.string())).astype(np.int32)[:, None]
    ends = np.cumsum([len(group) for group in groups]).astype(np.int32)
    low = np.concatenate([[0], ends[:-1]]).astype(np.int32)
    index, lists = branches(book, 0, Segments(codes, np.ones(len(cells), np.int32), low, ends))
    assert len({tuple(names) for names in lists}) <= len(lists) == index.max() + 1
    for group, number in zip(groups, index.tolist(), strict=True):
        members = sorted({int(code) for code in book.encode(pa.array(group, pa.string()))})
        level = next(
            at for at in range(tree.height + 1) if len({tree.levels[at][code] for code in members}) == 1
        )
        nodes = sorted({int(tree.levels[max(level - 1, 0)][code]) for code in members})
        assert lists[number] == [tree.labels[max(level - 1, 0)][node] for node in nodes]


@given(st.lists(st.lists(st.sampled_from("pqrs"), min_size=1, max_size=4), min_size=1, max_size=12))
def test_sets_name_what_a_group_holds(groups: list[list[str]]) -> None:
    cells = [cell for group in groups for cell in group]
    table = Table(pa.table({"x": [*cells, *"pqrs"]}), {"x": quasi()})
    book = table.encoded["x"]
    codes = book.encode(pa.array(cells)).astype(np.int32)[:, None]
    ends = np.cumsum([len(group) for group in groups]).astype(np.int32)
    low = np.concatenate([[0], ends[:-1]]).astype(np.int32)
    segments = Segments(codes, np.ones(len(cells), np.int32), low, ends)
    box = boxes([book], segments, {"x": table.overall("x")})["x"]
    for group, number in zip(groups, box.index.tolist(), strict=True):
        names = sorted(set(group))
        shown = names[0] if len(names) == 1 else "*" if len(names) == 4 else "{" + ", ".join(names) + "}"
        assert box.labels[number].as_py() == shown
        assert box.loss[number] == (1.0 if len(names) == 4 else (len(names) - 1) / 3)
