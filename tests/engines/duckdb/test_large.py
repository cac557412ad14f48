"""DuckDB relations: the same tuples, the same releases and the same pseudonyms as frames in memory."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.strategies import tables as strategies

from discreet import Table, identifier, intervals, quasi, sensitive
from discreet.core.errors import InfeasibleError, InputError
from discreet.engines.duckdb import engine as held_relations
from discreet.engines.duckdb.connection import connect, fetch_batches, in_any_order
from discreet.guarantees import KAnonymity
from discreet.publish import Generalization, Mondrian

KEYS = [b"sixteen bytes of key", b"k" * 64, b"k" * 100]


@pytest.fixture(autouse=True, scope="module", params=["in memory", "in the engine"])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every test runs on relations that are fetched, and on relations that stay in the engine."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in the engine":
            patch.setattr(held_relations, "HELD_ROWS", 0)
        yield request.param


def relation(frame: pa.Table) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(frame)


@given(rows=strategies.rows())
@settings(max_examples=15)
def test_tuples_equal_those_of_a_frame(rows: strategies.Rows, place: str) -> None:
    frame = strategies.frame(rows)
    for schema in (strategies.plain_schema(), strategies.tree_schema()):
        lazy, eager = Table(relation(frame), schema), Table(frame, schema)
        assert (lazy.tuples.rows is None) == (place == "in the engine")
        assert np.array_equal(lazy.tuples.codes, eager.tuples.codes)
        assert np.array_equal(lazy.tuples.counts, eager.tuples.counts)


@given(rows=strategies.rows(min_size=2))
@settings(max_examples=8)
def test_releases_equal_those_of_a_frame(rows: strategies.Rows) -> None:
    frame = strategies.frame(rows)
    for schema in (strategies.plain_schema(), strategies.tree_schema()):
        for publisher in (
            Mondrian(KAnonymity(2)),
            Mondrian(KAnonymity(2), strict=False, random_state=1),
            Generalization(KAnonymity(2), levels={"age": 1, "city": 1}, max_suppressed=0.9),
        ):
            try:
                eager = publisher.release(Table(frame, schema))
            except InfeasibleError:
                continue
            lazy = publisher.release(Table(relation(frame), schema))
            assert sorted(map(str, lazy.frame.fetchall())) == sorted(
                str(tuple(row.values())) for row in eager.frame.to_pylist()
            )
            assert lazy.verdict == eager.verdict


@pytest.mark.parametrize("key", KEYS)
def test_pseudonyms_equal_those_of_a_frame(key: bytes) -> None:
    frame = pa.table({"ssn": ["012", None, "łąka", "012"], "age": [1, 1, 1, 1]})
    columns = {"ssn": identifier(pseudonym=key), "age": quasi()}
    eager = Mondrian(KAnonymity(2)).release(Table(frame, columns)).frame["ssn"].to_pylist()
    lazy = Mondrian(KAnonymity(2)).release(Table(relation(frame), columns)).frame.fetchall()
    assert sorted(map(str, eager)) == sorted(str(row[0]) for row in lazy)
    assert len(set(eager)) == 3


def test_nan_and_null_are_one_value() -> None:
    frame = pa.table({"x": pa.array([1.5, float("nan"), None, 1.5]), "d": ["a", "b", "a", "b"]})
    table = Table(relation(frame), {"x": quasi(), "d": sensitive()})
    assert sorted(table.groups().sizes) == [2, 2]
    release = Mondrian(KAnonymity(2)).release(table)
    assert release.verdict.ok
    assert len(release.frame.fetchall()) == 4


@pytest.mark.parametrize("levels", [{"x": 0}, {"x": 1}])
def test_nan_and_null_together_keep_every_row(levels: dict[str, int]) -> None:
    frame = pa.table({"x": pa.array([1.5, float("nan"), None, 1.5]), "d": ["a", "b", "a", "b"]})
    table = Table(relation(frame), {"x": quasi(intervals(5)), "d": sensitive()})
    release = Generalization(KAnonymity(2), levels=levels).release(table)
    assert sorted(row[1] for row in release.frame.fetchall()) == ["a", "a", "b", "b"]


def test_tables_of_the_users_own_are_never_read() -> None:
    connection = duckdb.connect()
    for name in ("source", "mapping", "data"):
        connection.execute(f"CREATE TABLE {name} AS SELECT 7 AS x, 'planted' AS d, 1 AS code0, 2 AS value0")
    frame = pa.table({"x": [1, 1, 2, 2, 9], "d": ["a", "b", "a", "b", "c"]})
    table = Table(connection.from_arrow(frame), {"x": quasi(intervals(5)), "d": sensitive()})
    for publisher in (
        Mondrian(KAnonymity(2)),
        Generalization(KAnonymity(2), levels={"x": 1}, max_suppressed=0.5),
    ):
        release = publisher.release(table)
        assert release.verdict.ok
        assert "planted" not in {row[1] for row in release.frame.fetchall()}


def test_awkward_names_are_quoted() -> None:
    names = ['a"b', "select", "łąka", "source", "mapping", "value"]
    frame = pa.table({name: [1, 1, 2, 2] for name in names})
    table = Table(relation(frame), {name: quasi(intervals(5)) for name in names})
    release = Generalization(KAnonymity(2), levels=dict.fromkeys(names, 1)).release(table)
    assert release.frame.columns == names
    assert release.verdict.ok


def test_a_seed_gives_the_same_order() -> None:
    frame = pa.table({"x": list(range(100)), "d": ["a", "b"] * 50})
    table = Table(relation(frame), {"x": quasi(), "d": sensitive()})
    first = Mondrian(KAnonymity(5), random_state=3).release(table).frame.fetchall()
    assert first == Mondrian(KAnonymity(5), random_state=3).release(table).frame.fetchall()
    assert first != Mondrian(KAnonymity(5), random_state=4).release(table).frame.fetchall()


def test_counting_shuffled_rows_does_not_sort_them(place: str) -> None:
    frame = pa.table({"x": list(range(1000)), "d": ["a", "b"] * 500})
    release = Mondrian(KAnonymity(5)).release(
        Table(relation(frame), {"x": quasi(intervals(10, 50)), "d": sensitive()})
    )
    unsorted = in_any_order(release.frame)
    assert sorted(unsorted.fetchall()) == sorted(release.frame.fetchall())
    assert release.frame.fetchall() != unsorted.fetchall() or place == "in memory"
    if place == "in the engine":
        assert "order by" in release.frame.explain().lower()
        assert "order by" not in unsorted.explain().lower()
        column = release.table.source.columns(["x"])["x"].to_pylist()
        assert column == [row[0] for row in release.frame.fetchall()]
    assert release.verdict.ok


def test_a_full_temporary_disk_is_one_line_that_says_what_to_do() -> None:
    connection = connect("16MB")
    connection.execute("SET max_temp_directory_size = '1MB'")
    rows = connection.sql("SELECT md5(i::VARCHAR) AS a FROM range(2000000) AS t(i) ORDER BY a")
    with pytest.raises(
        InputError, match=r"^The engine ran out of memory, or of disk .* TMPDIR to a folder with more"
    ):
        list(fetch_batches(rows))
