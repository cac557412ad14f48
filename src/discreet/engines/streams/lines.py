"""Sources of streams: lines from a file, a pipe or standard input, in batches that are read on request."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from discreet.core.errors import InputError
from discreet.engines.files import reason
from discreet.engines.streams.records import BadLineError, Batch, Records

_CHUNK = 1 << 16
_LONGEST = 1 << 20


class RecordSource(Protocol):
    """Where a stream comes from. Nothing is read ahead but what one read returns."""

    def next_batch(self, limit: int) -> Batch | None:
        """Return at most ``limit`` records; an empty batch where none has come for a while, None at the end."""
        ...

    def position(self) -> Mapping[str, Any]:
        """Return the position of the source after all batches that were returned; plain data without any record."""
        ...

    def commit(self, position: Mapping[str, Any]) -> None:
        """Acknowledge that all records up to a position are in a state that was saved."""
        ...

    def close(self) -> None:
        """Let go of the source."""
        ...


class LineSource:
    """Records from lines.

    What has come is returned at once, so that a slow pipe does not delay records. In a file the source can go on
    where an earlier one was; a pipe cannot be rewound, and its sender has to know where to go on.

    Parameters
    ----------
    stream
        A binary stream; read by ``read1`` where it has it.
    records
        How lines are read.
    header
        Whether the first line of CSV names the columns.
    file
        The file's name, where it is one that another source may go on with.
    position
        What an earlier source said of its position; another file than that source's is read from its beginning.
    """

    def __init__(
        self,
        stream: BinaryIO,
        records: Records,
        *,
        header: bool = True,
        file: str | None = None,
        position: Mapping[str, Any] | None = None,
    ) -> None:
        self._stream = stream
        self._records = records
        self._read = getattr(stream, "read1", stream.read)
        self._rest = b""
        self._lines: deque[bytes] = deque()
        self._ended = False
        self._failure: BadLineError | None = None
        self._line, self._offset = 0, 0
        self._file = _mark(file) if file is not None and _is_file(stream) else None
        if records.has_header and header:
            self._header()
        if position and self._file is not None and position.get("file") == self._file:
            self._resume(position)

    def next_batch(self, limit: int) -> Batch | None:
        """Return the records that have come, at most ``limit``; waits only where there is none."""
        if self._failure is not None:
            raise self._failure
        lines = self._some(limit)
        if not lines:
            return None
        batch, n_read, self._failure = self._records.read(lines, self._line + 1)
        self._line += n_read
        self._offset += sum(map(len, lines[:n_read]))
        # As with messages, the records before a bad line come first.
        if self._failure is not None and not len(batch):
            raise self._failure
        return batch

    def position(self) -> dict[str, Any]:
        """Return how many lines and bytes of which file were returned; nothing for a pipe."""
        if self._file is None:
            return {}
        return {"file": self._file, "line": self._line, "offset": self._offset}

    def commit(self, position: Mapping[str, Any]) -> None:
        """Do nothing: the position is saved with the state."""

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def _some(self, limit: int) -> list[bytes]:
        """Return the buffered lines, at most ``limit``, reading on only where there is none."""
        while not self._lines and not self._ended:
            self._fill()
        return [self._lines.popleft() for _ in range(min(limit, len(self._lines)))]

    def _fill(self) -> None:
        try:
            chunk = self._read(_CHUNK)
        except OSError as error:
            raise InputError(f"The stream cannot be read: {reason(error)}.") from None
        self._rest += chunk
        if not chunk:
            self._ended = True
            if self._rest:
                self._lines.append(self._rest)
            self._rest = b""
            return
        # What is left of earlier chunks has no end of a line, and is not searched again.
        if b"\n" in chunk:
            *complete, self._rest = self._rest.split(b"\n")
            self._lines.extend(line + b"\n" for line in complete)
        if len(self._rest) > _LONGEST:
            raise InputError("A line of the stream is longer than 1 MiB; it holds one record a line.")

    def _header(self) -> None:
        lines = self._some(1)
        if not lines:
            raise InputError("The stream has no line, not even one that names the columns.")
        self._records.read_header(lines[0])
        self._line, self._offset = 1, len(lines[0])

    def _resume(self, position: Mapping[str, Any]) -> None:
        """Go to where an earlier source of the same file was."""
        line, offset = position.get("line"), position.get("offset")
        if not isinstance(line, int) or not isinstance(offset, int) or offset < self._offset:
            raise InputError("The saved position is none of a file with this first line.")
        if os.fstat(self._stream.fileno()).st_size < offset:
            raise InputError("The file is shorter than what was read of it before; it is another one.")
        self._stream.seek(offset)
        self._rest, self._ended = b"", False
        self._lines.clear()
        self._line, self._offset = line, offset


def open_lines(
    path: str | os.PathLike[str],
    records: Records,
    *,
    header: bool = True,
    position: Mapping[str, Any] | None = None,
) -> LineSource:
    """Open a file or a named pipe as a source; ``-`` is standard input."""
    if os.fspath(path) == "-":
        import sys

        return LineSource(sys.stdin.buffer, records, header=header)
    try:
        stream = Path(path).open("rb")  # noqa: SIM115  # the source closes it
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}.") from None
    try:
        name = str(Path(path).resolve())
        return LineSource(stream, records, header=header, file=name, position=position)
    except BaseException:
        stream.close()
        raise


def empty_batch(n_columns: int) -> Batch:
    """Return a batch without any record."""
    return Batch(np.empty((0, n_columns)))


def _mark(file: str) -> str:
    """Return a digest of a file's name."""
    return hashlib.sha256(file.encode(errors="surrogateescape")).hexdigest()[:16]


def _is_file(stream: BinaryIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False
