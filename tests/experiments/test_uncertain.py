"""The experiment on uncertain records: its page, and what the two forms come to on the paper's kind of data."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from experiments import EXPERIMENTS, perform
from experiments.condensation.data import samples
from experiments.uncertain import experiment as uncertain
from experiments.uncertain.runs import METHODS, runs_of


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncertain, "_K", {True: (4,)})
    monkeypatch.setattr(uncertain, "samples", lambda data: samples(data)[1:3])
    lines: list[str] = []
    page = perform("uncertain", tmp_path / "out", data=tmp_path, quick=True, seeds=1, log=lines.append)
    text = page.read_text(encoding="utf-8")
    linked = set(re.findall(r'href="([^"#]+)"', text))
    assert linked == {path.name for path in page.parent.iterdir()} - {"index.html"}
    assert {"uncertain-wine.png", "uncertain-iris.png", "wine.csv"} <= linked
    assert any("stands in" in line for line in lines)
    assert "uncertain" in EXPERIMENTS


def test_a_level_out_of_reach_leaves_a_row_empty(tmp_path: Path) -> None:
    runs = {run.method: run for run in runs_of(samples(tmp_path)[2], 60, [1])}
    assert list(runs) == list(METHODS)
    assert not runs["uncertain"].error
    assert runs["condensation"].error


@pytest.mark.parametrize("number", range(3), ids=["ionosphere", "ecoli", "pima"])
def test_the_public_sets(shared_data: Path, number: int) -> None:
    sample = samples(shared_data)[number]
    assert not sample.substitute
    runs = {run.method: run for run in runs_of(sample, 10, [1, 2])}
    paper, ours = runs["uncertain, own spreads"], runs["uncertain"]
    assert np.mean(paper.rank) == pytest.approx(10, rel=0.15)
    assert np.mean(paper.first_in_class) > 0.95
    assert np.mean(ours.rank_in_class) > 10
    assert np.mean(ours.first_in_class) < 0.3
