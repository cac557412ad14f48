"""Tables: roles are demanded, values become codes, nulls are values, and mistakes are told without a data value."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from tests.oracles import tables as oracles
from tests.strategies import tables as strategies

from discreet import Table, identifier, other, quasi, read_hierarchy, sensitive
from discreet.core.errors import DiscreetError, InputError, SchemaError
from discreet.guarantees import KAnonymity


@given(rows=strategies.rows())
def test_classes_are_those_of_the_slow_definition(rows: strategies.Rows) -> None:
    table = Table(strategies.frame(rows), strategies.plain_schema())
    classes = oracles.equivalence_classes(rows, ["age", "day", "city", "smoker"])
    groups = table.groups()
    assert sorted(groups.sizes) == sorted(map(len, classes))
    assert groups.n_rows == table.n_rows == len(rows)
    counts = groups.sensitive["disease"]
    assert counts.overall.sum() == len(rows)
    assert sorted(np.diff(counts.indptr)) == sorted(
        len({row["disease"] for row in rows_}) for rows_ in classes
    )


@given(rows=strategies.rows())
def test_trees_and_plain_columns_give_the_same_classes(rows: strategies.Rows) -> None:
    frame = strategies.frame(rows)
    plain = Table(frame, strategies.plain_schema()).groups()
    trees = Table(frame, strategies.tree_schema()).groups()
    assert sorted(plain.sizes) == sorted(trees.sizes)


def test_every_column_needs_a_role_and_every_role_a_column() -> None:
    frame = pa.table({"age": [1], "zip": ["02139"]})
    with pytest.raises(SchemaError, match="'zip' has none"):
        Table(frame, {"age": quasi()})
    with pytest.raises(SchemaError, match="'name', which the table does not have"):
        Table(frame, {"age": quasi(), "zip": quasi(), "name": identifier()})
    with pytest.raises(SchemaError, match="no quasi-identifier"):
        Table(frame, {"age": other(), "zip": sensitive()})
    with pytest.raises(SchemaError, match=r"identifier\(\), person\(\), quasi\(\)"):
        Table(frame, {"age": "quasi", "zip": quasi()})  # type: ignore[dict-item]
    with pytest.raises(SchemaError, match="same name"):
        Table(pa.table([[1], [2]], names=["a", "a"]), {"a": quasi()})
    with pytest.raises(SchemaError, match="same name"):
        Table(pd.DataFrame([[1, 2]], columns=["a", "a"]), {"a": quasi()})


@pytest.mark.parametrize("wrong", ["data.csv", {"a": [1]}, 5, None, [1, 2]])
def test_what_is_no_frame_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError):
        Table(wrong, {"a": quasi()})


def test_an_empty_frame_is_refused() -> None:
    for frame in (
        pa.table({"a": pa.array([], pa.int64())}),
        pd.DataFrame({"a": []}),
        pl.DataFrame({"a": []}),
    ):
        with pytest.raises(InputError, match="no rows"):
            Table(frame, {"a": quasi()}).groups()


@pytest.mark.parametrize(
    "values",
    [
        [True, None, True],
        [1.5, float("nan"), 1.5],
        [dt.time(1), None, dt.time(1)],
        [dt.datetime(2024, 1, 1, 5), None, dt.datetime(2024, 1, 1, 5)],
        [dt.timedelta(1), None, dt.timedelta(1)],
        [decimal.Decimal("1.20"), None, decimal.Decimal("1.20")],
        [2**64 - 1, None, 2**64 - 1],
        ["", None, ""],
        ["x" * 10_000, None, "x" * 10_000],
        [None, None, None],
        pa.array(["a", None, "a"]).dictionary_encode(),
        pa.array(["a", None, "a"], pa.large_string()),
        pa.array([dt.datetime(2024, 1, 1), None, dt.datetime(2024, 1, 1)], pa.timestamp("us", "UTC")),
    ],
)
def test_every_scalar_type_is_encoded_with_null_as_a_value(values: Any) -> None:
    if isinstance(values, list) and 2**64 - 1 in values:
        values = pa.array(values, pa.uint64())
    table = Table(pa.table({"a": values}), {"a": quasi()})
    sizes = sorted(table.groups().sizes)
    assert sizes == ([3] if all(value is None for value in pa.array(values).to_pylist()) else [1, 2])


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"]])
def test_types_that_cannot_be_generalized_are_named(values: Any) -> None:
    with pytest.raises(SchemaError, match="Column 'a' holds nested values or bytes"):
        Table(pa.table({"a": values}), {"a": quasi()}).groups()


def test_infinity_and_mixed_types_are_told_by_column_and_count() -> None:
    with pytest.raises(SchemaError, match=r"Column 'a' holds infinite values \(2 rows\)"):
        Table(pa.table({"a": [1.0, np.inf, -np.inf]}), {"a": quasi()}).groups()
    mixed = pd.DataFrame({"a": pd.Series([1, "SECRET"], dtype=object)})
    with pytest.raises(SchemaError, match="Column 'a' mixes types") as caught:
        Table(mixed, {"a": quasi()}).groups()
    assert "SECRET" not in str(caught.value)


def test_an_order_must_name_every_value_once() -> None:
    frame = pa.table({"a": ["low", "SECRET"]})
    for ordered in (["low"], ["low", "SECRET", "low"], [1, 2]):
        with pytest.raises(SchemaError, match="order given for column 'a'") as caught:
            Table(frame, {"a": quasi(ordered=ordered)}).groups()
        assert "SECRET" not in str(caught.value)
    with pytest.raises(SchemaError, match="not both"):
        from discreet import flat

        quasi(flat(), ordered=["low"])


def test_a_short_pseudonym_key_is_refused() -> None:
    with pytest.raises(SchemaError, match="at least 16 bytes") as caught:
        identifier(pseudonym="tooshort")
    assert "tooshort" not in str(caught.value)
    assert "sixteen" not in repr(identifier(pseudonym="sixteen bytes long"))


def test_the_class_of_starred_rows_is_marked_and_may_be_exempt() -> None:
    frame = pa.table({"a": ["*", "x", "x"], "b": ["*", "y", "y"]})
    table = Table(frame, {"a": quasi(), "b": quasi()})
    suppressed = table.groups().suppressed
    assert suppressed is not None
    assert suppressed.sum() == 1
    assert not KAnonymity(2).check(table).ok
    assert KAnonymity(2).check(table, suppressed="exempt").ok
    half = Table(pa.table({"a": ["*", "x", "x"], "b": ["y", "y", "y"]}), {"a": quasi(), "b": quasi()})
    assert not KAnonymity(2).check(half, suppressed="exempt").ok


def test_adult_has_the_classes_that_are_known(shared_data: Any) -> None:
    folder = shared_data / "adult-arx"
    frame = pl.read_csv(folder / "adult.csv.gz", separator=";")
    columns = {name: quasi(read_hierarchy(folder / f"adult_hierarchy_{name}.csv")) for name in frame.columns}
    table = Table(frame, columns)
    assert table.n_rows == 30_162
    assert table.groups().n_groups == frame.n_unique()
    assert [table.encoded[name].hierarchy.n_leaves for name in ("age", "education")] == [100, 16]  # type: ignore[union-attr]


def test_errors_never_show_a_value() -> None:
    frame = pa.table({"zip": ["SECRET", "SECRET2"], "age": [1, 2]})
    from discreet import from_mapping

    with pytest.raises(DiscreetError) as caught:
        Table(frame, {"zip": quasi(from_mapping({"a": "b"})), "age": quasi()}).groups()
    assert "SECRET" not in str(caught.value)
    assert "zip" in str(caught.value)
