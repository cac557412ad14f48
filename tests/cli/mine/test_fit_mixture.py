"""`discreet fit --model mixture`: clusters are learned, saved, used to predict, and refused with one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.mine import model_from_dict


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    true = np.repeat([[20.0, 1.0], [60.0, 9.0]], 300, axis=0) + rng.normal(size=(600, 2))
    seen = true + rng.normal(size=true.shape) * [4.0, 1.0]
    pl.DataFrame({"age": seen[:, 0], "visits": seen[:, 1], "class": ["x"] * 600}).write_csv(
        tmp_path / "noisy.csv"
    )
    pl.DataFrame({"age": true[:, 0], "visits": true[:, 1]}).write_csv(tmp_path / "true.csv")
    channels = {"age": {"noise": "gaussian", "spread": 4.0}, "visits": {"noise": "gaussian", "spread": 1.0}}
    (tmp_path / "channels.json").write_text(json.dumps(channels))
    return tmp_path / "noisy.csv"


def test_clusters_are_learned_and_predicted(invoke, noisy: Path) -> None:
    folder = noisy.parent
    how = ["--channels", folder / "channels.json", "--model", "mixture", "--n-clusters", 2]
    result = invoke("fit", noisy, "--drop", "class", *how, "--out", folder / "model.json")
    assert result.exit_code == 0, result.output
    assert "clusters" in result.stdout
    model = model_from_dict(json.loads((folder / "model.json").read_text()))
    assert np.allclose(np.sort(model.cluster_centers_[:, 0]), [20, 60], atol=1.5)
    out = folder / "predicted.csv"
    result = invoke("predict", folder / "model.json", folder / "true.csv", "--out", out)
    assert result.exit_code == 0, result.output
    predicted = pl.read_csv(out)
    assert predicted.columns == ["predicted", "probability"]
    assert predicted["predicted"].value_counts()["count"].to_list() == [300, 300]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--model", "mixture", "--target", "class"], "no target"),
        (["--model", "mixture", "--max-depth", 3], "--max-depth belongs to tree"),
        (["--n-clusters", 3, "--target", "class"], "--n-clusters belongs to mixture"),
        (["--model", "tree"], "The column of the classes is missing"),
        (["--model", "mixture"], "'class' must hold numbers"),
        (["--model", "mixture", "--drop", "class", "--n-clusters", 0], "'n_clusters'"),
        (["--model", "mixture", "--drop", "class", "--n-clusters", 601], "600 rows cannot make 601"),
    ],
)
def test_mistakes_are_one_line(invoke, noisy: Path, args, words: str) -> None:
    out = noisy.parent / "model.json"
    result = invoke("fit", noisy, *args, "--out", out)
    assert result.exit_code == 2, result.output
    assert words in result.output
    assert not out.exists()
