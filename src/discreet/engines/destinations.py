"""Destinations: where released rows go beside the folder; they are seen once they are committed, or never."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from discreet.core.errors import OutputError, ParameterError
from discreet.engines.addresses import ObjectAddress, address_of
from discreet.engines.atomic import scratch_folder, write_failure
from discreet.engines.formats import WRITTEN, format_of
from discreet.engines.inputs import DATABASES, STANDARD, database_file
from discreet.engines.writing import write_frame

_DUCKDB = (".duckdb", ".ddb")
_CHUNK = 1 << 22


class Destination(Protocol):
    """Rows that nobody else sees until they are committed."""

    def require_new(self) -> None:
        """Refuse what is there already, or may not be made."""
        ...

    def fill(self, frame: Any) -> None:
        """Write the rows of a frame, as they are published."""
        ...

    @property
    def rows(self) -> Any:
        """What was written: a frame, or the path of a file."""
        ...

    def commit(self) -> None:
        """Publish the rows."""
        ...

    def withdraw(self) -> None:
        """Remove the rows, whether they were committed or not."""
        ...

    def close(self) -> None:
        """Let go of the place."""
        ...


def without_password(to: str) -> str:
    """Return what messages call a destination: its address without a password.

    >>> without_password("postgresql://ann:secret@host/clinic?table=k5"), without_password("-")
    ('postgresql://ann@host/clinic?table=k5', 'standard output')
    """
    return "standard output" if to == STANDARD else str(address_of(to) or to)


def file_of(to: str) -> Path | None:
    """Return the file that a destination is or lies in; None for standard output and addresses."""
    if to == STANDARD or "://" in to:
        return None
    database = database_file(to)
    return Path(to) if database is None else database[0]


def is_view(to: str) -> bool:
    """Return whether a destination is a view, which shows later rows as well.

    >>> is_view("postgresql://host/clinic?view=k5"), is_view("postgresql://host/clinic?table=k5"), is_view("k5.csv")
    (True, False, False)
    """
    address = None if to == STANDARD else address_of(to)
    return address is not None and address.view is not None


def require_new(to: str, format_: str | None = None) -> None:
    """Refuse, before any work, a destination that is there already or cannot be made."""
    destination = _destination(to, format_)
    try:
        destination.require_new()
    except BaseException:
        destination.close()
        raise
    destination.withdraw()


@contextmanager
def new_destination(to: str, frame: Any, format_: str | None = None) -> Iterator[Destination]:
    """Write a frame to a destination; it stays only if it was committed and nothing failed afterwards."""
    destination = _destination(to, format_)
    try:
        try:
            destination.require_new()
        except BaseException:
            destination.close()
            raise
        try:
            destination.fill(frame)
            yield destination
        except BaseException:
            destination.withdraw()
            raise
    finally:
        destination.close()


def _destination(to: str, format_: str | None) -> Destination:
    address = address_of(to)
    if isinstance(address, ObjectAddress):
        return NewObject(address)
    if address is not None:
        from discreet.engines.postgres.publishing import NewTable, NewView

        return NewTable(address) if address.view is None else NewView(address)
    if to == STANDARD:
        return StandardOutput(format_ or "csv")
    database = database_file(to)
    if database is None:
        return NewFile(Path(to))
    path, table = database
    if not table:
        raise ParameterError(f"{path} is a database: name the new table as {path}?table=NAME.")
    if path.suffix.lower() not in DATABASES:
        raise ParameterError(f"{path} is named as a database; end its name in {', '.join(DATABASES)}.")
    if not path.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.suffix.lower() in _DUCKDB or _is_duckdb(path):
        from discreet.engines.duckdb.databases import NewDuckDbTable

        return NewDuckDbTable(path, table)
    from discreet.engines.sqlite import NewSqliteTable

    return NewSqliteTable(path, table)


def _is_duckdb(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(12)[8:] == b"DUCK"


class _Written:
    """A private file of the rows, which goes to its place when it is committed."""

    def __init__(self, ending: str, format_: str) -> None:
        self._format = format_
        self._folder = scratch_folder()
        self.rows = self._folder / f"data{ending}"

    def fill(self, frame: Any) -> None:
        """Write the rows of a frame."""
        write_frame(frame, self.rows, self._format)

    def close(self) -> None:
        """Remove the private file."""
        shutil.rmtree(self._folder, ignore_errors=True)


class StandardOutput(_Written):
    """Standard output, which gets all rows at once when they were judged."""

    def __init__(self, format_: str) -> None:
        super().__init__(f".{format_}", format_)

    def require_new(self) -> None:
        """Do nothing: nothing is replaced."""

    def commit(self) -> None:
        """Write the rows."""
        sys.stdout.flush()
        with self.rows.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.buffer.flush()

    def withdraw(self) -> None:
        """Do nothing: what was read cannot be taken back."""


class NewFile(_Written):
    """A new file."""

    def __init__(self, target: Path) -> None:
        super().__init__("".join(target.suffixes[-2:]), _written_format(target))
        self._target, self._is_committed = target, False

    def require_new(self) -> None:
        """Refuse a file that is there, and a folder where none can be made."""
        if self._target.exists():
            raise _there_already(self._target)
        folder = self._target.parent
        if not os.access(folder, os.W_OK):
            why = "permission denied" if folder.is_dir() else f"there is no folder {folder}"
            raise OutputError(f"{self._target} cannot be written: {why}.")

    def commit(self) -> None:
        """Give the file its name, which only one of two runs can."""
        temporary = self._target.with_name(f".{self._target.name}.{self._folder.name}.discreet-tmp")
        try:
            shutil.copyfile(self.rows, temporary)
            # Unlike a rename, a link fails where another run took the name meanwhile.
            os.link(temporary, self._target)
        except FileExistsError:
            raise _there_already(self._target) from None
        except OSError as error:
            raise OutputError(f"{self._target} cannot be written: {write_failure(error)}.") from None
        finally:
            temporary.unlink(missing_ok=True)
        self._is_committed = True

    def withdraw(self) -> None:
        """Remove the file."""
        if self._is_committed:
            self._target.unlink(missing_ok=True)
        self.close()


class NewObject(_Written):
    """A new file in an object store."""

    def __init__(self, address: ObjectAddress) -> None:
        from discreet.engines.objects import opened_store

        super().__init__("".join(address.suffixes[-2:]), _written_format(address))
        self._address, self._is_committed = address, False
        self._store, self._path = opened_store(address)

    def require_new(self) -> None:
        """Refuse a file that is there, and a bucket that is not."""
        from pyarrow.fs import FileType

        with self._failures():
            bucket, _, _ = self._path.partition("/")
            there, above = self._store.get_file_info([self._path, bucket])
        if there.type is not FileType.NotFound:
            raise _there_already(self._address)
        if above.type is FileType.NotFound:
            raise OutputError(f"{self._address} cannot be written: there is no bucket of this name.")

    def commit(self) -> None:
        """Upload the file; an object appears whole."""
        with (
            self._failures(),
            self.rows.open("rb") as stream,
            self._store.open_output_stream(self._path, compression=None) as target,
        ):
            shutil.copyfileobj(stream, target, _CHUNK)
        self._is_committed = True

    def withdraw(self) -> None:
        """Remove the file."""
        if self._is_committed:
            with contextlib.suppress(OSError):
                self._store.delete_file(self._path)
        self.close()

    def _failures(self) -> Any:
        from discreet.engines.objects import store_failures

        return store_failures(self._address, "cannot be written", OutputError)


def _written_format(target: Any) -> str:
    by_ending = format_of(target)
    if by_ending is None or not by_ending.written:
        endings = ", ".join(f".{name}" for name in WRITTEN)
        raise ParameterError(
            f"{target}: the ending names no format that is written. Rows go to a new file ({endings}; text also as .gz "
            "or .zst), to file.db?table=NAME, or to an address such as postgresql://host/database?table=NAME."
        )
    return by_ending.name


def _there_already(target: object) -> OutputError:
    return OutputError(f"{target}: the file is there already, and is not replaced; name a new one.")
