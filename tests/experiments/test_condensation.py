"""The condensation experiment: μ as the paper claims, accuracy beside the baseline, and a page that shows it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from experiments import EXPERIMENTS, perform
from experiments.condensation import experiment as condensation
from experiments.condensation.data import samples
from experiments.condensation.runs import runs_of


def test_without_the_data_scikit_learn_s_sets_stand_in(tmp_path: Path) -> None:
    found = samples(tmp_path)
    assert [sample.name for sample in found] == ["breast_cancer", "wine", "iris", "diabetes"]
    assert all(sample.substitute for sample in found)
    assert [sample.accuracy_figure for sample in found] == [8, 10, 12, 14]


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condensation, "_ALPHAS", {True: (5, 12)})
    lines: list[str] = []
    page = perform("condensation", tmp_path / "out", data=tmp_path, quick=True, seeds=1, log=lines.append)
    text = page.read_text(encoding="utf-8")
    linked = set(re.findall(r'href="([^"#]+)"', text))
    assert linked == {path.name for path in page.parent.iterdir()} - {"index.html"}
    assert {f"figure-{number}.png" for number in range(8, 16)} <= linked
    assert any("stands in" in line for line in lines)
    claims = (page.parent / "claims.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert {line.rpartition(",")[2] for line in claims} == {"not judged: another set"}
    below = (page.parent / "diabetes-below.csv").read_text(encoding="utf-8").splitlines()
    assert len(below) == 1 + 3 * 2
    assert "replaced by" in text
    assert "condensation" in EXPERIMENTS


@pytest.mark.parametrize("number", range(4), ids=["ionosphere", "ecoli", "pima", "abalone"])
def test_the_paper_s_sets(shared_data: Path, number: int) -> None:
    sample = samples(shared_data)[number]
    assert not sample.substitute
    for run in runs_of(sample, 15, range(1, 4)):
        assert np.mean(run.mu) > 0.95
        assert np.mean(run.mu_standardized) > (0.99 if sample.name == "abalone" else 0.95)
        far = 0.2 if sample.name == "ionosphere" else 0.08
        assert np.mean(run.accuracy) > np.mean(run.baseline) - far
        assert np.mean(run.accuracy_of_more) > np.mean(run.baseline) - 0.1
        assert np.mean(run.groups) > np.mean(run.baseline_of_one) - 0.06
        below = (run.groups_below, run.accuracy_below, run.accuracy_of_one_below)
        assert [len(one) for one in below] == [3 if sample.name == "abalone" else 0] * 3
        if sample.name == "abalone":
            assert np.mean(run.accuracy_of_one_below) < np.mean(run.accuracy_of_one)
