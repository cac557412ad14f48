"""`discreet risk` on a table of ratings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.docs.inputs import ratings

COLUMNS = ("--person", "user", "--item", "movie", "--value", "rating")


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    ratings(tmp_path / "ratings.csv")
    return tmp_path / "ratings.csv"


def test_known_ratings_find_people(invoke, rated: Path) -> None:
    result = invoke(
        "risk", rated, *COLUMNS, "--time", "day", "--error", 1, "--known", "1,4", "--seed", 1, "--json"
    )
    plain = json.loads(result.stdout)["ratings"]
    assert (plain["n_people"], plain["error"], plain["days"]) == (80, 1.0, 14.0)
    assert plain["by_known"][0]["right"] < plain["by_known"][1]["right"] == 1.0
    shown = invoke("risk", rated, *COLUMNS).stdout
    assert "8 known" in shown
    assert "are the only ones that fit" in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--item", "movie", "--value", "rating"), "--person, --item, --value"),
        ((*COLUMNS, "--quasi", "day"), "--quasi is not for ratings"),
        ((*COLUMNS, "--threshold", "0.5"), "--threshold is not for ratings"),
        ((*COLUMNS, "--known", "a"), "--known takes whole numbers"),
        ((*COLUMNS, "--time", "nowhen"), "no column 'nowhen'"),
    ],
)
def test_what_does_not_fit_ratings_is_refused(
    invoke, rated: Path, options: tuple[str, ...], words: str
) -> None:
    result = invoke("risk", rated, *options)
    assert result.exit_code == 2
    assert words in result.stderr
