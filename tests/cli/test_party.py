"""`discreet party`: keys, the doctor and runs; every mistake is one line and exit code 2."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.parties.sessions import sum_of, write_session

from discreet.cli._app import app
from discreet.parties.network.doctor import examine
from discreet.parties.network.running import run_party, write_outcome
from discreet.parties.network.session import PartySession


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = write_session(tmp_path, ("a", "b"), sum_of(2), head="timeout = 20\nconnect_timeout = 20\n")
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("value\n1\n2\n")
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def with_b(path: Path, *args: object) -> Result:
    """Run a through the command line, while b runs in a thread; only one may catch what is printed."""
    session = PartySession.read(path)
    other = threading.Thread(
        target=lambda: write_outcome(
            run_party(session, "b", path.with_name("b.pem"), path.with_name("b.csv")), path.with_name("out-b")
        )
    )
    other.start()
    found = run(
        "party",
        "run",
        path,
        "--as",
        "a",
        "--data",
        path.with_name("a.csv"),
        "--out",
        path.with_name("out-a"),
        *args,
    )
    other.join()
    return found


def test_keys_writes_a_private_and_a_public_file(tmp_path: Path) -> None:
    result = run(
        "party", "keys", "--name", "hospital-a", "--address", "a.example.org:7001", "--folder", tmp_path
    )
    assert result.exit_code == 0
    assert "keep it here" in result.output
    assert 'address = "a.example.org:7001"' in (tmp_path / "hospital-a.toml").read_text()
    again = run("party", "keys", "--name", "hospital-a", "--folder", tmp_path)
    assert again.exit_code == 2
    assert "keys are never replaced" in again.output


def test_keys_as_json(tmp_path: Path) -> None:
    plain = json.loads(run("party", "keys", "--name", "x", "--folder", tmp_path, "--json").output)
    assert plain["fingerprint"].startswith("sha256:")
    assert run("party", "keys", "--name", "y", "--folder", tmp_path, "--quiet").output == ""


def test_a_wrong_address_is_refused(tmp_path: Path) -> None:
    for address in ("nowhere", "host:99999", "host:0", ":1", "a b:1"):
        result = run("party", "keys", "--name", "x", "--address", address, "--folder", tmp_path)
        assert result.exit_code == 2
        assert "must be HOST:PORT" in result.output


@pytest.mark.parametrize("labels", [True, False])
def test_run_writes_the_result_of_labelled_and_plain_files(two: Path, labels: bool) -> None:
    if labels:
        two.write_text(two.read_text() + 'labels = ["flu", "cold"]\n')
        two.with_name("a.csv").write_text("label,value\nflu,1\ncold,2\n")
        two.with_name("b.csv").write_text("value,label\n20,cold\n10,flu\n")
    found = with_b(two, *(["--json"] if labels else []))
    assert found.exit_code == 0, found.output
    if labels:
        plain = json.loads(found.output)
        assert plain["covers"] == ["a", "b"]
        assert plain["meter"]["rounds"] > 0
    else:
        assert "reveals" in found.output
        assert "colluding parties withstood" in found.output
    expected = "label,value\nflu,11\ncold,22\n" if labels else "value\n2\n4\n"
    for name in "ab":
        assert (two.parent / f"out-{name}" / "result.csv").read_text() == expected


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("value\n1\n", "must have 2 values. Got 1 values"),
        ("value\n1\nSECRET\n", "must have a column of numbers"),
        ("value\n1\n\n", "must have 2 values|missing"),
        ("x,y\n1,2\n3,4\n", "one column of numbers; it has 2 columns"),
        ("value\n1\n9000000000000000000\n", "out of range"),
        ("value\n1.5\n2\n", "must hold integers"),
    ],
)
def test_wrong_data_is_refused_before_anybody_is_met(two: Path, content: str, words: str) -> None:
    two.with_name("a.csv").write_text(content)
    result = run(
        "party", "run", two, "--as", "a", "--data", two.with_name("a.csv"), "--out", two.parent / "out"
    )
    assert result.exit_code == 2
    assert any(word in result.output for word in words.split("|"))
    assert "SECRET" not in result.output
    assert not (two.parent / "out").exists()


@pytest.mark.parametrize(
    ("content", "remedy"),
    [(b"5,7\n1,2\n", "names of the columns in its first line"), (b"value\n1\n\xff\xe9\n", "saved as UTF-8")],
)
def test_the_remedy_for_a_data_file_is_one_that_a_run_admits(two: Path, content: bytes, remedy: str) -> None:
    two.with_name("a.csv").write_bytes(content)
    result = run(
        "party", "run", two, "--as", "a", "--data", two.with_name("a.csv"), "--out", two.parent / "out"
    )
    assert result.exit_code == 2
    assert remedy in result.output
    assert "--no-header" not in result.output
    assert "--encoding" not in result.output


@pytest.mark.parametrize(
    "content", ["label,value\nflu,1\nflu,2\n", "label,value\nflu,1\nSECRET,2\n", "value\n1\n2\n"]
)
def test_labels_that_do_not_fit_are_refused(two: Path, content: str) -> None:
    two.write_text(two.read_text() + 'labels = ["flu", "cold"]\n')
    two.with_name("a.csv").write_text(content)
    result = run(
        "party", "run", two, "--as", "a", "--data", two.with_name("a.csv"), "--out", two.parent / "out"
    )
    assert result.exit_code == 2
    assert "label" in result.output
    assert "SECRET" not in result.output


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--as", "z"], "no party 'z'"),
        (["--as", "a", "--key", "none.pem"], "cannot be read"),
        (["--as", "a", "--listen", "nowhere"], "of --listen must be HOST:PORT"),
        (["--as", "b"], "Party 'a' was not reached"),
        (["--as", "a"], "Party 'b' has not connected within 1 seconds"),
    ],
)
def test_wrong_runs_are_one_line(two: Path, args: list[str], words: str) -> None:
    two.write_text(two.read_text().replace("connect_timeout = 20", "connect_timeout = 1"))
    out = two.parent / "out"
    result = run("party", "run", two, "--data", two.with_name("a.csv"), "--out", out, *args)
    assert result.exit_code == 2
    assert words in result.output
    assert not out.exists()


def test_missing_data_is_named(two: Path) -> None:
    result = run("party", "run", two, "--as", "a", "--out", two.parent / "out")
    assert result.exit_code == 2
    assert "needs the data of party 'a'; name its file with --data" in result.output


def test_a_folder_that_is_there_is_refused_before_the_run(two: Path) -> None:
    out = two.parent / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    result = run("party", "run", two, "--as", "a", "--data", two.with_name("a.csv"), "--out", out)
    assert result.exit_code == 7
    assert "not empty" in result.output
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_the_doctor_leaves_with_2_when_something_is_wrong(two: Path) -> None:
    result = run("party", "doctor", two, "--as", "a", "--wait", "0.3")
    assert result.exit_code == 2
    assert "Party 'b' has not connected" in result.output
    plain = json.loads(run("party", "doctor", two, "--json").output)
    assert not plain["ok"]
    assert {check["what"] for check in plain["checks"]} == {"certificate", "name", "port"}
    assert "without --as" in run("party", "doctor", two, "--key", "x").output


def test_the_doctor_leaves_with_0_when_all_is_well(two: Path) -> None:
    session = PartySession.read(two)
    other = threading.Thread(target=lambda: examine(session, "b", two.with_name("b.pem"), wait=20))
    other.start()
    found = run("party", "doctor", two, "--as", "a", "--wait", "20")
    other.join()
    assert found.exit_code == 0, found.output
    assert "session agree" in found.output


def test_the_demo_finds_rules_and_replaces_only_itself(tmp_path: Path) -> None:
    def invoke(*args: str) -> Result:
        return CliRunner().invoke(app, args)

    out = tmp_path / "demo"
    first = invoke("demo", "--parties", "--out", str(out))
    assert first.exit_code == 0, first.output
    assert "in all baskets together" in first.output
    assert (out / "result-west" / "report.html").is_file()
    (out / "mine.txt").write_text("mine")
    assert invoke("demo", "--parties", "--out", str(out)).exit_code == 7
    (out / "mine.txt").unlink()
    again = invoke("demo", "--parties", "--out", str(out), "--json")
    assert json.loads(again.output)["rules"]
