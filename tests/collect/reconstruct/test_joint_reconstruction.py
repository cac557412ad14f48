"""Joint reconstruction: the product kernel by brute force, the truth back, correlations that survive, batches."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from discreet.collect import (
    AdditiveNoise,
    Gaussian,
    JointHistogram,
    JointReconstruction,
    Laplace,
    NotConvergedWarning,
    RandomizedResponse,
    Uniform,
)
from discreet.collect.reconstruct.density import Axis, JointDensity
from discreet.collect.reconstruct.em import Rule, run_em
from discreet.core.errors import DiscreetError, InputError, ParameterError


def rows(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 80, n)
    pay = np.clip(age + rng.normal(0, 12, n), 0, 100)
    sex = np.where(rng.random(n) < age / 100, "f", "m")
    return {"age": age, "pay": pay, "sex": sex}


CHANNELS = {
    "age": AdditiveNoise(Gaussian(15.0), low=20, high=80),
    "pay": AdditiveNoise(Uniform(30.0), low=0, high=100),
    "sex": RandomizedResponse.k_ary(["f", "m"], keep=0.8),
}


def noisy(true: dict[str, np.ndarray], names: list[str], seed: int = 1) -> dict[str, np.ndarray]:
    return {name: CHANNELS[name].perturb(true[name], random_state=seed + i) for i, name in enumerate(names)}


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_axis_by_axis_is_the_product_of_the_matrices(axes: int) -> None:
    rng = np.random.default_rng(axes)
    sizes = [(5, 3), (4, 2), (6, 4)][:axes]
    chances = [rng.dirichlet(np.ones(bins), cells).T for bins, cells in sizes]
    counts = rng.integers(1, 50, [bins for bins, _ in sizes]).astype(float)
    whole = chances[0]
    for matrix in chances[1:]:
        whole = np.kron(whole, matrix)
    rule = Rule("change", 1e-300, 7)
    one = run_em(counts[None], chances, rule)
    other = run_em(counts.reshape(1, -1), [whole], rule)
    assert np.allclose(one.shares.ravel(), other.shares.ravel(), atol=1e-12)
    assert np.allclose(one.trace, other.trace)


def test_climbs_side_by_side_are_the_climbs_alone() -> None:
    rng = np.random.default_rng(5)
    chances = rng.dirichlet(np.ones(8), 4).T
    counts = rng.integers(1, 60, (5, 8)).astype(float)
    rule = Rule("chi2", 1e-4, 300)
    together = run_em(counts, [chances], rule)
    for row in range(5):
        alone = run_em(counts[row : row + 1], [chances], rule)
        assert np.allclose(together.shares[row], alone.shares[0], atol=1e-10)
        assert together.steps[row] == alone.steps[0]


def test_correlation_marginals_and_conditional_means_survive() -> None:
    """Noise makes a correlation of 0.82 one of 0.55; the reconstruction is within 0.04 of the truth, ten errors."""
    true = rows(60_000)
    seen = noisy(true, ["age", "pay"])
    found = JointReconstruction({name: CHANNELS[name] for name in seen}, intervals=15).reconstruct(seen)
    wanted = np.corrcoef(true["age"], true["pay"])[0, 1]
    assert np.corrcoef(seen["age"], seen["pay"])[0, 1] < wanted - 0.2
    assert abs(found.correlation("age", "pay") - wanted) < 0.04
    assert abs(found.density("age").mean - true["age"].mean()) < 0.5
    given_age = found.conditional_mean("pay", given="age")
    middles = found.axes[0].middles
    for place in (3, 7, 11):
        near = np.abs(true["age"] - middles[place]) < 2
        assert abs(given_age[place] - true["pay"][near].mean()) < 4


def test_a_category_and_a_number_together() -> None:
    true = rows(60_000)
    seen = noisy(true, ["age", "sex"])
    found = JointReconstruction({name: CHANNELS[name] for name in seen}, intervals=10).reconstruct(seen)
    means = found.conditional_mean("age", given="sex")
    for category, mean in zip(("f", "m"), means, strict=True):
        assert abs(mean - true["age"][true["sex"] == category].mean()) < 1.5
    assert abs(found.marginal("sex").shares[0] - (true["sex"] == "f").mean()) < 0.02
    with pytest.raises(ParameterError, match="'sex' holds categories"):
        found.correlation("age", "sex")


def test_three_columns_from_a_frame_and_a_sample() -> None:
    true = rows(30_000)
    seen = pl.DataFrame(noisy(true, ["age", "pay", "sex"]))
    found = JointReconstruction(CHANNELS, intervals={"age": 8, "pay": np.linspace(0, 100, 9)}).reconstruct(
        seen
    )
    assert found.shares.shape == (8, 8, 2)
    drawn = found.sample(20_000, random_state=1)
    assert isinstance(drawn, pa.Table)
    assert abs(np.corrcoef(drawn["age"], drawn["pay"])[0, 1] - found.correlation("age", "pay")) < 0.03
    assert drawn.equals(found.sample(20_000, random_state=1))
    swapped = found.marginal("pay", "age").shares
    assert np.allclose(swapped.T, found.marginal("age", "pay").shares)
    assert found.distance(found) == 0


def test_exact_expected_frequencies_return_the_truth() -> None:
    truth = np.array([[0.1, 0.3], [0.25, 0.05], [0.2, 0.1]])
    how = JointReconstruction(
        {"x": AdditiveNoise(Laplace(0.3), low=0, high=3), "c": CHANNELS["sex"]},
        intervals=3,
        stop="change",
        tolerance=1e-12,
        max_steps=20_000,
    )
    (width, _) = how._widths(how._axes())
    first, size = math.floor(-9 / width), math.ceil(21 / width)
    empty = JointHistogram(("x", "c"), (width, 1.0), (first, 0), np.zeros((size, 2), np.int64))
    axes = how._axes()
    expected = how._chances(axes[0], empty, 0)[0] @ truth @ CHANNELS["sex"].matrix
    counted = JointHistogram(("x", "c"), (width, 1.0), (first, 0), np.rint(expected * 1e15).astype(np.int64))
    assert np.allclose(how.reconstruct(counted).shares, truth, atol=1e-4)


def test_histograms_of_batches_add_up_to_one_pass() -> None:
    seen = noisy(rows(5_000), ["age", "pay", "sex"])
    how = JointReconstruction(CHANNELS, intervals=6)
    merged = how.histogram({name: one[:1234] for name, one in seen.items()}) + how.histogram(
        {name: one[1234:] for name, one in seen.items()}
    )
    whole = how.histogram(seen)
    assert merged.first == whole.first
    assert np.array_equal(merged.counts, whole.counts)
    read = JointHistogram.from_dict(whole.to_dict())
    assert np.array_equal(how.reconstruct(read).shares, how.reconstruct(seen).shares)


def test_one_that_does_not_settle_says_so() -> None:
    seen = noisy(rows(2_000), ["age"])
    with pytest.warns(NotConvergedWarning):
        found = JointReconstruction({"age": CHANNELS["age"]}, intervals=6, max_steps=2).reconstruct(seen)
    assert not found.converged


ONE = {"age": CHANNELS["age"]}


@pytest.mark.parametrize(
    ("how", "seen", "words"),
    [
        (JointReconstruction(ONE), {"pay": [1.0]}, "no column 'age'"),
        (JointReconstruction(ONE), {"age": [1.0, 2.0]}, "cannot distinguish"),
        (JointReconstruction(ONE), {"age": [math.nan] * 50}, "50 noisy values of 'age'"),
        (JointReconstruction(ONE), {"age": ["x"] * 50}, "must be numbers"),
        (JointReconstruction(ONE), {"age": [1e30] * 50}, "outliers"),
        (JointReconstruction(ONE), {"age": [1e308] * 50}, "outliers"),
        (JointReconstruction(ONE), {"age": [300.0] + [50.0] * 99}, "1 noisy values of 'age'"),
        (JointReconstruction(ONE), {"age": [-200.0] + [50.0] * 99}, "1 noisy values of 'age'"),
        (JointReconstruction(ONE, intervals={"age": [20.0, 50.0, math.inf]}), {"age": [1.0]}, "'intervals'"),
        (JointReconstruction(ONE, intervals={"age": [[20.0], [50.0, 60.0]]}), {"age": [1.0]}, "'intervals'"),
        (JointReconstruction(ONE), {"age": []}, "no rows"),
        (JointReconstruction(ONE), 3.0, "no columns"),
        (JointReconstruction(CHANNELS), {"age": [1.0], "pay": [1.0, 2.0], "sex": ["f"]}, "same length"),
        (
            JointReconstruction({"pay": CHANNELS["pay"]}),
            {"pay": [400.0] + [50.0] * 99},
            "1 noisy values of 'pay'",
        ),
        (JointReconstruction({"x": AdditiveNoise(Gaussian(1.0))}), {"x": [1.0] * 99}, "'low' and 'high'"),
        (JointReconstruction({}), {}, "one to three"),
        (JointReconstruction({"x": 3}), {"x": [1.0]}, "'channels'"),
        (JointReconstruction(3), {"x": [1.0]}, "'channels'"),
        (JointReconstruction(ONE, intervals=1), {"age": [1.0]}, "'intervals'"),
        (JointReconstruction(ONE, intervals={"age": "x"}), {"age": [1.0]}, "'intervals'"),
        (JointReconstruction(ONE, stop="never"), {"age": [1.0]}, "'stop'"),
        (JointReconstruction(ONE, tolerance=2), {"age": [1.0]}, "'tolerance'"),
        (JointReconstruction(ONE, max_steps=0), {"age": [1.0]}, "'max_steps'"),
    ],
)
def test_bad_input_is_refused(how, seen, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        how.reconstruct(seen)


def test_intervals_may_be_numbers_of_numpy() -> None:
    seen = noisy(rows(2_000), ["age"])
    wanted = JointReconstruction(ONE, intervals=6).reconstruct(seen)
    for intervals in (np.int64(6), {"age": np.int64(6)}):
        found = JointReconstruction(ONE, intervals=intervals).reconstruct(seen)  # type: ignore[arg-type]
        assert found.distance(wanted) == 0


def test_narrow_floats_fall_into_the_bins_that_wide_ones_do() -> None:
    """A noisy number is a multiple of a power of two, which narrow floats hold; their places among bins they do not."""
    channel = {"pay": AdditiveNoise(Uniform(0.5), low=3e6, high=3e6 + 1_000)}
    seen = 3e6 + np.arange(2_000) * 0.5
    how = JointReconstruction(channel, intervals=200)
    wide, narrow = (how.histogram({"pay": seen.astype(kind)}) for kind in (np.float64, np.float32))
    assert np.array_equal(wide.counts, narrow.counts)


def test_covariances_far_from_zero_are_right() -> None:
    axes = (Axis("x", 1e9 + np.linspace(0, 1, 11)), Axis("y", np.linspace(0, 1, 11) - 1e9))
    shares = np.eye(10) / 10
    near = JointDensity(tuple(Axis(name, np.linspace(0, 1, 11)) for name in "xy"), shares)
    assert JointDensity(axes, shares).covariance("x", "y") == pytest.approx(
        near.covariance("x", "y"), rel=1e-4
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("names", ["age", "pay"]),
        ("widths", [0.0]),
        ("widths", [math.nan]),
        ("first", ["x"]),
        ("first", [10**30]),
        ("first", 3),
        ("shape", [7]),
        ("counts", [-1, 3]),
        ("counts", [0.5, 3]),
        ("counts", [2**63, 2**63]),
        ("counts", None),
        ("counts", [[1], [2, 3]]),
    ],
)
def test_damaged_joint_histograms_are_refused(key: str, value) -> None:
    plain = {"names": ["age"], "widths": [1.0], "first": [0], "shape": [2], "counts": [1, 3]}
    assert JointHistogram.from_dict(plain).n == 4
    with pytest.raises(DiscreetError):
        JointHistogram.from_dict(plain | {key: value})
    with pytest.raises(InputError):
        JointHistogram.from_dict({name: one for name, one in plain.items() if name != key})


def test_histograms_of_other_columns_are_refused() -> None:
    seen = noisy(rows(2_000), ["age", "pay"])
    one = JointReconstruction(ONE, intervals=6).histogram(seen)
    other = JointReconstruction({"pay": CHANNELS["pay"]}, intervals=6)
    with pytest.raises(InputError, match="other columns"):
        other.reconstruct(one)
    with pytest.raises(InputError, match="same"):
        one + other.histogram(seen)


def test_what_is_no_joint_density_is_refused() -> None:
    axis = Axis("x", np.array([0.0, 1.0, 2.0]))
    for shares in (np.ones((3,)) / 3, np.array([0.5, 0.6]), np.array([math.nan, 1.0])):
        with pytest.raises(InputError):
            JointDensity((axis,), shares)
    right = JointDensity((axis,), np.array([0.5, 0.5]))
    with pytest.raises(ParameterError):
        right.marginal("y")
    with pytest.raises(ParameterError):
        right.marginal()
    with pytest.raises(InputError):
        right.distance(JointDensity((Axis("y", axis.edges),), right.shares))
