"""Hiding rules in tables: rows as baskets, cells that become null or coarser, every kind of frame."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import hiding as oracle

from discreet import Table, identifier, intervals, masked, other, quasi, sensitive
from discreet.core.baskets.row_items import RowItems
from discreet.core.errors import InfeasibleError, InputError, ParameterError, SchemaError
from discreet.guarantees import RulesHidden
from discreet.output.hiding import Blocking, BorderHiding, ExactHiding, HeuristicHiding

RULE = "age=26, zip=10562 => disease=HIV"
HIDERS = {
    "exact": lambda **more: ExactHiding([RULE], min_support=2, min_confidence=0.5, **more),
    "border": lambda **more: BorderHiding([RULE], min_support=2, min_confidence=0.5, **more),
    "minfia": lambda **more: HeuristicHiding([RULE], min_support=2, min_confidence=0.5, **more),
    "rows": lambda **more: HeuristicHiding(
        [RULE], min_support=2, min_confidence=0.5, strategy="remove_transactions", **more
    ),
    "blocking": lambda **more: Blocking([RULE], min_support=2, min_confidence=0.5, **more),
}
ROWS = {
    "name": ["Ann", "Bob", "Cat", "Dan", "Eve", "Fay", "Gus", "Hal"],
    "age": [26, 26, 26, 35, 35, 26, None, 61],
    "zip": ["10562", "10562", "10562", "10562", "10598", "10598", "10562", "10598"],
    "disease": ["HIV", "HIV", "flu", "flu", "flu", "HIV", "HIV", None],
    "note": ["w"] * 8,
}
ROLES = {
    "name": identifier(),
    "age": quasi(intervals(10, 20)),
    "zip": quasi(masked()),
    "disease": sensitive(),
    "note": other(),
}
FRAMES = {
    "arrow": lambda: pa.table(ROWS),
    "polars": lambda: pl.DataFrame(ROWS),
    "lazy": lambda: pl.LazyFrame(ROWS),
    "pandas": lambda: pd.DataFrame(ROWS).convert_dtypes(),
    "duckdb": lambda: duckdb.from_arrow(pa.table(ROWS)),
}


def rows_of(frame: Any) -> list[frozenset[str]]:
    """The rows as sets of column=value texts, whatever the frame."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pd.DataFrame):
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    plain = frame.to_pylist() if isinstance(frame, pa.Table) else frame.to_dicts()
    return [
        frozenset(f"{name}={value}" for name, value in row.items() if value is not None and name != "note")
        for row in plain
    ]


@pytest.mark.parametrize("make", HIDERS.values(), ids=HIDERS)
@pytest.mark.parametrize("kind", FRAMES)
def test_the_rule_is_gone_and_the_frame_comes_back(make: Any, kind: str, tmp_path: Any) -> None:
    frame = FRAMES[kind]()
    release = make(random_state=1).hide(Table(frame, ROLES))
    assert type(release.frame) is type(frame)
    rows = rows_of(release.frame)
    rule = (frozenset({"age=26", "zip=10562"}), frozenset({"disease=HIV"}))
    assert not oracle.is_found(rows, rule, 2, "0.5")
    assert release.verdict.ok
    assert not any("name=" in item for row in rows for item in row)
    folder = release.write(tmp_path / "out", format="parquet")
    assert {path.name for path in folder.iterdir()} == {"data.parquet", "release.json", "report.html"}
    for text in ((folder / "release.json").read_text(), (folder / "report.html").read_text()):
        assert "zip=10562" not in text
        assert "disease=HIV" not in text
        assert '"seed"' not in text


def test_cells_become_coarser_and_types_follow() -> None:
    release = BorderHiding(
        ['"age=[20, 29]", zip=10562 => disease=HIV'], min_support=2, min_confidence=0.5, cells="coarser"
    ).hide(Table(pa.table(ROWS), ROLES))
    assert release.guarantee.reading.levels == {"age": 1}
    cells = {value for row in release.frame.to_pylist() for value in row.values()}
    assert cells & {"[20, 39]", "1056*", None}
    assert release.verdict.ok


def test_numbers_are_binned_by_their_hierarchy_where_no_rule_names_them() -> None:
    table = Table(pa.table(ROWS), ROLES)
    release = ExactHiding(["zip=10562, disease=HIV"], min_support=2).hide(table)
    assert release.guarantee.reading.levels == {"age": 1}
    by_hand = ExactHiding(["zip=1056*, disease=HIV"], min_support=2, levels={"age": 0}).hide(table)
    assert by_hand.guarantee.reading.levels == {"zip": 1}


def test_what_tables_cannot_have_is_refused() -> None:
    table = Table(pa.table(ROWS), ROLES)
    with pytest.raises(ParameterError, match="nothing can be added"):
        HeuristicHiding([RULE], min_support=1, min_confidence=0.6, strategy="1.a").hide(table)
    with pytest.raises(ParameterError, match="Synthetic rows"):
        ExactHiding([RULE], min_support=0.1, formulation="hybrid").hide(table)
    with pytest.raises(InputError, match="no basket holds"):
        ExactHiding(["age=99"], min_support=1).hide(table)
    with pytest.raises(SchemaError, match="'note'"):
        ExactHiding([RULE], min_support=1, levels={"note": 1}).hide(table)
    with pytest.raises(ParameterError, match="levels"):
        ExactHiding([RULE], min_support=1, levels={"age": 9}).hide(table)
    with pytest.raises(ParameterError, match="'cells'"):
        ExactHiding([RULE], min_support=1, cells="gone").hide(table)
    with pytest.raises(ParameterError, match="Levels are for tables"):
        ExactHiding(["a"], min_support=1, levels={"age": 1}).hide(RowItems().baskets(table))


cells = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", None]), st.sampled_from("pq")),
    min_size=2,
    max_size=12,
)


@given(rows=cells, least=st.integers(1, 3), how=st.sampled_from(["null", "coarser"]))
@settings(max_examples=80, deadline=None)
def test_small_tables_by_brute_force(rows: list[tuple[Any, ...]], least: int, how: Any) -> None:
    frame = pa.table(
        {
            "a": pa.array([row[0] for row in rows], pa.int64()),
            "b": pa.array([row[1] for row in rows], pa.string()),
            "c": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    table = Table(frame, {"a": quasi(intervals(2, 4)), "b": quasi(), "c": sensitive()})
    guarantee = RulesHidden(["a=1, b=x => c=p"], least, 0.5)
    try:
        release = ExactHiding(guarantee, levels={"a": 0}, cells=how).hide(table)
    except (InputError, InfeasibleError):
        return
    rule = (frozenset({"a=1", "b=x"}), frozenset({"c=p"}))
    assert not oracle.is_found(rows_of(release.frame), rule, least, "0.5")
    assert len(rows_of(release.frame)) == len(rows)
