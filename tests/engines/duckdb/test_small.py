"""Which relations are fetched: small ones, however they were made; never one that turns out to be large."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from discreet.engines.duckdb import engine as held_relations
from discreet.engines.duckdb.engine import HeldSource, relation_source
from discreet.engines.duckdb.large import RelationSource
from discreet.engines.files import read


@pytest.mark.parametrize(("n", "kind"), [(10, HeldSource), (101, RelationSource)])
def test_the_number_of_rows_decides(n: int, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_relations, "HELD_ROWS", 100)
    assert isinstance(relation_source(duckdb.connect().sql(f"SELECT * FROM range({n}) AS t(i)")), kind)


def test_a_wrong_estimate_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_relations, "HELD_ROWS", 1000)
    many = duckdb.connect().sql("SELECT unnest(range(5000)) AS i")
    assert held_relations._is_small(many)
    assert isinstance(relation_source(many), RelationSource)


def test_wide_rows_stay_in_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_relations, "_HELD_BYTES", 1000)
    wide = duckdb.connect().sql("SELECT repeat('x', 2000) AS t")
    assert isinstance(relation_source(wide), RelationSource)


def test_an_engine_that_says_nothing_keeps_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_relations, "_ESTIMATE", held_relations.re.compile("never said"))
    assert isinstance(relation_source(duckdb.connect().sql("SELECT 1 AS i")), RelationSource)


def test_a_collation_that_was_put_on_a_file_s_column_is_found(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("sex\nF\nf\nM\n")
    rows = read(file)
    folded = rows.project("sex COLLATE NOCASE AS sex")
    for relation in (rows, folded):
        values = relation_source(relation).values(["sex"])["sex"].drop_null().to_pylist()
        assert sorted(values) == ["F", "M", "f"]
        assert sorted(RelationSource(relation).values(["sex"])["sex"].drop_null().to_pylist()) == [
            "F",
            "M",
            "f",
        ]
