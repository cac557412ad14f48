"""The sketch experiment: its data, what it measures, and a page that shows it."""

from __future__ import annotations

import dataclasses
import gzip
import json
import lzma
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from discreet.core.baskets.baskets import Baskets
from discreet.core.records.sparse_rows import SparseRows
from experiments import EXPERIMENTS, perform
from experiments.sketches import experiment as sketches
from experiments.sketches.data import MESSAGES, STORIES, texts, topics, two_instances
from experiments.sketches.runs import (
    Runs,
    _nearness,
    classified,
    clustered,
    family_of,
    lengths_by_arithmetic,
)

SMALL = dataclasses.replace(
    sketches._SIZES[True],
    baskets=600,
    n_classified=60,
    ks=(2, 5),
    deltas=(0.2, 1),
    items=(200, 300),
    lengths=(10, 20),
    records=(400, 600),
    partition=300,
)


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    """A small set of messages in the layout of the real one."""
    rng = np.random.default_rng(1)
    (tmp_path / MESSAGES).parent.mkdir()
    with lzma.open(tmp_path / MESSAGES, "wt", encoding="utf-8") as stream:
        for number in range(1200):
            group = f"group{number % 3}"
            words = " ".join(f"word{number % 3}{word}" for word in rng.integers(0, 40, 25))
            text = f"From: person{number}\nNewsgroups: {group}\n\n{words}"
            stream.write(
                json.dumps({"split": "train", "group": group, "id": str(number), "text": text}) + "\n"
            )
    (tmp_path / STORIES[0]).parent.mkdir()
    for part, place in enumerate(STORIES):
        with gzip.open(tmp_path / place, "wt", encoding="utf-8") as stream:
            for number in range(part, 1600, 2):
                topic = min(number % 20, number % 3)
                words = " ".join(f"word{topic}{word}" for word in rng.integers(0, 40, 12))
                stream.write(f"topic{topic if number % 20 else 3 + number % 400 // 20}\t{words}\n")
    return tmp_path


def test_the_largest_topics_are_taken(messages: Path) -> None:
    found = topics(messages, quick=False)
    assert found is not None
    assert found.labels.max() == 16
    sizes = np.sort(np.bincount(found.labels))
    assert sizes[-3] > 10 * sizes[-4]
    assert topics(None, quick=True) is None
    (messages / STORIES[1]).unlink()
    assert topics(messages, quick=True) is None


def test_the_paper_s_arithmetic_by_hand() -> None:
    """Two sets of two items each with one in common: |X|²|Y|² − (X·Y)² = 3, D = 2, so they may share 6 components."""
    rows = SparseRows.of(Baskets.from_lists([["a", "b"], ["b", "c"], ["a", "b"]]))
    lengths = lengths_by_arithmetic(rows.take(np.array([0, 1])), 1, family_of(1))
    assert sorted(lengths.tolist()) == [6, 500]
    assert sorted(lengths_by_arithmetic(rows.take(np.array([0, 2])), 1, family_of(1)).tolist()) == [500, 500]


def test_messages_lose_their_headers(messages: Path) -> None:
    found = texts(messages, quick=True)
    assert found is not None
    assert len(found.rows) == 150
    assert set(found.labels.tolist()) == {0, 1, 2}
    assert not any(name.startswith(("group", "person")) for name in found.rows.names)
    assert texts(None, quick=True) is None
    assert texts(messages / "nowhere", quick=True) is None


def test_each_class_has_patterns_of_its_own() -> None:
    sample = two_instances("C20.I4", n_baskets=600)
    assert len(sample.rows) == sample.labels.size == 600
    assert np.bincount(sample.labels).tolist() == [300, 300]
    assert sample.title == "C20.I4.D600"


def test_nearness_is_the_mean_cosine_to_the_centroid() -> None:
    rng = np.random.default_rng(3)
    rows = rng.random((40, 6)) + 0.01
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = rng.integers(0, 4, 40)
    centroids = np.array([rows[labels == label].mean(axis=0) for label in range(4)])
    cosines = (rows * centroids[labels]).sum(axis=1) / np.linalg.norm(centroids[labels], axis=1)
    assert _nearness(rows, labels) == pytest.approx(cosines.mean())


def test_long_sketches_are_mined_nearly_as_well_as_the_original() -> None:
    sample = two_instances("C20.I4", n_baskets=1500, n_items=200)
    ((fine, coarse),) = classified(sample, ["δ"], (0.05, 3), [1], n_classified=200)
    assert fine.ratio > 0.9
    assert coarse.ratio < fine.ratio
    assert fine.median[0] > coarse.median[0]
    ((near, far),) = clustered(sample, ["δ"], (0.05, 3), [1])
    assert near.ratio > 0.9
    assert far.ratio < near.ratio
    assert near.chance < np.mean(near.found) <= np.mean(near.original) * 1.05


def curve(levels: Sequence[float], ratios: Sequence[float], *, chance: float = 0.05) -> list[Runs]:
    """Return runs of two seeds with these ratios to an original of 1."""
    return [
        Runs("δ", level, chance, found=[ratio, ratio], original=[1.0, 1.0])
        for level, ratio in zip(levels, ratios, strict=True)
    ]


def test_a_curve_is_level_by_what_a_unit_of_delta_costs() -> None:
    levels = (0.5, 1, 5, 10)
    verdicts = [
        sketches._slower("set", "figure 6", curve(levels, ratios))[-1]
        for ratios in ((0.9, 0.8, 0.6, 0.52), (0.9, 0.8, 0.6, 0.4), (0.9, 0.8, 0.07, 0.06))
    ]
    assert verdicts == ["yes", "no", "at chance"]
    lines = str(sketches._slower("set", "figure 6", curve(levels, (0.9, 0.8, 0.6, 0.52)))[2])
    assert "0.200 at first, 0.016 at the end" in lines


def test_a_curve_is_level_by_its_last_step() -> None:
    levels = (2, 5, 10)
    verdicts = [
        sketches._level("set", "figure 3", curve(levels, ratios))[-1]
        for ratios in ((0.9, 0.85, 0.83), (0.9, 0.85, 0.75), (0.2, 0.08, 0.06))
    ]
    assert verdicts == ["yes", "no", "at chance"]
    assert sketches._fall("set", "figure 3", curve(levels, (0.95, 0.92, 0.91)))[-1] == "yes"
    assert sketches._fall("set", "figure 3", curve(levels, (0.95, 0.92, 0.89)))[-1] == "no"


@pytest.mark.parametrize("present", [True, False])
def test_the_page_is_written(
    messages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: bool
) -> None:
    monkeypatch.setattr(sketches, "_SIZES", {True: SMALL})
    lines: list[str] = []
    data = messages if present else tmp_path / "newsgroups20"
    page = perform("sketches", tmp_path / "out", data=data, quick=True, seeds=1, log=lines.append)
    text = page.read_text(encoding="utf-8")
    linked = set(re.findall(r'href="([^"#]+)"', text))
    assert linked == {path.name for path in page.parent.iterdir()} - {"index.html"}
    figures = set(range(3, 15)) - (set() if present else {3, 6, 7, 10})
    names = {f"figure-{number}-picture.png" for number in figures}
    names |= {f"figure-{number}-reuters-picture.png" for number in (3, 6, 7, 10)} if present else set()
    assert names == {name for name in linked if name.endswith(".png")}
    assert "claims.md" in linked
    claims = (page.parent / "claims.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert all(line.endswith("not judged in quick form") for line in claims)
    assert not any("figure 6: falls by 5" in line for line in claims)
    for gap in ("distances", "distances, the paper's arithmetic"):
        assert any(f"figure 4, {gap}: falls by 5" in line for line in claims)
    assert any("not here" in line for line in lines) == (not present)
    assert "sketches" in EXPERIMENTS
