"""The randomization experiment: shapes near the truth, losses that fall with n, and a page that shows all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from experiments import EXPERIMENTS, perform
from experiments.randomization import experiment as randomization
from experiments.randomization import runs


@pytest.mark.parametrize("shape", list(runs.SHAPES))
@pytest.mark.parametrize("noise", list(runs.NOISES))
def test_reconstructed_shapes_are_nearer_to_the_truth_than_noisy_values(shape: str, noise: str) -> None:
    found = runs.pictured(shape, noise, 0.5, n=20_000, intervals=40)
    assert found.truth.distance(found.found) < found.noisy_loss / 2
    assert found.truth.distance(found.truth) == 0


def test_shapes_are_what_they_are_called() -> None:
    plateau, triangles = runs.SHAPES["plateau"], runs.SHAPES["triangles"]
    assert plateau.cdf(np.array([0.25, 0.5, 0.75])) == pytest.approx([0, 0.5, 1])
    assert triangles.cdf(np.array([0.125, 0.25, 0.5, 0.75])) == pytest.approx(
        [1 / 16, 1 / 4, 1 / 2, 3 / 4], abs=1e-6
    )


@pytest.mark.parametrize("method", ["bayes", "em"])
def test_information_loss_falls_as_values_are_added(method: str) -> None:
    few, many = (
        next(
            one
            for one in runs.losses("plateau", "uniform", 1.0, n=n, intervals=[20], seeds=[1, 2, 3])
            if one.method == method
        )
        for n in (1_000, 100_000)
    )
    assert np.mean(many.values) < np.mean(few.values) / 1.5


def test_the_order_of_the_strategies_is_judged_over_the_seeds() -> None:
    names = ("Original", "Local", "ByClass", "Global", "Randomized")
    levels = {name: [90.0 - 5 * place, 91.0 - 5 * place] for place, name in enumerate(names)}
    kept = runs.Accuracies("P1", "uniform", 1.0, levels)
    assert "0 are undecided, and 0 turned round." in randomization._exceptions([kept])
    turned = runs.Accuracies("P2", "uniform", 1.0, levels | {"Global": [95.0, 96.0]})
    assert "ByClass is below Global on Function 2 under uniform noise" in randomization._exceptions([turned])


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomization, "_RECORDS", {True: 1500})
    monkeypatch.setattr(randomization, "_PRIVACIES", {True: (1.0,)})
    monkeypatch.setattr(randomization, "_SIZES", {True: (500,)})
    lines: list[str] = []
    page = perform("randomization", tmp_path / "out", quick=True, seeds=1, log=lines.append)
    text = page.read_text(encoding="utf-8")
    linked = set(re.findall(r'href="([^"#]+)"', text))
    assert linked == {path.name for path in page.parent.iterdir()} - {"index.html"}
    names = {"shape-plateau.png", "shape-triangles.png", "accuracy-uniform-picture.png", "points-lost.csv"}
    assert names <= linked
    table = (page.parent / "accuracy-gaussian.md").read_text(encoding="utf-8")
    for word in ("Original", "Randomized", "Global", "ByClass", "Local", "Function 5"):
        assert word in table
    assert any("Function 3, seed 1" in line for line in lines)
    assert "randomization" in EXPERIMENTS
