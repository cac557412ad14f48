"""Sums of squares are exact for as many rows as there are, and as large as they may be."""

from __future__ import annotations

import numpy as np

from discreet.kernels.parties.class_sums import class_sums


def test_squares_of_many_rows_do_not_overflow() -> None:
    n, value = (1 << 23) + 64, (1 << 20) - 1
    counts, sums, squares = class_sums(np.full((n, 1), value), np.zeros(n, np.int64), 1)
    assert counts.tolist() == [n]
    assert sums.tolist() == [[n * value]]
    assert squares == [n * value**2]


def test_squares_agree_with_whole_numbers() -> None:
    rng = np.random.default_rng(3)
    rows, labels = rng.integers(-(1 << 39), 1 << 39, (50, 3)), rng.integers(0, 4, 50)
    _, _, squares = class_sums(rows, labels, 4)
    expected = [sum(int(v) ** 2 for v in rows[labels == c, j]) for c in range(4) for j in range(3)]
    assert squares == expected
