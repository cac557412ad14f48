"""PostgreSQL: tables are read, counted, released and written there; nothing is half done, and no password is shown."""

from __future__ import annotations

import decimal
import json
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
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError, SchemaError
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
