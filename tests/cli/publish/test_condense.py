"""`discreet condense` and `discreet stream`: whole files or none, states that go on, and no value in any error."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.cli.planted import SECRET
from tests.written import METADATA

from discreet.publish import StreamCondensation

REST = ("--rest", "quasi")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Visits with a level for each, as CSV."""
    rng = np.random.default_rng(0)
    path = tmp_path / "visits.csv"
    lines = [
        f"{SECRET}-{i},{rng.integers(18, 90)},{rng.normal(70, 12):.2f},{rng.integers(2, 9)},{'ab'[i % 2]}"
        for i in range(1500)
    ]
    path.write_text("name,age,weight,wanted,ward\n" + "\n".join(lines) + "\n")
    return path


def columns_of(path: Path) -> list[str]:
    return path.read_text().splitlines()[0].split(",")


@pytest.mark.parametrize("level", [("-k", 10), ("--k-column", "wanted")])
def test_condense_writes_a_release(invoke, visits: Path, tmp_path: Path, level: tuple[str, object]) -> None:
    out = tmp_path / "out"
    result = invoke(
        "condense",
        visits,
        *level,
        "--identifier",
        "name",
        "--label",
        "ward",
        *REST,
        "--seed",
        1,
        "--out",
        out,
    )
    assert result.exit_code == 0, result.output
    assert "by construction" in result.output
    assert "1,500 records, 1,500 pseudo-records" in result.output
    names = ["age", "weight", "ward"] if level[0] != "-k" else ["age", "weight", "wanted", "ward"]
    assert columns_of(out / "data.csv") == names
    assert SECRET not in (out / "data.csv").read_text() + (out / "release.json").read_text()
    assert SECRET not in (out / "report.html").read_text() + result.output
    again = invoke(
        "condense",
        visits,
        *level,
        "--identifier",
        "name",
        "--label",
        "ward",
        *REST,
        "--seed",
        1,
        "--out",
        out,
    )
    assert again.exit_code == 7
    assert "--overwrite" in again.output


def test_only_the_owner_s_report_of_condense_names_the_file(invoke, visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert invoke("condense", visits, "-k", 10, "--identifier", "name", *REST, "--out", out).exit_code == 0
    internal = (tmp_path / "out.private" / "report-internal.html").read_text()
    assert "visits.csv" in internal
    assert "data = Table(read(&#39;visits.csv&#39;)" in internal
    assert not any("visits.csv" in path.read_text() for path in out.iterdir())


def test_condense_does_not_replace_the_folder_of_its_input(invoke, visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert invoke("condense", visits, "-k", 10, "--identifier", "name", *REST, "--out", out).exit_code == 0
    written = (out / "data.csv").read_bytes()
    result = invoke("condense", out / "data.csv", "-k", 10, *REST, "--out", out, "--overwrite")
    assert result.exit_code == 2
    assert "contains the input data" in result.output
    assert (out / "data.csv").read_bytes() == written


def test_condense_as_json(invoke, visits: Path, tmp_path: Path) -> None:
    given = (
        "--identifier",
        "name",
        "--alpha",
        2,
        "--spread",
        "gaussian",
        "--noise",
        0.1,
        "--no-report",
        "--json",
    )
    result = invoke("condense", visits, "-k", 5, *given, *REST, "--out", tmp_path / "out")
    told = json.loads(result.output)
    assert told["ok"]
    assert told["rows"] == {"in": 1500, "out": 3000, "suppressed": 0}
    assert told["files"] == sorted(("data.csv", "release.json", *METADATA))
    assert told["verdict"] == told["judgment"]["basis"] == "by construction"
    named = ("-k", 5, "--identifier", "name")
    assert invoke("condense", visits, *named, *REST, "--quiet", "--out", tmp_path / "two").output == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "privacy level"),
        (("-k", 3, "--k-column", "wanted"), "privacy level"),
        (("-k", 0), "'k' parameter"),
        (("-k", 9999), "1500 records"),
        (("--k-column", "name"), "'name'"),
        (("--k-column", "none"), "'none'"),
        (("-k", 3, "--identifier", "nobody"), "'nobody'"),
        (("-k", 3, "--alpha", -1), "'alpha' parameter"),
    ],
)
def test_condense_says_what_to_mend(
    invoke, visits: Path, tmp_path: Path, given: tuple[object, ...], words: str
) -> None:
    named = () if "--identifier" in given else ("--sensitive", "name")
    result = invoke("condense", visits, *given, *named, *REST, "--out", tmp_path / "out")
    assert result.exit_code in (2, 6)
    assert words in result.output
    assert SECRET not in result.output
    assert not (tmp_path / "out").exists()


def stream(*given: object) -> list[object]:
    return ["stream", "condense", "--columns", "age,weight", *given]


def test_a_stream_goes_on_from_its_state(invoke, visits: Path, tmp_path: Path) -> None:
    state, whole = tmp_path / "state.bin", tmp_path / "whole.bin"
    some = ("--from", visits, "--k-column", "wanted", "--init-number", 100, "--seed", 3)
    assert invoke(*stream(*some, "--state", whole)).exit_code == 0
    first = invoke(*stream(*some, "--state", state, "--records", 700, "--snapshot-every", 200, "--json"))
    assert first.exit_code == 0, first.output
    assert json.loads(first.output)["records"] == 700
    assert json.loads(first.output)["snapshots"] == 4
    second = invoke(*stream(*some, "--state", state))
    assert "800 read, 0 lines passed over; 1,500 in all" in second.output
    assert state.read_bytes() == whole.read_bytes()
    assert SECRET.encode() not in state.read_bytes()
    third = invoke(*stream(*some, "--state", state, "--out", tmp_path / "pseudo"))
    assert "0 read" in third.output
    pseudo = (tmp_path / "pseudo" / "data.csv").read_text().splitlines()
    assert pseudo[0] == "age,weight"
    assert len(pseudo) == 1501
    assert all(float(line.split(",")[0]).is_integer() for line in pseudo[1:])


def test_two_samples_of_a_state_are_not_the_same_draw(invoke, visits: Path, tmp_path: Path) -> None:
    some = stream("--from", visits, "-k", 5, "--state", tmp_path / "s", "--seed", 1, "--out")
    one, two = tmp_path / "one", tmp_path / "two"
    for out in (one, two):
        assert invoke(*some, out).exit_code == 0
    assert (one / "data.csv").read_bytes() != (two / "data.csv").read_bytes()


def test_a_stream_is_released_like_everything_else(invoke, visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "pseudo"
    some = stream("--from", visits, "-k", 5, "--state", tmp_path / "s", "--out", out)
    assert invoke(*some).exit_code == 0
    assert {path.name for path in out.iterdir()} == {"data.csv", "release.json", "report.html", *METADATA}
    record = json.loads((out / "release.json").read_text())
    assert record["verdict"] == {
        "ok": True,
        "guarantee": record["verdict"]["guarantee"],
        "basis": "by construction",
    }
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for command in (some[:-1], ("stream", "sample", tmp_path / "s", "--out")):
        refused = invoke(*command, tmp_path / "mine", "--overwrite")
        assert refused.exit_code == 2
        assert "no earlier release" in refused.output
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_lines_come_through_a_pipe(visits: Path, tmp_path: Path) -> None:
    given = [str(word) for word in stream("-k", 10, "--state", tmp_path / "s", "--input-format", "csv")]
    ran = subprocess.run(
        [sys.executable, "-m", "discreet", *given],
        input=visits.read_bytes(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert b"1,500 in all" in ran.stdout
    assert StreamCondensation.load(tmp_path / "s").n_records_ == 1500


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_stream_that_is_stopped_saves_what_came(visits: Path, tmp_path: Path) -> None:
    state = tmp_path / "s"
    given = [
        str(word) for word in stream("-k", 5, "--init-number", 100, "--snapshot-every", 500, "--state", state)
    ]
    child = subprocess.Popen(
        [sys.executable, "-m", "discreet", *given], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdin is not None
    child.stdin.write(visits.read_bytes())
    child.stdin.flush()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        state.exists() and StreamCondensation.load(state).n_records_ >= 1000
    ):
        time.sleep(0.05)
    time.sleep(0.5)
    child.send_signal(signal.SIGTERM)
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert b"interrupted" in told
    assert StreamCondensation.load(state).n_records_ == 1500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "visits.csv"]


def test_json_lines_and_bad_ones(invoke, tmp_path: Path) -> None:
    path = tmp_path / "visits.jsonl"
    lines = [json.dumps({"age": i % 60, "weight": i * 0.5, "name": SECRET}) for i in range(200)]
    path.write_text("\n".join([*lines, f'{{"age": "{SECRET}", "weight": 3}}', *lines]))
    state = tmp_path / "s"
    refused = invoke(*stream("--from", path, "-k", 5, "--state", state, "--init-number", 50))
    assert refused.exit_code == 2
    assert "Line 201" in refused.output
    assert "'age'" in refused.output
    assert SECRET not in refused.output
    assert StreamCondensation.load(state).n_records_ == 200
    skipped = invoke(*stream("--from", path, "-k", 5, "--state", state, "--skip-bad"))
    assert "200 read, 1 lines passed over; 400 in all" in skipped.output


def test_sample_and_merge(invoke, visits: Path, tmp_path: Path) -> None:
    one, two, both = tmp_path / "one", tmp_path / "two", tmp_path / "both"
    for state, k in ((one, 5), (two, 8)):
        assert invoke(*stream("--from", visits, "-k", k, "--state", state)).exit_code == 0
    before = one.read_bytes(), two.read_bytes()
    told = json.loads(invoke("stream", "merge", one, two, "--out", both, "--json").output)
    assert told["all_records"] == 3000
    assert told["ok"]
    assert (one.read_bytes(), two.read_bytes()) == before
    out = tmp_path / "pseudo"
    drawn = invoke("stream", "sample", both, "-n", 50, "--out", out, "--format", "parquet", "--seed", 1)
    assert drawn.exit_code == 0
    import pyarrow.parquet as pq

    assert pq.read_table(out / "data.parquet").num_rows == 50


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("-k", 5), "--state"),
        (("--state", "s"), "-k 10"),
        (("-k", 5, "--k-column", "wanted", "--state", "s"), "not both"),
        (("-k", 5, "--max-k", 9, "--state", "s"), "--k-column"),
        (("-k", 5, "--kafka", "host:1", "--state", "s"), "--topic"),
        (("-k", 5, "--kafka", "host:1", "--topic", "t", "--from", "x", "--state", "s"), "not both"),
        (("-k", 5, "--from", "nowhere.csv", "--state", "s"), "nowhere.csv"),
        (("-k", 5, "--snapshot-every", 0, "--state", "s", "--from", "VISITS"), "'snapshot_every'"),
        (("-k", 5000, "--state", "s", "--from", "VISITS"), "init_number"),
        (("-k", 5, "--columns", "height", "--state", "s", "--from", "VISITS"), "'height'"),
        (("-k", 5, "--columns", "name", "--state", "s", "--from", "VISITS"), "'name'"),
    ],
)
def test_stream_says_what_to_mend(
    invoke, visits: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[object, ...], words: str
) -> None:
    monkeypatch.chdir(visits.parent)
    result = invoke(*stream(*(visits if word == "VISITS" else word for word in given)))
    assert result.exit_code in (2, 6), result.output
    assert words in result.output
    assert SECRET not in result.output
    assert not (visits.parent / "s").exists()


def test_a_state_that_does_not_fit_is_refused_and_stays(invoke, visits: Path, tmp_path: Path) -> None:
    state = tmp_path / "s"
    assert invoke(*stream("--from", visits, "-k", 5, "--state", state)).exit_code == 0
    data = state.read_bytes()
    other = invoke("stream", "condense", "--columns", "age", "--from", visits, "-k", 5, "--state", state)
    assert other.exit_code == 2
    assert "other columns" in other.output
    assert state.read_bytes() == data
    state.write_bytes(data[:-40])
    cut = invoke(*stream("--from", visits, "-k", 5, "--state", state))
    assert cut.exit_code == 2
    assert "cut short" in cut.output
    assert state.read_bytes() == data[:-40]


def test_the_commands_of_stream_explain_themselves(invoke) -> None:
    for command in ("condense", "sample", "merge"):
        shown = invoke("stream", command, "--help").output
        assert "Example" in shown
        assert "--json" in shown
        assert "--quiet" in shown


def test_condense_publishes_no_names_that_nobody_spoke_of(invoke, visits: Path, tmp_path: Path) -> None:
    result = invoke("condense", visits, "-k", 5, *REST, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert (
        "'name' would be published as it is, and 1,500 of 1,500 rows have a value of their own"
        in result.output
    )
    assert "--identifier name" in result.output
    assert SECRET not in result.output
    assert not (tmp_path / "out").exists()
    kept = invoke(
        "condense", visits, "-k", 5, "--sensitive", "name", *REST, "--quiet", "--out", tmp_path / "kept"
    )
    assert kept.exit_code == 0
    assert "name" in columns_of(tmp_path / "kept" / "data.csv")


def test_what_the_paper_s_rule_divides_is_assumed_everywhere(invoke, tmp_path: Path) -> None:
    path, state, out = tmp_path / "visits.csv", tmp_path / "s.bin", tmp_path / "pseudo"
    rng = np.random.default_rng(4)
    rows = zip(rng.normal(40, 9, 500), rng.integers(2, 12, 500), strict=True)
    path.write_text("age,wanted\n" + "\n".join(f"{age:.3f},{level}" for age, level in rows))
    some = (
        "stream",
        "condense",
        "--from",
        path,
        "--columns",
        "age",
        "--k-column",
        "wanted",
        "--init-number",
        100,
    )
    shown = invoke(*some, "--split", "paper", "--state", state, "--out", out)
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("assumed ")
    assert "either half" in shown.output
    again = invoke(*some, "--state", state, "--json")
    assert json.loads(again.output)["verdict"] == "assumed"
    checked = invoke("check", out)
    assert checked.output.startswith("claimed ")
    assert "either half" in checked.output
    judged = json.loads(invoke("check", out, "--json").output)
    assert (judged["verdict"], judged["verified"]) == ("claimed", False)
    for command in (shown, again, checked):
        assert not {"verified", "by construction", "kept"} & set(
            command.output.replace('"verified"', "").split()
        )


def test_a_level_beyond_any_stream_is_a_bad_line(invoke, tmp_path: Path) -> None:
    path, state = tmp_path / "rows.csv", tmp_path / "state.bin"
    path.write_text("age,wanted\n" + "1,2\n2,2\n3,1e30\n4,2\n")
    asked = ("stream", "condense", "--from", path, "--columns", "age", "--k-column", "wanted")
    result = invoke(*asked, "--init-number", 2, "--state", state)
    assert result.exit_code == 2
    assert "Line 4 of the stream has a level above" in result.output
    state.unlink()
    told = json.loads(invoke(*asked, "--init-number", 2, "--state", state, "--skip-bad", "--json").stdout)
    assert (told["records"], told["skipped"]) == (3, 1)


def test_copies_are_counted_and_avoided_unless_allowed(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    cells = [f"{rng.integers(20, 60)},{'abcd'[rng.integers(4)]}" for _ in range(300)]
    path.write_text("age,town\n" + "\n".join(cells) + "\n")
    given = ("condense", path, "-k", 5, *REST, "--seed", 1, "--out")
    said = invoke(*given, tmp_path / "one").output
    assert "By chance a drawn row can equal a record" in said
    assert "0 of them one that is unique" in said
    assert "rows have the quasi-identifiers of one person alone" not in said
    said = invoke(*given, tmp_path / "two", "--allow-copies").output
    assert "caution" in said
    assert "rows have the quasi-identifiers of one person alone" in said
    told = json.loads(invoke(*given, tmp_path / "three", "--allow-copies", "--json").output)
    assert told["copies"]["singled_out"] > 0
    assert [one["code"] for one in told["cautions"]] == ["copies", "seeded"]


def test_copies_that_cannot_be_avoided_are_an_error_with_the_way_out(invoke, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n2\n3\n4\n")
    result = invoke("condense", path, "-k", 2, *REST, "--out", tmp_path / "out")
    assert result.exit_code == 6
    assert "try: --allow-copies" in result.output


def test_condense_wants_a_role_for_every_column(invoke, visits: Path, tmp_path: Path) -> None:
    """Columns that are compared when copies are avoided reveal what somebody does not have; none is taken unasked."""
    result = invoke("condense", visits, "-k", 5, "--identifier", "name", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "Every column needs a role" in result.output
    assert "--rest quasi" in result.output
    assert not (tmp_path / "out").exists()


def test_rows_compared_by_all_columns_are_cautioned(invoke, visits: Path, tmp_path: Path) -> None:
    given = ("condense", visits, "-k", 5, "--identifier", "name", *REST, "--json", "--out")
    told = json.loads(invoke(*given, tmp_path / "all").output)
    assert "compared-columns" in [caution["code"] for caution in told["cautions"]]
    assert "'wanted', 'ward' have few values" in str(told["cautions"])
    refused = invoke(*given, tmp_path / "strict", "--strict")
    assert refused.exit_code == 5
    for options in (("--sensitive", "ward"), ("--allow-copies",)):
        told = json.loads(invoke(*given, tmp_path / options[-1].strip("-"), *options).output)
        assert "compared-columns" not in [caution["code"] for caution in told["cautions"]]


def test_merging_replaces_no_state_and_no_other_file_unasked(invoke, visits: Path, tmp_path: Path) -> None:
    states = [tmp_path / "north.bin", tmp_path / "south.bin"]
    for state in states:
        command = (
            "stream",
            "condense",
            "--columns",
            "age,weight",
            "--from",
            visits,
            "-k",
            5,
            "--state",
            state,
        )
        assert invoke(*command).exit_code == 0
    before = [state.read_bytes() for state in states]
    precious = tmp_path / "thesis.txt"
    precious.write_text("ten years")
    assert "there already" in invoke("stream", "merge", *states, "--out", precious).output
    assert precious.read_text() == "ten years"
    for overwriting in ((), ("--overwrite",)):
        refused = invoke("stream", "merge", *states, "--out", states[0], *overwriting)
        assert refused.exit_code == 2
        assert "is what is read" in refused.output
    assert (
        "named twice"
        in invoke("stream", "merge", states[0], states[0], "--out", tmp_path / "both.bin").output
    )
    assert [state.read_bytes() for state in states] == before
    assert invoke("stream", "merge", *states, "--out", precious, "--overwrite").exit_code == 0
