"""Columns that single people out, on the command line: refused before anything is written, with the way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.cli._progress import _unique

SECRET = "PLANTED-9917"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    lines = [f"{SECRET}{at},{20 + at % 3},{'flu' if at % 2 else 'cold'},w{at % 2}" for at in range(60)]
    path.write_text("visit,age,disease,ward\n" + "\n".join(lines) + "\n")
    return path


ROLES = ("--quasi", "age", "--sensitive", "disease", "--rest", "other", "-k", 3)


def test_rest_other_does_not_publish_keys(invoke, visits: Path, tmp_path: Path) -> None:
    result = invoke("anonymize", visits, *ROLES, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "'visit'" in result.stderr
    assert SECRET not in result.output
    for way in ("--identifier visit", "--quasi visit", "--allow-unique visit"):
        assert way in result.stderr
    assert not (tmp_path / "out").exists()
    kept = invoke("anonymize", visits, *ROLES, "--allow-unique", "visit", "--out", tmp_path / "out")
    assert kept.exit_code == 0, kept.output
    record = json.loads((tmp_path / "out" / "release.json").read_text())
    assert [one["code"] for one in record["cautions"]] == ["unique-column", "unique-exact"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Rows singled out" in page
    assert '<td data-name="Rows singled out">60</td>' in page


def test_a_job_names_the_key_of_its_file(invoke, visits: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    text = """
[input]
path = "visits.csv"
rest = "other"
[columns.age]
role = "quasi"
[columns.visit]
role = "other"
{more}
[[guarantee]]
kind = "k-anonymity"
k = 3
[output]
folder = "out"
"""
    job.write_text(text.format(more=""))
    result = invoke("run", job)
    assert result.exit_code == 2
    assert "[columns.visit]" in result.stderr
    assert "allow_unique = true" in result.stderr
    job.write_text(text.format(more="allow_unique = true"))
    assert invoke("run", job).exit_code == 0
    job.write_text(text.format(more="allow_unique = 1"))
    assert invoke("run", job).exit_code == 2


def test_condense_and_stream_have_the_same_way_out(invoke, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "visit,age,weight\n" + "".join(f"{at * 7919},{20 + at % 30},{at % 17}.5\n" for at in range(300))
    )
    refused = invoke("condense", path, "-k", 5, "--rest", "quasi", "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "--allow-unique visit" in refused.stderr
    allowed = invoke(
        "condense",
        path,
        "-k",
        5,
        "--rest",
        "quasi",
        "--allow-unique",
        "visit",
        "--quiet",
        "--out",
        tmp_path / "out",
    )
    assert allowed.exit_code == 0, allowed.output
    asked = ("stream", "condense", "--from", path, "--columns", "visit,age", "-k", 5, "--init-number", 150)
    state = tmp_path / "state.bin"
    refused = invoke(*asked, "--state", state)
    assert refused.exit_code == 2
    assert "--allow-unique visit" in refused.stderr
    assert not state.exists()
    assert invoke(*asked, "--state", state, "--allow-unique", "visit", "--quiet").exit_code == 0


def test_a_role_that_is_not_published_cannot_be_allowed(invoke, visits: Path, tmp_path: Path) -> None:
    flags = (
        "--quasi",
        "age",
        "--rest",
        "identifier",
        "--identifier",
        "visit",
        "--allow-unique",
        "visit",
        "-k",
        3,
    )
    result = invoke("anonymize", visits, *flags, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "which is identifier" in result.stderr


def test_what_to_do_about_several_columns_speaks_of_several() -> None:
    assert "to drop them, --quasi a,b to generalize them" in _unique("anonymize", ("a", "b"))
    assert "to drop it" in _unique("run", ("a",))
