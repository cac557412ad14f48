"""Small tables for the tests of the guarantees: as rows for the oracles, and as Groups for the guarantees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from tests.oracles import tables as oracles

from discreet.core.hierarchy.bound import Hierarchy, build_hierarchy
from discreet.core.tables.groups import Groups

Rows = list[dict[str, Any]]

LETTERS = "abcdefg"
PATHS = {
    "a": ("vowel", "early", "all"),
    "b": ("stop", "early", "all"),
    "c": ("stop", "early", "all"),
    "d": ("dental", "early", "all"),
    "e": ("front", "late", "all"),
    "f": ("lip", "late", "all"),
    "g": ("throat", "late", "all"),
}
"""A tree over the letters: uneven branches, single children, and leaves that a table may not show."""


def letter_tree() -> Hierarchy:
    upper = [[PATHS[letter][level] for letter in LETTERS] for level in range(3)]
    return build_hierarchy(pa.array(list(LETTERS)), upper, column="ward", ordered=True)


def rows_of(classes: Mapping[str, Sequence[Any]]) -> Rows:
    """Rows from the sensitive values of each class."""
    return [{"class": name, "ward": value} for name, values in classes.items() for value in values]


def groups_of(
    rows: Rows,
    *,
    quasi: Sequence[str] = ("class",),
    sensitive: Sequence[str] = ("ward",),
    domain: Sequence[Any] | None = None,
    hierarchy: Hierarchy | None = None,
    suppressed: Sequence[bool] | None = None,
) -> Groups:
    """Code the rows: classes in the oracle's order, null 0, values from 1, ascending or as in a domain."""
    numbers = {
        key: number for number, key in enumerate(dict.fromkeys(tuple(r[q] for q in quasi) for r in rows))
    }
    labels = np.array([numbers[tuple(row[name] for name in quasi)] for row in rows], np.int32)
    columns = {}
    for name in sensitive:
        values = domain or sorted({row[name] for row in rows if row[name] is not None})
        code = {None: 0} | {value: number for number, value in enumerate(values, start=1)}
        codes = np.array([code[row[name]] for row in rows], np.int32)
        columns[name] = (codes, np.bincount(codes, minlength=len(code)), hierarchy)
    flags = None if suppressed is None else np.array(suppressed, np.bool_)
    return Groups.of(labels, np.ones(len(rows), np.int64), len(numbers), columns, suppressed=flags)


def wards(rows: Rows) -> tuple[list[list[Any]], list[Any]]:
    """The sensitive values of each class, and of everyone."""
    classes = oracles.equivalence_classes(rows, ["class"])
    return [oracles.column(members, "ward") for members in classes], oracles.column(rows, "ward")


def tables(max_size: int = 14) -> st.SearchStrategy[Rows]:
    """Tables with ties, nulls, constant columns, one row, one class."""
    row = st.fixed_dictionaries(
        {"class": st.sampled_from("uvwx"), "ward": st.sampled_from([None, *LETTERS[:5]])}
    )
    constant = st.fixed_dictionaries({"class": st.sampled_from("uvwx"), "ward": st.just("a")})
    alone = st.fixed_dictionaries({"class": st.just("u"), "ward": st.sampled_from([None, *LETTERS])})
    return st.one_of(
        st.lists(row, min_size=1, max_size=max_size),
        st.lists(constant, min_size=1, max_size=max_size),
        st.lists(alone, min_size=1, max_size=max_size),
    )
