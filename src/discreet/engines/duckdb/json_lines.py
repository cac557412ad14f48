"""JSON lines: one object a line (or one array of objects), parsed once into a DuckDB table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import duckdb

from discreet.core.errors import InputError
from discreet.engines.duckdb.connection import quoted_file
from discreet.engines.duckdb.inference import infer
from discreet.engines.sql.source import quoted_name, quoted_text
from discreet.engines.text.dialect import check_names

_LARGEST_OBJECT = 1 << 25
_EDGE = 4096


def load_json(
    connection: duckdb.DuckDBPyConnection, parts: Sequence[tuple[Path, Path]], *, text: Sequence[str]
) -> None:
    """Parse plain files, each with its name in messages, into the table ``data``; ISO dates in strings are dates."""
    connection.execute("CREATE TABLE lines (json JSON)")
    for utf8_file, display_path in parts:
        _load_lines(connection, utf8_file, display_path)
    display_path = parts[0][1]
    if not _count(connection, "lines"):
        raise InputError(f"{display_path} has no rows.")
    names = _names(connection, display_path)
    _spread(connection, names)
    _convert(connection, names, text)


def _load_lines(connection: duckdb.DuckDBPyConnection, utf8_file: Path, display_path: Path) -> None:
    """Append the objects of a file to the table ``lines``."""
    array = _is_array(utf8_file)
    try:
        connection.execute(
            "INSERT INTO lines SELECT json FROM read_json_objects("
            f"{quoted_file(utf8_file)}, format = '{'array' if array else 'newline_delimited'}',"
            f" compression = 'none', hive_partitioning = false, maximum_object_size = {_LARGEST_OBJECT})"
        )
    # As with delimited text, the engine's error is left before going on.
    except duckdb.InvalidInputException:
        broken = True
    else:
        broken = bool(_count(connection, "lines WHERE json_type(json) IS DISTINCT FROM 'OBJECT'"))
    if broken or (array and _is_open_array(utf8_file)):
        raise InputError(_first_fault(utf8_file, display_path, array=array))


def _is_array(utf8_file: Path) -> bool:
    with utf8_file.open("rb") as stream:
        return stream.read(_EDGE).lstrip().startswith(b"[")


def _is_open_array(utf8_file: Path) -> bool:
    """Return whether an array was cut short, which DuckDB overlooks."""
    with utf8_file.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - _EDGE))
        return not stream.read().rstrip().endswith(b"]")


def _count(connection: duckdb.DuckDBPyConnection, source: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {source}").fetchone()
    return int(row[0]) if row else 0


def _first_fault(utf8_file: Path, display_path: Path, *, array: bool) -> str:
    if array:
        return f"{display_path} is not a JSON array of objects."
    with utf8_file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    thing = json.loads(line)
                except (ValueError, RecursionError):
                    return f"{display_path}, line {number}: not valid JSON; every line must hold one whole object."
                if not isinstance(thing, dict):
                    return f"{display_path}, line {number}: not a JSON object."
    return f"{display_path} is not JSON lines, or a line is longer than {_LARGEST_OBJECT >> 20} MB."


def _names(connection: duckdb.DuckDBPyConnection, display_path: Path) -> list[str]:
    """Return the keys of all objects in the order they first appear."""
    key_lists = connection.execute(
        "SELECT json_keys(json) AS keys FROM lines GROUP BY keys ORDER BY min(rowid)"
    ).fetchall()
    names = list(dict.fromkeys(key for (keys,) in key_lists for key in keys))
    if not names:
        raise InputError(f"{display_path} has no columns: every object is empty.")
    check_names(names, display_path)
    return names


def _spread(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> None:
    """Arrange the objects as cells c0, c1 and so on, with their JSON types t0, t1 and so on."""
    # Paths are JSON pointers, in which ~ and / are written as ~0 and ~1.
    paths = (
        "[" + ", ".join(quoted_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in names) + "]"
    )
    cells = ", ".join(f"cells[{n}] AS c{n - 1}, types[{n}] AS t{n - 1}" for n in range(1, len(names) + 1))
    connection.execute(
        f"CREATE TABLE raw AS SELECT {cells} FROM (SELECT json_extract_string(json, {paths}) AS cells,"
        f" json_type(json, {paths}) AS types FROM lines)"
    )
    connection.execute("DROP TABLE lines")


def _convert(connection: duckdb.DuckDBPyConnection, names: Sequence[str], text: Sequence[str]) -> None:
    """Give every column its type; nested values are kept as the bytes of their JSON, unless they are to be text."""
    selected = ", ".join(
        f"list_sort(list(DISTINCT t{n}) FILTER (WHERE c{n} IS NOT NULL)),"
        f" bool_or(t{n} = 'DOUBLE' AND regexp_full_match(c{n}, '-?[0-9]+') OR"
        f" t{n} = 'UBIGINT' AND TRY_CAST(c{n} AS BIGINT) IS NULL)"
        for n in range(len(names))
    )
    answers = connection.execute(f"SELECT {selected} FROM raw").fetchone() or ()
    expressions, strings = [], []
    for n, name in enumerate(names):
        types, huge = set(answers[2 * n] or ()), answers[2 * n + 1]
        type_ = "VARCHAR" if name in text or huge else _type(types)
        nested = name not in text and types & {"OBJECT", "ARRAY"}
        expressions.append(f"encode(c{n})" if nested else f"TRY_CAST(c{n} AS {type_})")
        if types == {"VARCHAR"} and name not in text:
            strings.append(f"c{n}")
    dates = infer(connection, "raw", strings, None).expressions if strings else {}
    chosen = ", ".join(
        f"{dates.get(f'c{n}', expressions[n])} AS {quoted_name(name)}" for n, name in enumerate(names)
    )
    connection.execute(f"CREATE TABLE data AS SELECT {chosen} FROM raw")
    connection.execute("DROP TABLE raw")


def _type(types: set[str]) -> str:
    if types == {"BOOLEAN"}:
        return "BOOLEAN"
    if types and types <= {"BIGINT", "UBIGINT"}:
        return "BIGINT"
    if types and types <= {"BIGINT", "UBIGINT", "DOUBLE"}:
        return "DOUBLE"
    return "VARCHAR"
