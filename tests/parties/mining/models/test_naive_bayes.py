"""Naive Bayes between parties equals that of scikit-learn on the pooled rows or the joined columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from tests.parties.mining.models.pooled import (
    NAMES,
    RANGES,
    XY,
    checked,
    columns_of,
    inputs_of,
    joined_rows,
    sizes,
)
from tests.parties.open_protocols import (
    HorizontalNaiveBayes,
    VerticalNaiveBayes,
)
from tests.parties.splits import by_party, frame, n_of, quarter, split_rows

from discreet.core.errors import InputError
from discreet.parties.mining import model_from_dict, model_to_dict


@settings(max_examples=20)
@given(split_rows(min_rows=3))
def test_gaussian_naive_bayes_equals_scikit_learn(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {
        "x": quarter(rng.normal(size=n) * 5),
        "y": quarter(rng.normal(size=n) + 1000),
        "c": rng.integers(0, 3, n),
    }
    protocol = HorizontalNaiveBayes(columns=XY, target="c", classes=(0, 1, 2, 3))
    run = checked(protocol, by_party(rows, parts))
    oracle = GaussianNB().fit(frame(rows, XY), rows["c"])
    model = run.outputs["p0"].model
    assert model.classes_.tolist() == oracle.classes_.tolist()
    assert np.allclose(model.theta_, oracle.theta_)
    assert np.allclose(model.var_, oracle.var_, rtol=1e-6, atol=1e-7)
    assert np.allclose(model.class_prior_, oracle.class_prior_)
    again = model_from_dict(model_to_dict(model))
    assert (again.predict(frame(rows, XY)) == model.predict(frame(rows, XY))).all()


@settings(max_examples=20)
@given(split_rows())
def test_categorical_naive_bayes_equals_scikit_learn(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    codes = rng.integers(0, 3, (n, 2))
    letters = np.array(["u", "v", "w"])
    rows = {"x": letters[codes[:, 0]], "y": codes[:, 1], "c": rng.integers(0, 2, n) == 1}
    protocol = HorizontalNaiveBayes(
        columns=XY,
        target="c",
        classes=(False, True),
        categories={"x": ("u", "v", "w"), "y": (0, 1, 2)},
        alpha=0.5,
    )
    run = checked(protocol, by_party(rows, parts))
    oracle = CategoricalNB(alpha=0.5, min_categories=3).fit(codes, rows["c"])
    model = run.outputs["p1"].model
    assert np.allclose(model.class_log_prior_, oracle.class_log_prior_)
    for mine, theirs in zip(model.feature_log_prob_, oracle.feature_log_prob_, strict=True):
        assert np.allclose(mine, theirs)
    coded = frame({"x": codes[:, 0], "y": codes[:, 1]}, XY)
    assert (model.predict(coded) == oracle.predict(codes)).all()


def test_a_class_that_the_session_does_not_name_is_refused() -> None:
    protocol = HorizontalNaiveBayes(columns=("x",), target="y", classes=("a", "b"))
    with pytest.raises(InputError, match="1 values of column 'y'") as error:
        protocol.check_input({"x": [1.0], "y": ["secret"]}, ("a", "b"), "a")
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="numbers where"):
        protocol.check_input({"x": [1.0], "y": [3]}, ("a", "b"), "a")


@settings(max_examples=6)
@sizes
def test_gaussian_naive_bayes_equals_that_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rows, columns = joined_rows(seed, n), columns_of(parties)
    labels = np.random.default_rng(seed).integers(0, 3, n)
    protocol = VerticalNaiveBayes(
        columns=columns, ranges=RANGES, target="t", holder="p1", classes=(0, 1, 2, 3)
    )
    run = checked(protocol, inputs_of(rows, columns, p1={"t": labels}))
    oracle = GaussianNB().fit(frame(rows, NAMES), labels)
    for output in run.outputs.values():
        assert output.model.classes_.tolist() == oracle.classes_.tolist()
        assert np.allclose(output.model.theta_, oracle.theta_, atol=1e-9)
        assert np.allclose(output.model.var_, oracle.var_, atol=1e-9)
        assert np.allclose(output.model.class_prior_, oracle.class_prior_)


@settings(max_examples=6)
@sizes
def test_categorical_naive_bayes_equals_that_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rng = np.random.default_rng(seed)
    rows = {name: rng.integers(0, 3, n) for name in NAMES}
    labels = rng.integers(0, 2, n)
    columns = {**columns_of(parties), "holder": ()}
    protocol = VerticalNaiveBayes(
        columns=columns,
        categories=dict.fromkeys(NAMES, (0, 1, 2)),
        target="t",
        holder="holder",
        classes=(0, 1),
    )
    run = checked(protocol, inputs_of(rows, columns, holder={"t": labels}))
    oracle = CategoricalNB(min_categories=3).fit(np.column_stack([rows[name] for name in NAMES]), labels)
    for output in run.outputs.values():
        for mine, theirs in zip(output.model.feature_log_prob_, oracle.feature_log_prob_, strict=True):
            assert np.allclose(mine, theirs)
