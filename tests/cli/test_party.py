"""`discreet party`: keys, the doctor and runs; every mistake is one line and exit code 2."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.parties.sessions import sum_of, write_session

from discreet.cli._app import app


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = write_session(tmp_path, ("a", "b"), sum_of(2), head="timeout = 5\nconnect_timeout = 2\n")
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("value\n1\n2\n")
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def both(path: Path, **options: list[str]) -> dict[str, Result]:
    """Run both parties, in threads of this process."""
    found: dict[str, Result] = {}

    def half(name: str) -> None:
        folder = path.parent
        given = [
            "party",
            "run",
            path,
            "--as",
            name,
            "--data",
            folder / f"{name}.csv",
            "--out",
            folder / f"out-{name}",
        ]
        found[name] = run(*given, *options.get(name, []))

    threads = [threading.Thread(target=half, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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
    found = both(two, a=["--json"])
    assert found["a"].exit_code == found["b"].exit_code == 0, found["b"].output
    plain = json.loads(found["a"].output)
    assert plain["covers"] == ["a", "b"]
    assert plain["meter"]["rounds"] > 0
    expected = "label,value\nflu,11\ncold,22\n" if labels else "value\n2\n4\n"
    assert (two.parent / "out-b" / "result.csv").read_text() == expected
    assert "reveals" in found["b"].output


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
        (["--as", "a"], "Party 'b' has not connected within 2 seconds"),
    ],
)
def test_wrong_runs_are_one_line(two: Path, args: list[str], words: str) -> None:
    out = two.parent / "out"
    result = run("party", "run", two, "--data", two.with_name("a.csv"), "--out", out, *args)
    assert result.exit_code == 2
    assert words in result.output
    assert not out.exists()


def test_a_folder_that_is_there_is_refused_before_the_run(two: Path) -> None:
    out = two.parent / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    result = run("party", "run", two, "--as", "a", "--data", two.with_name("a.csv"), "--out", out)
    assert result.exit_code == 2
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
    found: dict[str, Result] = {}

    def visit(name: str) -> None:
        found[name] = run("party", "doctor", two, "--as", name, "--wait", "5")

    threads = [threading.Thread(target=visit, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[name].exit_code for name in "ab"] == [0, 0]
