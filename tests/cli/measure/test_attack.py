"""`discreet attack`: the three attacks and membership inference, from files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv
from tests.measure.attacks.test_regulators import CONTROL, ORIGINAL


@pytest.fixture
def release(invoke, tmp_path: Path) -> Path:
    csv.write_csv(ORIGINAL, tmp_path / "people.csv")
    csv.write_csv(CONTROL, tmp_path / "others.csv")
    made = invoke(
        "anonymize", tmp_path / "people.csv", "--quasi", "age,zip,town", "--sensitive", "ill", "-k", 5,
        "--out", tmp_path / "release",
    )  # fmt: skip
    assert made.exit_code == 0
    return tmp_path / "release"


def test_lines_and_json_without_a_value(invoke, release: Path, tmp_path: Path) -> None:
    base = [
        "attack",
        release,
        "--original",
        tmp_path / "people.csv",
        "--control",
        tmp_path / "others.csv",
        "--seed",
        1,
    ]
    result = invoke(*base)
    assert result.exit_code == 0
    for words in ("singling out", "linkability", "inference of ill", "prosecutor", "risk due to the release"):
        assert words in result.stdout
    assert not any(value in result.stdout for value in ("flu", "gout", "town 1"))
    figures = json.loads(invoke(*base, "--population", tmp_path / "people.csv", "--json").stdout)
    assert figures["controls"] == 600
    assert (
        0
        <= figures["linkability"]["low"]
        <= figures["linkability"]["risk"]
        <= figures["linkability"]["high"]
        <= 1
    )
    assert figures["attackers"]["journalist"]["highest"] <= 0.2


def test_without_a_control_group_it_says_so(invoke, release: Path, tmp_path: Path) -> None:
    result = invoke("attack", release, "--original", tmp_path / "people.csv", "--attacks", 50)
    assert result.exit_code == 0
    assert "no control group" in result.stdout


def test_pseudo_data_is_attacked_by_membership(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("people", "others"):
        rows = "\n".join(f"{a:.3f},{b:.3f}" for a, b in rng.normal(size=(200, 2)))
        (tmp_path / f"{name}.csv").write_text(f"a,b\n{rows}\n")
    made = invoke(
        "condense", tmp_path / "people.csv", "--quasi", "a,b", "-k", 10, "--out", tmp_path / "pseudo"
    )
    assert made.exit_code == 0
    base = ["attack", tmp_path / "pseudo", "--original", tmp_path / "people.csv"]
    result = invoke(*base, "--control", tmp_path / "others.csv")
    assert result.exit_code == 0
    assert "50% is a coin" in result.stdout
    assert "proves nothing" in result.stdout
    assert "no control group" in invoke(*base).stdout


def test_bad_input_is_one_line(invoke, release: Path, tmp_path: Path) -> None:
    nothing = invoke("attack", tmp_path, "--original", tmp_path / "people.csv")
    assert nothing.exit_code == 2
    assert "not the folder of a release" in nothing.stderr
    csv.write_csv(ORIGINAL.drop_columns(["zip"]), tmp_path / "few.csv")
    lacking = invoke("attack", release, "--original", tmp_path / "few.csv")
    assert lacking.exit_code == 2
    assert "lacks column 'zip'" in lacking.stderr
