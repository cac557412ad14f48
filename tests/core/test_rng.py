"""Randomness: cryptographic without a seed, the same again with one."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import InputError
from discreet.core.rng import generator, keyed_order, rng_from_plain, rng_to_plain, secret_seed
from discreet.kernels.random.bit_generator import ChaCha20
from discreet.kernels.random.uniforms import uniforms


def _keyed(key: int) -> np.random.Generator:
    return np.random.Generator(ChaCha20(key.to_bytes(32, "little")))


def test_without_a_seed_draws_are_not_numpys_own() -> None:
    drawn = generator(None)
    assert type(drawn.bit_generator).__name__ == "ChaCha20"
    assert not np.array_equal(generator(None).random(8), generator(None).random(8))


def test_a_seed_draws_the_same_as_ever() -> None:
    assert generator(7).random(5).tolist() == np.random.default_rng(7).random(5).tolist()
    given = np.random.default_rng(1)
    assert generator(given) is given


def test_the_bits_are_those_of_the_key_stream() -> None:
    key = np.frombuffer((2**200 + 5).to_bytes(32, "little"), np.uint32)
    drawn = _keyed(2**200 + 5).random(1000)
    assert np.abs(drawn - uniforms(key, 0, 1000)).max() < 2.0**-51


def test_draws_are_even() -> None:
    drawn = _keyed(3)
    counts = np.bincount(drawn.integers(0, 64, 64_000), minlength=64)
    assert stats.chisquare(counts).pvalue > 1e-4
    assert stats.kstest(drawn.normal(size=20_000), "norm").pvalue > 1e-4
    assert sorted(drawn.permutation(1000).tolist()) == list(range(1000))


def test_orders_follow_from_the_key_and_are_even() -> None:
    assert keyed_order(5, 100).tolist() == keyed_order(5, 100).tolist() != keyed_order(6, 100).tolist()
    assert keyed_order(5, 0).size == 0
    firsts = np.bincount([keyed_order(key, 6)[0] for key in range(6_000)], minlength=6)
    assert stats.chisquare(firsts).pvalue > 1e-4


def test_secrets_are_fresh_without_a_seed_and_the_same_with_one() -> None:
    assert secret_seed(None) != secret_seed(None)
    assert secret_seed(7) == secret_seed(7) != secret_seed(8)
    assert secret_seed(7).bit_length() > 200


def test_copies_begin_anew_and_keys_are_never_written() -> None:
    drawn = generator(None)
    for twin in (copy.deepcopy(drawn), pickle.loads(pickle.dumps(drawn))):
        assert not np.array_equal(twin.random(4), drawn.random(4))
    assert rng_to_plain(drawn) == {"bit_generator": "ChaCha20"}
    assert rng_from_plain(rng_to_plain(drawn)).random() < 1
    with pytest.raises(TypeError):
        pickle.dumps(_keyed(1))


@pytest.mark.parametrize(
    "plain", [None, 3, {}, {"bit_generator": [1]}, {"bit_generator": "PCG64", "state": 7}]
)
def test_damaged_states_are_refused(plain: object) -> None:
    with pytest.raises(InputError):
        rng_from_plain(plain)  # type: ignore[arg-type]
