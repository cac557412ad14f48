"""Ridge regression between parties equals that of scikit-learn on the pooled rows or the joined columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
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
    HorizontalRidge,
    VerticalRidge,
)
from tests.parties.splits import by_party, frame, n_of, quarter, split_rows

from discreet.parties.mining import model_from_dict, model_to_dict


@settings(max_examples=20)
@given(split_rows(min_rows=2), st.floats(0.01, 10))
def test_ridge_equals_scikit_learn(split: Any, alpha: float) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {"x": quarter(rng.normal(size=n) * 3), "y": quarter(rng.normal(size=n) + 5000)}
    rows["t"] = quarter(2 * rows["x"] - rows["y"] + rng.normal(size=n))
    run = checked(HorizontalRidge(columns=XY, target="t", alpha=alpha), by_party(rows, parts))
    oracle = Ridge(alpha=alpha, solver="cholesky").fit(frame(rows, XY), rows["t"])
    model = run.outputs["p0"].model
    assert np.allclose(model.coef_, oracle.coef_, atol=1e-7)
    assert np.allclose(model.predict(frame(rows, XY)), oracle.predict(frame(rows, XY)), atol=1e-5)
    again = model_from_dict(model_to_dict(model))
    assert np.allclose(again.predict(frame(rows, XY)), model.predict(frame(rows, XY)))


@settings(max_examples=6)
@sizes
def test_ridge_equals_that_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rows, columns = joined_rows(seed, n), columns_of(parties)
    protocol = VerticalRidge(columns=columns, ranges=RANGES, target="b", alpha=0.01)
    run = checked(protocol, inputs_of(rows, columns))
    used = [name for name in NAMES if name != "b"]
    oracle = Ridge(alpha=0.01, solver="cholesky").fit(frame(rows, used), rows["b"])
    for output in run.outputs.values():
        assert output.model.feature_names_in_.tolist() == used
        assert np.allclose(output.model.coef_, oracle.coef_, atol=1e-6)
        assert output.model.intercept_ == pytest.approx(oracle.intercept_, abs=1e-6)
