"""`discreet apply`, and files that are damaged in ways a reader would not expect."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROLES = ["--quasi", "age", "--sensitive", "disease"]


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    rows = "".join(f"{20 + at % 30},{'=flu' if at % 2 else 'cold'}\n" for at in range(120))
    path.write_text("age,disease\n" + rows)
    return path


def test_cautions_are_printed_once_and_by_apply_too(invoke: Any, visits: Path, tmp_path: Path) -> None:
    first = invoke("anonymize", visits, *ROLES, "-k", 5, "--out", tmp_path / "first")
    assert first.exit_code == 0, first.output
    again = invoke("apply", tmp_path / "first", visits, "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    for result in (first, again):
        assert result.output.count("would be run by one") == 1
        assert result.output.count("do not hand it on") == 1


@pytest.mark.parametrize("name", ["x", "", "decimal99(1, 1)", "timestamp[x]"])
def test_an_unknown_type_in_a_recipe_is_an_error_of_the_user(
    invoke: Any, visits: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    made = invoke("anonymize", visits, *ROLES, "-k", 5, "--method", "optimal", "--hierarchy", "age=intervals:5,10",
                  "--out", out)  # fmt: skip
    assert made.exit_code == 0, made.output
    record = json.loads((out / "release.json").read_text())
    for column in record["columns"]:
        if column["role"] == "quasi":
            column["type"] = name
    (out / "release.json").write_text(json.dumps(record))
    assert invoke("recipe", out / "release.json", "--sql").exit_code == 2


@pytest.mark.parametrize("auditor", ["[1, 2, 3]", "[" * 100_000 + "]" * 100_000])
def test_a_damaged_vault_is_an_error_of_the_user(invoke: Any, tmp_path: Path, auditor: str) -> None:
    (tmp_path / "vault.json").write_text(f'{{"public": [], "sensitive": ["pay"], "auditor": {auditor}}}')
    assert invoke("audit", "ask", tmp_path, "SELECT sum(pay) FROM data").exit_code == 2


def test_a_session_file_that_is_nested_too_deeply_is_refused(invoke: Any, tmp_path: Path) -> None:
    path = tmp_path / "session.toml"
    path.write_text("timeout = " + "[" * 100_000 + "]" * 100_000)
    assert invoke("party", "doctor", path).exit_code == 2


def test_rows_that_were_released_before_are_named_with_how_that_is_known(
    invoke, patients: Path, tmp_path: Path
) -> None:
    """First use (12): a recipe was applied to rows of the very same table without a word."""
    out = tmp_path / "release"
    roles = (
        "--quasi",
        "age",
        "--sensitive",
        "disease",
        "--rest",
        "drop",
        "--hierarchy",
        "age=intervals:5,10,20",
    )
    assert invoke("anonymize", patients, *roles, "--person", "name", "-k", 3, "--out", out).exit_code == 0
    lines = patients.read_text().splitlines()
    new = tmp_path / "new.csv"
    others = [f"New {line}" for line in lines[1:21]]
    new.write_text("\n".join([lines[0], *lines[1:21], *others]) + "\n")
    result = invoke("apply", out, new, "--out", tmp_path / "next", "--no-report")
    assert result.exit_code == 0, result.output
    assert "20 of 40 new rows are of people in the earlier release, by column 'name'" in result.stdout
    assert "private folder holds keyed digests" in result.stdout
    assert re.search("hand on\\? +Yes, if you accept what the", result.stdout)
    public = b"".join(path.read_bytes() for path in (tmp_path / "next").iterdir())
    assert b"earlier release" not in public
    new.write_text("\n".join([lines[0], *others]) + "\n")
    result = invoke("apply", out, new, "--out", tmp_path / "others", "--no-report")
    assert "earlier release" not in result.stdout
    rows = tmp_path / "release.private" / "rows.private.bin"
    assert rows.stat().st_mode & 0o777 == 0o600
    assert all(name.encode() not in rows.read_bytes() for name in ("Person", "disease", "flu"))
