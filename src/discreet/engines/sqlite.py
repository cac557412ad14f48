"""Tables of SQLite files, read and made by Python's own module; their columns hold what each cell says of itself."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.errors import InputError, OutputError
from discreet.engines.sql.source import quoted_name
from discreet.engines.writing import published_batches

MAGIC = b"SQLite format 3\0"
_BATCH = 1 << 16
_EXACT = 1 << 53
_STORED = (
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_uint64, "TEXT"),
    (pa.types.is_integer, "INTEGER"),
    (pa.types.is_floating, "REAL"),
    (pa.types.is_date, "DATE"),
    (pa.types.is_timestamp, "TIMESTAMP"),
    (pa.types.is_temporal, "TEXT"),
    (pa.types.is_decimal, "TEXT"),
    (pa.types.is_string, "TEXT"),
    (pa.types.is_large_string, "TEXT"),
    (pa.types.is_null, "TEXT"),
)
"""The declared type of the column that keeps the values of an Arrow type; decimals and large numbers as texts."""
_ISO = {
    "DATE": (r"\d{4}-\d\d-\d\d", pa.date32(), dt.date.fromisoformat),
    "TIMESTAMP": (
        r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?",
        pa.timestamp("us"),
        dt.datetime.fromisoformat,
    ),
}


@contextmanager
def sqlite_session(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file for reading; all queries see the same rows."""
    session = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        with _failures(f"{path} cannot be read", InputError):
            session.execute("BEGIN")
            yield session
    finally:
        session.close()


@contextmanager
def _failures(what: str, error: type[InputError] | type[OutputError]) -> Iterator[None]:
    """Turn what SQLite raises into one line that holds no value."""
    try:
        yield
    except (sqlite3.Error, UnicodeError) as failure:
        words = str(failure)
        marks = {
            "locked": "another program is writing to it",
            "readonly": "permission denied",
            "disk is full": "the disk is full",
            "unable to open": "permission denied, or there is no such folder",
            "malformed": "it is damaged",
            "not a database": "it is damaged or encrypted",
            "already exists": "the table is there already",
        }
        why = next((reason for mark, reason in marks.items() if mark in words), type(failure).__name__)
        raise error(f"{what}: {why}.") from None


def table_names(session: sqlite3.Connection) -> list[str]:
    """Return the names of the tables and views of a file."""
    return [
        name
        for (name,) in session.execute(
            r"SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'"
        )
    ]


def table_rows(session: sqlite3.Connection, path: Path, table: str | None) -> pa.RecordBatchReader:
    """Return the rows of a table or a view, every column in the type that all its values have."""
    tables = table_names(session)
    if table is None and len(tables) != 1:
        raise InputError(f"{path} has {len(tables)} tables; name one as {path}?table=NAME.")
    if table is not None and table not in tables:
        raise InputError(f"{path}: there is no table of this name.")
    quoted = quoted_name(tables[0] if table is None else table)
    columns = session.execute(f"SELECT name, upper(type) FROM pragma_table_info({quoted})").fetchall()
    types = [_type(session, quoted, name, declared) for name, declared in columns]
    schema = pa.schema([(name, type_) for (name, _), type_ in zip(columns, types, strict=True)])
    rows = session.execute(f"SELECT {', '.join(quoted_name(name) for name, _ in columns)} FROM {quoted}")
    return pa.RecordBatchReader.from_batches(schema, _batches(rows, schema, path))


def _type(session: sqlite3.Connection, table: str, name: str, declared: str) -> pa.DataType:
    """Return the type that holds all values of a column, whatever it was declared as.

    Whole numbers beside fractions must be exact as such. Numbers beside texts become texts, and bytes stay bytes.
    """
    column = quoted_name(name)
    kinds = {
        kind: (low, high)
        for kind, low, high in session.execute(
            f"SELECT typeof({column}), min({column}), max({column}) FROM {table} WHERE {column} IS NOT NULL GROUP BY 1"
        )
    }
    if "blob" in kinds:
        return pa.binary()
    if kinds.keys() == {"integer"}:
        low, high = kinds["integer"]
        return pa.bool_() if "BOOL" in declared and 0 <= low <= high <= 1 else pa.int64()
    if kinds and kinds.keys() <= {"integer", "real"}:
        low, high = kinds.get("integer", (0, 0))
        return pa.float64() if -_EXACT <= low <= high <= _EXACT else pa.string()
    # A column of no declared type is no date, whatever its texts look like.
    for words, (pattern, type_, parse) in _ISO.items():
        if kinds.keys() == {"text"} and words.startswith(declared.replace("DATETIME", "TIMESTAMP") or "?"):
            values = session.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL")
            if all(_is_iso(value, pattern, parse) for (value,) in values):
                return type_
    return pa.string()


def _is_iso(value: str, pattern: str, parse: Any) -> bool:
    if not re.fullmatch(pattern, value):
        return False
    try:
        parse(value)
    except ValueError:
        return False
    return True


def _batches(rows: sqlite3.Cursor, schema: pa.Schema, path: Path) -> Iterator[pa.RecordBatch]:
    with _failures(f"{path} cannot be read", InputError):
        while chunk := list(itertools.islice(rows, _BATCH)):
            columns = zip(*chunk, strict=True)
            arrays = [_array(cells, field.type) for cells, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(cells: tuple[Any, ...], type_: pa.DataType) -> pa.Array:
    if pa.types.is_boolean(type_):
        return pa.array([None if cell is None else bool(cell) for cell in cells], type_)
    if pa.types.is_temporal(type_):
        parse = next(parse for _, of, parse in _ISO.values() if of == type_)
        return pa.array([None if cell is None else parse(cell) for cell in cells], type_)
    if pa.types.is_string(type_):
        return pa.array(
            [cell if cell is None or isinstance(cell, str) else repr(cell) for cell in cells], type_
        )
    if pa.types.is_binary(type_):
        return pa.array(
            [cell if cell is None or isinstance(cell, bytes) else str(cell).encode() for cell in cells]
        )
    return pa.array(cells, type_)


class NewSqliteTable:
    """A new table of a SQLite file; nobody sees it until it is committed."""

    def __init__(self, path: Path, table: str) -> None:
        self._path, self._shown, self._name = path, f"{path}?table={table}", table
        self._is_new_file, self._is_committed = not path.exists(), False
        self._session: sqlite3.Connection
        with self._failures():
            self._session = sqlite3.connect(path, isolation_level=None)
            self._session.execute("BEGIN IMMEDIATE")

    def require_new(self) -> None:
        """Refuse a table that is there."""
        with self._failures():
            tables = self._session.execute("SELECT lower(name) FROM sqlite_schema").fetchall()
        if (self._name.lower(),) in tables:
            raise OutputError(
                f"{self._shown}: the table is there already, and no table is ever replaced; name a new one."
            )

    def fill(self, frame: Any) -> None:
        """Make the table and write the rows of a frame into it, as they are published."""
        batches = published_batches(frame)
        columns = ", ".join(f"{quoted_name(field.name)} {_declared(field)}" for field in batches.schema)
        table, marks = quoted_name(self._name), ", ".join("?" * len(batches.schema))
        with self._failures():
            self._session.execute(f"CREATE TABLE {table} ({columns})")
            for batch in batches:
                cells = [list(map(_cell, column.to_pylist())) for column in batch.columns]
                self._session.executemany(f"INSERT INTO {table} VALUES ({marks})", zip(*cells, strict=True))

    @property
    def rows(self) -> pa.Table:
        """The rows as they lie in the table."""
        return table_rows(self._session, self._path, self._name).read_all()

    def commit(self) -> None:
        """Publish the table."""
        with self._failures():
            self._session.execute("COMMIT")
        self._is_committed = True

    def withdraw(self) -> None:
        """Remove the table, whether it was committed or not, and the file if it was made for it."""
        if self._is_committed:
            self._session.execute(f"DROP TABLE {quoted_name(self._name)}")
        elif self._session.in_transaction:
            self._session.execute("ROLLBACK")
        is_empty = not self._session.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        self.close()
        if self._is_new_file and is_empty:
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file."""
        self._session.close()

    def _failures(self) -> Any:
        return _failures(f"{self._shown} cannot be written", OutputError)


def _declared(field: pa.Field) -> str:
    """Return the declared type of a column; a type that cells of SQLite do not keep is refused by name."""
    declared = next((name for is_one, name in _STORED if is_one(field.type)), None)
    if declared is None:
        raise OutputError(
            f"Column '{field.name}' has a type that SQLite tables do not keep exactly; make it text first."
        )
    return declared


def _cell(value: Any) -> Any:
    """Return a value as SQLite stores it."""
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, dt.date | dt.time | decimal.Decimal):
        return str(value)
    return str(value) if isinstance(value, int) and abs(value) > _EXACT * 1024 - 1 else value
