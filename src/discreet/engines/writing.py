"""Writers: a frame, a file or a whole folder appears complete under its name, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet.core.errors import DiscreetError, OutputError
from discreet.core.params import unknown
from discreet.engines.formats import PACKED, WRITTEN, format_of
from discreet.engines.scratch import hold, is_abandoned, remove
from discreet.engines.sheets import MOST_ROWS, write_sheet
from discreet.engines.text.layout import Layout, layout_of

_SUFFIX = ".discreet-tmp"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BATCH = 1 << 17
PARQUET_COMPRESSION = "snappy"
"""How columns of Parquet files are packed."""
_NARROWED = {
    "HUGEINT": "DECIMAL(38, 0)",
    "UHUGEINT": "DECIMAL(38, 0)",
    **dict.fromkeys(("TIME WITH TIME ZONE", "TIME_NS", "BIT", "BIGNUM"), "VARCHAR"),
}
"""Types that Parquet or Arrow files hold less exactly than the engine, and what keeps all of them."""
_INFINITE = "infinite number in column "


def write_frame(
    frame: Any,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002
    *,
    layout: Layout | None = None,
) -> Path:
    """Write a pandas, Polars, PyArrow or DuckDB frame to a file, all or nothing, and return the file's path.

    Parameters
    ----------
    frame : frame
        What to write; a DuckDB relation is streamed. Row labels of pandas are not written.
    path : path
        The file; missing folders above it are made, an old file is replaced.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "xlsx"}, optional
        By default it follows from the ending of the name. Text is UTF-8; nulls and NaN are empty cells, in JSON null. A
        second ending .gz or .zst packs text.
    layout : Layout, optional
        The delimiter, quote and decimal mark of CSV; by default those of the CSV file that the frame comes from.
    """
    import duckdb
    import pyarrow as pa

    target = Path(path)
    kind = _format(target, format)
    try:
        with atomic_file(target) as temporary:
            chosen = layout or layout_of(frame) if kind == "csv" else None
            _emit(
                frame, temporary, kind, PACKED.get(target.suffix.lower(), "none"), (chosen or Layout()).safe()
            )
    except DiscreetError as error:
        failure: DiscreetError = error
    except (duckdb.Error, pa.ArrowException, UnicodeError, TypeError, ValueError, OverflowError) as error:
        failure = OutputError(f"{target} cannot be written: {_reason(error)}.")
    else:
        return target
    failure.__cause__ = failure.__context__ = None
    raise failure


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a temporary path beside the target; what is written there takes the target's name at the end.

    On any exception the temporary is removed and the old file is untouched.
    """
    with _as_output_error(path):
        target = _resolved(path)
        if target.is_dir():
            raise OutputError(f"{path} is a folder; a file is to be written there.")
        temporary = _temporary(target)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        with _guarded(temporary):
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            _sync(temporary)
            temporary.replace(target)
            _sync(target.parent)


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Return a temporary folder beside the target, which takes the target's name at the end.

    A folder that is there and not empty is replaced, whole, only with ``overwrite=True``. On any exception
    the temporary is removed and the old folder is untouched.
    """
    with _as_output_error(path):
        target = _resolved(path)
        _require_replaceable(target, path, overwrite=overwrite)
        temporary = _temporary(target)
        temporary.mkdir()
        with _guarded(temporary):
            yield temporary
            for folder, _, files in os.walk(temporary):
                for name in files:
                    _sync(Path(folder, name))
                _sync(Path(folder))
            _require_replaceable(target, path, overwrite=overwrite)
            _swap(temporary, target)


def _resolved(path: str | os.PathLike[str]) -> Path:
    """Follow links to the real target, make the folders above it, and clear what killed runs left there."""
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear(target)
    return target


def _require_replaceable(target: Path, shown: str | os.PathLike[str], *, overwrite: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{shown} is a file; a folder is to be written there.")
    here = Path.cwd()
    if target in (here, Path.home(), *here.parents, *Path.home().parents):
        raise OutputError(f"{shown} is a folder in use; name a new one for the output.")
    if not overwrite and any(target.iterdir()):
        raise OutputError(f"{shown} is there already and not empty; name a new folder, or allow overwriting.")


def _clear(target: Path) -> None:
    """Remove what killed runs left beside the target; an old folder caught in mid-swap gets its name back."""
    for left in target.parent.glob(f".{_escaped(target.name)}.*{_SUFFIX}"):
        if is_abandoned(left):
            if left.name.endswith(f".old{_SUFFIX}") and not target.exists():
                left.rename(target)
            else:
                remove(left)


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _temporary(target: Path, mark: str = "") -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}{mark}{_SUFFIX}")


@contextlib.contextmanager
def _guarded(temporary: Path) -> Iterator[None]:
    """Hold a temporary while it is written, and remove it if anything goes wrong."""
    descriptor = hold(temporary)
    try:
        yield
    except BaseException:
        remove(temporary)
        raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _swap(temporary: Path, target: Path) -> None:
    """Rename a new folder into the place of the old one, which is held until it is removed."""
    if not target.exists():
        temporary.rename(target)
        _sync(target.parent)
        return
    old = _temporary(target, ".old")
    descriptor = hold(target)
    try:
        target.rename(old)
        try:
            temporary.rename(target)
        except BaseException:
            old.rename(target)
            raise
        _sync(target.parent)
        remove(old)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _sync(path: Path) -> None:
    """Have the disk keep a file, or a folder's entries, before going on."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _as_output_error(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    """Describe in words why writing failed; a library's own message may hold data, so it is never shown."""
    code = error.errno if isinstance(error, OSError) else None
    words = str(error)
    if code in _FULL or "No space left" in words or "File too large" in words or "quota exceeded" in words:
        return "the disk is full"
    if code in (errno.EACCES, errno.EPERM, errno.EROFS) or "Permission denied" in words:
        return "permission denied"
    if code in (errno.ENOTDIR, errno.EEXIST):
        return "a file stands where a folder is needed"
    if code:
        return os.strerror(code)
    return f"the frame does not fit the format, or could not be computed ({type(error).__name__})"


def _format(target: Path, given: str | None) -> str:
    if given is None:
        found = format_of(target)
        if found is None or not found.written:
            endings = [f".{name}" for name in WRITTEN]
            raise OutputError(
                f"{target}: the ending names no format; use {', '.join(endings[:-1])} or {endings[-1]}."
            )
        given = found.name
    if given not in WRITTEN:
        raise unknown("write_frame", "format", given, WRITTEN)
    return given


def _emit(frame: Any, temporary: Path, kind: str, packing: str, layout: Layout) -> None:
    """Write rows as they may leave: relations are cleaned by the engine, other frames by `publishable`."""
    import pyarrow as pa
    from pyarrow import parquet

    from discreet.core.tables.publication import publishable

    relation = type(frame).__module__.split(".")[0].lstrip("_") == "duckdb"
    names = list(frame.columns) if relation else None
    if not relation:
        frame = _readable(publishable(_arrow_table(frame)))
        names = frame.column_names
    if kind != "arrow" and (relation or kind != "parquet"):
        _refuse_alike_names(names or [])
    if kind == "arrow":
        reader = _cleaned(frame, kind, ".").to_arrow_reader(_BATCH) if relation else frame.to_reader(_BATCH)
        with reader, pa.OSFile(str(temporary), "wb") as sink:
            _stream(reader, sink, scrub=relation)
    elif kind == "parquet" and not relation:
        parquet.write_table(frame, str(temporary), compression=PARQUET_COMPRESSION)
    elif kind == "xlsx":
        cleaned = _cleaned(frame, kind, ".").limit(MOST_ROWS).to_arrow_table() if relation else frame
        write_sheet(cleaned, temporary)
    else:
        _copy_out(frame if relation else _relation(frame), temporary, kind, packing, layout)


def _stream(reader: Any, sink: Any, *, scrub: bool) -> None:
    """Write batches as an Arrow file without metadata; those of an engine are scrubbed one by one."""
    import pyarrow as pa

    from discreet.core.tables.publication import publishable

    empty = publishable(reader.schema.empty_table()) if scrub else reader.schema.empty_table()
    with pa.ipc.new_file(sink, empty.schema) as writer:
        for batch in reader:
            writer.write(publishable(pa.Table.from_batches([batch])) if scrub else batch)


def _readable(rows: Any) -> Any:
    """Turn numbers of 16 bits into those of 32, which every reader knows; refuse decimals that none does."""
    import pyarrow as pa

    for place, field in enumerate(rows.schema):
        if pa.types.is_float16(field.type):
            rows = rows.set_column(place, field.name, rows.column(place).cast(pa.float32()))
        if pa.types.is_decimal256(field.type):
            raise OutputError(
                f"Column '{field.name}' holds decimals of more than 38 digits; make it text first."
            )
    return rows


def _refuse_alike_names(names: Sequence[str]) -> None:
    """Refuse names that the engine, to which upper and lower case are alike, would change."""
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            raise OutputError(
                f"Columns '{seen[name.casefold()]}' and '{name}' differ only in upper and lower case; rename one."
            )
        seen[name.casefold()] = name


def _arrow_table(frame: Any) -> Any:
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all()
    if type(frame).__module__.split(".")[0] == "pandas":
        return pa.Table.from_pandas(frame.rename(columns=str), preserve_index=False)
    import narwhals as nw

    wrapped = nw.from_native(frame)
    return (wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped).to_arrow()


def _relation(table: Any) -> Any:
    """Return rows in memory to an engine of one thread: with several, a full disk has been seen to stop it for ever."""
    from discreet.engines.duckdb.connection import connect

    return connect(threads=1).from_arrow(table)


def _copy_out(relation: Any, temporary: Path, kind: str, packing: str, layout: Layout) -> None:
    """Stream a relation to a text or Parquet file through DuckDB; it is read once, since it may be gone then."""
    import duckdb

    from discreet.engines.duckdb.connection import literal

    options = {
        "csv": f"FORMAT csv, HEADER true, DELIMITER {literal(layout.delimiter)}",
        "tsv": "FORMAT csv, HEADER true, DELIMITER '\t'",
        "jsonl": "FORMAT json, ARRAY false",
        "parquet": f"FORMAT parquet, COMPRESSION {PARQUET_COMPRESSION.replace('none', 'uncompressed')}",
    }[kind]
    names = list(relation.columns)
    relation = _cleaned(relation, kind, layout.decimal)
    if kind != "parquet":
        options += f", COMPRESSION '{packing}'"
    if kind in ("csv", "tsv"):
        quote = literal(layout.quote)
        options += f", NULLSTR '', QUOTE {quote}, ESCAPE {quote}"
    target = literal(str(temporary))
    try:
        view = f"discreet_frame_{secrets.token_hex(8)}"
        relation.query(view, f"COPY (SELECT * FROM {view}) TO {target} ({options}, USE_TMP_FILE false)")
    except duckdb.Error as error:
        found = re.search(rf"{_INFINITE}(\d+)", str(error))
        if found is None:
            raise
        raise OutputError(
            f"Column '{names[int(found[1])]}' holds infinite numbers, which JSON cannot write."
        ) from None


def _cleaned(relation: Any, kind: str, decimal: str) -> Any:
    """Select all columns as they were judged: NaN as null, one zero, and texts instead of an engine's enumeration.

    A null alone on its line of CSV is "" so that the line counts. JSON cannot write infinite numbers; one ends the
    writing with an error that names its column.
    """
    from discreet.engines.duckdb.connection import identifier, literal
    from discreet.engines.duckdb.queries import run

    cells = []
    for place, (name, type_) in enumerate(zip(relation.columns, map(str, relation.types), strict=True)):
        cell = column = f"c{place}"
        if type_ in ("FLOAT", "DOUBLE"):
            infinite = f"WHEN isinf({column}) THEN error('{_INFINITE}{place}') " if kind == "jsonl" else ""
            zero = f"CAST(0 AS {type_})"
            cell = f"CASE WHEN isnan({column}) THEN NULL {infinite}ELSE {column} + {zero} END"
        elif type_.startswith("ENUM"):
            cell = f"CAST({column} AS VARCHAR)"
        elif kind in ("parquet", "arrow") and type_ in _NARROWED:
            cell = f"CAST({column} AS {_NARROWED[type_]})"
        if kind == "csv" and decimal != "." and type_.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
            cell = f"replace(CAST({cell} AS VARCHAR), '.', {literal(decimal)})"
        if kind in ("csv", "tsv") and len(relation.columns) == 1:
            cell = f"coalesce(CAST({cell} AS VARCHAR), '')"
        cells.append(f"{cell} AS {identifier(name)}")
    columns = ", ".join(f"c{place}" for place in range(len(relation.columns)))
    return run(relation, f"SELECT {', '.join(cells)} FROM source AS cleaned({columns})")
