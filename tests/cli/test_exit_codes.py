"""Exit codes by cause, logs without values, rehearsals, and questions before anything is replaced."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Invoke
from tests.cli.planted import SECRET

from discreet.cli import _output
from discreet.cli._errors import failure_of
from discreet.core.errors import NetworkError, PromiseBrokenError
from discreet.parties.errors import PeerLostError

ROLES = ("--quasi", "age,zip", "--sensitive", "disease", "--rest", "identifier")


def command(patients: Path, out: Path, *more: object, k: int = 4) -> tuple[object, ...]:
    return ("anonymize", patients, *ROLES, "-k", k, "--no-report", "--out", out, *more)


def test_the_exit_code_says_the_cause(invoke: Invoke, patients: Path, tmp_path: Path) -> None:
    """First use (14): a typo, an existing folder, a caution and an infeasible guarantee all ended with 2."""
    out = tmp_path / "release"
    assert invoke(*command(patients, out, "--typo")).exit_code == 2
    assert invoke(*command(patients, out, k=41)).exit_code == 6
    assert invoke(*command(patients, out, "--strict", k=30)).exit_code == 5
    assert not out.exists()
    assert invoke(*command(patients, out)).exit_code == 0
    assert invoke(*command(patients, out)).exit_code == 7
    assert failure_of(PromiseBrokenError("Broken.")).code == 4
    assert failure_of(NetworkError("Away.")).code == failure_of(PeerLostError("north", "died")).code == 8


def test_a_strict_refusal_is_no_broken_promise(invoke: Invoke, patients: Path, tmp_path: Path) -> None:
    result = invoke(*command(patients, tmp_path / "release", "--strict", "--json", k=30))
    plain = json.loads(result.stdout)
    assert plain["error"]["kind"] == "StrictError"
    assert plain["verified"] is False


@pytest.mark.parametrize(
    "words",
    [
        ["recipe", "release"],
        ["check", "release"],
        ["risk", "release"],
        ["explore", "patients.csv", "--quasi", "age", "-k", "2"],
        ["init", "patients.csv"],
        ["check", "missing.csv", "--quasi", "age", "-k", "2"],
    ],
)
def test_json_always_says_whether_anything_was_verified(
    invoke: Invoke, patients: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(patients.parent)
    assert invoke(*command(patients, Path("release"))).exit_code == 0
    if words[0] == "recipe":
        words = ["recipe", "release/release.json"]
    assert "verified" in json.loads(invoke(*words, "--json").stdout)


def test_a_rehearsal_writes_nothing_and_says_what_would_be(
    invoke: Invoke, patients: Path, tmp_path: Path
) -> None:
    out = tmp_path / "release"
    before = sorted(tmp_path.iterdir())
    result = invoke(*command(patients, out, "--dry-run"))
    assert result.exit_code == 0
    assert "rehearsal" in result.stdout
    assert "verified" in result.stdout
    plain = json.loads(invoke(*command(patients, out, "--dry-run", "--json")).stdout)
    assert (plain["dry_run"], plain["verified"], plain["files"]) == (True, True, [])
    assert invoke(*command(patients, out, "--dry-run", "--strict", k=30)).exit_code == 5
    assert sorted(tmp_path.iterdir()) == before
    invoke(*command(patients, out))
    assert invoke(*command(patients, out, "--dry-run")).exit_code == 7


def test_a_log_has_a_line_of_json_for_each_event_and_no_value(
    invoke: Invoke, patients: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    invoke(*command(patients, tmp_path / "release", "--log-file", log, "--log-level", "debug"))
    invoke(*command(patients, tmp_path / "release", "--log-file", log))
    text = log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert SECRET not in text
    assert lines[0]["event"] == "start"
    assert [line["event"] for line in lines].count("start") == 1
    assert all({"time", "level", "event", "command", "seconds"} <= set(line) for line in lines)
    assert [line["stage"] for line in lines if line["event"] == "stage"] == [
        "Reading",
        "Protecting",
        "Judging",
        "Writing",
    ]
    assert [line["code"] for line in lines if line["event"] in ("end", "error")] == [0, 7]
    assert any(line.get("verdict") == "verified" for line in lines)
    warned = invoke(*command(patients, tmp_path / "other", "--log-file", log, "--log-level", "error"))
    assert warned.exit_code == 0
    assert log.read_text() == text


def test_on_a_terminal_what_is_replaced_is_asked_about(
    invoke: Invoke, patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "release"
    invoke(*command(patients, out))
    first = (out / "release.json").read_bytes()
    monkeypatch.setattr(_output, "sys", _Terminal)
    asked = []
    monkeypatch.setattr(_output.click, "confirm", lambda text, **_: asked.append(text) or _abort())
    assert invoke(*command(patients, out, "--overwrite")).exit_code == 130
    assert (out / "release.json").read_bytes() == first
    assert "release" in asked[0]
    assert invoke(*command(patients, out, "--overwrite", "--yes")).exit_code == 0
    assert len(asked) == 1
    assert sys.stdin is not None


class _Terminal:
    """A process whose input and error output are a terminal."""

    class stdin:  # noqa: N801
        @staticmethod
        def isatty() -> bool:
            return True

    stderr = stdin


def _abort() -> None:
    raise _output.click.Abort
