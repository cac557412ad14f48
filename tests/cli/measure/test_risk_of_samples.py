"""`discreet risk` of samples: population uniques, special uniques, sets of columns, weights, households, lift."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.measure.tables.test_special_uniques import GUIDE

WEIGHTS = [180, 180, 215, 76, 186, 76, 180, 215, 186, 76]
QUASI = "residence,gender,education,labor"


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    rows = [
        ",".join((*row, str(w), f"h{n // 2}", "yes" if n % 3 else "no"))
        for n, (row, w) in enumerate(zip(GUIDE, WEIGHTS, strict=True))
    ]
    path.write_text("\n".join([f"{QUASI},weight,home,ill", *rows]) + "\n")
    return path


def test_published_figures_of_the_practice_guide(invoke, survey: Path) -> None:
    result = invoke(
        "risk", survey, "--quasi", QUASI, "--sensitive", "ill", "--weight", "weight", "--household", "home",
        "--special", 3, "--sets", 2, "--population-size", 1000, "--json",
    )  # fmt: skip
    assert result.exit_code == 0
    figures = json.loads(result.stdout)
    assert figures["sample_risk"]["mean"] == pytest.approx(0.01582, abs=1e-5)
    assert figures["sample_risk"]["household"]["n_households"] == 5
    assert figures["special_uniques"]["highest_score"] == 12
    assert figures["special_uniques"]["sampling_fraction"] == 0.01
    assert len(figures["column_sets"]) == 10
    assert figures["population_uniques"]["sample_uniques"] == 4
    assert figures["log_linear"]["sample_uniques"] == 4
    assert [lift["column"] for lift in figures["attribute_lift"]] == ["ill"]


def test_lines_hold_no_value(invoke, survey: Path) -> None:
    result = invoke(
        "risk", survey, "--quasi", QUASI, "--sensitive", "ill", "--weight", "weight", "--household", "home",
        "--special", 3, "--sets", 3, "--population-size", 1000,
    )  # fmt: skip
    assert result.exit_code == 0
    for words in ("population", "special", "sets of 3", "weighted", "household", "attribute"):
        assert words in result.stdout
    assert not any(value in result.stdout for row in GUIDE for value in row)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--household", "home"], "--household requires --weight"),
        (["--weight", "home"], "holds no numbers"),
        (["--weight", "nothing"], "no column 'nothing'"),
        (["--population-size", "3"], "must be at least the 10 of the sample"),
        (["--special", "0"], "--special"),
    ],
)
def test_bad_options_are_one_line(invoke, survey: Path, options: list[str], words: str) -> None:
    result = invoke("risk", survey, "--quasi", QUASI, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_nothing_is_measured_that_was_not_asked_for(invoke, survey: Path) -> None:
    figures = json.loads(invoke("risk", survey, "--quasi", QUASI, "--json").stdout)
    assert set(figures) == {"command", "ok", "verified", "risk", "linkage"}
