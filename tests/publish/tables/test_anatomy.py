from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publishing import SEED, assert_seed_is_secret
from tests.strategies import tables as strategies
from tests.written import METADATA

from discreet import Table, identifier, other, quasi, sensitive
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InfeasibleError, InputError, OutputError, ParameterError, SchemaError
from discreet.core.release import Release
from discreet.core.tables.grouped import GroupedTable
from discreet.guarantees import PrivacyDegree
from discreet.publish import Anatomy

FORMATS = ["csv", "tsv", "parquet", "arrow", "jsonl"]


def patients(n: int = 60, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "ssn": [f"PLANTED-{row}" for row in range(n)],
            "age": rng.integers(20, 60, n),
            "disease": [f"ILL-{value}" for value in rng.integers(0, 8, n)],
            "ward": rng.integers(0, 3, n),
        }
    )


def columns() -> dict[str, Any]:
    return {"ssn": identifier(), "age": quasi(), "disease": sensitive(), "ward": other()}


def arrow(frame: Any) -> pa.Table:
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return frame.to_arrow_table()
    frame = nw.from_native(frame)
    return (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_arrow()


def summaries(release: Release) -> tuple[Counter[int], dict[int, Counter[Any]]]:
    sizes = Counter(arrow(release.frame)[release.data.group].to_pylist())
    values: dict[int, Counter[Any]] = defaultdict(Counter)
    for row in release.data.counts.to_pylist():
        group, value, count = row.values()
        values[group][value] += count
    return sizes, values


@given(rows=strategies.rows(), l=st.integers(1, 4), seed=st.integers(0, 9))
@settings(max_examples=100)
def test_groups_have_l_rows_with_different_values(rows: list[dict[str, Any]], l: int, seed: int) -> None:  # noqa: E741
    frame = strategies.frame(rows)
    table = Table(frame, strategies.plain_schema())
    most = max(Counter(row["disease"] for row in rows).values())
    if most * l > len(rows):
        with pytest.raises(InfeasibleError, match=f"l={len(rows) // most} at most"):
            Anatomy(l, random_state=seed).release(table)
        return
    release = Anatomy(l, random_state=seed).release(table)
    sizes, values = summaries(release)
    assert set(sizes) == set(values) == set(range(len(rows) // l))
    for group, size in sizes.items():
        assert l <= size < 2 * l
        assert set(values[group].values()) == {1}
        assert len(values[group]) == size
    assert sum(values.values(), Counter()) == Counter(row["disease"] for row in rows)
    assert release.verdict.ok
    assert release.verdict.n_rows == len(rows)


@pytest.mark.parametrize(("values", "l"), [("aabbccd", 2), ("abcde" * 11, 4), ("abcdefghij" * 10 + "a", 3)])
def test_there_are_as_many_groups_as_there_can_be(values: str, l: int) -> None:  # noqa: E741
    frame = pa.table({"age": list(range(len(values))), "disease": list(values)})
    release = Anatomy(l, random_state=0).release(Table(frame, {"age": quasi(), "disease": sensitive()}))
    sizes, _ = summaries(release)
    assert len(sizes) == len(values) // l
    assert release.verdict.ok


@given(rows=strategies.rows(), seed=st.integers(0, 9))
@settings(max_examples=50)
def test_all_but_the_secret_is_published_exactly_and_each_row_is_in_a_group_of_its_value(
    rows: list[dict[str, Any]], seed: int
) -> None:
    numbered = strategies.frame(rows).append_column("row", pa.array(range(len(rows))))
    table = Table(numbered, {**strategies.plain_schema(), "row": other(allow_unique=True)})
    try:
        release = Anatomy(2, random_state=seed).release(table)
    except InfeasibleError:
        return
    _, values = summaries(release)
    published = release.frame.to_pylist()
    assert sorted(row["row"] for row in published) == list(range(len(rows)))
    for row in published:
        original = numbered.slice(row["row"], 1).to_pylist()[0]
        assert values[row["group"]][original["disease"]] > 0
        assert {name: row[name] for name in original if name != "disease"} == {
            name: value for name, value in original.items() if name != "disease"
        }


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "duckdb"])
def test_every_kind_of_frame_comes_back(kind: str) -> None:
    frame = patients()
    given_ = {
        "pandas": lambda: frame.to_pandas(),
        "polars": lambda: pl.from_arrow(frame),
        "lazy": lambda: pl.from_arrow(frame).lazy(),
        "duckdb": lambda: duckdb.connect().from_arrow(frame),
    }[kind]()
    release = Anatomy(3, random_state=1).release(Table(given_, columns()))
    assert type(release.frame) is type(given_)
    assert release.verdict.ok
    assert arrow(release.frame).column_names == ["age", "group", "ward"]


def test_a_seed_gives_the_same_and_another_another() -> None:
    table = Table(patients(), columns())
    one, two, three = (Anatomy(3, random_state=seed).release(table) for seed in (7, 7, 8))
    assert one.frame.equals(two.frame)
    assert one.data.counts.equals(two.data.counts)
    assert not one.frame.equals(three.frame)
    assert one.recipe["seed"] == 7


def test_the_files_say_that_there_was_a_seed_and_not_which(tmp_path: Path) -> None:
    release = Anatomy(3, random_state=SEED).release(Table(patients(), columns()))
    assert_seed_is_secret(release.write(tmp_path / "out"))


@pytest.mark.parametrize("format", FORMATS)
def test_two_files_are_written_and_judged(tmp_path: Path, format: str) -> None:  # noqa: A002
    release = Anatomy(3, random_state=1).release(Table(patients(), columns()))
    folder = release.write(tmp_path / "out", format=format)  # type: ignore[arg-type]
    names = {f"data.{format}", f"sensitive.{format}", "release.json", "report.html", *METADATA}
    assert {path.name for path in folder.iterdir()} == names
    record = json.loads((folder / "release.json").read_text())
    assert set(record["files"]) == names - {"release.json"}
    assert record["verdict"]["ok"] is True
    for path in (folder / "release.json", folder / "report.html"):
        assert "PLANTED" not in path.read_text()
        assert "ILL-" not in path.read_text()
    kept = folder.with_name("out.private") / "report-internal.html"
    assert "counted per group" in kept.read_text()


def test_the_degree_holds_on_the_written_files_alone(tmp_path: Path) -> None:
    folder = Anatomy(4, random_state=1).release(Table(patients(97), columns())).write(tmp_path / "out")
    with (folder / "data.csv").open() as stream:
        sizes = Counter(line["group"] for line in csv.DictReader(stream))
    with (folder / "sensitive.csv").open() as stream:
        lines = list(csv.DictReader(stream))
    assert all(sizes[line["group"]] >= 4 * int(line["count"]) for line in lines)
    assert sum(int(line["count"]) for line in lines) == 97
    assert "PLANTED" not in (folder / "data.csv").read_text()
    assert "ILL" not in (folder / "data.csv").read_text()


def test_frames_that_do_not_fit_each_other_are_refused(tmp_path: Path) -> None:
    release = Anatomy(3, random_state=1).release(Table(patients(), columns()))
    fewer = GroupedTable(release.frame, release.data.counts.slice(1), "group")
    with pytest.raises(InputError, match="add up"):
        PrivacyDegree(3).check(fewer)
    strange = release.data.counts.set_column(
        0, "group", pa.array([999] * release.data.counts.num_rows, pa.int32())
    )
    with pytest.raises(InputError, match="same groups"):
        PrivacyDegree(3).check(GroupedTable(release.frame, strange, "group"))
    broken = replace(release, data=fewer)
    with pytest.raises((InputError, OutputError)):
        broken.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_column_called_group_keeps_its_name() -> None:
    frame = pa.table({"group": [1, 2, 3, 4], "disease": ["a", "b", "a", "b"]})
    release = Anatomy(2, random_state=1).release(Table(frame, {"group": quasi(), "disease": sensitive()}))
    assert release.frame.column_names == ["group", "group_2"]
    assert release.verdict.ok


def test_bad_input_is_refused() -> None:
    frame = pa.table({"age": [1, 2], "a": ["x", "y"], "b": ["x", "y"]})
    with pytest.raises(SchemaError, match="exactly one sensitive column, and 2"):
        Anatomy(2).release(Table(frame, {"age": quasi(), "a": sensitive(), "b": sensitive()}))
    with pytest.raises(SchemaError, match="exactly one sensitive column, and 0"):
        Anatomy(2).release(Table(frame, {"age": quasi(), "a": other(), "b": other()}))
    with pytest.raises(ParameterError, match="'l' parameter of Anatomy"):
        Anatomy(0).release(Table(patients(), columns()))
    with pytest.raises(ParameterError, match="'data' parameter of Anatomy"):
        Anatomy(2).release(frame)  # type: ignore[call-overload]
    with pytest.raises(InfeasibleError) as caught:
        Anatomy(50).release(Table(patients(), columns()))
    assert "ILL" not in str(caught.value)


def test_tight_buckets_of_baskets_are_all_grouped() -> None:
    """As many baskets with each of l items, none without: only taking from the largest buckets ends well."""
    lists = [[one, 100 + at % 7] for one in range(4) for at in range(50)]
    release = Anatomy(4, sensitive=list(range(4)), random_state=1).release(Baskets.from_lists(lists))
    assert release.verdict.worst == 4.0
    assert release.data.n_groups == 50


def test_baskets_with_several_secrets_share_none_in_a_group() -> None:
    rng = np.random.default_rng(2)
    lists = [[*(one for one in range(6) if rng.random() < 0.05), 99] for _ in range(2000)]
    release = Anatomy(5, sensitive=list(range(6)), random_state=1).release(Baskets.from_lists(lists))
    assert release.verdict.ok
    small = release.data.sizes[release.data.sensitive.group] < 10
    assert small.mean() > 0.9
    assert (release.data.sensitive.counts[small] == 1).all()
