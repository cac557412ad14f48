"""The experiment on parties: a quick run writes its tables, and their figures are what the protocols declare."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from discreet.parties import SecureSum
from discreet.parties.channel import frame_bytes
from experiments import perform


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return perform("parties", tmp_path_factory.mktemp("parties"), quick=True, seeds=1)


def rows(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_bytes_of_sums_are_those_of_the_declared_frames(page: Path) -> None:
    for row in rows(page, "sums"):
        names = tuple(f"party{number}" for number in range(int(row["parties"])))
        frames = list(SecureSum(length=2000, method=row["method"]).frames(names))
        sent = {
            name: sum(frame_bytes(frame.kind, frame.size) for frame in frames if frame.sender == name)
            for name in names
        }
        assert int(row["bytes sent, busiest party"]) == max(sent.values())


def test_every_table_is_there_and_says_where_foreign_figures_come_from(page: Path) -> None:
    for name in ("parties", "baskets", "items", "ways", "people", "vertical-parties"):
        assert all(int(row["rounds"]) > 0 for row in rows(page, name))
    assert all(row["source"] for row in rows(page, "reported"))
    assert "None of these was measured here" in page.read_text(encoding="utf-8")
    assert (page.parent / "parties-picture.svg").is_file()
