"""DuckDB relations: the same tuples, the same releases and the same pseudonyms as frames in memory."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import strategies
from discreet import Table, identifier, intervals, quasi, sensitive
from discreet.core.errors import InfeasibleError
from discreet.guarantees import KAnonymity
from discreet.publish import Generalization, Mondrian

KEYS = [b"sixteen bytes of key", b"k" * 64, b"k" * 100]


def relation(frame: pa.Table) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(frame)


@given(rows=strategies.rows())
@settings(max_examples=40)
def test_tuples_equal_those_of_a_frame(rows: strategies.Rows) -> None:
    frame = strategies.frame(rows)
    for schema in (strategies.plain_schema(), strategies.tree_schema()):
        lazy, eager = Table(relation(frame), schema), Table(frame, schema)
        assert lazy.tuples.rows is None
        assert np.array_equal(lazy.tuples.codes, eager.tuples.codes)
        assert np.array_equal(lazy.tuples.counts, eager.tuples.counts)


@given(rows=strategies.rows(min_size=2))
@settings(max_examples=30)
def test_releases_equal_those_of_a_frame(rows: strategies.Rows) -> None:
    frame = strategies.frame(rows)
    for schema in (strategies.plain_schema(), strategies.tree_schema()):
        for publisher in (
            Mondrian(KAnonymity(2)),
            Mondrian(KAnonymity(2), strict=False),
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
