"""Statistics between parties equal those of the pooled rows or the joined columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.decomposition import PCA
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
    HorizontalStatistics,
    VerticalStatistics,
)
from tests.parties.splits import by_party, frame, n_of, quarter, split_rows

from discreet.parties.mining import model_from_dict, model_to_dict


@settings(max_examples=20)
@given(split_rows(min_rows=2))
def test_statistics_equal_the_pooled_ones(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    pooled = np.column_stack([quarter(rng.normal(size=n) * 3), quarter(rng.normal(size=n) + 1000)])
    rows = dict(zip(XY, pooled.T, strict=True))
    protocol = HorizontalStatistics(columns=XY, ranges={"x": (-10, 10)}, bins=5)
    run = checked(protocol, by_party(rows, parts))
    found = run.outputs["p0"].model
    assert found.n == n
    assert np.allclose(found.mean, pooled.mean(axis=0))
    assert np.allclose(found.covariance, np.cov(pooled.T), atol=1e-9)
    assert (
        found.histograms["x"][1].tolist()
        == np.histogram(np.clip(rows["x"], -10, 10), 5, (-10, 10))[0].tolist()
    )
    if n > 2:
        oracle = PCA(svd_solver="full").fit(pooled)
        assert np.allclose(found.pca().explained_variance_, oracle.explained_variance_, atol=1e-8)
    assert found.to_dict()["n"] == n


def test_principal_components_transform_as_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    pooled = rng.normal(size=(200, 3)) @ np.diag([3.0, 2.0, 0.5])
    names = ("a", "b", "c")
    rows = dict(zip(names, pooled.T, strict=True))
    run = checked(
        HorizontalStatistics(columns=names, fraction_bits=30),
        by_party(rows, np.array_split(np.arange(200), 2)),
    )
    model = run.outputs["p1"].model.pca(2)
    oracle = PCA(2).fit(pooled)
    assert np.allclose(
        np.abs(model.transform(frame(rows, names))), np.abs(oracle.transform(pooled)), atol=1e-5
    )
    assert np.allclose(model.explained_variance_ratio_, oracle.explained_variance_ratio_)
    assert model.noise_variance_ == pytest.approx(oracle.noise_variance_)
    again = model_from_dict(model_to_dict(model))
    assert np.allclose(again.transform(frame(rows, names)), model.transform(frame(rows, names)))


@settings(max_examples=6)
@sizes
def test_statistics_equal_those_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rows, columns = joined_rows(seed, n), columns_of(parties)
    run = checked(VerticalStatistics(columns=columns, ranges=RANGES), inputs_of(rows, columns))
    joined = np.column_stack([rows[name] for name in NAMES])
    for output in run.outputs.values():
        assert output.model.n == n
        assert np.allclose(output.model.mean, joined.mean(axis=0), atol=1e-9)
        assert np.allclose(output.model.covariance, np.cov(joined.T), atol=1e-9)
