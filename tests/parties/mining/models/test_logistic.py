"""Logistic regression between parties equals that of scikit-learn on the pooled rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from tests.parties.mining.models.pooled import XY, checked
from tests.parties.open_protocols import (
    HorizontalLogistic,
)
from tests.parties.splits import by_party, frame, n_of, split_rows

from discreet.parties.mining import model_from_dict, model_to_dict


@settings(max_examples=15)
@given(split_rows(min_rows=6), st.sampled_from([0.1, 1.0, 50.0]), st.integers(2, 3))
def test_logistic_regression_equals_scikit_learn(split: Any, C: float, n_classes: int) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {"x": rng.normal(size=n), "y": rng.normal(size=n), "c": rng.integers(0, n_classes, n)}
    rows["c"][:n_classes] = range(n_classes)
    protocol = HorizontalLogistic(columns=XY, target="c", classes=tuple(range(n_classes + 1)), C=C, tol=1e-10)
    run = checked(protocol, by_party(rows, parts))
    oracle = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(frame(rows, XY), rows["c"])
    model = run.outputs["p0"].model
    assert model.classes_.tolist() == oracle.classes_.tolist()
    assert np.allclose(model.coef_, oracle.coef_, atol=2e-4)
    assert np.allclose(model.predict_proba(frame(rows, XY)), oracle.predict_proba(frame(rows, XY)), atol=2e-4)
    again = model_from_dict(model_to_dict(model))
    assert (again.predict(frame(rows, XY)) == model.predict(frame(rows, XY))).all()


def test_parties_whose_arithmetic_differs_in_the_last_digits_still_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each thread solves with an error of its own: all stop in the same round, with the same model up to that."""
    solve, errors = np.linalg.lstsq, itertools.cycle([1 + 1e-13, 1 - 1e-13, 1.0])

    def inexact(*args: Any, **options: Any) -> Any:
        return [solve(*args, **options)[0] * next(errors)]

    monkeypatch.setattr(np.linalg, "lstsq", inexact)
    rng = np.random.default_rng(3)
    rows = {"x": rng.normal(size=90), "y": rng.normal(size=90)}
    rows["c"] = np.where(rows["x"] + rng.normal(size=90) > 0, 1, 0)
    protocol = HorizontalLogistic(columns=XY, target="c", classes=(0, 1), tol=1e-11)
    run = checked(protocol, by_party(rows, np.array_split(np.arange(90), 3)))
    found = [output.model.coef_ for output in run.outputs.values()]
    assert np.allclose(found[0], found[1], atol=1e-9)
    assert np.allclose(found[0], found[2], atol=1e-9)
