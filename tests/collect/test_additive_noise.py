"""Additive noise on arrays and frames: the common checks of collectors, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.collect import (
    AdditiveNoise,
    Channels,
    CorrelatedNoise,
    Density,
    Gaussian,
    Laplace,
    RandomizedResponse,
    UnaryResponse,
    Uniform,
)
from discreet.core.errors import DiscreetError, InputError, ParameterError, SchemaError
from discreet.guarantees import BasicPrivacy, LocalDP

SECRET = 4711.125
KINDS = [Uniform, Gaussian, Laplace]


def people(n: int = 200) -> dict[str, list]:
    rng = np.random.default_rng(0)
    return {
        "age": rng.integers(18, 90, n).tolist(),
        "pay": rng.normal(3_000, 800, n).clip(0, 9_000).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "town": rng.choice(["A", "B", "C"], n).tolist(),
    }


def channels() -> Channels:
    return Channels(
        {
            "age": AdditiveNoise(Uniform(20.0), low=0, high=120),
            "pay": AdditiveNoise(Laplace(500.0), low=0, high=10_000),
            "sex": RandomizedResponse.k_ary(["f", "m"], epsilon=1.0),
            "town": UnaryResponse.optimal(["A", "B", "C"], epsilon=1.0),
        }
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_bytes_and_input_and_global_generator_stay(kind) -> None:
    channel = AdditiveNoise(kind(3.0))
    true = np.arange(1000.0)
    kept, before = true.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    one, other = (channel.perturb(true, random_state=9) for _ in range(2))
    assert one.tobytes() == other.tobytes()
    assert not np.array_equal(one, channel.perturb(true, random_state=8))
    assert not np.array_equal(channel.perturb(true), channel.perturb(true))
    assert np.array_equal(true, kept)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("kind", KINDS)
def test_hardly_any_noise_returns_hardly_changed_values(kind) -> None:
    true = np.random.default_rng(0).random((50, 3))
    noisy = AdditiveNoise(kind(1e-9)).perturb(true)
    assert noisy.shape == true.shape
    assert np.abs(noisy - true).max() < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_the_low_bits_reveal_nothing_about_the_value(kind) -> None:
    noise = kind(1.0)
    for true in (math.pi, 1 / 3, 1e6 + 0.1):
        noisy = AdditiveNoise(noise).perturb(np.full(100, true), random_state=1)
        assert np.array_equal(noisy / noise.grid, np.rint(noisy / noise.grid))


def test_pandas_polars_and_arrow_agree_and_keep_rows_and_columns() -> None:
    plain = people()
    labels = np.random.default_rng(1).permutation(len(plain["age"]))
    frames = {
        "pandas": pd.DataFrame(plain, index=labels),
        "polars": pl.DataFrame(plain),
        "arrow": pa.table(plain),
    }
    noisy = {name: channels().perturb(frame, random_state=4) for name, frame in frames.items()}
    assert isinstance(noisy["pandas"], pd.DataFrame)
    assert isinstance(noisy["polars"], pl.DataFrame)
    assert isinstance(noisy["arrow"], pa.Table)
    assert noisy["pandas"].index.tolist() == labels.tolist()
    wanted = noisy["arrow"].to_pydict()
    assert list(wanted) == ["age", "pay", "sex", "town=A", "town=B", "town=C"]
    assert noisy["polars"].to_dict(as_series=False) == wanted
    assert noisy["pandas"].to_dict("list") == wanted
    assert frames["arrow"].to_pydict() == plain
    for name, frame in noisy.items():
        found = channels().reconstruct(frame, age={"intervals": 10}, pay={"intervals": 10})
        assert list(found) == ["age", "pay", "sex", "town"], name
        assert found["age"].shares.size == 10


def test_a_frames_named_columns_are_hidden_and_no_others() -> None:
    frame = pl.DataFrame(people())
    noisy = AdditiveNoise(Gaussian(5.0)).perturb(frame, columns=["age", "pay"], random_state=1)
    assert noisy.columns == frame.columns
    assert noisy["sex"].equals(frame["sex"])
    assert not np.allclose(noisy["age"] - frame["age"], noisy["pay"] - frame["pay"])


def test_a_generator_gives_each_batch_noise_of_its_own() -> None:
    rng = np.random.default_rng(3)
    one, other = (AdditiveNoise(Gaussian(1.0)).perturb(np.zeros(5), random_state=rng) for _ in range(2))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([SECRET, math.nan], "1 values of 'data' are null, NaN"),
        ([SECRET, -math.inf], "1 values of 'data' are null, NaN"),
        ([SECRET, 5.0, -1.0], "2 values of 'data' lie outside"),
        ([str(SECRET)], "must hold numbers"),
        ([[1.0], [None]], "must hold numbers"),
    ],
)
def test_values_that_cannot_be_hidden_are_refused_unseen(values, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        AdditiveNoise(Uniform(10.0), low=0, high=100).perturb(np.array(values))
    assert "4711" not in str(caught.value)


def test_numbers_too_large_beside_the_noise_are_refused() -> None:
    with pytest.raises(InputError, match="lost in rounding"):
        AdditiveNoise(Gaussian(1.0)).perturb([1.7e18])
    with pytest.raises(InputError, match="lost in rounding"):
        CorrelatedNoise(np.eye(2)).perturb(np.full((2, 2), 1e18))


def test_nulls_and_missing_columns_of_frames_are_refused() -> None:
    frame = pl.DataFrame({"age": [1.0, None, SECRET]})
    with pytest.raises(InputError, match="1 values of 'age' are null") as caught:
        AdditiveNoise(Gaussian(1.0)).perturb(frame, columns=["age"])
    assert "4711" not in str(caught.value)
    with pytest.raises(SchemaError, match="'pay'"):
        AdditiveNoise(Gaussian(1.0)).perturb(frame, columns=["pay"])
    with pytest.raises(SchemaError, match="Name the columns"):
        AdditiveNoise(Gaussian(1.0)).perturb(frame)
    with pytest.raises(InputError):
        AdditiveNoise(Gaussian(1.0)).perturb("people.csv", columns=["age"])
    unary = Channels({"a": UnaryResponse(["x", "y"], p=0.9, q=0.9)})
    with pytest.raises(SchemaError, match="unary"):
        unary.perturb(pa.table({"a": ["x"], "a=x": [1]}))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"noise": 3}, "noise"),
        ({"low": "a"}, "low"),
        ({"high": math.inf}, "high"),
        ({"low": 1, "high": 1}, "high"),
    ],
)
def test_each_constraint_names_its_parameter(options, name: str) -> None:
    given = {"noise": Gaussian(1.0)} | options
    with pytest.raises(ParameterError, match=f"'{name}'"):
        AdditiveNoise(given.pop("noise"), **given).perturb([1.0])


def test_privacy_is_a_share_of_the_range_and_what_is_left_to_guess() -> None:
    channel = AdditiveNoise(Gaussian.for_privacy(0.5, low=0, high=100), low=0, high=100)
    assert channel.privacy() == pytest.approx(0.5)
    truth = Density(np.array([0.0, 100.0]), np.array([1.0]))
    assert 0 < channel.conditional_privacy(truth) < 100
    assert 0 < channel.privacy_loss(truth) < 1
    with pytest.raises(InputError, match="'low' and 'high'"):
        AdditiveNoise(Gaussian(1.0)).privacy()
    with pytest.raises(ParameterError, match="'truth'"):
        channel.conditional_privacy(3.0)
    with pytest.raises(ParameterError, match="'confidence'"):
        channel.privacy(0)


def test_local_differential_privacy_is_judged_by_construction() -> None:
    laplace = AdditiveNoise(Laplace.for_epsilon(1.0, low=0, high=10), low=0, high=10)
    assert LocalDP(1.0).check(laplace).ok
    assert not LocalDP(0.99).check(laplace).ok
    assert LocalDP(1.0).check(laplace).basis.value == "by construction"
    assert not LocalDP(50).check(AdditiveNoise(Gaussian(1.0), low=0, high=1)).ok
    assert not LocalDP(50).check(AdditiveNoise(Laplace(1.0))).ok
    assert LocalDP(1.0).check(RandomizedResponse.k_ary("abc", epsilon=1.0)).ok
    assert LocalDP(1.0).check(UnaryResponse.symmetric("abc", epsilon=1.0)).ok
    assert channels().epsilon == math.inf
    for refused in (LocalDP(1.0), 3.0):
        with pytest.raises(ParameterError):
            LocalDP(1.0).check(refused)
    with pytest.raises(ParameterError, match="BasicPrivacy"):
        BasicPrivacy(90).check(laplace)


def test_correlated_noise_has_the_covariance_and_passes_the_common_checks() -> None:
    shape = np.array([[4.0, 3.0, 0.0], [3.0, 9.0, 1.0], [0.0, 1.0, 2.0]])
    channel = CorrelatedNoise.like(shape, ratio=2.0)
    true = np.random.default_rng(0).normal(size=(200_000, 3))
    kept = true.copy()
    noisy = channel.perturb(true, random_state=1)
    assert np.allclose(np.cov((noisy - true).T), 2 * shape, atol=0.15)
    assert np.array_equal(noisy, channel.perturb(true, random_state=1))
    assert np.array_equal(true, kept)
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": [5.0, 6.0], "d": ["x", "y"]})
    out = channel.perturb(frame, columns=["a", "b", "c"], random_state=1)
    assert out.columns == frame.columns
    assert out["d"].equals(frame["d"])


@pytest.mark.parametrize(
    "call",
    [
        lambda: CorrelatedNoise([[1.0, 2.0], [2.0, 1.0]]),
        lambda: CorrelatedNoise([[1.0, 1 - 1e-15], [1 - 1e-15, 1.0]]),
        lambda: CorrelatedNoise([[1.0, 0.0], [0.0, 0.0]]),
        lambda: CorrelatedNoise([[1.0, 0.5], [0.4, 1.0]]),
        lambda: CorrelatedNoise([1.0]),
        lambda: CorrelatedNoise("wide"),
        lambda: CorrelatedNoise.like(np.eye(2), ratio=0),
        lambda: CorrelatedNoise(np.eye(2)).perturb(np.zeros((2, 3))),
        lambda: CorrelatedNoise(np.eye(2)).perturb(np.full((2, 2), math.nan)),
        lambda: CorrelatedNoise(np.eye(2)).perturb(pl.DataFrame({"a": [1.0]}), columns=["a"]),
        lambda: CorrelatedNoise(np.eye(2)).perturb(
            pl.DataFrame({"a": [1.0], "b": [None]}), columns=["a", "b"]
        ),
        lambda: CorrelatedNoise(np.eye(2)).perturb("x"),
    ],
)
def test_correlated_noise_refuses_mistakes(call) -> None:
    with pytest.raises(DiscreetError):
        call()
