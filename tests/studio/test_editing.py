"""Hierarchies that are put together by hand are trees, and files of ARX come back as they went."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.trees import Rows
from discreet.studio import editing

VALUES = ["a", "b", "c", "d", "e"]
moves = st.lists(
    st.tuples(
        st.integers(1, 3), st.sets(st.sampled_from(VALUES), min_size=1), st.sampled_from(["x", "y", "z"])
    ),
    max_size=8,
)


@given(moves)
def test_any_moves_leave_a_tree_that_covers_every_value(steps: list[tuple[int, set[str], str]]) -> None:
    lines = [[value, "*"] for value in VALUES]
    for level, values, group in steps:
        level = min(level, max(len(lines[0]) - 2, 1))
        items = {line[level - 1] for line in lines if line[0] in values}
        lines = editing.moved(lines, level, items, group)
        assert all(line[level] == group for line in lines if line[level - 1] in items)
    entry = editing.entry_of_lines(lines)
    tree = Rows(tuple(map(tuple, entry["rows"]))).bind(pa.array(VALUES), column="x")
    assert tree.n_leaves == len(VALUES)
    assert editing.uploaded_hierarchy(editing.arx_text(lines).encode()) == entry


def test_a_level_goes_in_and_out() -> None:
    lines = editing.moved([["a", "*"], ["b", "*"]], 1, ["a", "b"], "x")
    assert lines == [["a", "x", "*"], ["b", "x", "*"]]
    assert editing.without_level(editing.with_level(lines), 2) == lines
    assert editing.without_level(lines, 1) == lines


@pytest.mark.parametrize("content", [b"", b"a", b"a;b\nc\n", b"\xff;b\n", b"a;b" * 2_000_000])
def test_what_is_no_hierarchy_file_is_refused(content: bytes) -> None:
    with pytest.raises(HierarchyError):
        editing.uploaded_hierarchy(content)


def test_the_fields_of_every_way_make_what_a_job_has() -> None:
    fields = {
        "intervals": "5, 10",
        "mask": "left",
        "width": "5",
        "icd": "9",
        "codes": "atc",
        "scale": "bands",
    }
    made = {
        way: editing.entry_from_form([("way", way), *fields.items()])
        for way in editing.WAYS
        if way != "groups"
    }
    assert made == {
        "none": None,
        "intervals": {"intervals": [5, 10]},
        "mask": {"mask": "left", "width": 5},
        "flat": {"flat": True},
        "icd": {"icd": 9},
        "codes": {"codes": "atc"},
        "scale": {"scale": "bands"},
        "ip": {"ip": True},
    }
    assert [editing.way_of(entry) for entry in made.values()] == list(made)
