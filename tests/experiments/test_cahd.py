"""The experiment on CAHD: a quick run writes every table and picture, and its pieces are what they say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments import EXPERIMENTS, perform
from experiments.cahd.runs import CAHD, PERM, Sample, point, released, samples, sensitive_of


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines: list[str] = []
    written = perform("cahd", tmp_path_factory.mktemp("cahd"), quick=True, seeds=1, log=lines.append)
    assert any("generated" in line for line in lines)
    return written


def rows(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_table_and_figure_is_there(page: Path) -> None:
    assert "cahd" in EXPERIMENTS
    names = {path.stem for path in page.parent.iterdir()}
    expected = {"claims", "table-2", "figure-6", "figure-6-spread"}
    for number in (9, 10, 11, 12, 13):
        expected |= {f"figure-{number}-{which}{end}" for which in (1, 2) for end in ("", "-picture")}
    assert expected <= names
    text = page.read_text(encoding="utf-8")
    for words in ("Table II", "Figure 6", "Figure 13", "PermMondrian", "as claimed"):
        assert words in text


def test_the_table_lays_ours_beside_the_papers(page: Path) -> None:
    table = rows(page, "table-2")
    assert [float(row["paper"]) for row in table] == [0.3, 9.5, 24.3, 50.0, 0.8, 18.8, 41.6, 91.1]
    chances = [float(row["mean of 1/matches"].split()[0]) for row in table]
    assert chances[0] < chances[1] < chances[2] < chances[3]


def test_ordering_narrows_the_matrices(page: Path) -> None:
    for row in rows(page, "figure-6-spread"):
        assert float(row["band order"]) < float(row["as generated"]) < 0.4


def test_every_claim_is_judged(page: Path) -> None:
    assert {row["as claimed"] for row in rows(page, "claims")} <= {"yes", "in part", "no"}
    assert len(rows(page, "claims")) == 2 + 2 * 6


def test_methods_get_the_same_queries_of_the_same_items() -> None:
    sample: Sample = samples(None, quick=True)[0]
    assert sample.stands_in is not None
    assert sensitive_of(sample.baskets, 5, 1) == sensitive_of(sample.baskets, 5, 1)
    assert sensitive_of(sample.baskets, 5, 1) != sensitive_of(sample.baskets, 5, 2)
    ours, theirs = (released(sample, method, 4, 5, 1) for method in (CAHD, PERM))
    assert ours.data.sensitive_names.equals(theirs.data.sensitive_names)
    assert ours.verdict.ok
    assert theirs.verdict.ok
    found = point(sample, CAHD, [1, 2], p=4, m=5, r=2)
    assert len(found.kl) == 2
    assert found.mean > 0
