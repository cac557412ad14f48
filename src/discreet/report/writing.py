"""Writing a release: the data, the recipe and the report in one folder, judged once more as they lie on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet import __version__
from discreet.core.errors import DiscreetError, OutputError, PromiseBrokenError
from discreet.core.grouped_table import GroupedRelease, GroupedTable
from discreet.core.params import OneOf, require
from discreet.core.release import Release
from discreet.core.rng import without_seed
from discreet.core.schema import Schema
from discreet.core.table import Table
from discreet.engines.connection import identifier
from discreet.engines.files import read
from discreet.engines.relations import run
from discreet.engines.writing import atomic_folder, write_frame
from discreet.guarantees import RulesHidden
from discreet.measure import closeness, fidelity, loss, risk
from discreet.report.markup import plain_json
from discreet.report.provenance import keeps_seed

RECIPE, REPORT, COUNTS = "release.json", "report.html", "sensitive"
_FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
_TEXT_FORMATS = ("csv", "tsv", "jsonl")
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_CHUNK = 1 << 20


def write_release(
    release: Release,
    folder: Path,
    *,
    format: str = "csv",  # noqa: A002
    report: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write ``data.<format>``, ``release.json`` and ``report.html`` into a folder, all or nothing.

    Sensitive values that are released as counts per group lie in ``sensitive.<format>``. What holds data is read back
    and judged before the folder gets its name, so that what lies on disk keeps the promise, and not only what was in
    memory. Where it does not, nothing is left and what stood there before is untouched.
    """
    require("write", "format", format, OneOf(_FORMATS))
    refuse_folder(folder, overwrite=overwrite)
    with atomic_folder(folder, overwrite=overwrite) as place:
        data = write_frame(release.frame, place / f"data.{format}", format)
        written = [data]
        if isinstance(release, GroupedRelease):
            written.append(write_frame(release.counts, place / f"{COUNTS}.{format}", format))
        _judge_again(release, data, format)
        if report:
            from discreet.report.page import render

            written.append(write_text(place / REPORT, render(release)))
        write_record(place, _record(release), written)
    return folder


def refuse_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that cannot or must not be replaced: only an earlier release may be, and only when allowed."""
    if folder.is_file():
        raise OutputError(f"{folder} is a file; name a folder for the output.")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not overwrite:
        raise OutputError(
            f"{folder} is there already and not empty; name a new folder, or allow overwriting."
        )
    if not (folder / RECIPE).is_file():
        raise OutputError(
            f"{folder} holds no earlier release, so it is not overwritten; name another folder."
        )


def _judge_again(release: Release, data: Path, kind: str) -> None:
    """Judge what was written, from the file alone."""
    try:
        table = _read_back(release, data, kind)
        verdict = (
            release.verdict
            if release.evidence.pseudo
            else release.guarantee.check(_judged(release, table, data, kind))
        )
        whole = table.n_rows == release.table.n_rows
    except DiscreetError:
        verdict, whole = release.verdict, False
    if not whole:
        raise OutputError(
            f"The released rows cannot be read back from a {kind} file as they were, so nothing was written; "
            "write another format, such as parquet."
        )
    if not verdict.ok:
        raise PromiseBrokenError(
            f"The file that was written does not keep the promise, so it was removed. {verdict}"
        )


def _read_back(release: Release, data: Path, kind: str) -> Table:
    """Read the judged columns of a written file, text in the types the release has."""
    schema = Schema({name: release.schema[name] for name in release.table.encoded})
    return Table(_typed(_relation(data, kind, release.table.source.names), release), schema)


def _judged(release: Release, table: Table, data: Path, kind: str) -> Table | GroupedTable:
    """Give what the promise is about: the rows that were read, or their groups with the counts beside them."""
    if not isinstance(release, GroupedRelease):
        return table
    names = release.counts.column_names
    group, value = identifier(release.group), identifier(names[1])
    number = f"CAST({group} AS INTEGER) AS {group}"
    rows = _relation(data, kind, release.table.source.names).project(number)
    counts = _relation(data.with_stem(COUNTS), kind, names)
    counted = counts.project(f"{number}, {value}, CAST(count AS BIGINT) AS count")
    return GroupedTable(rows, counted.to_arrow_table(), release.group)


def _relation(data: Path, kind: str, names: Sequence[str]) -> Any:
    """Read a written file, text as it stands."""
    reading: dict[str, Any] = {}
    if kind in _TEXT_FORMATS:
        reading["text"] = tuple(names)
    if kind in _DELIMITERS:
        reading |= {"delimiter": _DELIMITERS[kind], "nulls": ("",)}
    return read(data, **reading)


def _typed(relation: Any, release: Release) -> Any:
    """Choose the judged columns, and give those that were read as text the types they had."""
    import duckdb

    books = release.table.encoded
    empty = pa.table({name: pa.array([], book.type) for name, book in books.items()})
    wanted = [str(type_) for type_ in run(relation, "SELECT * FROM mapping", empty).types]
    found = {name: str(type_) for name, type_ in zip(relation.columns, relation.types, strict=True)}
    try:
        return relation.project(
            ", ".join(_cell(name, found[name], type_) for name, type_ in zip(books, wanted, strict=True))
        )
    except (duckdb.Error, KeyError) as error:
        raise OutputError(f"The written columns cannot be typed again ({type(error).__name__}).") from None


def _cell(name: str, found: str, wanted: str) -> str:
    """Write one column as SQL; durations become numbers, since only those have an order."""
    column = identifier(name)
    cell = f"CAST({column} AS {wanted})" if found == "VARCHAR" else column
    interval = "INTERVAL" in (found, wanted if found == "VARCHAR" else "")
    return f"{f'epoch_us({cell})' if interval else cell} AS {column}"


def _record(release: Release) -> dict[str, Any]:
    """Give the recipe, and what came of it; no record is in it."""
    evidence = release.evidence
    return {
        **(without_seed(release.recipe) if keeps_seed(release) else release.recipe),
        "discreet": __version__,
        "rows": {"in": evidence.n_rows, "out": release.table.n_rows, "suppressed": evidence.suppressed},
        "verdict": release.verdict.to_dict(),
        **_measured(release),
    }


def _measured(release: Release) -> dict[str, Any]:
    """Give what the release cost and the risk that is left; pseudo-data has no classes, but is more or less alike.

    Where rules are hidden nothing is told: what a column lost would point at the rules.
    """
    if isinstance(release.guarantee, RulesHidden):
        return {}
    if release.evidence.pseudo:
        return {"fidelity": fidelity(release).to_dict(), "closeness": closeness(release).to_dict()}
    return {
        "loss": loss(release).to_dict(),
        "risk": {"before": risk(release.original).to_dict(), "after": risk(release).to_dict()},
    }


def write_text(path: Path, text: str) -> Path:
    """Write text, the same bytes on every system; gives the path."""
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_record(place: Path, record: dict[str, Any], written: Sequence[Path] = ()) -> None:
    """Write the recipe and what came of it, with the digests of the files that were written, if there are any."""
    files = {path.name: described_file(path) for path in written}
    write_text(place / RECIPE, json_text(record | ({"files": files} if files else {})))


def json_text(record: dict[str, Any]) -> str:
    """Write one entry a line: readable at the top, compact below."""
    lines = (f"  {json.dumps(key)}: {_json_value(value)}" for key, value in record.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json_value(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(plain_json(value), ensure_ascii=False, allow_nan=False)


def described_file(path: Path) -> dict[str, object]:
    """Give a written file's digest and size."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return {"sha256": digest.hexdigest(), "bytes": path.stat().st_size}
