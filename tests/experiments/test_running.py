"""`python -m experiments`: a tiny run writes tables, pictures and a page that shows them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from experiments import EXPERIMENTS
from experiments.__main__ import USER_ERROR, main
from experiments.emask import experiment as emask


def test_a_tiny_run_writes_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    monkeypatch.setattr(emask, "_SYNTHETIC", {True: "T5.I2.D4K.N60"})
    assert main(["emask", "--out", str(tmp_path / "out"), "--quick", "--seeds", "2"]) == 0
    assert "skipped: BMS-WebView-1 is not here" in capsys.readouterr().out
    out = tmp_path / "out" / "emask"
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "python -m experiments emask --seeds 2 --quick" in page
    assert "Skipped: BMS-WebView-1" in page
    linked = set(re.findall(r'href="([^"#]+)"', page))
    assert linked == {path.name for path in out.iterdir()} - {"index.html"}
    with (out / "table-3.csv").open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert [row[:2] for row in rows[1:]] == [
        ["0.6", "0.96"],
        ["0.5", "0.97"],
        ["0.4", "0.98"],
        ["0.3", "0.99"],
    ]
    with (out / "claims.csv").open(encoding="utf-8") as stream:
        claims = list(csv.reader(stream))[1:]
    assert {claim[-1] for claim in claims} == {"not judged in quick form"}
    with (out / "figure-1.csv").open(encoding="utf-8") as stream:
        times = list(csv.reader(stream))
    assert times[0][1:3] == ["MASK, its own counting", "Apriori"]
    assert all(float(row[1]) > float(row[2]) for row in times[1:2])
    assert (out / "figure-2.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "table-3.md").read_text(encoding="utf-8").startswith("# Table 3")


def test_the_help_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    listing = capsys.readouterr().out
    assert all(name in listing and about in listing for name, about in EXPERIMENTS.items())


@pytest.mark.parametrize(
    ("arguments", "words"), [(["nothing"], "'name'"), (["emask", "--seeds", "0"], "'seeds'")]
)
def test_mistakes(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == USER_ERROR
    assert words in capsys.readouterr().err
