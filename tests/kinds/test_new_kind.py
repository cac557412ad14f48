"""A kind of data that is added as CONTRIBUTING says goes from a job file to a report, and is judged from its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.kinds.tally import RareAnswersDropped, TallyKind

from discreet import Release
from discreet.cli._app import app
from discreet.core.adapters import KINDS
from discreet.core.registry import METHODS, Method, Parameter
from discreet.errors import ParameterError
from discreet.job import Job, run
from discreet.job.release_checking import judge_release

JOB = """\
[input]
path = "answers.txt"
[tally]
question = "Do you smoke?"
[[guarantee]]
kind = "k-anonymity"
k = 5
[output]
folder = "out"
"""


class TallyMethod(Method):
    """The entry of the toy publisher: its class is not in the package, where an entry would look for it."""

    def load(self) -> Any:
        return RareAnswersDropped

    def parameters(self) -> dict[str, Parameter]:
        return {}

    def options(self) -> dict[str, Parameter]:
        return {}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Add the kind by one line, and its publisher by another; write a job about it."""
    monkeypatch.setitem(KINDS, "tally", f"{TallyKind.__module__}:{TallyKind.__name__}")
    method: Any = TallyMethod(
        "drop-rare",
        "tally:RareAnswersDropped",
        "publisher",
        "drops rare answers",
        takes=("tally",),  # type: ignore[arg-type]
        makes=("tally",),  # type: ignore[arg-type]
        keeping=("KAnonymity",),
    )
    monkeypatch.setitem(METHODS, "drop-rare", method)
    (tmp_path / "answers.txt").write_text("yes: 12\nno: 30\nZyxwv: 2\n")
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


def test_a_job_file_becomes_a_release_with_reports(folder: Path) -> None:
    release: Release = run(Job.read(folder / "job.toml"))
    assert release.verdict.verified
    record = json.loads((folder / "out" / "release.json").read_text())
    assert (record["kind"], record["people"]) == ("tally", {"in": 44, "out": 42, "suppressed": 2})
    assert (folder / "out" / "tally.txt").read_text() == "yes: 12\nno: 30\n"
    owners = json.loads((folder / "out.private" / "recipe.private.json").read_text())
    assert owners["measures"] == {"share_kept": 42 / 44}
    public = (folder / "out" / "report.html").read_text()
    internal = (folder / "out.private" / "report-internal.html").read_text()
    assert "A tally without a name" in public
    assert "People by answer" in public
    assert "what people said" in public
    assert "Run it again" in internal
    assert "Zyxwv" not in public + internal
    assert "95%" in internal
    assert "95%" not in public


def test_the_files_are_judged_by_themselves(folder: Path) -> None:
    run(Job.read(folder / "job.toml"))
    judgment = judge_release(folder / "out")
    assert judgment.ok
    assert (judgment.kind, judgment.counts) == ("tally", {"people": 42, "answers": 2})
    assert {"people.out", "verdict"} <= {*judgment.record.verified}
    (folder / "out" / "tally.txt").write_text("yes: 12\nno: 30\nmaybe: 1\n")
    assert judge_release(folder / "out").word == "broken"


def test_the_command_line_serves_it(folder: Path) -> None:
    def invoked(*arguments: object) -> Any:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    result = invoked("run", folder / "job.toml")
    assert result.exit_code == 0, result.output
    assert 'people    {"in": 44, "out": 42, "suppressed": 2}' in result.output
    plain = json.loads(invoked("run", folder / "job.toml", "--overwrite", "--json").output)
    assert plain["people"] == {"in": 44, "out": 42, "suppressed": 2}
    assert invoked("check", folder / "out").exit_code == 0
    refused = invoked("apply", folder / "out", folder / "answers.txt", "--out", folder / "more")
    assert "The recipe is one of a tally, which is counted anew." in refused.output


def test_its_cautions_count_as_any_others(folder: Path) -> None:
    (folder / "answers.txt").write_text("yes: 12\nno: 1\n")
    release = run(Job.read(folder / "job.toml"))
    assert [caution.code for caution in release.cautions] == ["one-answer"]
    (folder / "answers.txt").write_text("=1+1: 12\nno: 10\n")
    release = run(Job.from_dict(_job(folder)))
    assert [caution.code for caution in release.cautions] == ["formula-cells"]


def _job(folder: Path) -> dict[str, Any]:
    return {
        "input": {"path": folder / "answers.txt"},
        "tally": {},
        "guarantee": {"kind": "k-anonymity", "k": 5},
    }


def test_a_section_is_refused_where_it_is_wrong(folder: Path) -> None:
    job = _job(folder)
    with pytest.raises(ParameterError, match="unknown key 'asked'; there is 'question'"):
        Job.from_dict({**job, "tally": {"asked": "?"}})
    with pytest.raises(ParameterError, match=r"\[columns\] and \[tally\]"):
        Job.from_dict({**job, "columns": {}})
