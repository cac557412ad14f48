"""`discreet audit`: from a file to a vault, its answers, its log, its attacks."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from discreet.output.audit.service.tokens import Tokens


@pytest.fixture
def staff(tmp_path: Path) -> Path:
    path = tmp_path / "staff.csv"
    rows = [f"p{k},{20 + k % 9},{'xyz'[k % 3]},{1000 + 37 * k}" for k in range(30)]
    path.write_text("name,age,department,salary\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def vault(staff: Path, invoke) -> Path:
    made = invoke(
        "audit", "init", staff, "--sensitive", "salary", "--public", "name,age,department", "--low", 0
    )
    assert made.exit_code == 0, made.output
    return staff.with_suffix(".vault")


def test_ask_and_log(vault: Path, invoke) -> None:
    answer = invoke("audit", "ask", vault, "SELECT department, avg(salary) FROM data GROUP BY department")
    assert answer.exit_code == 0
    assert answer.output.splitlines()[0].split() == ["department", "avg(salary)"]
    assert answer.output.splitlines()[1].split() == ["x", "1499.5"]
    denied = invoke("audit", "ask", vault, "SELECT sum(salary) FROM data WHERE name <> 'p1'", "--user", "ann")
    assert denied.exit_code == 1
    assert "could disclose" in denied.output
    shown = invoke("audit", "log", vault, "--verify", "--json")
    plain = json.loads(shown.output)
    assert plain["verdict"] == "by construction"
    assert [one["answered"] for one in plain["entries"]] == [True, False]
    assert plain["entries"][1]["user"] == "ann"
    assert "by construction" in invoke("audit", "log", vault, "--verify").output


def test_json_answers(vault: Path, invoke) -> None:
    shown = invoke("audit", "ask", vault, "SELECT count(*), sum(salary) FROM data", "--json")
    assert json.loads(shown.output) == {
        "command": "audit ask",
        "verified": None,
        "denied": False,
        "columns": ["count(*)", "sum(salary)"],
        "rows": [[30, 46095]],
    }


def test_a_refused_statement_is_one_line(vault: Path, process) -> None:
    ran = process("audit", "ask", vault, "SELECT salary FROM data")
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("error: ")
    assert "1037" not in ran.stderr


def test_attack_and_picture(vault: Path, invoke, tmp_path: Path) -> None:
    picture = tmp_path / "attacks.svg"
    shown = invoke("audit", "attack", vault, "--seed", "1", "--picture", picture, "--json")
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.output)["attacks"]
    assert len(found) == 6
    assert all(one["pinned"] == 0 for one in found)
    assert sum(one["pinned_with_the_gate_alone"] for one in found) > 60
    assert "without auditor" in picture.read_text()
    assert json.loads(invoke("audit", "log", vault, "--json").output)["asked"] == 0


def test_the_report_holds_no_answer(vault: Path, invoke, tmp_path: Path) -> None:
    invoke("audit", "ask", vault, "SELECT sum(salary) FROM data WHERE department = 'x'")
    invoke("audit", "ask", vault, "SELECT sum(salary) FROM data WHERE name = 'p1'")
    report = tmp_path / "vault.html"
    assert invoke("audit", "log", vault, "--report", report).exit_code == 0
    page = report.read_text()
    assert "The guarantee holds by construction" in page
    assert "name = &#39;p1&#39;" in page
    assert str(sum(1000 + 37 * k for k in range(0, 30, 3))) not in page
    assert "1037" not in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--auditor", "interval"], "--low"),
        (["--auditor", "boolean"], "--order"),
        (["--auditor", "sum", "--width", "3"], "does not belong"),
        (["--auditor", "sum"], "no value below 0"),
        (["--auditor", "sum", "--low", "2000"], "outside the declared bounds"),
        (["--auditor", "extrema", "--distinct"], "whole numbers"),
        (["--auditor", "interval", "--low", "0", "--high", "1e9", "--width", "10"], "width"),
        (["--auditor", "extrema", "--group", "3"], "does not belong"),
        (["--group", "1"], "group"),
        (["--sensitive", "pay"], "pay"),
        (["--table", "t"], "DuckDB"),
        (["--auditor", "private", "--low", "0", "--high", "10", "--epsilon", "1"], "bounds"),
    ],
)
def test_options_that_do_not_fit(staff: Path, process, options: list[str], words: str) -> None:
    ran = process("audit", "init", staff, "--sensitive", "salary", "--public", "age", *options)
    assert ran.returncode == 2
    assert words in ran.stderr
    assert not staff.with_suffix(".vault").exists()


def test_every_auditor_can_be_made(staff: Path, invoke, tmp_path: Path) -> None:
    for auditor, more in {
        "sum": ["--group", "3", "--minimum-set-size", "4", "--max-overlap", "20", "--per-user", "--low", "0"],
        "extrema": ["--low", "0", "--step", "1"],
        "interval": ["--low", "0", "--high", "5000", "--width", "100"],
        "private": ["--low", "0", "--high", "5000", "--epsilon", "1", "--mechanism", "gaussian"],
    }.items():
        folder = tmp_path / auditor
        common = ["--sensitive", "salary", "--public", "age", "--vault", folder, "--auditor", auditor]
        made = invoke("audit", "init", staff, *common, *more)
        assert made.exit_code == 0, made.output
        function = "max" if auditor == "extrema" else "avg"
        asked = invoke("audit", "ask", folder, f"SELECT {function}(salary) FROM data WHERE age < 25")
        assert asked.exit_code == 0, asked.output


def test_update_and_token(staff: Path, invoke, tmp_path: Path) -> None:
    folder = tmp_path / "keyed"
    invoke(
        "audit",
        "init",
        staff,
        "--sensitive",
        "salary",
        "--public",
        "age",
        "--key",
        "name",
        "--low",
        "0",
        "--vault",
        folder,
    )
    after = tmp_path / "after.csv"
    after.write_text(staff.read_text() + "p99,30,x,1\n")
    shown = invoke("audit", "update", folder, after, "--json")
    assert json.loads(shown.output)["records"] == 31
    token = invoke("audit", "token", folder, "ann").output.strip()
    assert len(token) > 40
    assert invoke("audit", "token", folder, "ann", "--revoke").exit_code == 0


def test_a_service_beyond_this_machine_needs_tls(vault: Path, process) -> None:
    ran = process("audit", "serve", vault, "--host", "0.0.0.0")
    assert ran.returncode == 2
    assert "TLS" in ran.stderr


@pytest.mark.parametrize(("option", "hours"), [("30d", 720), ("12h", 12), ("2w", 336), ("90m", 1.5)])
def test_a_token_with_an_expiry(vault: Path, invoke, option: str, hours: float) -> None:
    before = dt.datetime.now(dt.UTC)
    printed = json.loads(invoke("audit", "token", vault, "ann", "--expires", option, "--json").output)
    expires = dt.datetime.fromisoformat(printed["expires"])
    assert dt.timedelta(seconds=-2) < expires - before - dt.timedelta(hours=hours) < dt.timedelta(minutes=10)
    assert Tokens(vault).user_of(printed["token"]) == "ann"
    assert json.loads(invoke("audit", "token", vault, "ann", "--json").output)["expires"] is None


@pytest.mark.parametrize("option", ["", "0d", "-1d", "soon", "1y", "1.5d", "9" * 30 + "d", "٣d", "30 d", "d"])
def test_other_expiries_are_refused(vault: Path, invoke, option: str) -> None:
    refused = invoke("audit", "token", vault, "ann", "--expires", option)
    assert refused.exit_code == 2
    assert "30d" in refused.output


def test_a_token_is_not_revoked_later(vault: Path, invoke) -> None:
    assert invoke("audit", "token", vault, "ann", "--revoke", "--expires", "1d").exit_code == 2


def test_pages_and_pictures_replace_nothing_unasked(vault: Path, staff: Path, tmp_path: Path, invoke) -> None:
    notes = tmp_path / "notes.html"
    notes.write_text("mine")
    written = {path: path.read_bytes() for path in (notes, staff, *vault.iterdir()) if path.is_file()}
    page = ("audit", "log", vault, "--report")
    assert "there already" in invoke(*page, notes).output
    assert "there already" in invoke("audit", "attack", vault, "--picture", notes).output
    for path in (staff, vault / "log.head", vault / "new.html"):
        refused = invoke(*page, path, "--overwrite")
        assert refused.exit_code == 2
        assert "is what is read" in refused.output
    assert {path: path.read_bytes() for path in written} == written
    assert not (vault / "new.html").exists()
    assert invoke(*page, notes, "--overwrite").exit_code == 0
    assert notes.read_text() != "mine"


def test_histories_apart_are_judged_on_an_assumption(tmp_path: Path, invoke) -> None:
    condition = "if users do not pool their answers"
    data, vault, page = tmp_path / "staff.csv", tmp_path / "staff.vault", tmp_path / "page.html"
    data.write_text("id,pay\n" + "".join(f"{k},{7000 + 311 * k}\n" for k in range(12)))
    made = invoke(
        *("audit", "init", data, "--sensitive", "pay", "--public", "id", "--low", 0, "--high", 100_000),
        "--per-user",
    )
    assert "each user alone" in made.output
    assert "caution" in made.output
    invoke("audit", "ask", vault, "SELECT sum(pay) FROM data", "--user", "ann")
    invoke("audit", "ask", vault, "SELECT sum(pay) FROM data WHERE id <> 3", "--user", "bob")
    shown = invoke("audit", "log", vault, "--verify", "--report", page)
    assert "by construction" not in shown.output
    assert f"{condition}: values disclosed 0" in shown.output
    assert "caution" in shown.output
    plain = json.loads(invoke("audit", "log", vault, "--verify", "--json").output)
    assert plain["verdict"] == plain["judgment"]["basis"] == "assumed"
    assert condition in plain["judgment"]["guarantee"]
    assert "of 12 values of pay" in plain["cautions"][0]["text"]
    assert "of 12 values of pay" in page.read_text()
    assert "each user alone" in page.read_text()
    assert condition in page.read_text()
