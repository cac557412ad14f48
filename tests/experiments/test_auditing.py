"""The experiment on query auditing: a quick run writes its table and picture, and its figures are what they say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments import perform


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return perform("auditing", tmp_path_factory.mktemp("auditing"), quick=True, seeds=2)


def test_every_auditor_denies_more_as_queries_go_on(page: Path) -> None:
    with (page.parent / "denied.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    auditors = ["sum", "extrema", "boolean", "interval", "private"]
    assert list(rows[0]) == ["queries", *auditors]
    shares = {name: [float(row[name].split(" ± ")[0]) for row in rows] for name in auditors}
    assert all(0 <= share <= 100 for series in shares.values() for share in series)
    assert shares["sum"][-1] > shares["sum"][0]
    assert (shares["private"][0], shares["private"][-1]) == (0, 100)
    assert (page.parent / "denied-picture.svg").is_file()
