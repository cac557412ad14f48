"""`discreet explore`: the best levels side by side, each with the command that makes it; nothing is written."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from tests.cli.planted import ROLES, SECRET

from discreet import Table, identifier, intervals, masked, quasi, read, sensitive
from discreet.core.errors import ParameterError
from discreet.guarantees import DistinctDiversity, KAnonymity
from discreet.job import exploration as exploring
from discreet.publish import Generalization, OptimalLattice

TREES = ["--hierarchy", "age=intervals:5,10", "--hierarchy", "zip=mask"]
COLUMNS = {
    "name": identifier(),
    "age": quasi(intervals(5, 10)),
    "zip": quasi(masked()),
    "disease": sensitive(),
}


def test_every_command_makes_what_its_row_says(invoke, patients: Path, tmp_path: Path, monkeypatch) -> None:
    flags = [
        "-k",
        "2,5",
        "--max-suppressed",
        "0,0.1",
        "--measure",
        "loss,discernibility",
        "--top",
        2,
        "--json",
    ]
    result = invoke("explore", patients, *ROLES, *TREES, *flags)
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert (plain["rows"], plain["nodes"], plain["visited_all"]) == (40, 24, True)
    asked = [(part["guarantee"]["k"], part["max_suppressed"]) for part in plain["parts"]]
    assert asked == [(2, 0.0), (2, 0.1), (5, 0.0), (5, 0.1)]
    firsts = [(one, one["choices"][0]) for one in plain["parts"]]
    for number, (part, choice) in enumerate(firsts):
        monkeypatch.chdir(tmp_path)
        words = shlex.split(choice["command"])
        assert words[:2] == ["discreet", "anonymize"]
        made = invoke(*words[1:], "--no-report", "--json", "--out", f"release {number}")
        assert made.exit_code == 0, made.output
        outcome = json.loads(made.stdout)
        assert outcome["levels"] == choice["levels"]
        assert outcome["suppressed"] == choice["suppressed"] <= part["max_suppressed"] * 40
        assert outcome["classes"] == choice["classes"]
        assert outcome["loss"]["total"] == pytest.approx(choice["costs"]["loss"])
        assert outcome["loss"]["discernibility"] == pytest.approx(choice["costs"]["discernibility"])
        assert outcome["risk"]["after"]["prosecutor"]["highest"] == pytest.approx(choice["risk"]["highest"])
        assert outcome["risk"]["after"]["prosecutor"]["mean"] == pytest.approx(choice["risk"]["mean"])


def test_the_table_is_readable_and_nothing_is_written(
    invoke, patients: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))  # noqa: PTH208
    result = invoke("explore", patients, *ROLES, *TREES, "-k", "5", "-l", "2")
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir(tmp_path)) == before  # noqa: PTH208
    for word in (
        "KAnonymity(k=5) & DistinctDiversity(l=2)",
        "mean risk",
        "mondrian",
        "local",
        "The command of row 1",
        "discreet anonymize",
        "age ",
    ):
        assert word in result.stdout
    assert SECRET not in result.output
    assert "--rest identifier" in result.stdout
    assert invoke("explore", patients, *ROLES, *TREES, "-k", "5", "--quiet").output == ""


def test_what_cannot_be_kept_is_said(invoke, patients: Path) -> None:
    result = invoke("explore", patients, *ROLES, "-k", "2,41")
    assert result.exit_code == 0, result.output
    assert "no method keeps it" in result.stdout
    assert "The command of row 1" in result.stdout


def test_ten_rows_are_printed_and_the_command_of_one(invoke, patients: Path) -> None:
    flags = ["-k", "2,3,5", "--top", 5]
    shown = invoke("explore", patients, *ROLES, *TREES, *flags).stdout
    rows = [line for line in shown.splitlines() if line.strip()[:1].isdigit() and "%" in line]
    assert 3 < len(rows) <= 10
    assert sum(line.startswith("discreet ") for line in shown.splitlines()) == 1
    assert "more with --all" in shown
    assert len(shown) < 4000
    whole = invoke("explore", patients, *ROLES, *TREES, *flags, "--all").stdout
    assert len([line for line in whole.splitlines() if line.strip()[:1].isdigit() and "%" in line]) > 10
    assert invoke("explore", patients, *ROLES, *TREES, *flags, "--row", 9999).exit_code == 2


def test_a_job_is_explored_and_its_row_is_run(invoke, patients: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("init", patients).exit_code == 0
    plain = json.loads(invoke("explore", "job.toml", "-k", "2,4", "--json").stdout)
    assert [part["guarantee"] for part in plain["parts"]]
    assert {one["method"] for part in plain["parts"] for one in part["choices"]} >= {"mondrian", "local"}
    for number, part in enumerate(plain["parts"]):
        choice = part["choices"][-1]
        words = shlex.split(choice["command"])
        assert words[:3] == ["discreet", "run", "job.toml"]
        made = invoke(*words[1:], "--json", "--out", f"out {number}")
        assert made.exit_code == 0, made.output
        assert json.loads(made.stdout)["loss"]["total"] == pytest.approx(choice["costs"]["loss"])
    refused = invoke("explore", "job.toml", "-l", "2")
    assert refused.exit_code == 2
    assert "The job names the guarantees" in refused.stderr


def test_odd_names_come_through_the_command(invoke, tmp_path: Path) -> None:
    path = tmp_path / "odd data.csv"
    path.write_text(
        '"an ""odd"" name","it\'s, two"\n' + "".join(f"{one % 3},x{one % 2}\n" for one in range(24))
    )
    names = ["--quasi", """an "odd" name""", "--quasi", '"it\'s, two"']
    result = invoke("explore", path, *names, "-k", "3", "--top", 1, "--measure", "loss", "--json")
    assert result.exit_code == 0, result.output
    command = json.loads(result.stdout)["parts"][0]["choices"][0]["command"]
    made = invoke(*shlex.split(command)[1:-2], "--no-report", "--out", tmp_path / "o")
    assert made.exit_code == 0, made.output


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "guarantee"),
        (["-k", "five"], "-k takes whole numbers"),
        (["-k", "5", "--max-suppressed", "0,x"], "--max-suppressed takes numbers"),
        (["-k", "5", "--max-suppressed", "2.0"], "'shares'"),
        (["-k", "5", "--measure", "beauty"], "'measures'"),
        (["-k", "5", "--top", "0"], "--top"),
        (["-k", "5", "--time-limit", "0"], "'time_limit'"),
    ],
)
def test_wrong_questions_are_refused(invoke, patients: Path, flags: list[str], words: str) -> None:
    result = invoke("explore", patients, *ROLES, *flags)
    assert result.exit_code == 2
    assert words in result.stderr.splitlines()[0]


@pytest.mark.parametrize("guarantee", [KAnonymity(4), KAnonymity(2) & DistinctDiversity(2, of="disease")])
@pytest.mark.parametrize("whole", [True, False])
def test_the_best_is_the_best(
    patients: Path, monkeypatch: pytest.MonkeyPatch, guarantee, whole: bool
) -> None:
    if not whole:
        monkeypatch.setattr(exploring, "MOST_VISITED", 1)
        monkeypatch.setattr(exploring, "_MOST_JUDGED", 1)
    table = Table(read(patients), COLUMNS)
    found = exploring.explore(table, [guarantee], shares=(0.0, 0.1), measures=("loss", "entropy"), top=1)
    assert found.whole is whole
    for part in found.parts:
        for measure in ("loss", "entropy"):
            best = next(one for one in part.choices if one.ranks.get(measure) == 1)
            search = OptimalLattice(guarantee, measure=measure, max_suppressed=part.max_suppressed)
            assert best.costs[measure] == pytest.approx(search.release(table).evidence.details["cost"])
            made = Generalization(guarantee, levels=best.levels, max_suppressed=part.max_suppressed).release(
                table
            )
            assert made.evidence.suppressed == best.suppressed


def test_the_top_is_in_order(patients: Path) -> None:
    table = Table(read(patients), COLUMNS)
    (part,) = exploring.explore(table, [KAnonymity(3)], measures=("loss",), top=50).parts
    costs = [one.costs["loss"] for one in part.choices]
    assert costs == sorted(costs)
    nodes = [one.ranks["loss"] for one in part.choices if one.method == "generalization"]
    assert nodes == list(range(1, len(nodes) + 1))
    assert {one.method for one in part.choices} == {
            "generalization", "mondrian", "global", "local", "local-suppression", "microaggregation",
        }  # fmt: skip
    with pytest.raises(ParameterError, match="'top' parameter of explore"):
        exploring.explore(table, [KAnonymity(3)], top=0)


def test_methods_that_come_to_the_same_rows_are_one_row(invoke, tmp_path: Path) -> None:
    path = tmp_path / "alike.csv"
    path.write_text(
        "age,disease\n" + "".join(f"{20 + 10 * (at % 2)},{'ab'[at % 3 % 2]}\n" for at in range(40))
    )
    told = invoke("explore", path, "--quasi", "age", "--sensitive", "disease", "-k", 5, "--all")
    assert told.exit_code == 0, told.output
    lines = [line for line in told.stdout.splitlines() if "row by row" in line]
    assert lines
    assert any(" = " in line for line in lines)
    assert len({line.split("  ", 3)[-1] for line in lines}) == len(lines)
    command = told.stdout.splitlines()[-1]
    assert " = " not in command


def test_who_stops_sees_what_there_is(invoke, patients: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First use (7): Ctrl-C printed no partial table."""

    def interrupted(*arguments: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(exploring, "_levels", interrupted)
    command = ("explore", patients, "--quasi", "age,zip", "-k", "2", "--max-suppressed", "0")
    result = invoke(*command)
    assert result.exit_code == 130
    assert "mondrian" in result.stdout
    assert "Stopped before these methods were tried: generalization" in result.stdout
    plain = json.loads(invoke(*command, "--json").stdout)
    assert plain["interrupted"] is True
    assert plain["verified"] is None
    assert "generalization" in plain["untried"]
