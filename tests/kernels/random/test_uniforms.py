"""Draws from ChaCha20: strictly inside, evenly spread, the same for any number of threads, fine in the tail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from discreet.kernels.random import uniforms as kernel
from discreet.kernels.random.uniforms import exponentials, uniforms

KEY = np.arange(8, dtype=np.uint32)
FALSE_ALARM = 1e-6
"""How often a right kernel fails a test; seeds are fixed, so none does by chance."""


@pytest.mark.parametrize("draw", [uniforms, exponentials])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 127, 128, 129, 5_000])
def test_threads_do_not_matter_and_shorter_draws_are_the_beginning_of_longer_ones(draw, size: int) -> None:
    one = draw(KEY, 3, size, threads=1)
    assert np.array_equal(one, draw(KEY, 3, size, threads=3))
    assert np.array_equal(one, draw(KEY, 3, size + 200)[:size])


@pytest.mark.parametrize(("draw", "law"), [(uniforms, "uniform"), (exponentials, "expon")])
def test_the_distribution_is_right_and_streams_differ(draw, law: str) -> None:
    one, other = draw(KEY, 1, 200_000), draw(KEY, 2, 200_000)
    assert kstest(one, law).pvalue > FALSE_ALARM
    assert kstest(other, law).pvalue > FALSE_ALARM
    assert abs(np.corrcoef(one, other)[0, 1]) < 6 / np.sqrt(one.size)
    assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 6 / np.sqrt(one.size)


def test_uniforms_are_strictly_inside() -> None:
    numbers = uniforms(KEY, 1, 1_000_000)
    assert numbers.min() > 0
    assert numbers.max() < 1


@pytest.mark.parametrize(("word", "uniform"), [(0, 2.0**-53), (0xFFFFFFFF, 1 - 2.0**-53)])
def test_the_extreme_words_stay_inside(monkeypatch, word: int, uniform: float) -> None:
    def fill(key, stream, first, words):
        words[:] = word

    monkeypatch.setattr(kernel, "fill", fill)
    numbers = np.empty(3)
    kernel._draw.py_func(KEY, np.uint64(0), 0, 1, numbers)
    assert (numbers == uniform).all()
    kernel._wait.py_func(KEY, np.uint64(0), 0, 1, numbers)
    assert (numbers >= 0).all()
    assert (numbers <= 65 * np.log(2) + 1e-9).all()
