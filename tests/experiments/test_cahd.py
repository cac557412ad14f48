"""The experiment on CAHD: a quick run writes every table and picture, and its pieces are what they say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments import EXPERIMENTS, perform
from experiments.cahd import experiment as cahd
from experiments.cahd.runs import CAHD, PERM, Sample, point, released, samples, sensitive_of


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines: list[str] = []
    empty = tmp_path_factory.mktemp("no-data")
    written = perform(
        "cahd", tmp_path_factory.mktemp("cahd"), data=empty, quick=True, seeds=2, log=lines.append
    )
    assert any("generated" in line for line in lines)
    return written


def rows(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_table_and_figure_is_there(page: Path) -> None:
    assert "cahd" in EXPERIMENTS
    names = {path.stem for path in page.parent.iterdir()}
    expected = {"claims", "table-1", "table-2", "figure-6", "figure-6-spread"}
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
        distance = [float(row[f"distance {how}"].split()[0]) for how in ("in band order", "as generated")]
        shared = [float(row[f"shared {how}"].split()[0]) for how in ("as generated", "in band order")]
        assert distance[0] < distance[1] < 0.4
        assert shared[0] < shared[1]


def test_every_claim_is_judged(page: Path) -> None:
    found = rows(page, "claims")
    assert len(found) == 2 * 3 + 2 * 7
    assert {row["as claimed"] for row in found[:6]} <= {"yes", "in part", "undecided", "no"}
    assert {row["as claimed"] for row in found[6:]} == {"not judged in quick form"}


def test_the_sets_and_the_uncut_splits_stand_beside_the_paper_s(page: Path) -> None:
    assert len(rows(page, "table-1")) == 2
    for which in (1, 2):
        taken = rows(page, f"figure-12-{which}")
        assert float(taken[0]["PermMondrian, no shortcuts"]) > 0
        assert taken[-1]["PermMondrian"] == ""


def test_real_sets_are_judged_in_quick_form_too(shared_data: Path) -> None:
    found = samples(shared_data, quick=True)
    assert [sample.stands_in for sample in found] == [None, None]
    pairs = [
        (point(found[0], CAHD, [1, 2], p=p, m=5, r=3), point(found[0], PERM, [1, 2], p=p, m=5, r=3))
        for p in (4, 20)
    ]
    outcome, verdict = cahd._lower(pairs)
    assert verdict == "yes"
    assert "at 2 of 2" in outcome


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
