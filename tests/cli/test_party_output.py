"""The folder of a party's run: only an earlier run's own folder is ever replaced, and only when that is allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cli.test_party import run, with_b
from tests.parties.sessions import write_session

from discreet import Table, quasi
from discreet.guarantees import KAnonymity
from discreet.publish import Mondrian

COMMON = 'name = "set-intersection"\nmax_first = 2\nmax_second = 2\noutput = "both"'


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = write_session(tmp_path, ("a", "b"), COMMON, head="timeout = 20\nconnect_timeout = 1\n")
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("item\nx\n")
    return path


def thesis(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")


def record_of_another_program(folder: Path) -> None:
    thesis(folder)
    (folder / "transcript.json").write_text('{"speaker": "A"}')


def damaged_record(folder: Path) -> None:
    thesis(folder)
    (folder / "transcript.json").write_text('{"discreet": "0.1", "files"')


def deep_record(folder: Path) -> None:
    thesis(folder)
    (folder / "transcript.json").write_text("[" * 100_000)


def linked_record(folder: Path) -> None:
    thesis(folder)
    record = folder.with_name("record.json")
    record.write_text(json.dumps({"discreet": "0.1", "files": ["thesis.txt"]}))
    (folder / "transcript.json").symlink_to(record)


def earlier_run_and_thesis(folder: Path) -> None:
    thesis(folder)
    (folder / "result.csv").write_text("value\n1\n")
    record = {"discreet": "0.1", "protocol": "secure-sum", "files": ["result.csv"]}
    (folder / "transcript.json").write_text(json.dumps(record))


def hidden_file(folder: Path) -> None:
    folder.mkdir()
    (folder / ".git").mkdir()


def release(folder: Path) -> None:
    table = Table(pa.table({"age": [1, 1, 2, 2]}), {"age": quasi()})
    Mondrian(KAnonymity(2)).release(table).write(folder, report=False)


def link_to_thesis(folder: Path) -> None:
    thesis(folder.with_name("theses"))
    folder.symlink_to(folder.with_name("theses"))


FOREIGN = [
    thesis,
    record_of_another_program,
    damaged_record,
    deep_record,
    linked_record,
    earlier_run_and_thesis,
    hidden_file,
    release,
    link_to_thesis,
]


def content(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder, with the bytes of its files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("make", FOREIGN)
def test_a_foreign_folder_survives_overwriting(two: Path, make: Callable[[Path], None]) -> None:
    out = two.with_name("mine")
    make(out)
    before = content(two.parent)
    result = run(
        "party", "run", two, "--as", "a", "--data", two.with_name("a.csv"), "--out", out, "--overwrite"
    )
    assert result.exit_code == 2
    assert "not overwritten" in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert content(two.parent) == before


def test_a_folder_that_fills_during_the_run_survives(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is looked at again when the result is there: a run may take hours."""
    from discreet.parties.network import running

    out, meet = two.with_name("out-a"), running.run_party

    def meet_and_fill(session: object, name: str, *given: object, **more: object) -> object:
        outcome = meet(session, name, *given, **more)  # type: ignore[arg-type]
        if name == "a":
            thesis(out)
        return outcome

    two.write_text(two.read_text().replace("connect_timeout = 1\n", "connect_timeout = 20\n"))
    monkeypatch.setattr(running, "run_party", meet_and_fill)
    result = with_b(two, "--overwrite")
    assert result.exit_code == 2
    assert content(out) == {"thesis.txt": b"years of work"}


@pytest.mark.parametrize("inside", ["data", "key", "session"])
def test_a_folder_with_the_inputs_is_refused(two: Path, inside: str) -> None:
    """An earlier result is replaced, unless what this run needs lies in it."""
    out = two.with_name("out")
    out.mkdir()
    paths = {"data": two.with_name("a.csv"), "key": two.with_name("a.pem"), "session": two}
    moved = paths[inside].rename(out / paths[inside].name)
    paths[inside] = moved
    record = {"discreet": "0.1", "protocol": "secure-sum", "files": [moved.name]}
    (out / "transcript.json").write_text(json.dumps(record))
    result = run(
        "party",
        "run",
        paths["session"],
        "--as",
        "a",
        "--data",
        paths["data"],
        "--key",
        paths["key"],
        "--out",
        out,
        "--overwrite",
    )
    assert result.exit_code == 2
    assert "contains the input" in result.output
    assert moved.exists()


def test_an_earlier_result_is_replaced_directly_and_through_a_link(two: Path) -> None:
    two.write_text(two.read_text().replace("connect_timeout = 1\n", "connect_timeout = 20\n"))
    out = two.with_name("out-a")
    assert with_b(two).exit_code == 0
    record = json.loads((out / "transcript.json").read_text())
    assert sorted([*record["files"], "transcript.json"]) == sorted(path.name for path in out.iterdir())
    (out / "result.csv").write_text("old")
    other = two.with_name("real")
    out.rename(other)
    out.symlink_to(other)
    for path in two.with_name("out-b").iterdir():
        path.unlink()
    result = with_b(two, "--overwrite")
    assert result.exit_code == 0, result.output
    assert (other / "result.csv").read_text() == "element\nx\n"
    assert out.is_symlink()


def test_a_release_does_not_replace_the_result_of_a_run(tmp_path: Path) -> None:
    out = tmp_path / "result"
    out.mkdir()
    (out / "transcript.json").write_text(json.dumps({"discreet": "0.1", "files": []}))
    table = Table(pa.table({"age": [1, 1, 2, 2]}), {"age": quasi()})
    with pytest.raises(Exception, match="not overwritten"):
        Mondrian(KAnonymity(2)).release(table).write(out, report=False, overwrite=True)
    assert (out / "transcript.json").is_file()


def test_a_project_with_a_file_called_release_json_is_foreign_to_a_release(tmp_path: Path) -> None:
    out = tmp_path / "project"
    thesis(out)
    (out / "release.json").write_text('{"version": "1.0"}')
    table = Table(pa.table({"age": [1, 1, 2, 2]}), {"age": quasi()})
    with pytest.raises(Exception, match="not overwritten"):
        Mondrian(KAnonymity(2)).release(table).write(out, report=False, overwrite=True)
    assert (out / "thesis.txt").read_text() == "years of work"
