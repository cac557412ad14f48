"""`discreet tabulate`: from a file to a table that `discreet check` verifies, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

REGIONS = ["Qzxnorth"] * 6 + ["Qzxsouth"] * 6 + ["Qzxeast"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = [
        f"{i // 2},{rng.choice(REGIONS)},{rng.choice(['f', 'm'])},{rng.integers(0, 900)}" for i in range(80)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["who,region,sex,income", *rows, "1,Qzxwest,f,5"]) + "\n")
    return path


def test_a_table_is_written_and_verified_from_its_files(invoke, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke("tabulate", people, "--by", "region,sex", "--threshold", "5", "--out", out)
    assert result.exit_code == 0, result.output
    assert "verified" in result.output
    cells = (out / "cells.csv").read_text().splitlines()
    assert cells[0] == "region,sex,count"
    assert "Qzxwest,f," in cells
    assert invoke("check", out).exit_code == 0
    record = json.loads((out / "release.json").read_text())
    assert record["kind"] == "cells"
    assert "primary" not in json.dumps(record)
    suppressed = next(place for place, line in enumerate(cells) if line == "Qzxwest,f,")
    cells[suppressed] = "Qzxwest,f,1"
    (out / "cells.csv").write_text("\n".join(cells) + "\n")
    assert invoke("check", out).exit_code == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--threshold", "4", "--method", "controlled-rounding", "--base", "5"),
        ("--threshold", "3", "--person", "who"),
        ("--value", "income", "--dominance", "1,60", "--threshold", "3"),
        ("--value", "income", "--p-percent", "20"),
    ],
)
def test_every_rule_and_method_makes_a_release(
    invoke, people: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    result = invoke("tabulate", people, "--by", "region,sex", *options, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["verdict"] == "verified"
    assert "minimality" in [caution["code"] for caution in told["cautions"]], "the choice reveals something"
    assert invoke("check", tmp_path / "out").exit_code == 0


def test_a_ready_table_is_protected_and_its_margins_must_add_up(invoke, tmp_path: Path) -> None:
    ready = tmp_path / "ready.csv"
    text = "sex,n\nAll,30\nf,3\nm,12\nd,15\n"
    ready.write_text(text)
    about = ("--by", "sex", "--value", "n", "--total", "All", "--threshold", "5", "--out", tmp_path / "out")
    assert invoke("tabulate", ready, *about).exit_code == 0
    ready.write_text(text.replace("30", "31"))
    result = invoke("tabulate", ready, *about, "--overwrite")
    assert (result.exit_code, "margins do not add up: 1" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--by", "region"), "too small"),
        (("--by", "region", "--p-percent", "10"), "are for sums"),
        (("--by", "region", "--value", "income", "--threshold", "3"), "how far apart"),
        (("--by", "region,region", "--threshold", "3"), "names each column once"),
        (("--by", "nowhere", "--threshold", "3"), "does not have"),
        (("--by", "who", "--value", "region", "--p-percent", "9"), "no column of numbers"),
        (("--by", "region", "--value", "income", "--dominance", "x", "--threshold", "3"), "--dominance takes"),
        (
            ("--by", "sex", "--value", "income", "--method", "controlled-rounding", "--width", "9"),
            "too small",
        ),
        (("--by", "region", "--threshold", "500"), "would be suppressed"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_written(
    invoke, people: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    result = invoke("tabulate", people, *options, "--out", tmp_path / "out")
    assert result.exit_code == (6 if "suppressed" in words else 2)
    assert words in result.stderr.splitlines()[0]
    assert "Qzx" not in result.output + result.stderr
    assert not (tmp_path / "out").exists()
