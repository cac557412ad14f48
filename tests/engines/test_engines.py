"""Engines: the same verbs, and the same answers, for frames in memory and for relations."""

from __future__ import annotations

import datetime as dt
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
from tests.servers import spark, store

from discreet.core.engine import Engine, arrow_table, engine_of
from discreet.core.errors import InputError, OutputError
from discreet.engines.files import read
from discreet.engines.writing import write_frame

ROWS = pa.table(
    {
        "age": pa.array([40, 7, None, 40], pa.int64()),
        "name": ["=1+1", "Ann Lee", "Bo", None],
        "weight": [50.5, float("inf"), 3.0, 1e9],
        "born": [dt.date(1984, 1, 2), None, dt.date(2017, 5, 6), dt.date(1984, 1, 2)],
    }
)
KINDS = {
    "pyarrow": lambda: ROWS,
    "pandas": lambda: ROWS.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.from_arrow(ROWS),
    "lazy": lambda: pl.from_arrow(ROWS).lazy(),  # type: ignore[union-attr]
    "duckdb": lambda: duckdb.connect().from_arrow(ROWS),
    "postgres": lambda: read(store("engines", ROWS)),
    "spark": lambda: spark().createDataFrame(ROWS),
}


def rows_of(frame: Any) -> pa.Table:
    """Return all rows of a small frame, also of one whose rows its engine does not fetch."""
    return arrow_table(frame) if engine_of(frame).fetches else frame.toArrow()


@pytest.fixture(params=KINDS)
def frame(request: pytest.FixtureRequest) -> Any:
    return KINDS[request.param]()


@pytest.fixture
def engine(frame: Any) -> Engine:
    return engine_of(frame)


def test_rows_come_out_alike(engine: Engine, frame: Any) -> None:
    expected = ROWS.to_pylist()
    assert engine.schema(frame).names == ROWS.column_names
    assert engine.source(frame).names == tuple(ROWS.column_names)
    if not engine.fetches:
        for fetch in (
            engine.arrow,
            lambda frame: [*engine.batches(frame)],
            lambda frame: engine.first_rows(frame, 1),
        ):
            with pytest.raises(InputError, match="not fetched"):
                fetch(frame)
        return
    assert arrow_table(frame).to_pylist() == expected
    assert [row for batch in engine.batches(frame) for row in batch.to_pylist()] == expected
    assert engine.first_rows(frame, 2).to_pylist() == expected[:2]


def test_columns_are_chosen_and_become_numbers(engine: Engine, frame: Any) -> None:
    chosen = rows_of(engine.select(frame, ["weight", "age"], numbers=["age"]))
    assert chosen.column_names == ["weight", "age"]
    assert chosen["age"].type == pa.float64()
    assert chosen["age"].to_pylist() == [40.0, 7.0, None, 40.0]


def test_rows_are_shuffled_by_the_secret_alone(engine: Engine, frame: Any) -> None:
    orders = [rows_of(engine.shuffled(frame, secret))["age"].to_pylist() for secret in (1, 1, 2, 3, 4)]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) > 1
    assert sorted(map(str, orders[0])) == sorted(map(str, ROWS["age"].to_pylist()))


def test_facts_and_counts_agree(engine: Engine, frame: Any) -> None:
    assert engine.value_types(frame) == {"age": "whole", "name": "text", "weight": "real", "born": "date"}
    age, name, *_ = engine.facts(frame)
    assert (age.n_rows, age.n_missing, age.n_distinct, age.span) == (4, 1, 2, 33)
    assert (name.n_missing, name.n_distinct, name.words) == (1, 3, pytest.approx(1 / 3))
    values, counts = engine.value_counts(frame, "age")
    assert (values.to_pylist(), counts.tolist()) == ([7, 40], [1, 2])
    assert engine.value_sets(frame, ["age"]) == {"age": frozenset({7, 40})}
    assert engine.outside_counts(frame, {"age": (10, 50), "weight": (None, 100)}) == (
        4,
        {"age": (1, 1), "weight": (1, 1)},
    )


def test_formulas_are_counted_and_defused(engine: Engine, frame: Any) -> None:
    assert engine.formula_cells(frame) == 1
    safe = engine.defused(frame)
    assert rows_of(safe)["name"].to_pylist() == ["'=1+1", "Ann Lee", "Bo", None]
    assert engine_of(safe).formula_cells(safe) == 0


def test_rows_made_elsewhere_become_the_same_kind_of_frame(engine: Engine, frame: Any) -> None:
    made = engine.framed(ROWS.slice(1, 2), like=frame)
    assert type(made) is type(frame)
    assert rows_of(made).to_pylist() == ROWS.slice(1, 2).to_pylist()


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_what_was_written_is_typed_again(frame: Any, format_: str, tmp_path: Path) -> None:
    if format_ != "parquet" and not engine_of(frame).fetches:
        with pytest.raises(OutputError, match="written as parquet"):
            write_frame(frame, tmp_path / f"data.{format_}")
        return
    written = write_frame(frame, tmp_path / f"data.{format_}")
    reading = {"text": ROWS.column_names, "nulls": ("",)} if format_ == "csv" else {}
    back = read(written, **reading)
    engine = engine_of(back)
    types = {field.name: field.type for field in ROWS.schema}
    assert arrow_table(engine.typed(back, types)).to_pylist() == ROWS.to_pylist()
    assert engine.types_were_found(back) == (format_ == "csv")
    with pytest.raises(OutputError, match="cannot be typed again"):
        engine.typed(back, {"absent": pa.int64()})


@pytest.mark.parametrize("format_", ["csv", "parquet", "arrow", "jsonl"])
def test_a_stream_is_written_batch_by_batch_and_fails_with_its_own_error(
    format_: str, tmp_path: Path
) -> None:
    numbers = pa.table({"n": list(range(1000))})
    alive: list[int] = []

    def batches(*, broken: bool = False) -> Iterator[pa.RecordBatch]:
        for start in range(0, 1000, 100):
            alive.append(start)
            if broken and start == 500:
                raise InputError("A value cannot be hidden.")
            yield from numbers.slice(start, 100).to_batches()

    stream = pa.RecordBatchReader.from_batches(numbers.schema, batches())
    written = write_frame(stream, tmp_path / f"data.{format_}")
    assert len(alive) == 10
    assert arrow_table(read(written)).to_pylist() == numbers.to_pylist()
    broken = pa.RecordBatchReader.from_batches(numbers.schema, batches(broken=True))
    with pytest.raises(InputError, match="cannot be hidden"):
        write_frame(broken, tmp_path / f"broken.{format_}")
    assert not (tmp_path / f"broken.{format_}").exists()


def test_vocabularies_load_only_when_a_column_is_looked_at() -> None:
    program = (
        "import discreet; from discreet import Table, icd, quasi, scale\n"
        "from discreet.core.hierarchy.vocabularies import vocabulary as v\n"
        "assert v.cache_info().currsize == 0; scale('months'); assert v.cache_info().currsize == 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
