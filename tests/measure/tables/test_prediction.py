"""Predictions from a table: as good as scikit-learn's, the same for the same rows, and defined at the edges."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from discreet import Table, quasi, sensitive
from discreet.core.errors import SchemaError
from discreet.datasets import hospital, hospital_columns
from discreet.measure import prediction
from discreet.measure.tables.prediction import (
    _classification,
    _logistic_weights,
    _regression,
    _with_constant,
    predictable,
)


def features(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of numbers and indicators, and classes that depend on them in part."""
    rng = np.random.default_rng(seed)
    rows = np.hstack([rng.normal(size=(n, 3)), rng.integers(0, 2, (n, 12)).astype(float)])
    scores = rows @ rng.normal(size=(15, 5)) + 2 * rng.gumbel(size=(n, 5))
    return rows, scores.argmax(axis=1) + 1


@pytest.mark.parametrize("seed", range(4))
def test_classes_are_predicted_as_by_scikit_learn(seed: int) -> None:
    rows, classes = features(3_000, seed)
    score, baseline = _classification(rows, classes, 900)
    model = LogisticRegression(max_iter=300, tol=1e-6).fit(rows[900:], classes[900:])
    assert score == pytest.approx(float((model.predict(rows[:900]) == classes[:900]).mean()), abs=0.006)
    assert baseline < score


def test_the_weights_minimize_the_penalized_likelihood() -> None:
    rows, classes = features(800, 7)
    weights = _logistic_weights(_with_constant(rows), classes - 1)
    scores = _with_constant(rows) @ weights
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    truth = np.equal.outer(classes - 1, np.arange(5)).astype(float)
    slope = _with_constant(rows).T @ (likely - truth)
    slope[:-1] += weights[:-1]
    assert np.abs(slope).max() < 1e-3 * len(rows)


def test_numbers_are_predicted_as_by_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(500, 6))
    target = rows @ rng.normal(size=6) + rng.normal(size=500) + 10
    score, baseline = _regression(rows, target, 150)
    model = Ridge(alpha=1.0).fit(rows[150:], target[150:])
    left = ((target[:150] - model.predict(rows[:150])) ** 2).sum()
    around = ((target[:150] - target[150:].mean()) ** 2).sum()
    assert score == pytest.approx(1 - left / around, abs=1e-6)
    assert baseline == 0


def test_the_order_of_rows_does_not_matter() -> None:
    frame = hospital(600, random_state=1)
    order = np.random.default_rng(0).permutation(600)
    first = prediction(Table(frame, hospital_columns()), "diagnosis")
    assert first == prediction(Table(frame.take(order), hospital_columns()), "diagnosis")


@pytest.mark.parametrize(
    ("ages", "answers"),
    [
        ([30] * 40, ["no", "yes"] * 20),
        ([None] * 40, ["no"] * 40),
        (list(range(40)), [None] * 39 + ["yes"]),
        ([30, 40], ["no", "yes"]),
        (list(range(40)), ["no"] * 39 + ["yes"]),
    ],
    ids=["constant", "one class", "hardly an answer", "two rows", "one of a class"],
)
def test_poor_tables_have_a_score_or_none(ages: list[int | None], answers: list[str | None]) -> None:
    frame = pa.table({"age": pa.array(ages, pa.int64()), "ill": pa.array(answers, pa.string())})
    predicted = prediction(Table(frame, {"age": quasi(), "ill": sensitive()}), "ill")
    assert math.isnan(predicted.score) or 0 <= predicted.score <= 1


def test_only_sensitive_columns_are_predicted() -> None:
    with pytest.raises(SchemaError, match="'age' is not a sensitive column"):
        prediction(Table(pa.table({"age": [1, 2]}), {"age": quasi()}), "age")


def test_the_label_of_a_table_comes_first() -> None:
    rows = {"age": [20, 30], "drug": ["a", "b"], "dose": ["x", "y"], "readmitted": ["no", "yes"]}
    roles = {"age": quasi(), **dict.fromkeys(("drug", "dose", "readmitted"), sensitive())}
    assert predictable(Table(pa.table(rows), roles)) == ["readmitted", "drug", "dose"]
    named = {"age": [20, 30], "drug": ["a", "b"], "class": ["A", "B"], "note": ["x", "y"]}
    roles = {"age": quasi(), **dict.fromkeys(("drug", "class", "note"), sensitive())}
    assert predictable(Table(pa.table(named), roles)) == ["class", "drug", "note"]
