"""The tables experiment: figures that can be worked out, and a page that shows all."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from experiments import perform
from experiments.tables import experiment as tables
from experiments.tables import runs


def test_evenly_spread_rows_lie_near_the_volume_line() -> None:
    for d in (1, 2, 3):
        assert runs.uniform(2_000, d, 10, seed=1) == pytest.approx((10 / 2_000) ** (1 / d), rel=0.6)


def test_loss_rises_with_k_and_the_best_levels_cost_least_of_all_levels() -> None:
    points = runs.by_k(runs.sample(None).drawn(400, 1), (2, 20), 3)
    value = {(point["k"], point["series"]): point["value"] for point in points}
    assert value[2, "Mondrian"] < value[20, "Mondrian"]
    assert value[2, "OptimalLattice"] <= value[2, "Incognito"] + 1e-12


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_ROWS", {True: 300})
    monkeypatch.setattr(tables, "_UNIFORM", {True: 200})
    monkeypatch.setattr(tables, "_DIMENSIONS", {True: (1, 2)})
    monkeypatch.setattr(tables, "_KS", {True: (2,)})
    monkeypatch.setattr(tables, "_TARGETS", {True: 20})
    page = perform("tables", tmp_path / "out", data=tmp_path, quick=True, seeds=1)
    text = page.read_text(encoding="utf-8")
    assert "Skipped: Adult is not here" in text
    assert "not judged in quick form" in text
    linked = set(re.findall(r'href="([^"#]+)"', text))
    assert linked == {path.name for path in page.parent.iterdir()} - {"index.html"}
    with (page.parent / "linkage.csv").open(encoding="utf-8") as stream:
        rows = {row[0]: row for row in csv.reader(stream)}
    assert rows["Joy"][4:] == rows["Sue"][4:] == ["0.5", "0.5"]
    assert rows["Diana"][4:] == ["1.0", "1.0"]
