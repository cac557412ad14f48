"""The gate: what it refuses, and that what it takes means what DuckDB means by it."""

from __future__ import annotations

import datetime as dt
import json

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.output.audit.hostile import HOSTILE

from discreet.output.audit import QueryError, SumAuditor, Vault
from discreet.output.audit.attacking import Unaudited
from discreet.output.audit.gate.statement import Declared, read_statement
from discreet.output.audit.log import plain_result

PUBLIC = {"age": "number", "dept": "text", "sex": "text", "hired": "date", "active": "truth value"}
DECLARED = Declared(PUBLIC, ("salary", "bonus"))


def staff(n: int = 60) -> pa.Table:
    rng = np.random.default_rng(3)
    hired = [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 9, n)]
    return pa.table(
        {
            "age": [None if one == 4 else int(one) for one in rng.integers(0, 8, n)],
            "dept": [None if one == 2 else "abc"[one] for one in rng.integers(0, 3, n)],
            "sex": ["mf"[one] for one in rng.integers(0, 2, n)],
            "hired": hired,
            "active": [bool(one) for one in rng.integers(0, 2, n)],
            "salary": rng.integers(-5, 100, n),
            "bonus": [None if one == 3 else float(one) / 8 for one in rng.integers(0, 9, n)],
        }
    )


@pytest.fixture(scope="module")
def open_vault():
    with Vault.in_memory(
        staff(), sensitive=["salary", "bonus"], public=list(PUBLIC), auditor=Unaudited(), nulls="public"
    ) as vault:
        yield vault


def test_there_are_enough_hostile_statements() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 200


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: sql[:50].encode("ascii", "replace").decode())
def test_hostile_statements_are_refused(sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        read_statement(sql, DECLARED)
    assert caught.value.__cause__ is None
    assert "passwd" not in str(caught.value)


@pytest.mark.parametrize("sql", [None, 3, b"SELECT sum(salary) FROM data", ["x"]])
def test_what_is_no_text_is_refused(sql) -> None:
    with pytest.raises(QueryError):
        read_statement(sql, DECLARED)


TAKEN = [
    "SELECT sum(salary) FROM data",
    "select SUM(Salary) from DATA;",
    'SELECT avg("salary"), count(*), count(bonus), max(bonus) AS m FROM data WHERE data.age > 2',
    "SELECT sum(salary) FROM data WHERE 3 <= age AND NOT (dept = 'a' OR dept IN ('b', 'c'))",
    "SELECT sum(salary) FROM data WHERE age IS NULL",
    "SELECT sum(salary) FROM data WHERE NOT age IN (1, 2) OR dept IS NOT NULL",
    "SELECT sum(salary) FROM data WHERE age NOT BETWEEN 2 AND 5.5",
    "SELECT sum(salary) FROM data WHERE hired BETWEEN '2020-01-02' AND '2020-01-05'",
    "SELECT sum(salary) FROM data WHERE active AND age > -1",
    "SELECT sum(salary) FROM data WHERE active = FALSE",
    "SELECT dept, sex, count(*), sum(salary), avg(bonus) FROM data WHERE age <> 3 GROUP BY dept, sex",
    "SELECT sum(salary) FROM data GROUP BY sex",
    "SELECT min(bonus) FROM data WHERE dept = 'it''s'",
    "SELECT sum(bonus) FROM data WHERE age = 3 -- a comment",
    "SELECT sum(salary) /* a comment */ FROM data WHERE dept = '; DROP TABLE data'",
    "SELECT sum(salary) FROM data WHERE age = 100 AND age = 101",
    "SELECT sum(salary) FROM data WHERE " + " OR ".join(f"age = {n}" for n in range(400)),
]


def plainly(sql: str) -> list[tuple[object, ...]]:
    connection = duckdb.connect()
    connection.register("data", staff())
    return connection.execute(sql).fetchall()


@pytest.mark.parametrize("sql", TAKEN, ids=lambda sql: sql[:60])
def test_what_is_taken_means_what_the_engine_means(open_vault: Vault, sql: str) -> None:
    ours = open_vault.ask(sql).rows

    def key(row: tuple[object, ...]) -> tuple[str, ...]:
        return tuple(str(one) for one in row)

    for mine, theirs in zip(sorted(ours, key=key), sorted(plainly(sql), key=key), strict=True):
        assert [
            one if one is None or isinstance(one, str) else pytest.approx(float(one)) for one in mine
        ] == [one if one is None or isinstance(one, str) else float(one) for one in theirs]


CONSTANTS = {
    "age": st.integers(-2, 9).map(str),
    "dept": st.sampled_from(["'a'", "'b'", "'z'"]),
    "sex": st.sampled_from(["'m'", "'f'"]),
    "hired": st.integers(1, 9).map(lambda day: f"'2020-01-0{day}'"),
}
LEAVES = st.sampled_from(sorted(CONSTANTS)).flatmap(
    lambda name: st.one_of(
        st.tuples(st.just(name), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), CONSTANTS[name]).map(
            " ".join
        ),
        st.lists(CONSTANTS[name], min_size=1, max_size=3).map(lambda some: f"{name} IN ({', '.join(some)})"),
        st.just(f"{name} IS NULL"),
    )
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda one: f"NOT ({one})"),
        st.tuples(inner, st.sampled_from([" AND ", " OR "]), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    ),
    max_leaves=8,
)


@given(CONDITIONS)
@settings(max_examples=40)
def test_conditions_select_the_rows_the_engine_selects(open_vault: Vault, condition: str) -> None:
    sql = f"SELECT count(*), sum(salary) FROM data WHERE {condition}"
    [(count, total)] = plainly(sql)
    assert open_vault.ask(sql).rows == ((count, None if total is None else int(total)),)


def test_the_engine_holds_no_sensitive_column_and_is_locked(open_vault: Vault) -> None:
    connection = open_vault._session._engine._table._connection
    [columns] = connection.execute(
        "SELECT list(column_name) FROM duckdb_columns() WHERE table_name='elements'"
    ).fetchall()
    assert columns[0] == ["e", "c0", "c1", "c2", "c3", "c4"]
    for sql in (
        "SET threads = 2",
        "COPY elements TO 'x.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "ATTACH 'x'",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(sql)


def test_a_slow_statement_is_stopped() -> None:
    vault = Vault.in_memory(staff(), sensitive=["salary"], public=["age"], auditor=SumAuditor(low=-5))
    engine = vault._session._engine
    engine._table.timeout = 0.05
    with pytest.raises(QueryError, match="longer than"):
        engine._fetch(
            "SELECT count(*) AS e FROM range(100000) a, range(1000000) b WHERE a.range * b.range % 7 = 3", []
        )
    assert vault.ask("SELECT sum(salary) FROM data").value is not None


@pytest.mark.parametrize(
    "number", ["1e999999999", "-1e999999999", "1e19", "9223372036854775808", "9" * 15_000]
)
def test_numbers_beyond_64_bits_are_refused(number: str) -> None:
    with pytest.raises(QueryError, match="below 2"):
        read_statement(f"SELECT count(*) FROM data WHERE age < {number}", DECLARED)


@pytest.mark.parametrize(
    "number", ["0e999999999", "1e-999999999", "9223372036854775807", "0." + "1" * 15_000]
)
def test_other_numbers_are_compared(open_vault: Vault, number: str) -> None:
    exact = 0 if number.startswith("0e") else number if "." not in number else number[:40]
    expected = open_vault.ask(f"SELECT count(*) FROM data WHERE age > {exact}").value
    assert open_vault.ask(f"SELECT count(*) FROM data WHERE age > {number}").value == expected


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT count(*) AS "\ud800" FROM data',
        "SELECT count(*) FROM data WHERE dept = '\udfff'",
        "SELECT count(*) FROM data -- \ud83d",
    ],
)
def test_halves_of_surrogate_pairs_are_refused(open_vault: Vault, sql: str) -> None:
    n_committed = len(open_vault.history())
    with pytest.raises(QueryError, match="Unicode"):
        open_vault.ask(sql)
    assert len(open_vault.history()) == n_committed


def test_infinite_keys_are_spelled_in_json() -> None:
    table = pa.table({"x": [float("inf"), float("-inf"), float("nan"), 1.0], "pay": [1, 2, 3, 4]})
    with Vault.in_memory(table, sensitive=["pay"], public=["x"], auditor=Unaudited()) as vault:
        plain = plain_result(vault.ask("SELECT x, count(*) FROM data GROUP BY x"))
    assert plain["rows"] == [[None, 1], ["-Infinity", 1], [1.0, 1], ["Infinity", 1]]
    json.dumps(plain, allow_nan=False)
