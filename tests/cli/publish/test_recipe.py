"""`discreet recipe`: what a recipe says, in words and as SQL that runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from tests.cli.planted import ROLES, SECRET

LEVELS = [
    "--hierarchy",
    "age=intervals:5,10",
    "--hierarchy",
    "zip=mask",
    "--level",
    "age=2",
    "--level",
    "zip=1",
]


@pytest.fixture
def release(invoke, patients: Path, tmp_path: Path) -> Path:
    out = tmp_path / "release"
    made = invoke("anonymize", patients, *ROLES, "-k", 5, *LEVELS, "--out", out, "--no-report")
    assert made.exit_code == 0, made.output
    return out


def test_columns_that_are_gone_are_said_to_be_dropped(invoke, patients: Path, tmp_path: Path) -> None:
    roles = ["--quasi", "age", "--person", "name", "--sensitive", "disease", "--drop", "zip"]
    assert (
        invoke("anonymize", patients, *roles, "-k", 5, "--no-report", "--out", tmp_path / "out").exit_code
        == 0
    )
    shown = invoke("recipe", tmp_path / "out" / "release.json").stdout
    assert "person: dropped" in shown
    assert "drop: dropped" in shown
    assert "disease" in shown


def test_the_folder_of_a_release_stands_for_its_recipe(invoke, release: Path) -> None:
    by_folder, by_file = (invoke("recipe", path) for path in (release, release / "release.json"))
    assert by_folder.exit_code == 0, by_folder.output
    assert by_folder.stdout == by_file.stdout.replace(str(release / "release.json"), str(release))


@pytest.mark.parametrize("dialect", ["duckdb", "ansi"])
def test_the_statement_gives_the_release(invoke, release: Path, patients: Path, dialect: str) -> None:
    recipe = release / "release.json"
    result = invoke("recipe", recipe, "--sql", "--table", "my patients", "--dialect", dialect)
    assert result.exit_code == 0, result.output
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE \"my patients\" AS FROM read_csv('{patients}', types={{'zip': 'VARCHAR'}})"
    )
    made = Counter(connection.sql(result.stdout).fetchall())
    wanted = f"FROM read_csv('{release / 'data.csv'}', types={{'zip': 'VARCHAR'}})"
    assert made == Counter(connection.sql(wanted).fetchall())
    assert SECRET not in result.stdout


def test_sql_as_json_and_quiet(invoke, release: Path) -> None:
    recipe = release / "release.json"
    plain = json.loads(invoke("recipe", recipe, "--sql", "--json").stdout)
    assert plain["sql"].startswith("SELECT\n")
    assert plain["dialect"] == "duckdb"
    assert invoke("recipe", recipe, "--sql", "--quiet").output == ""


def test_the_summary_says_what_becomes_of_every_column(invoke, release: Path) -> None:
    shown = invoke("recipe", release / "release.json").stdout
    for words in (
        "Generalization",
        "at least 4 others",
        "40 in, 40 out",
        "identifier: dropped",
        "level 2 of intervals",
        "level 1 of masks",
        "sensitive: as it is",
        "discreet apply",
        "--sql",
    ):
        assert words in shown
    plain = json.loads(invoke("recipe", release / "release.json", "--json").stdout)["recipe"]
    assert plain["levels"] == {"age": 2, "zip": 1}
    assert SECRET not in shown


def test_boxes_have_a_summary_and_no_sql(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "boxes"
    assert invoke("anonymize", patients, *ROLES, "-k", 5, "--out", out, "--no-report").exit_code == 0
    shown = invoke("recipe", out / "release.json")
    assert shown.exit_code == 0, shown.output
    assert "labels" in shown.stdout
    assert "--sql" not in shown.stdout
    refused = invoke("recipe", out / "release.json", "--sql")
    assert refused.exit_code == 2
    assert "discreet apply" in refused.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [(["--dialect", "ansi"], "--sql"), (["--table", "x"], "--sql"), (["--sql", "--dialect", "x"], "x")],
)
def test_idle_options_are_refused(invoke, release: Path, args: list[str], words: str) -> None:
    result = invoke("recipe", release / "release.json", *args)
    assert result.exit_code == 2
    assert words in result.stderr


def test_what_is_no_recipe_is_refused(invoke, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    for name in ("x.json", "absent.json"):
        assert invoke("recipe", tmp_path / name, "--sql").exit_code == 2
