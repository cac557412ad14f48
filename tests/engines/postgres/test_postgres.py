"""PostgreSQL: tables are read, counted, released and written there; nothing is half done, and no password is shown."""

from __future__ import annotations

import decimal
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.engines.mixed import ROLES, mixed_rows, released
from tests.servers import postgres_url, run_sql, store

from discreet import Table, identifier, other, quasi, read
from discreet.cli._app import app
from discreet.cli._startup import INTERRUPTED
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError, OutputError, SchemaError
from discreet.engines.destinations import new_destination
from discreet.engines.postgres import session as sessions
from discreet.engines.writing import write_frame
from discreet.guarantees import KAnonymity
from discreet.job import Job, run
from discreet.publish import LocalRecoding, Mondrian, OptimalLattice

USER_ERROR = 2


def stored(rows: pa.Table | None = None) -> str:
    """Put the rows into a table whose types are stated; return its address."""
    url = store("mixed", mixed_rows() if rows is None else rows)
    run_sql(f"ALTER TABLE {url.partition('=')[2]} ALTER dose TYPE numeric(10, 2)")
    return url


@pytest.mark.parametrize(
    "method",
    [
        Mondrian(KAnonymity(5)),
        OptimalLattice(KAnonymity(5), max_suppressed=0.2),
        LocalRecoding(KAnonymity(5)),
    ],
    ids=lambda method: type(method).__name__,
)
def test_the_release_is_that_of_rows_in_memory(method: Any, tmp_path: Path) -> None:
    rows = mixed_rows()
    files = {}
    for place, frame in {"memory": rows, "postgres": read(stored(rows))}.items():
        release = released(frame, method)
        assert release.verdict.ok
        files[place] = parquet.read_table(write_frame(release.frame, tmp_path / f"{place}.parquet"))
    assert files["postgres"].schema.equals(files["memory"].schema)
    lines = {place: sorted(map(repr, rows.to_pylist())) for place, rows in files.items()}
    assert lines["postgres"] == lines["memory"]


def test_the_written_bytes_are_those_of_duckdb_after_sorting(tmp_path: Path) -> None:
    rows = mixed_rows().drop_columns(["age"])
    parquet.write_table(rows, tmp_path / "mixed.parquet")
    written = []
    for data in (tmp_path / "mixed.parquet", stored(rows)):
        job = Job.from_dict(
            {
                "input": {"path": str(data), "rest": "other"},
                "columns": {
                    "name": {"role": "identifier"},
                    "Age": {"role": "quasi"},
                    "city": {"role": "quasi"},
                    "disease": {"role": "sensitive"},
                },
                "guarantee": [{"kind": "k-anonymity", "k": 5}],
                "output": {"folder": str(tmp_path / f"out{len(written)}"), "format": "csv", "report": False},
            }
        )
        run(job)
        written.append(sorted((tmp_path / f"out{len(written)}" / "data.csv").read_bytes().splitlines()))
    assert written[0] == written[1]


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3)),
            st.one_of(st.none(), st.floats(allow_infinity=False, width=32)),
            st.one_of(st.none(), st.decimals("-99", "99", places=2, allow_nan=False)),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=15)
def test_tuples_are_those_of_rows_in_memory(rows: list[tuple[Any, ...]]) -> None:
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    types = (pa.string(), pa.float32(), pa.decimal128(4, 2))
    table = pa.table({name: pa.array(columns[name], type_) for name, type_ in zip("abc", types, strict=True)})
    roles = dict.fromkeys("abc", quasi())
    here, there = (Table(frame, roles) for frame in (table, read(store("drawn", table))))
    assert there.tuples.codes.tolist() == here.tuples.codes.tolist()
    assert there.tuples.counts.tolist() == here.tuples.counts.tolist()
    values = [[book.values.to_pylist() for book in table_.encoded.values()] for table_ in (here, there)]
    assert values[0] == values[1]


def test_the_order_follows_from_the_secret_and_rows_that_are_alike_are_apart() -> None:
    rows = pa.table({"age": [1, 2] * 200, "id": [0] * 400})
    table = Table(read(store("twins", rows)), {"age": quasi(), "id": other()})
    orders = [
        arrow_table(Mondrian(KAnonymity(2), random_state=seed).release(table).frame)["age"].to_pylist()
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert 120 < sum(first != second for first, second in zip(orders[0], orders[0][1:], strict=False)) < 280


def test_types_that_are_not_kept_are_refused_by_name_and_others_become_text() -> None:
    run_sql(
        "DROP TABLE IF EXISTS typed",
        "DROP DOMAIN IF EXISTS grade",
        "DROP TYPE IF EXISTS mood",
        "CREATE TYPE mood AS ENUM ('glad', 'sad')",
        "CREATE DOMAIN grade AS numeric(4, 1)",
        """CREATE TABLE typed AS SELECT 1 AS one, '{1}'::int[] AS list, '1 day'::interval AS span, '5'::money AS pay,
        'glad'::mood AS mood, 1.5::grade AS grade, '{"a": 1}'::jsonb AS doc, 12.50::numeric AS free, 'x'::char(3) AS x,
        'NaN'::numeric AS lost, '00000000-0000-0000-0000-000000000001'::uuid AS u FROM generate_series(1, 4)""",
    )
    frame = read(postgres_url("typed"))
    for name, type_ in {"list": r"int4\[\]", "span": "interval", "pay": "money"}.items():
        with pytest.raises(SchemaError, match=f"'{name}' has the type {type_} of PostgreSQL"):
            Table(frame, {name: quasi(), **_others(frame, name)}).groups()
    rest = {name: identifier() if name in ("list", "span", "pay") else other() for name in frame.columns[1:]}
    release = Mondrian(KAnonymity(2)).release(Table(frame, {"one": quasi(), **rest}))
    assert arrow_table(release.frame).to_pylist()[0] == {
        "one": 1, "mood": "glad", "grade": decimal.Decimal("1.5"), "doc": '{"a": 1}', "free": decimal.Decimal("12.5"),
        "x": "x", "lost": None, "u": "00000000-0000-0000-0000-000000000001",
    }  # fmt: skip


def test_digits_may_end_before_the_point_or_begin_behind_it() -> None:
    """A scale may be below 0, or above the precision: -2 was read as 2046, and refused with a wrong reason."""
    run_sql(
        "DROP TABLE IF EXISTS scales",
        """CREATE TABLE scales AS SELECT 1 AS one, 1234567::numeric(5, -2) AS wide, 0.00012::numeric(2, 5) AS small
        FROM generate_series(1, 4)""",
    )
    frame = read(postgres_url("scales"))
    rows = Mondrian(KAnonymity(2)).release(Table(frame, {"one": quasi(), "wide": other(), "small": other()}))
    assert arrow_table(rows.frame).to_pylist()[0] == {
        "one": 1, "wide": decimal.Decimal(1_234_600), "small": decimal.Decimal("0.00012"),
    }  # fmt: skip


def _others(frame: Any, name: str) -> dict[str, Any]:
    return {column: identifier() for column in frame.columns if column != name}


def test_identifiers_are_counted_and_pseudonyms_are_those_of_other_engines() -> None:
    rows = mixed_rows()
    key = b"sixteen bytes of key"
    roles = {**ROLES, "name": identifier(pseudonym=key)}
    names = [
        sorted(arrow_table(Mondrian(KAnonymity(5)).release(Table(frame, roles)).frame)["name"].to_pylist())
        for frame in (rows, read(stored(rows)))
    ]
    assert names[0] == names[1]


def anonymize(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["anonymize", *arguments], catch_exceptions=True)


def options(out: Path, *, k: int = 5) -> list[str]:
    return [
        "--quasi", "Age,city", "--sensitive", "disease", "--identifier", "name,age", "--rest", "other",
        "-k", str(k), "--out", str(out), "--no-report", "--quiet",
    ]  # fmt: skip


def test_a_table_is_released_into_files_and_a_new_table(tmp_path: Path) -> None:
    run_sql("DROP TABLE IF EXISTS mixed_k5")
    data, to = stored(), postgres_url("mixed_k5")
    result = anonymize(data, *options(tmp_path / "out"), "--to", to)
    assert result.exit_code == 0, result.exception
    columns, types = zip(
        *run_sql(
            "SELECT attname::text, format_type(atttypid, atttypmod)::text FROM pg_attribute "
            "WHERE attrelid = 'mixed_k5'::regclass AND attnum > 0 ORDER BY attnum"
        ),
        strict=True,
    )
    assert dict(zip(columns, types, strict=True)) == {
        "Age": "text", "city": "text", "dose": "numeric(10,2)", "weight": "double precision",
        "seen": "timestamp with time zone", "huge": "bigint", "ok": "boolean", "note": "text", "born": "date",
        "disease": "text",
    }  # fmt: skip
    record = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert record["rows"]["out"] == run_sql("SELECT count(*) FROM mixed_k5")[0][0] == 240
    ((fewest,),) = run_sql(
        'SELECT min(n) FROM (SELECT count(*) AS n FROM mixed_k5 GROUP BY "Age", city) AS classes'
    )
    assert fewest >= 5
    again = anonymize(data, *options(tmp_path / "again"), "--to", to)
    assert again.exit_code == USER_ERROR
    assert "there already" in again.output
    assert not (tmp_path / "again").exists()


def test_a_table_appears_with_the_files_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_sql("DROP TABLE IF EXISTS half")
    data, to = stored(), postgres_url("half")
    for place in ("commit", "append"):
        with monkeypatch.context() as patch:
            patch.setattr(sessions.DatabaseSession, place, _failing)
            result = anonymize(data, *options(tmp_path / "out"), "--to", to)
        assert result.exit_code == USER_ERROR
        assert "The network is gone." in result.output
        assert list(tmp_path.iterdir()) == []
        assert run_sql("SELECT to_regclass('half')::text") == [(None,)]
    with monkeypatch.context() as patch:
        patch.setattr("discreet.engines.atomic._swap", _failing)
        assert anonymize(data, *options(tmp_path / "out"), "--to", to).exit_code != 0
    assert list(tmp_path.iterdir()) == []
    assert run_sql("SELECT to_regclass('half')::text") == [(None,)]


def _failing(*arguments: Any) -> None:
    del arguments
    raise InputError("The network is gone.")


def test_a_server_that_goes_away_leaves_nothing(tmp_path: Path) -> None:
    frame = read(stored())
    release = released(frame, Mondrian(KAnonymity(5)))
    assert release.verdict.ok
    run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND pid IS NOT NULL "
            "AND backend_type = 'client backend'")  # fmt: skip
    with pytest.raises(InputError, match=r"closed the connection\.$"):
        write_frame(release.frame, tmp_path / "data.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://ann:geheim@127.0.0.1:1/clinic?table=patients", "no server answers"),
        ("postgresql://ann:geh/e@im@127.0.0.1:1/clinic?table=patients", "no server answers"),
        ("postgresql://ann@127.0.0.1:1/clinic?table=patients&password=geheim", "no server answers"),
        ("postgresql://ann:geheim@127.0.0.1:1/clinic", "names no table"),
        ("mysql://ann:geheim@127.0.0.1/clinic?table=patients", "no reader for mysql://"),
    ],
)
def test_addresses_that_lead_nowhere_are_one_line_without_a_password(url: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refusal:
        read(url)
    assert not {"geheim", "geh/e", "im@"} & {
        part for part in ("geheim", "geh/e", "im@") if part in str(refusal.value)
    }
    assert "\n" not in str(refusal.value)


def test_rights_are_asked_for_before_any_work(tmp_path: Path) -> None:
    run_sql(
        "DROP SCHEMA IF EXISTS closed CASCADE",
        "DROP TABLE IF EXISTS secret",
        "DROP ROLE IF EXISTS guest",
        "CREATE ROLE guest LOGIN PASSWORD 'geheim'",
        "CREATE SCHEMA closed",
        "CREATE TABLE secret AS SELECT 1 AS age",
        "CREATE TABLE closed.empty (age int)",
    )
    cases = {
        postgres_url("secret", user="guest", password="wrong"): "password is wrong",
        postgres_url("secret", user="guest", password="geheim"): "permission denied",
        postgres_url("absent"): "no table of this name",
        postgres_url("closed.empty"): "has columns but no rows",
    }
    for url, words in cases.items():
        with pytest.raises(InputError, match=words) as refusal:
            read(url)
        assert "geheim" not in str(refusal.value)
    data = stored()
    for to, words in {
        postgres_url("closed.new", user="guest", password="geheim"): "no right to create",
        postgres_url("nowhere.new"): "no schema of this name",
        postgres_url("n" * 64): "too long",
        "new_table": "the ending names no format",
    }.items():
        result = anonymize(data, *options(tmp_path / "out"), "--to", to)
        assert words in result.output
        assert result.output.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_no_password_is_left_anywhere(tmp_path: Path) -> None:
    run_sql(
        "DROP TABLE IF EXISTS shared",
        "DROP OWNED BY clerk" if run_sql("SELECT 1 FROM pg_roles WHERE rolname = 'clerk'") else "SELECT 1",
        "DROP ROLE IF EXISTS clerk",
        "CREATE ROLE clerk LOGIN PASSWORD 'geheim'",
    )
    table = stored().partition("=")[2]
    run_sql(f"GRANT SELECT ON {table} TO clerk")
    url = postgres_url(table, user="clerk", password="geheim")
    said = anonymize(url, *options(tmp_path / "out"), "--json")
    job = CliRunner().invoke(app, ["init", url, "--out", str(tmp_path / "job.toml")])
    assert said.exit_code == job.exit_code == 0
    assert "geheim" not in said.output + job.output
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"geheim" not in path.read_bytes()
    assert "clerk@127.0.0.1" in (tmp_path / "job.toml").read_text(encoding="utf-8")


def test_a_password_is_asked_for_on_a_terminal_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run_sql(
        "DROP OWNED BY typist" if run_sql("SELECT 1 FROM pg_roles WHERE rolname = 'typist'") else "SELECT 1",
        "DROP ROLE IF EXISTS typist",
        "CREATE ROLE typist LOGIN PASSWORD 'ge&h=ei m%'",
    )
    table = store("typed_in", mixed_rows(), exactly=False).partition("=")[2]
    run_sql(f"GRANT SELECT ON {table} TO typist")
    url = postgres_url(table, user="typist")
    with pytest.raises(InputError, match="the password is wrong, or none was given"):
        read(url)
    asked: list[str] = []

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return "ge&h=ei m%"

    monkeypatch.setattr(sessions.getpass, "getpass", typed)
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    assert len(read(url).columns) == len(read(url).columns) == 12
    assert len(asked) == 1
    assert asked[0].startswith("Password for postgresql://typist@127.0.0.1:")


def test_of_two_runs_into_one_table_the_first_wins() -> None:
    run_sql("DROP TABLE IF EXISTS contested")
    to, rows = postgres_url("contested"), mixed_rows(40)
    failures: list[BaseException] = []

    def late() -> None:
        try:
            with new_destination(to, rows) as destination:
                destination.commit()
        except (InputError, OutputError) as error:
            failures.append(error)

    with new_destination(to, rows) as destination:
        other_run = threading.Thread(target=late)
        other_run.start()
        # The other run passes its look for the table, which nobody sees yet, and waits for it when it makes its own.
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while run_sql(waiting) == [(0,)]:
            time.sleep(0.1)
        destination.commit()
    other_run.join()
    assert run_sql("SELECT count(*) FROM contested") == [(40,)]
    assert "another run is making the same table, or has made it" in str(failures[0])


def test_an_interruption_ends_the_query_and_leaves_nothing(tmp_path: Path) -> None:
    table = store("waiting", mixed_rows()).partition("=")[2]
    run_sql(
        "DROP TABLE IF EXISTS slow_k5",
        f"CREATE VIEW slow_{table} AS SELECT t.*, pg_sleep(0.1)::text AS slept FROM {table} AS t",
    )
    words = [
        sys.executable,
        "-m",
        "discreet",
        "anonymize",
        postgres_url(f"slow_{table}"),
        *options(tmp_path / "out"),
    ]
    words += ["--drop", "slept", "--to", postgres_url("slow_k5")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run_:
        asleep = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid <> pg_backend_pid()"
        )
        while run_sql(asleep) == [(0,)]:
            assert run_.poll() is None, run_.stdout and run_.stdout.read()
            time.sleep(0.1)
        run_.send_signal(signal.SIGINT)
        assert run_.wait(30) == INTERRUPTED
        assert run_.stdout is not None
        assert run_.stdout.read().strip() == "error: interrupted; nothing was left half-written."
    assert list(tmp_path.iterdir()) == []
    assert run_sql("SELECT to_regclass('slow_k5')::text") == [(None,)]
    assert run_sql(asleep) == [(0,)]


# Views.


def view_options(out: Path, *more: str) -> list[str]:
    return [
        "--quasi", "age,zip,sex", "--sensitive", "disease", "--identifier", "ssn", "-k", "5", "-l", "2",
        "--out", str(out),
        "--hierarchy", "age=intervals:5,10,20", "--hierarchy", "zip=mask", "--no-report", "--method", "optimal",
        "--max-suppressed", "0.2", *more,
    ]  # fmt: skip


def people(n: int = 600) -> pa.Table:
    """Return rows of which some classes are too small, in the order in which they came."""
    return pa.table(
        {
            "ssn": [f"ssn {number}" for number in range(n)],
            "age": pa.array([None if number % 50 == 0 else 18 + number * 7 % 60 for number in range(n)]),
            "zip": [f"021{number * 13 % 40:02d}" for number in range(n)],
            "sex": [None if number % 97 == 0 else "fm"[number % 2] for number in range(n)],
            "disease": [["flu", "cold", None][number * number % 3] for number in range(n)],
            "dose": [[0.5, -0.0, float("nan")][number % 3] for number in range(n)],
        }
    )


def classes(view: str) -> list[tuple[int, int]]:
    """Return the size of each class of a view, and its number of different diseases, null being one."""
    return run_sql(
        "SELECT count(*), count(DISTINCT disease) + (count(*) > count(disease))::int "
        f"FROM {view} GROUP BY age, zip, sex"
    )


def test_a_view_shows_what_was_released_and_keeps_the_guarantee_for_later_rows(tmp_path: Path) -> None:
    url = store("people", people())
    table = url.partition("=")[2]
    view = f"{table}_k5"
    to = postgres_url().replace("table=", f"view={view}")
    result = anonymize(url, *view_options(tmp_path / "out", "--to", to, "--rest", "other"))
    assert result.exit_code == 0, result.output
    assert "before and after a row" in result.output
    record = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert record["rows"]["suppressed"] > 0
    shown = run_sql(f"SELECT age::text, zip::text, sex::text, disease::text, dose::text FROM {view}")
    lines = (tmp_path / "out" / "data.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(shown) == len(lines) == record["rows"]["out"]
    assert min(classes(view)) >= (5, 2)
    assert shown == run_sql(f"SELECT age::text, zip::text, sex::text, disease::text, dose::text FROM {view}")
    # Later rows: in a class of their own, in one that is there, of values that were never there, and gone again.
    run_sql(
        f"INSERT INTO {table} VALUES ('new', 150, '99999', 'x', 'rare', 1)",
        f"INSERT INTO {table} VALUES ('longer', 30, '0213712345', 'f', 'rare', 1)",
        f"INSERT INTO {table} SELECT 'many', 151, '88888', 'x', 'flu', 1 FROM generate_series(1, 9)",
    )
    later = dict.fromkeys(classes(view))
    assert min(size for size, _ in later) >= 5
    assert min(different for _, different in later) >= 2
    assert not run_sql(f"SELECT 1 FROM {view} WHERE sex = 'x'")
    run_sql(f"DELETE FROM {table} WHERE abs(hashtext(ssn)) % 3 > 0")
    assert all(size >= 5 and different >= 2 for size, different in classes(view))
    again = anonymize(url, *view_options(tmp_path / "again", "--to", to, "--rest", "other"))
    assert "there already" in again.output
    assert not (tmp_path / "again").exists()


def test_a_reader_of_a_view_sees_neither_the_table_nor_rows_that_are_withheld(tmp_path: Path) -> None:
    run_sql(
        "DROP OWNED BY reader CASCADE"
        if run_sql("SELECT 1 FROM pg_roles WHERE rolname = 'reader'")
        else "SELECT 1",
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN PASSWORD 'geheim'",
    )
    url = store("watched", people())
    table = url.partition("=")[2]
    view = f"{table}_k5"
    to = postgres_url().replace("table=", f"view={view}")
    assert anonymize(url, *view_options(tmp_path / "out", "--to", to, "--rest", "drop")).exit_code == 0
    ((definition,),) = run_sql(f"SELECT pg_get_viewdef('{view}'::regclass)")
    values = [value for name in ("zip", "disease", "ssn") for value in people()[name].to_pylist() if value]
    assert not [value for value in values if f"'{value}'" in definition]
    run_sql(
        f"GRANT SELECT ON {view} TO reader",
        "CREATE OR REPLACE FUNCTION leak(text) RETURNS bool COST 0.0000001 LANGUAGE plpgsql AS "
        "$$ BEGIN INSERT INTO leaked VALUES ($1); RETURN true; END $$",
        "DROP TABLE IF EXISTS leaked",
        "CREATE TABLE leaked (value text)",
        "GRANT INSERT ON leaked TO reader",
    )
    from adbc_driver_postgresql import dbapi

    address = postgres_url(user="reader", password="geheim").partition("?")[0]
    with dbapi.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {view} WHERE leak(ROW(age, zip, sex, disease)::text)")
        ((n,),) = cursor.fetchall()
        with pytest.raises(dbapi.Error, match="permission denied"):
            cursor.execute(f"SELECT * FROM {table}")
    assert run_sql("SELECT count(*) FROM leaked") == [(n,)]
    assert n < 600


def test_views_that_could_not_keep_their_promise_are_refused(tmp_path: Path) -> None:
    url = store("unfit", people())
    view = "view=never_made"
    to = postgres_url().replace("table=", view)
    cases = {
        ("--method", "mondrian"): "for later rows",
        ("--method", "local"): "for later rows",
        ("-t", "0.9"): "and TCloseness not",
        ("--person", "ssn"): "counts people",
        ("--spreadsheet-safe",): "is for files",
    }
    for more, words in cases.items():
        arguments = view_options(tmp_path / "out", "--to", to, "--rest", "drop", *more)
        unwanted = {"mondrian": "--max-suppressed", "ssn": "--identifier"}.get(more[-1])
        if unwanted is not None:
            at = arguments.index(unwanted)
            del arguments[at : at + 2]
        result = anonymize(url, *arguments)
        assert result.exit_code == USER_ERROR, result.output
        assert words in result.output.replace("\n", " "), (more, result.output)
    parquet.write_table(people(), tmp_path / "people.parquet")
    files = [str(tmp_path / "people.parquet"), *view_options(tmp_path / "out", "--to", to, "--rest", "drop")]
    assert "over a table of the same database" in anonymize(*files).output
    run_sql("DROP DATABASE IF EXISTS elsewhere", "CREATE DATABASE elsewhere")
    other_database = to.replace("/postgres?", "/elsewhere?")
    result = anonymize(url, *view_options(tmp_path / "out", "--to", other_database, "--rest", "drop"))
    assert "lies in the database of the table" in result.output
    assert run_sql("SELECT to_regclass('never_made')::text") == [(None,)]
    assert not (tmp_path / "out").exists()


def test_the_definition_of_a_view_says_nothing_of_dropped_columns(tmp_path: Path) -> None:
    url = store("paid", people())
    table = url.partition("=")[2]
    view = f"{table}_k5"
    run_sql(f"ALTER TABLE {table} ADD salary numeric DEFAULT 1234567.125")
    to = postgres_url().replace("table=", f"view={view}")
    result = anonymize(url, *view_options(tmp_path / "out", "--to", to, "--rest", "drop"))
    assert result.exit_code == 0, result.output
    ((definition,),) = run_sql(f"SELECT pg_get_viewdef('{view}'::regclass)")
    assert "salary" not in definition
    assert "numeric(10,3)" not in definition
