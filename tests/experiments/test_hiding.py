"""The experiment on hiding rules: a quick run writes its tables and pictures, and its figures are what they say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments import perform
from experiments.hiding.runs import Point


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    empty = tmp_path_factory.mktemp("no-data")
    return perform("hiding", tmp_path_factory.mktemp("hiding"), data=empty, quick=True, seeds=2)


def rows(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def mean(cell: str) -> float:
    return float(cell.split(" ± ")[0].replace(",", ""))


def test_exact_loses_least_and_nothing_is_a_ghost(page: Path) -> None:
    found = rows(page, "quest")
    lost = {row["method"]: mean(row["lost itemsets"]) for row in found}
    assert lost["exact"] == min(lost.values())
    assert all(mean(row["ghosts"]) == 0 for row in found)
    assert (page.parent / "quest-picture.svg").is_file()


def test_a_margin_moves_the_hidden_sets_down(page: Path) -> None:
    chances = [float(row["mean of 1 / place"]) for row in rows(page, "margins")]
    assert chances[0] > chances[-1]


def test_rules_are_hidden_by_confidence_too(page: Path) -> None:
    found = {row["method"]: row for row in rows(page, "rules")}
    assert {"1.a", "1.b", "wsda", "blocking", "exact"} <= set(found)
    assert mean(found["exact"]["lost itemsets"]) <= mean(found["minfia"]["lost itemsets"])
    assert found["exact"]["lost rules"] != "could not"


def test_means_over_some_of_the_draws_are_marked() -> None:
    some = Point("inline", 0.1, 3, (0.0,), (0.0,), (0.0,), (0.1,), n_draws=3)
    assert (some.is_whole, some.name) == (False, "inline (1 of 3 draws)")
