"""The durable log: entries in a hash chain, each committed to disk before what it records; answers as plain data."""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
import json
import math
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.output.audit.auditor import Answer, Bound, Denied, LogError

_HEAD = 40
_TABLE = """CREATE TABLE entries (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, sets BLOB NOT NULL, digest BLOB NOT NULL) STRICT"""


@dataclass(frozen=True)
class Entry:
    """One entry: its number, its kind, plain data, and the query sets as bytes."""

    number: int
    kind: str
    body: dict[str, Any]
    sets: bytes


class Log:
    """A log in SQLite; ``append`` returns only when the entry would survive a loss of power.

    Each entry holds the digest of the one before. The latest digest is also kept in a file beside the log, so that a
    log that was cut short or replaced by an older copy is noticed. Without that file, or with less in it, the log is
    damaged.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection = sqlite3.connect(
            ":memory:" if path is None else path, isolation_level=None, check_same_thread=False
        )
        self._head: int | None = None
        self.length, self.digest = 0, b""

    @classmethod
    def create(cls, path: Path | None) -> Log:
        """Return a new, empty log; None keeps it in memory alone."""
        if path is not None:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.close(os.open(_head_of(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        log = cls(path)
        log._configure()
        log._connection.execute(_TABLE)
        log._open_head()
        return log

    @classmethod
    def open(cls, path: Path) -> Log:
        """Return the log of a file; ``entries`` verifies it."""
        if not path.is_file():
            raise LogError(f"{path} is not there; without its log the vault answers nothing.")
        log = cls(path)
        try:
            log._configure()
            log._connection.execute("SELECT count(*) FROM entries").fetchone()
            log._open_head()
        except (sqlite3.Error, OSError):
            log.close()
            raise _damaged(path) from None
        return log

    def append(self, kind: str, body: dict[str, Any], sets: bytes = b"") -> int:
        """Commit an entry to disk, and return its number."""
        # One spelling of a body, since its digest is part of the chain.
        text = json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        number = self.length + 1
        digest = _digest(self.digest, number, kind, text, sets)
        try:
            self._connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (number, kind, text, sets, digest)
            )
        except sqlite3.Error as error:
            raise LogError(
                f"The log cannot be written ({error.sqlite_errorname}), so nothing is answered."
            ) from None
        # Only after the entry is durable: one that failed is not continued from.
        self.length, self.digest = number, digest
        self._write_head(number)
        return number

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, checking the chain; a log that was changed or cut short raises LogError."""
        previous, number = b"", 0
        # One byte more than a head has, so that a longer file fits no entry either.
        head = None if self._head is None else os.pread(self._head, _HEAD + 1, 0)
        is_complete = head is None
        is_begun = head != b""
        try:
            for row in self._connection.execute(
                "SELECT id, kind, body, sets, digest FROM entries ORDER BY id"
            ):
                number += 1
                previous = _digest(previous, number, *row[1:4])
                if row[0] != number or row[4] != previous:
                    raise _damaged(self._path)
                is_complete = is_complete or number.to_bytes(8, "big") + previous == head
                yield Entry(number, row[1], json.loads(row[2]), row[3])
        except (sqlite3.Error, ValueError, TypeError):
            raise _damaged(self._path) from None
        if not is_complete and (number or is_begun):
            raise _damaged(self._path)
        self.length, self.digest = number, previous

    def verify(self) -> None:
        """Check the chain of all entries, so that further ones can be appended."""
        for _ in self.entries():
            pass

    def close(self) -> None:
        """Close the log."""
        self._connection.close()
        if self._head is not None:
            os.close(self._head)
            self._head = None

    def _configure(self) -> None:
        if self._path is not None:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")

    def _write_head(self, number: int) -> None:
        """Keep the latest digest beside the log; that of the first entry lasts, so that no head is ever empty.

        Later ones may be lost with the power: an older head still fits an entry.
        """
        if self._head is None:
            return
        try:
            os.pwrite(self._head, number.to_bytes(8, "big") + self.digest, 0)
            if number == 1:
                os.fsync(self._head)
        except OSError as error:
            code = errno.errorcode.get(error.errno or 0)
            raise LogError(
                f"The head of the log cannot be written ({code}), so nothing is answered."
            ) from None

    def _open_head(self) -> None:
        if self._path is not None:
            self._head = os.open(_head_of(self._path), os.O_RDWR)


def now() -> str:
    """Return the time in UTC, to the second."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _head_of(path: Path) -> Path:
    return path.with_suffix(".head")


def _digest(previous: bytes, number: int, kind: str, body: str, sets: bytes) -> bytes:
    digest = hashlib.sha256(previous)
    for part in (str(number).encode(), kind.encode(), body.encode(), sets):
        # Each part is preceded by its length, so that no two entries have the same bytes.
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _damaged(path: Path | None) -> LogError:
    return LogError(
        f"{path or 'The log'} is damaged or cut short: its entries do not match their chain of digests. "
        "The vault answers nothing until the log is restored whole."
    )


def plain_result(result: Answer | Denied) -> dict[str, Any]:
    """Return an answer or a denial as plain data.

    >>> plain_result(Denied("too few"))
    {'denied': True, 'reason': 'too few'}
    """
    if isinstance(result, Denied):
        return {"denied": True, "reason": result.reason}
    record: dict[str, Any] = {
        "denied": False,
        "columns": list(result.columns),
        "rows": [[_cell(value) for value in row] for row in result.rows],
    }
    return record if result.epsilon_left is None else record | {"epsilon_left": result.epsilon_left}


def _cell(value: Any) -> Any:
    if isinstance(value, Bound):
        return value.to_dict()
    if isinstance(value, dt.date | dt.datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no such numbers
        return "Infinity" if value > 0 else "-Infinity"
    return value
