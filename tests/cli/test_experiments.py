"""`discreet experiments`: a tiny run writes tables, pictures and a page that shows them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from discreet.experiments import EXPERIMENTS
from discreet.experiments.emask import experiment as emask


def test_a_tiny_run_writes_the_page(invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    monkeypatch.setattr(emask, "_SYNTHETIC", {True: "T5.I2.D4K.N60"})
    out = tmp_path / "out"
    result = invoke("experiments", "emask", "--out", out, "--quick", "--seeds", 2)
    assert result.exit_code == 0, result.output
    assert "skipped: BMS-WebView-1 is not here" in result.output
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "discreet experiments emask --seeds 2 --quick" in page
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
    assert (out / "figure-2.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "table-3.md").read_text(encoding="utf-8").startswith("# Table 3")


def test_without_a_name_they_are_listed(invoke) -> None:
    assert json.loads(invoke("experiments", "--json").output)["experiments"] == EXPERIMENTS
    assert "emask" in invoke("experiments").output


@pytest.mark.parametrize(("args", "words"), [(("nothing",), "'name'"), (("emask", "--seeds", 0), "'seeds'")])
def test_mistakes(invoke, args, words: str) -> None:
    from discreet.cli._errors import MEND

    result = invoke("experiments", *args)
    assert result.exit_code == MEND
    assert words in result.output
