"""RowChance: draws that follow from the row alone, of the distributions that Chance has."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from scipy import stats

from discreet.collect import Gaussian, Laplace
from discreet.collect.secure_random import RowChance
from discreet.core.errors import InternalError
from discreet.kernels.baskets.distortion import distort_each, distort_rows

ROWS = [f"row {number}" for number in range(20_000)]
KEY = b"k" * 32


def word(row: str, stream: int, at: int, n_words: int) -> int:
    digest = hashlib.blake2b(
        row.encode(), key=KEY, salt=stream.to_bytes(16, "little"), digest_size=8 * n_words
    )
    return int.from_bytes(digest.digest()[8 * at : 8 * at + 8], "little")


def test_draws_are_as_defined() -> None:
    chance = RowChance(KEY, ROWS[:500])
    uniform, waits = chance.uniform(500), chance.exponential(500)
    for at, row in enumerate(ROWS[:500]):
        assert uniform[at] == ((word(row, 1, 0, 1) >> 12) + 0.5) / 2**52
        order, part = (word(row, 2, number, 2) for number in range(2))
        halves = 64 - order.bit_length()
        assert waits[at] == pytest.approx(halves * math.log(2) - math.log(0.5 + ((part >> 12) + 0.5) / 2**53))


def test_distributions_are_those_of_other_draws() -> None:
    assert stats.kstest(RowChance(KEY, ROWS).uniform(len(ROWS)), "uniform").pvalue > 1e-4
    assert stats.kstest(RowChance(KEY, ROWS).exponential(len(ROWS)), "expon").pvalue > 1e-4
    for noise, name in ((Gaussian(2.0), "norm"), (Laplace(2.0), "laplace")):
        drawn = noise.draw(len(ROWS), RowChance(KEY, ROWS))
        assert stats.kstest(drawn / 2.0, name).pvalue > 1e-4


def test_a_row_has_the_same_draws_beside_any_others() -> None:
    chance, alone = RowChance(KEY, ROWS[:3]), RowChance(KEY, ROWS[2:3])
    for _ in range(2):
        assert chance.uniform(3)[2] == alone.uniform(1)[0]
    assert (chance.keys()[2] == alone.keys()[0]).all()
    assert RowChance(b"l" * 32, ROWS[:1]).uniform(1) != RowChance(KEY, ROWS[:1]).uniform(1)
    with pytest.raises(InternalError):
        chance.uniform(2)


def test_each_basket_is_distorted_as_if_it_were_alone() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 5, 50)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    items = np.concatenate([np.sort(rng.choice(30, n, replace=False)) for n in lengths]).astype(np.int32)
    keys = RowChance(KEY, ROWS[:50]).keys()
    for p, q in ((0.5, 0.97), (1.0, 0.9), (0.3, 1.0), (0.0, 0.2)):
        ends, flipped = distort_each(indptr, items, 30, p, q, keys)
        for row in range(50):
            true = items[indptr[row] : indptr[row + 1]]
            _, alone = distort_rows(np.array([0, true.size]), true, 30, p, q, keys[row])
            assert flipped[ends[row] : ends[row + 1]].tolist() == alone.tolist()
