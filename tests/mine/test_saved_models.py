"""Saved models that were damaged: whatever is changed, they are refused, or still tell chances that add up to 1."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.collect import AdditiveNoise, Channels, Gaussian, RandomizedResponse, UnaryResponse
from discreet.core.errors import DiscreetError, InputError
from discreet.mine import (
    NoisyMixture,
    ReconstructedNaiveBayes,
    ReconstructedTree,
    model_from_dict,
    model_to_dict,
)

CHANNELS = Channels(
    {
        "age": AdditiveNoise(Gaussian(5.0), low=20, high=80),
        "town": RandomizedResponse.k_ary(["north", "south"], epsilon=2),
    }
)
WRONG = [None, "x", -1, [], {}, math.nan, 1e308, 10**30, True]


def people(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, n)
    return pd.DataFrame({"age": age, "town": np.where(age + rng.normal(0, 9, n) < 45, "north", "south")})


def places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Go through everything in plain data, but only the first few of a list."""
    if path:
        yield path
    if isinstance(plain, dict):
        for key, one in plain.items():
            yield from places(one, (*path, key))
    elif isinstance(plain, list):
        for number, one in enumerate(plain[:2]):
            yield from places(one, (*path, number))


@pytest.mark.parametrize("kind", [ReconstructedTree, ReconstructedNaiveBayes])
def test_no_single_change_makes_a_model_that_predicts_nonsense(kind) -> None:
    true = people()
    classes = np.where(true["age"] < 45, "young", "old")
    saved = json.loads(
        json.dumps(model_to_dict(kind(CHANNELS).fit(CHANNELS.perturb(true, random_state=1), classes)))
    )
    refused = 0
    for path in places(saved):
        for wrong in WRONG:
            plain = copy.deepcopy(saved)
            inner = plain
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = wrong
            try:
                model = model_from_dict(plain)
                names = getattr(model, "feature_names_in_", ["age", "town"])
                rows = pd.DataFrame(true.iloc[:5].to_numpy(object), columns=list(names)).astype(
                    {names[0]: float}
                )
                chances = model.predict_proba(rows)
            except DiscreetError:
                refused += 1
                continue
            assert np.allclose(chances.sum(axis=1), 1), (path, wrong)
    assert refused > 100


@pytest.mark.filterwarnings("ignore:X has feature names")  # a model without names is none that is damaged
def test_no_single_change_makes_clusters_that_predict_nonsense() -> None:
    rng = np.random.default_rng(0)
    true = pd.DataFrame(
        rng.normal(size=(300, 2)) + np.repeat([[0, 0], [6, 6]], 150, axis=0), columns=["a", "b"]
    )
    noisy = true + rng.normal(0, 0.5, true.shape)
    fitted = NoisyMixture(0.25, 2, random_state=0).fit(noisy)
    saved = json.loads(json.dumps(model_to_dict(fitted)))
    assert np.allclose(model_from_dict(saved).predict_proba(true), fitted.predict_proba(true))
    refused = 0
    for path in places(saved):
        for wrong in WRONG:
            damaged = copy.deepcopy(saved)
            inner = damaged
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = wrong
            try:
                chances = model_from_dict(damaged).predict_proba(true.iloc[:5])
            except DiscreetError:
                refused += 1
                continue
            assert np.allclose(chances.sum(axis=1), 1), (path, wrong)
    assert refused > 100


def learned_together() -> dict[str, Any]:
    """One model of each kind that parties learn, saved, with the rows that it predicts."""
    from tests.parties.open_protocols import (
        HorizontalKMeans,
        HorizontalLogistic,
        HorizontalNaiveBayes,
        HorizontalRidge,
    )

    from discreet.parties import simulate

    rng = np.random.default_rng(0)
    rows = {"x": rng.integers(0, 3, 30), "z": rng.integers(0, 2, 30), "t": np.arange(30) % 2}
    described: dict[str, Any] = {"columns": ("x", "z")}
    classified = described | {"target": "t", "classes": (0, 1)}
    protocols = {
        "naive-bayes": HorizontalNaiveBayes(**classified),
        "categories": HorizontalNaiveBayes(**classified, categories={"x": (0, 1, 2), "z": (0, 1)}),
        "logistic-regression": HorizontalLogistic(**classified),
        "ridge": HorizontalRidge(**described, target="t"),
        "k-means": HorizontalKMeans(**described, k=2, min_rows=2),
    }
    return {
        name: model_to_dict(simulate(protocol, dict.fromkeys("abc", rows)).outputs["a"].model)
        for name, protocol in protocols.items()
    }


@pytest.mark.filterwarnings("ignore")
def test_no_single_change_makes_a_model_of_parties_that_cannot_predict() -> None:
    rows = pd.DataFrame({"x": [0.0, 2.0], "z": [1.0, 0.0]})
    for saved in learned_together().values():
        assert len(model_from_dict(saved).predict(rows)) == 2
        refused = 0
        for path in places(saved):
            for wrong in [*WRONG, [1.0], ["x"], [[1.0, 2.0]]]:
                damaged = copy.deepcopy(saved)
                inner = damaged
                for step in path[:-1]:
                    inner = inner[step]
                inner[path[-1]] = wrong
                try:
                    model = model_from_dict(damaged)
                except DiscreetError:
                    refused += 1
                    continue
                named = rows.set_axis(list(model.feature_names_in_), axis=1)
                assert len(model.predict(named)) == 2, (path, wrong)
        assert refused > 50


def test_a_model_of_bits_is_refused() -> None:
    true = people()
    model = ReconstructedNaiveBayes(CHANNELS).fit(CHANNELS.perturb(true, random_state=1), true["age"] < 45)
    plain = model_to_dict(model)
    plain["columns"][1]["channel"] = UnaryResponse(["north", "south"], p=0.5, q=0.9).to_dict()
    with pytest.raises(InputError, match="unary"):
        model_from_dict(plain)


def test_a_model_that_asks_for_endless_memory_is_refused() -> None:
    true = people()
    model = ReconstructedNaiveBayes(CHANNELS).fit(CHANNELS.perturb(true, random_state=1), true["age"] < 45)
    plain = model_to_dict(model)
    plain["columns"][0]["bins"][2] = 10**12
    with pytest.raises(DiscreetError, match="n_bins"):
        model_from_dict(plain)
