"""The kernels of lines of whole numbers, beside plain Python."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.baskets import baskets

from discreet import Baskets
from discreet.kernels.baskets import fimi

LETTERS = st.text(st.sampled_from(" \t\r\n-0123456789\x01a"), max_size=40)
NUMBERS = st.lists(st.lists(st.integers(-(2**64), 2**64) | st.integers(0, 99), max_size=5), max_size=9)


def bytes_of(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(text.encode() + b"\n", np.uint8)


def plain(text: str) -> tuple[int, list[list[int]]]:
    """Describe what becomes of lines, and give their numbers."""
    lines = [re.split("[ \t]+", line.strip(" \t")) for line in re.split("\r?\n", text + "\n")[:-1]]
    tokens = [[token for token in line if token] for line in lines]
    flat = [token for line in tokens for token in line]
    if not all(re.fullmatch("0|-?[1-9][0-9]*", token) for token in flat):
        return fimi.TEXT, []
    numbers = [[int(token) for token in line] for line in tokens]
    fits = all(-(2**63) <= number < 2**63 for line in numbers for number in line)
    return (fimi.FINE if fits else fimi.WIDE), numbers


def check(text: str) -> None:
    expected, rows = plain(text)
    state, indptr, numbers = fimi.parse(bytes_of(text))
    assert state == expected
    if state == fimi.FINE:
        assert [part.tolist() for part in np.split(numbers, indptr[1:-1])] == rows
        small = all(0 <= number < 2**31 for row in rows for number in row)
        assert numbers.dtype == (np.int32 if small else np.int64)


@given(LETTERS)
def test_any_bytes(text: str) -> None:
    check(text)


@given(NUMBERS, st.sampled_from(["\n", "\r\n", " \n", "\t\n"]), st.integers(1, 30))
def test_numbers_of_every_width(rows: list[list[int]], end: str, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fimi, "_PIECE", piece)
        check(end.join(" ".join(map(str, row)) for row in rows))


@given(st.lists(st.lists(st.integers(0, 30), max_size=6), max_size=20))
def test_codes_in_order_each_once(rows: list[list[int]]) -> None:
    indptr = np.cumsum([0, *map(len, rows)])
    numbers = np.array([number for row in rows for number in row], np.int32)
    distinct, starts, codes = fimi.encode(indptr, numbers)
    assert distinct.tolist() == sorted({number for row in rows for number in row})
    found = [distinct[codes[start:stop]].tolist() for start, stop in itertools.pairwise(starts)]
    assert found == [sorted(set(row)) for row in rows]


@given(baskets(names=st.lists(st.text("abc", min_size=1), unique=True, max_size=5)), st.booleans())
def test_spelling(found: Baskets, closed: bool) -> None:
    words = [f"{name} ".encode() for name in found.names.to_pylist()]
    ends = np.cumsum([0, *map(len, words)])
    letters = np.frombuffer(b"".join(words), np.uint8)
    close = np.frombuffer(b"end\n" if closed else b"\n", np.uint8)
    text = (
        fimi.spell(found.indptr, found.items, ends, letters, close, cut=0 if closed else 1).tobytes().decode()
    )
    if closed:
        assert text == "".join("".join(f"{name} " for name in row) + "end\n" for row in found.lists())
    else:
        assert text == "".join(" ".join(row) + "\n" for row in found.lists())
