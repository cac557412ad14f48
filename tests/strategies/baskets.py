"""Generated baskets for the property tests: empty baskets, unused items, whole numbers or text as names."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from discreet.core.baskets.baskets import Baskets

WORDS = (
    "milk",
    "beer, cold",
    'a "quoted" one',
    "Łódź",
    "東京",
    "two words",
    "two\nlines",
    "NA",
    "0",
    "-7",
    "é",
    "#",
)


def number_names(*, min_size: int = 0, max_size: int = 8) -> st.SearchStrategy[list[int]]:
    """Whole numbers, small, negative and beyond 32 bits."""
    number = st.integers(0, 20) | st.integers(-(2**63), 2**63 - 1)
    return st.lists(number, min_size=min_size, max_size=max_size, unique=True)


def text_names(
    *, min_size: int = 0, max_size: int = 8, text: st.SearchStrategy[str] | None = None
) -> st.SearchStrategy[list[str]]:
    """Texts with commas, quotes, line breaks, spaces and letters of many scripts."""
    anything = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=4)
    word = st.sampled_from(WORDS) | anything if text is None else text
    return st.lists(word, min_size=min_size, max_size=max_size, unique=True)


@st.composite
def baskets(
    draw: st.DrawFn,
    *,
    names: st.SearchStrategy[list[int]] | st.SearchStrategy[list[str]] | None = None,
    min_baskets: int = 0,
    max_baskets: int = 12,
    min_length: int = 0,
    used: bool = False,
) -> Baskets:
    """Baskets over given names, or over numbers or text; ``used`` leaves out the items that occur in no basket."""
    found = draw(names if names is not None else number_names() | text_names())
    type_ = pa.int64() if found and isinstance(found[0], int) else pa.string()
    ordered = sorted(found, key=lambda name: name if isinstance(name, int) else name.encode())
    least = min(min_length, len(ordered))
    basket = st.sets(st.integers(0, max(len(ordered) - 1, 0)), min_size=least, max_size=len(ordered))
    rows = draw(st.lists(basket if ordered else st.just(set()), min_size=min_baskets, max_size=max_baskets))
    indptr = np.cumsum([0, *map(len, rows)])
    items = np.array([code for row in rows for code in sorted(row)], np.int32)
    made = Baskets(indptr, items, pa.array(ordered, type_))
    return made.keep(made.counts > 0) if used else made
