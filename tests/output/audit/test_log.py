"""The log: a chain that notices every change, and commits that last."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from discreet.output.audit import log as log_module
from discreet.output.audit.auditor import LogError
from discreet.output.audit.log import Log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = Log.create(tmp_path / "log.sqlite")
    for number in range(5):
        log.append("query", {"sql": f"question {number}", "user": "ä"}, bytes([number]))
    log.close()
    return tmp_path / "log.sqlite"


def entries(path: Path) -> list[object]:
    log = Log.open(path)
    try:
        return list(log.entries())
    finally:
        log.close()


def test_what_is_appended_is_read_back(path: Path) -> None:
    found = entries(path)
    assert [(one.number, one.kind, one.sets) for one in found] == [
        (n + 1, "query", bytes([n])) for n in range(5)
    ]
    assert found[3].body == {"sql": "question 3", "user": "ä"}


def test_it_goes_on_where_it_was(path: Path) -> None:
    log = Log.open(path)
    list(log.entries())
    assert log.append("query", {}) == 6
    log.close()
    assert len(entries(path)) == 6


def test_commits_are_full_and_ahead(path: Path) -> None:
    log = Log.open(path)
    assert log._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert log._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    log.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET body = '{}' WHERE id = 2",
        "UPDATE entries SET sets = x'ff' WHERE id = 5",
        "UPDATE entries SET kind = 'answer' WHERE id = 1",
        "UPDATE entries SET digest = x'00' WHERE id = 3",
        "UPDATE entries SET body = 'no json' WHERE id = 2",
        "DELETE FROM entries WHERE id = 3",
        "DELETE FROM entries WHERE id = 5",
        "DELETE FROM entries WHERE id = 1",
        "DELETE FROM entries",
        "UPDATE entries SET id = 9 WHERE id = 5",
        "DROP TABLE entries",
    ],
)
def test_every_change_is_noticed(path: Path, change: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.commit()
    connection.close()
    with pytest.raises(LogError, match="damaged"):
        entries(path)


def test_an_older_copy_is_noticed(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copy(path, old)
    log = Log.open(path)
    list(log.entries())
    log.append("query", {})
    log.close()
    shutil.copy(old, path)
    with pytest.raises(LogError, match="cut short"):
        entries(path)


def test_a_stale_head_is_no_harm(path: Path) -> None:
    """After a loss of power the head may be older than the log, never newer."""
    head = path.with_suffix(".head").read_bytes()
    log = Log.open(path)
    list(log.entries())
    log.append("query", {})
    log.close()
    path.with_suffix(".head").write_bytes(head)
    assert len(entries(path)) == 6


@pytest.mark.parametrize("at", [0, 100, 4096, -1])
def test_damaged_bytes_are_noticed(path: Path, at: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[at:] = bytes(len(raw[at:]))
    path.write_bytes(raw)
    if at == -1:
        path.write_bytes(bytes(raw[: len(raw) // 2]))
    with pytest.raises(LogError):
        entries(path)


def test_a_missing_log_is_noticed(path: Path) -> None:
    path.unlink()
    with pytest.raises(LogError, match="not there"):
        Log.open(path)


@pytest.mark.parametrize("length", [0, 1, 8, 39, 41])
def test_a_head_that_is_empty_or_cut_is_noticed(path: Path, length: int) -> None:
    head = path.with_suffix(".head")
    head.write_bytes((head.read_bytes() + b"x")[:length])
    with pytest.raises(LogError, match="damaged"):
        entries(path)


def test_a_log_cut_to_its_first_entry_is_noticed_without_its_head(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM entries WHERE id > 1")
    connection.commit()
    connection.close()
    path.with_suffix(".head").write_bytes(b"")
    with pytest.raises(LogError, match="damaged"):
        entries(path)


@pytest.mark.parametrize("content", [bytes(40), b"\xff" * 40])
def test_a_head_that_fits_no_entry_is_noticed(path: Path, content: bytes) -> None:
    path.with_suffix(".head").write_bytes(content)
    with pytest.raises(LogError, match="damaged"):
        entries(path)


def test_the_head_of_the_first_entry_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss of power may take later heads back to the first one, never to none."""
    synced = []
    monkeypatch.setattr(log_module.os, "fsync", lambda descriptor: synced.append(descriptor))
    log = Log.create(tmp_path / "log.sqlite")
    log.append("data", {})
    assert log._head in synced
    log.close()


def test_a_head_that_cannot_be_written_is_an_error_of_the_log(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log.open(path)
    list(log.entries())

    def refused(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(log_module.os, "pwrite", refused)
    with pytest.raises(LogError, match="cannot be written"):
        log.append("query", {})
    monkeypatch.undo()
    log.close()
    assert len(entries(path)) == 6
