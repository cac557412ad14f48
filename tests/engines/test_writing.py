from __future__ import annotations

import datetime as dt
import errno
import gzip
import json
import math
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.core.errors import InputError, OutputError, ParameterError
from discreet.engines import atomic
from discreet.engines.atomic import atomic_file, atomic_folder, atomic_folders, remove
from discreet.engines.duckdb.connection import connect
from discreet.engines.files import DEFAULT_NULLS, read
from discreet.engines.folders import FolderKind
from discreet.engines.writing import write_frame

SECRET = "Sekretowski"
MARKED = FolderKind("release", "mark.json")
PRIVATE = FolderKind("release", "mark.json", private=True)
NAMES = ["data.csv", "data.tsv", "data.parquet", "data.arrow", "data.jsonl"]
KINDS = ["pandas", "polars", "lazy", "arrow", "duckdb"]

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12).filter(
    lambda word: word == word.strip(" \t\r\n\f\v\u00a0") and word not in DEFAULT_NULLS
)
floats = st.floats(allow_nan=False, allow_infinity=False)
days = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
records = st.tuples(
    st.none() | texts, st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | floats, st.none() | days
)
SCHEMA = pa.schema([("s", pa.string()), ("i", pa.int64()), ("f", pa.float64()), ("d", pa.date32())])


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table(list(map(list, zip(*rows, strict=True))), schema=SCHEMA)


def frame_of(table: pa.Table, kind: str) -> Any:
    if kind == "pandas":
        return table.to_pandas(types_mapper=pd.ArrowDtype)
    if kind in ("polars", "lazy"):
        frame = pl.DataFrame(table)
        return frame.lazy() if kind == "lazy" else frame
    return connect().from_arrow(table) if kind == "duckdb" else table


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return left == right and math.copysign(1, left + 0.0) == math.copysign(1, right)
    return bool(left == right)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".discreet-tmp")]


# Round trips


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(rows=st.lists(records, min_size=1, max_size=8))
@example(
    rows=[("=1+1", 1, 1e16, dt.date(1, 1, 1)), ('a"b', 2, -0.0, None), ("x\r\ny,;\t|", None, 5e-324, None)]
)
@example(rows=[("02139", 0, 1.7976931348623157e308, None), (None, None, None, None)])
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, rows: list[tuple[Any, ...]]
) -> None:
    path = write_frame(table_of(rows), tmp_path_factory.mktemp("round") / name)
    back = read(path, text=["s"]).fetchall()
    assert len(back) == len(rows)
    for old, new in zip(rows, back, strict=True):
        assert all(same(a, b) for a, b in zip(old, new, strict=True)), (old, new)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_to_every_format(tmp_path: Path, name: str, kind: str) -> None:
    rows = [
        ("02139", 1, 0.5, dt.date(2020, 1, 2)),
        (None, None, None, None),
        ("é", -3, 2.0, dt.date(1999, 1, 1)),
    ]
    path = write_frame(frame_of(table_of(rows), kind), tmp_path / name)
    assert read(path).fetchall() == rows
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("name", ["data.csv", "data.tsv"])
@settings(max_examples=40)
@given(cells=st.lists(st.none() | texts, min_size=1, max_size=6))
@example(cells=[None, None])
def test_one_column_keeps_its_nulls(
    tmp_path_factory: pytest.TempPathFactory, name: str, cells: list[str | None]
) -> None:
    path = write_frame(pa.table({"s": pa.array(cells, pa.string())}), tmp_path_factory.mktemp("one") / name)
    assert [row[0] for row in read(path, text=["s"]).fetchall()] == cells


def test_csv_is_plain_rfc_4180(tmp_path: Path) -> None:
    table = pa.table(
        {"a b": ["x,y", 'q"', "two\nlines", "=cmd()", None], "n": [1.0, math.nan, 2.5, None, 0.0]}
    )
    path = write_frame(table, tmp_path / "data.csv")
    assert path.read_text("utf-8") == 'a b,n\n"x,y",1.0\n"q""",\n"two\nlines",2.5\n=cmd(),\n,0.0\n'


def test_json_lines_are_valid_json(tmp_path: Path) -> None:
    table = pa.table({"f": [1.5, math.nan, None], "s": ["é", "\n", None], "t": [True, False, None]})
    lines = write_frame(table, tmp_path / "data.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line, parse_constant=pytest.fail) for line in lines] == [
        {"f": 1.5, "s": "é", "t": True},
        {"f": None, "s": "\n", "t": False},
        {"f": None, "s": None, "t": None},
    ]
    with pytest.raises(OutputError, match="Column 'f' holds infinite numbers"):
        write_frame(pa.table({"f": [math.inf]}), tmp_path / "data.jsonl")
    assert len(read(tmp_path / "data.jsonl")) == 3


def test_labels_of_pandas_rows_are_not_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], 7: ["x", None]}, index=[SECRET, "other"])
    path = write_frame(frame, tmp_path / "data.csv")
    assert path.read_text() == "a,7\n1,x\n2,\n"
    assert read(write_frame(frame, tmp_path / "data.parquet")).columns == ["a", "7"]


def test_categories_and_moments(tmp_path: Path) -> None:
    when = dt.datetime.fromisoformat("2020-01-02 03:04:05.678")
    frame = pl.DataFrame({"c": pl.Series(["a", "b"], dtype=pl.Categorical), "t": [when, None]})
    for name in NAMES:
        assert read(write_frame(frame, tmp_path / name)).fetchall() == [("a", when), ("b", None)]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_text(tmp_path: Path, suffix: str) -> None:
    path = write_frame(pa.table({"a": [1], "b": ["02"]}), tmp_path / f"data.csv{suffix}")
    assert read(path).fetchall() == [(1, "02")]
    if suffix == ".gz":
        assert gzip.decompress(path.read_bytes()) == b"a,b\n1,02\n"


def test_a_relation_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_MEMORY", "200MB")
    big = connect().sql("SELECT range AS i, md5(range::VARCHAR) AS s FROM range(3_000_000)")
    for name in ("data.parquet", "data.arrow", "data.csv"):
        path = write_frame(big, tmp_path / name)
        assert read(path).aggregate("count(*), max(i)").fetchall() == [(3_000_000, 2_999_999)]


def test_the_format_can_be_passed_and_must_be_known(tmp_path: Path) -> None:
    table = pa.table({"a": [1], "b": [2]})
    assert write_frame(table, tmp_path / "data", format="tsv").read_text() == "a\tb\n1\t2\n"
    with pytest.raises(ParameterError, match="format"):
        write_frame(table, tmp_path / "data.csv", format="docx")
    with pytest.raises(OutputError, match="the ending names no format"):
        write_frame(table, tmp_path / "data.docx")


# All or nothing


def interrupted_file(target: Path, problem: type[BaseException]) -> None:
    with atomic_file(target) as temporary:
        assert temporary.parent == target.parent
        assert temporary.name.startswith(".")
        assert temporary.name.endswith(".discreet-tmp")
        temporary.write_text("half")
        raise problem


def mark(folder: Path) -> None:
    """Make a folder one that may be replaced."""
    (folder / MARKED.mark).write_text('{"discreet": "0.1"}')


def interrupted_folder(target: Path) -> None:
    with atomic_folder(target, MARKED, overwrite=True) as temporary:
        (temporary / "data.csv").write_text("half")
        raise KeyboardInterrupt


def test_a_file_is_replaced_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "data.csv"
    target.write_text("old")
    for problem in (KeyboardInterrupt, ValueError, SystemExit):
        with pytest.raises(problem):
            interrupted_file(target, problem)
        assert target.read_text() == "old"
        assert leftovers(tmp_path) == []
    with atomic_file(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


def test_a_folder_is_replaced_only_when_it_is_whole_and_wanted(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "release"
    with atomic_folder(target, MARKED) as temporary:
        (temporary / "sub").mkdir()
        (temporary / "sub" / "data.csv").write_text("old")
        mark(temporary)
        assert not target.exists()
    with pytest.raises(OutputError, match="there already"), atomic_folder(target, MARKED):
        pytest.fail("the folder was opened")
    with pytest.raises(KeyboardInterrupt):
        interrupted_folder(target)
    assert (target / "sub" / "data.csv").read_text() == "old"
    with atomic_folder(target, MARKED, overwrite=True) as temporary:
        (temporary / "data.csv").write_text("new")
    assert [path.name for path in target.iterdir()] == ["data.csv"]
    assert leftovers(target.parent) == []


def two_folders(folder: Path, content: str) -> None:
    with atomic_folders({folder / "private": PRIVATE, folder / "release": MARKED}, overwrite=True) as places:
        for place in places:
            (place / "data.csv").write_text(content)
            mark(place)


@pytest.mark.parametrize("taken", ["release", "private"])
def test_a_folder_that_another_run_names_at_the_last_moment_stays(
    taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap = atomic._swap

    def late(folders: Any) -> None:
        (tmp_path / taken).mkdir()
        (tmp_path / taken / "mark.json").write_text("first")
        swap(folders)

    monkeypatch.setattr(atomic, "_swap", late)
    kinds = {tmp_path / "private": PRIVATE, tmp_path / "release": MARKED}
    with pytest.raises(OutputError, match="is there already and not empty"), atomic_folders(kinds) as places:
        for place in places:
            (place / "mark.json").write_text("second")
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken / "mark.json").read_text() == "first"


def contents(folder: Path) -> list[str]:
    return [(folder / name / "data.csv").read_text() for name in ("private", "release")]


def test_several_folders_are_replaced_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_folders(tmp_path, "old")
    rename = Path.rename
    for refused in (2, 3, 4):
        made: list[Path] = []

        def failing(path: Path, target: Path, refused: int = refused, made: list[Path] = made) -> Path:
            made.append(path)
            if len(made) == refused:
                raise PermissionError(13, "refused")
            return rename(path, target)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", failing)
            with pytest.raises(OutputError, match="permission denied"):
                two_folders(tmp_path, "new")
        assert contents(tmp_path) == ["old", "old"]
        assert leftovers(tmp_path) == []
    two_folders(tmp_path, "new")
    assert contents(tmp_path) == ["new", "new"]
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
def test_a_signal_waits_until_all_folders_have_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_folders(tmp_path, "old")
    rename = Path.rename

    def interrupting(path: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGINT)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupting)
    # Whatever an earlier test of this process has set: the signal becomes an exception.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            two_folders(tmp_path, "new")
    finally:
        signal.signal(signal.SIGINT, handler)
    assert contents(tmp_path) == ["new", "new"]
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
def test_a_signal_does_not_disturb_the_clearing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupting(path: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        remove(path)

    monkeypatch.setattr("discreet.engines.atomic.remove", interrupting)
    with pytest.raises(KeyboardInterrupt):
        interrupted_folder(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [atomic_file, lambda path: atomic_folder(path, MARKED)])
def test_an_interruption_right_after_a_temporary_is_made_leaves_nothing(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(path: Path) -> None:
        assert path.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.engines.atomic.try_lock", interrupted)
    with pytest.raises(KeyboardInterrupt), write(tmp_path / "release"):
        pytest.fail("nothing was interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="modes do not bind the superuser")
def test_a_read_only_folder_is_replaced_without_a_trace(tmp_path: Path) -> None:
    two_folders(tmp_path, "old")
    for name in ("private", "release"):
        (tmp_path / name).chmod(0o555)
    two_folders(tmp_path, "new")
    assert contents(tmp_path) == ["new", "new"]
    assert leftovers(tmp_path) == []


def test_a_folder_is_made_writable_before_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "old" / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0o500)
    inner.parent.chmod(0o500)
    modes = []
    monkeypatch.setattr(
        "discreet.engines.atomic.shutil.rmtree",
        lambda path, **_: modes.extend(stat.S_IMODE(one.stat().st_mode) for one in (path, path / "inner")),
    )
    remove(tmp_path / "old")
    assert modes == [0o700, 0o700]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    with atomic_folder(tmp_path / "release", MARKED) as temporary:
        (temporary / "a").touch()
    assert (tmp_path / "release" / "a").exists()


def test_a_folder_in_use_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    for place in (tmp_path, Path(), Path.home()):
        with pytest.raises(OutputError, match="in use"), atomic_folder(place, MARKED, overwrite=True):
            pytest.fail("the folder was opened")


def test_a_failed_swap_brings_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "release"
    target.mkdir()
    (target / "a").write_text("old")
    mark(target)
    rename = Path.rename

    def failing(self: Path, to: Path) -> Path:
        if to == target and ".old" not in self.name:
            raise OSError(errno.EIO, "no")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError), atomic_folder(target, MARKED, overwrite=True) as temporary:
        (temporary / "a").write_text("new")
    assert (target / "a").read_text() == "old"
    assert leftovers(tmp_path) == []


def killed(code: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    code = f"import os\nfrom discreet.engines.atomic import *\n{code}\n    os.kill(os.getpid(), 9)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_killed_run_leaves_the_old_release(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with atomic_folder(target, MARKED) as temporary:
        (temporary / "data.csv").write_text("old")
        mark(temporary)
    killed(
        f"with atomic_folder({str(target)!r}, FolderKind('release', 'mark.json'), overwrite=True) as t:\n"
        "    (t / 'data.csv').write_text('half')"
    )
    assert (target / "data.csv").read_text() == "old"
    assert len(leftovers(tmp_path)) == 1
    with atomic_folder(target, MARKED, overwrite=True) as temporary:
        (temporary / "data.csv").write_text("new")
    assert (target / "data.csv").read_text() == "new"
    assert leftovers(tmp_path) == []


def test_a_killed_run_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "da[t]a.csv"
    target.write_text("old")
    killed(f"with atomic_file({str(target)!r}) as t:\n    t.write_text('half')")
    assert target.read_text() == "old"
    assert len(leftovers(tmp_path)) == 1
    write_frame(pa.table({"a": [1]}), target)
    assert leftovers(tmp_path) == []


def test_a_release_caught_in_mid_swap_gets_its_name_back(tmp_path: Path) -> None:
    old = tmp_path / ".release.0123.old.discreet-tmp"
    old.mkdir()
    (old / "data.csv").write_text("old")
    with pytest.raises(OutputError, match="there already"), atomic_folder(tmp_path / "release", MARKED):
        pytest.fail("the folder was opened")
    assert (tmp_path / "release" / "data.csv").read_text() == "old"


def test_a_living_writer_keeps_its_temporary(tmp_path: Path) -> None:
    target = tmp_path / "data.csv"
    with atomic_file(target) as first:
        first.write_text("first")
        with atomic_file(target) as second:
            second.write_text("second")
        assert first.exists()
    assert target.read_text() == "first"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "data.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "real" / "data.csv")
    write_frame(pa.table({"a": [1]}), link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "data.csv").read_text() == "a\n1\n"


@pytest.fixture(params=[0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("name", NAMES)
def test_permissions(tmp_path: Path, umask: int, name: str) -> None:
    path = write_frame(pa.table({"a": [1], "b": [2]}), tmp_path / name)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    write_frame(pa.table({"a": [1], "b": [2]}), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    for overwrite in (False, True):
        with atomic_folder(tmp_path / "folder", MARKED, overwrite=overwrite) as temporary:
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o700
            assert not list(temporary.iterdir())
            mark(temporary)
        assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o777 & ~umask
    with atomic_folder(tmp_path / "mine", PRIVATE) as temporary:
        (temporary / "a").touch()
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o700


# Targets that cannot be written


def refused(frame: Any, path: Path) -> str:
    with pytest.raises(OutputError) as caught:
        write_frame(frame, path)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "\n" not in str(caught.value)
    assert SECRET not in repr(caught.value)
    return str(caught.value)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    table = pa.table({"a": [SECRET]})
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    assert "there is a file where a folder is needed" in refused(table, tmp_path / "file" / "data.csv")
    assert "is a folder" in refused(table, tmp_path / "folder.csv")
    assert "File name too long" in refused(table, tmp_path / f"{'n' * 300}.csv")
    with (
        pytest.raises(OutputError, match="is a file"),
        atomic_folder(tmp_path / "file", MARKED, overwrite=True),
    ):
        pytest.fail("the folder was opened")
    write_frame(table, tmp_path / "new" / "deep" / "data.csv")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr("discreet.engines.atomic.os.open", denied)
    assert "permission denied" in refused(pa.table({"a": [SECRET]}), tmp_path / "data.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits on the size of files")
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk(tmp_path: Path, name: str) -> None:
    """A limit on the size of files stands in for a full disk: the writers fail in mid-file."""
    old = write_frame(pa.table({"a": [1], "b": ["old"]}), tmp_path / name)
    before = old.read_bytes()
    code = f"""
import resource, signal
import pyarrow as pa
from discreet.core.errors import OutputError
from discreet.engines.writing import write_frame
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, 1 << 17))
try:
    write_frame(pa.table({{"a": range(200_000), "b": [f"{SECRET}{{n * 7919}}" for n in range(200_000)]}}), {str(old)!r})
except OutputError as error:
    assert error.__context__ is None
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{old} cannot be written: the disk is full."
    assert old.read_bytes() == before
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("format_", ["csv", "json", "parquet"])
def test_duckdb_on_a_full_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str) -> None:
    def full(relation: Any, *_: object) -> None:
        relation.query("f", f"COPY (SELECT * FROM f) TO '/dev/full' (FORMAT {format_}, USE_TMP_FILE false)")

    monkeypatch.setattr("discreet.engines.duckdb.writing._copy_out", full)
    assert "the disk is full" in refused(pa.table({"a": [SECRET]}), tmp_path / "data.csv")
    assert list(tmp_path.iterdir()) == []


def test_frames_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("old")
    failing = duckdb.connect().sql(f"SELECT CAST(x AS INTEGER) AS x FROM (VALUES ('{SECRET}')) AS t(x)")
    assert "does not fit" in refused(failing, path)
    assert "does not fit" in refused(pd.DataFrame({"a": [SECRET, 1, None]}), tmp_path / "data.parquet")
    with pytest.raises(InputError, match="no table"):
        write_frame({"a": [SECRET]}, path)
    assert path.read_text() == "old"
    assert leftovers(tmp_path) == []
