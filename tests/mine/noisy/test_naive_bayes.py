"""Naive Bayes from reconstructed distributions: by definition where nothing is hidden, near the truth where it is."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from tests.oracles.trees import naive_bayes

from discreet.collect import (
    AdditiveNoise,
    Channels,
    Gaussian,
    Laplace,
    RandomizedResponse,
    UnaryResponse,
    Uniform,
)
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.datasets import agrawal
from discreet.mine import ReconstructedNaiveBayes, model_from_dict, model_to_dict

SECRET = "Esmeralda Quist"


def hidden_people(n: int = 6000, seed: int = 0) -> tuple[pa.Table, pa.Table, np.ndarray, Channels]:
    """True and noisy rows of an age and a town, their classes, and the channels."""
    rng = np.random.default_rng(seed)
    label = np.where(rng.random(n) < 0.5, "ill", "well")
    age = np.where(label == "ill", rng.normal(65, 8, n), rng.normal(35, 8, n)).clip(0, 100)
    town = np.where(rng.random(n) < np.where(label == "ill", 0.8, 0.3), "north", "south")
    true = pa.table({"age": age, "town": town})
    channels = Channels({
        "age": AdditiveNoise(Gaussian(20.0), low=0, high=100),
        "town": RandomizedResponse.k_ary(["north", "south"], keep=0.75),
    })  # fmt: skip
    return true, channels.perturb(true, random_state=seed), label, channels


def test_scikit_learn_s_checks() -> None:
    for done in check_estimator(ReconstructedNaiveBayes(), on_skip=None, on_fail=None):
        expected = ("passed", "skipped") if done["check_name"] == "check_array_api_input" else ("passed",)
        assert done["status"] in expected, (done["check_name"], done["exception"])


def test_importing_the_room_loads_no_scikit_learn() -> None:
    code = "import sys, discreet.mine; assert 'sklearn' not in sys.modules; discreet.mine.ReconstructedNaiveBayes"
    subprocess.run([sys.executable, "-c", code], check=True)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_without_noise_it_is_naive_bayes_by_counting(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 25))
    cell = st.tuples(st.sampled_from("abc"), st.integers(0, 4))
    rows = data.draw(st.lists(cell, min_size=n, max_size=n))
    labels = data.draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=n, max_size=n))
    frame = pd.DataFrame({"kind": [one for one, _ in rows], "size": [float(two) for _, two in rows]})
    model = ReconstructedNaiveBayes().fit(frame, labels)
    found = model.predict_proba(frame)
    for row, chances in zip(rows, found, strict=True):
        wanted = naive_bayes(rows, labels, row)
        assert dict(zip(model.classes_.tolist(), chances.tolist(), strict=True)) == pytest.approx(wanted)


def test_unseen_categories_change_nothing() -> None:
    frame = pl.DataFrame({"kind": ["a", "a", "b", "b"], "size": [1.0, 1.0, 2.0, 2.0]})
    model = ReconstructedNaiveBayes().fit(frame, [0, 0, 1, 1])
    found = model.predict_proba(pl.DataFrame({"kind": ["q"], "size": [1.0]}))[0]
    wanted = naive_bayes([(1.0,), (1.0,), (2.0,), (2.0,)], [0, 0, 1, 1], (1.0,))
    assert found.tolist() == pytest.approx(list(wanted.values()))


def test_shares_come_near_the_truth_within_each_class() -> None:
    true, noisy, label, channels = hidden_people(20_000)
    model = ReconstructedNaiveBayes(channels).fit(noisy, label)
    town = np.asarray(true["town"])
    for at, one in enumerate(model.classes_):
        share = (town[label == one] == "north").mean()
        # Two classes of 10,000, kept with 3/4: a standard error of a share is below 0.01; five of them.
        assert abs(model.shares_[1][0, at] - share) < 0.05
        middles = (model.columns_[0].edges[1:] + model.columns_[0].edges[:-1]) / 2
        ages = np.asarray(true["age"])[label == one]
        assert abs((middles * model.shares_[0][:, at]).sum() - ages.mean()) < 1.5


@pytest.mark.parametrize("noise", [Uniform(30.0), Gaussian(20.0), Laplace(15.0)])
def test_it_learns_through_noise(noise) -> None:
    rng = np.random.default_rng(4)
    label = rng.random(8000) < 0.5
    x = np.where(label, rng.uniform(0, 50, 8000), rng.uniform(50, 100, 8000))
    channel = AdditiveNoise(noise, low=0, high=100)
    z = channel.perturb(x, random_state=4)
    model = ReconstructedNaiveBayes([channel]).fit(z[:, None], label)
    # Told apart perfectly by the truth; what noise hides of the border costs a few points.
    assert model.score(x[:, None], label) > 0.93
    assert (
        ReconstructedNaiveBayes([AdditiveNoise(noise)]).fit(z[:, None], label).score(x[:, None], label) > 0.9
    )


def test_noisy_rows_are_predicted_by_the_probabilities_of_reports() -> None:
    _, noisy, label, channels = hidden_people()
    model = ReconstructedNaiveBayes(channels, predicts="noisy").fit(noisy, label)
    chances = model.predict_proba(noisy)
    row = 17
    scores = model.class_prior_.copy()
    for column, shares, name in zip(model.columns_, model.shares_, ("age", "town"), strict=True):
        report = np.array([noisy[name][row].as_py()], dtype=object if name == "town" else float)
        scores *= (column.chances @ shares)[column.bins(report)[0]]
    assert chances[row].tolist() == pytest.approx((scores / scores.sum()).tolist())
    naively = ReconstructedNaiveBayes(channels).fit(noisy, label)
    assert model.score(noisy, label) > naively.score(noisy, label) - 0.01


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_every_frame_gives_the_same(kind: str) -> None:
    true, noisy, label, channels = hidden_people(1500)
    wrap = {"pandas": pa.Table.to_pandas, "polars": pl.from_arrow, "arrow": lambda one: one}[kind]
    model = ReconstructedNaiveBayes(channels).fit(wrap(noisy), label)
    plain = ReconstructedNaiveBayes(channels).fit(noisy, pa.array(label))
    assert (model.predict_proba(wrap(true)) == plain.predict_proba(true)).all()
    assert (
        clone(model).fit(wrap(noisy), label).predict_proba(wrap(true)) == model.predict_proba(wrap(true))
    ).all()


def test_row_order_does_not_matter() -> None:
    true, noisy, label, channels = hidden_people(2000)
    order = np.random.default_rng(1).permutation(2000)
    model = ReconstructedNaiveBayes(channels).fit(noisy, label)
    other = ReconstructedNaiveBayes(channels).fit(noisy.take(order), label[order])
    assert (model.predict_proba(true) == other.predict_proba(true)).all()


def test_channels_by_name_number_and_place_are_the_same() -> None:
    _, noisy, label, channels = hidden_people(1000)
    age, town = channels.channels.values()
    found = [
        ReconstructedNaiveBayes(known).fit(noisy, label).predict_proba(noisy)
        for known in (channels, {"age": age, "town": town}, {0: age, 1: town}, [age, town], (age, town))
    ]
    assert all((one == found[0]).all() for one in found)
    ReconstructedNaiveBayes({"age": None, "town": town}).fit(noisy, label)


@pytest.mark.parametrize(
    ("channels", "error", "words"),
    [
        ({"aeg": AdditiveNoise(Gaussian(1.0))}, SchemaError, "'aeg'"),
        ({7: AdditiveNoise(Gaussian(1.0))}, SchemaError, "7"),
        ([None], ParameterError, "each of the 2 columns. Got 1"),
        ({"age": Gaussian(1.0)}, ParameterError, "'channels' parameter of ReconstructedNaiveBayes"),
        (
            [None, UnaryResponse(["north", "south"], p=0.75, q=0.75)],
            ParameterError,
            "an instance of UnaryResponse",
        ),
        (3, ParameterError, "a mapping or a sequence"),
        (
            {"age": AdditiveNoise(Gaussian(1.0), low=5, high=1)},
            ParameterError,
            "The 'high' parameter of AdditiveNoise",
        ),
        ({"age": AdditiveNoise(3)}, ParameterError, "The 'noise' parameter of AdditiveNoise"),
        ({"town": AdditiveNoise(Gaussian(1.0))}, InputError, "Column 'town' holds no numbers"),
        (
            {"town": RandomizedResponse.k_ary(["east", "west"], keep=0.75)},
            InputError,
            "none of its categories",
        ),
        (
            {"age": AdditiveNoise(Uniform(1.0), low=0, high=1)},
            InputError,
            "of column 'age' lie where the noise",
        ),
    ],
)
def test_bad_channels_are_named(channels, error, words: str) -> None:
    _, noisy, label, _ = hidden_people(300)
    with pytest.raises(error, match=words) as caught:
        ReconstructedNaiveBayes(channels).fit(noisy, label)
    assert "north" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("intervals", 1), ("intervals", 5000), ("smoothing", 0.0), ("predicts", "both")]
)
def test_bad_parameters_are_named(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of ReconstructedNaiveBayes"):
        ReconstructedNaiveBayes(**{name: value}).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    ("frame", "labels"),
    [
        ({"a": [1.0, None], "b": [SECRET, "x"]}, [0, 1]),
        ({"a": [1.0, float("nan")], "b": [SECRET, "x"]}, [0, 1]),
        ({"a": [1.0, 2.0], "b": [SECRET, None]}, [0, 1]),
        ({"a": [1.0, None]}, [0, 1]),
        ({"a": [1.0, 2.0], "b": [SECRET, "x"]}, [SECRET, None]),
        ({"a": [1.0, 2.0], "b": [SECRET, "x"]}, [0, 1, 1]),
        ({"a": [], "b": []}, []),
    ],
)
def test_what_cannot_be_learned_from_is_refused_without_a_value(frame, labels) -> None:
    for made in (pd.DataFrame(frame), pa.table(frame)):
        with pytest.raises((InputError, ValueError)) as caught:
            ReconstructedNaiveBayes().fit(made, np.array(labels, dtype=object))
        assert SECRET not in str(caught.value)
    with pytest.raises(SchemaError, match="pass a frame") as caught:
        ReconstructedNaiveBayes().fit(np.array([[SECRET], ["x"]], dtype=object), [0, 1])
    assert SECRET not in str(caught.value)


def test_other_columns_than_fitted_are_named() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    model = ReconstructedNaiveBayes().fit(frame, [0, 1])
    for changed, words in (
        (frame[["b", "a"]], "order"),
        (frame[["b"]], "no column 'a'"),
        (frame.assign(c="z"), "not fitted to column 'c'"),
        (frame.assign(a=["p", "q"]), "Column 'a' must hold numbers"),
    ):
        with pytest.raises((SchemaError, InputError), match=words):
            model.predict(changed)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_one_class_and_constant_columns(n: int) -> None:
    frame = pd.DataFrame({"a": [5.0] * n, "b": ["x"] * n})
    channels = {"a": AdditiveNoise(Gaussian(1.0)), "b": RandomizedResponse.k_ary(["x", "y"], keep=0.9)}
    for known in (None, channels):
        model = ReconstructedNaiveBayes(known).fit(frame, ["only"] * n)
        assert model.predict(frame).tolist() == ["only"] * n
        assert (model.predict_proba(frame) == 1).all()
        different = ReconstructedNaiveBayes(known).fit(frame, list(range(n)))
        assert different.predict_proba(frame).sum(axis=1) == pytest.approx(np.ones(n))


@pytest.mark.parametrize("predicts", ["true", "noisy"])
def test_a_saved_model_predicts_the_same(predicts: str) -> None:
    true, noisy, label, channels = hidden_people(1000)
    model = ReconstructedNaiveBayes(channels, predicts=predicts, intervals=20).fit(noisy, label)
    text = json.dumps(model_to_dict(model), allow_nan=False)
    again = model_from_dict(json.loads(text))
    assert (again.predict_proba(true) == model.predict_proba(true)).all()
    assert again.get_params()["predicts"] == predicts
    people = agrawal(n=500, random_state=1)
    rows, labels = people.drop_columns(["class"]), people["class"].to_numpy()
    exact = ReconstructedNaiveBayes().fit(rows, labels)
    read = model_from_dict(json.loads(json.dumps(model_to_dict(exact))))
    assert (read.predict_proba(rows) == exact.predict_proba(rows)).all()
