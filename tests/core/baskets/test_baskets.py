"""Baskets: what is one, every form there and back, and what is refused."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies.baskets import baskets, number_names, text_names

from discreet import Baskets
from discreet.core.errors import InputError, SchemaError

LISTS = [["milk", "bread"], [], ["beer", "milk", "beer"]]
CLEAN = [["bread", "milk"], [], ["beer", "milk"]]


def as_lists(rows: list[Any]) -> dict[str, Any]:
    return {
        "python": rows,
        "tuples": tuple(None if row is None else tuple(row) for row in rows),
        "generator": (row for row in rows),
        "numpy": np.array([*rows, None], dtype=object)[:-1],
        "arrow": pa.array(rows),
        "chunked": pa.chunked_array([pa.array(rows).slice(0, 1), pa.array(rows).slice(1)]),
        "large": pa.array(rows).cast(pa.large_list(pa.large_string())),
        "pandas": pd.Series(rows, index=[f"row {number}" for number in range(len(rows))]),
        "pandas frame": pd.DataFrame({"basket": rows}),
        "polars": pl.Series(rows),
        "polars frame": pl.DataFrame({"basket": rows}),
        "polars lazy": pl.LazyFrame({"basket": rows}),
        "arrow table": pa.table({"basket": rows}),
        "duckdb": duckdb.from_arrow(pa.table({"basket": rows})),
    }


@pytest.mark.parametrize("kind", list(as_lists(LISTS)))
def test_every_kind_of_lists(kind: str) -> None:
    assert Baskets.from_lists(as_lists(LISTS)[kind]).lists() == CLEAN


@pytest.mark.parametrize("kind", ["python", "arrow", "pandas", "polars", "duckdb"])
def test_a_null_list_is_an_empty_basket(kind: str) -> None:
    assert Baskets.from_lists(as_lists([["a"], None])[kind]).lists() == [["a"], []]


def test_numbers_are_in_the_order_of_numbers() -> None:
    found = Baskets.from_lists([[10, 9, -3], [2**40, 9]])
    assert found.names.to_pylist() == [-3, 9, 10, 2**40]
    assert found.lists() == [[-3, 9, 10], [9, 2**40]]


def test_nothing_but_empty_baskets() -> None:
    for nothing in ([[], []], pa.array([[], []], pa.list_(pa.null())), pa.array([None, None])):
        found = Baskets.from_lists(nothing)
        assert (len(found), found.n_items) == (2, 0)
    assert len(Baskets.from_lists([])) == 0


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ([["a"], [1]], "mix types"),
        ([[1, "a"]], "mix types"),
        ([["a", None, None]], "2 of the 3 items in the lists are null"),
        ([["a", float("nan")]], "1 of the 2 items"),
        ([[1, pd.NA]], "1 of the 2 items"),
        ([[True]], "neither"),
        ([[1.5]], "neither"),
        ([[("a", "b")]], "neither"),
        ([[2**63]], "64 bits"),
        ([["\ud800"]], "surrogates"),
        (["milk"], "Basket 0, counted from 0, is a str"),
        ([["a"], 5], "Basket 1, counted from 0, is a int"),
        ("milk", "no sequence of baskets"),
        (7, "no sequence of baskets"),
        (pa.array(["a"]), "not lists"),
        (pa.array([[1.5]]), "double"),
        (pa.array([[True]]), "bool"),
        (pa.array([[1, None]]), "1 of the 2 items"),
        (pa.array([[2**63]], pa.list_(pa.uint64())), "beyond"),
        (pa.table({"a": [[1]], "b": [[2]]}), "2 columns"),
        (pl.Series(["a"]), "not lists"),
        (pd.Series([["a", 1]]), "mix types"),
    ],
)
def test_lists_that_are_refused(lists: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Baskets.from_lists(lists)


@pytest.mark.parametrize("type_", [pa.uint8(), pa.int32(), pa.uint32(), pa.uint64(), pa.decimal128(20, 0)])
def test_whole_numbers_of_every_width(type_: pa.DataType) -> None:
    column = pa.array([[1, 2], [2]], pa.list_(pa.int64())).cast(pa.list_(type_))
    found = Baskets.from_lists(column)
    assert found.names.type == pa.int64()
    assert found.lists() == [[1, 2], [2]]


def frames(table: pa.Table) -> dict[str, Any]:
    return {
        "arrow": table,
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "polars lazy": pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
        "duckdb": duckdb.from_arrow(table),
    }


LONG = pa.table(
    {"who": ["z", "a", "z", "a", "z"], "what": ["milk", "beer", "bread", "beer", "milk"], "x": [1] * 5}
)


@pytest.mark.parametrize("kind", list(frames(LONG)))
def test_every_kind_of_long_frame(kind: str) -> None:
    found = Baskets.from_long(frames(LONG)[kind], basket="who", item="what")
    assert found.lists() == [["bread", "milk"], ["beer"]]


def test_long_frames_with_categories_dates_and_numbers() -> None:
    frame = pd.DataFrame(
        {"who": pd.to_datetime(["2020-02-02", "2020-01-01"]), "what": pd.Categorical(["b", "a"])}
    )
    assert Baskets.from_long(frame, basket="who", item="what").lists() == [["b"], ["a"]]
    frame = pd.DataFrame({"who": [1.0, 2.0], "what": [5, -5]})
    assert Baskets.from_long(frame, basket="who", item="what").lists() == [[5], [-5]]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pa.table({"who": [1, None, None], "what": [1, 2, 3]}), "2 of the 3 rows have no basket"),
        (pd.DataFrame({"who": [1, np.nan], "what": [1, 2]}), "1 of the 2 rows have no basket"),
        (pa.table({"who": [1, 2], "what": ["a", None]}), "1 of the 2 items of column 'what' are null"),
        (pd.DataFrame({"who": [1, 2], "what": ["a", 2]}), "mix types"),
        (pa.table({"who": [1, 2], "what": [1.5, 2]}), "type double"),
        (pa.table({"who": [1, 2], "what": [True, False]}), "type bool"),
        (pa.table({"who": [1, 2]}), "no column 'what'"),
        (pd.DataFrame([[1, 2, 3]], columns=["who", "what", "what"]), "several columns"),
        (pa.table([[1], [2], [3]], names=["who", "what", "what"]), "several columns"),
        ([1, 2], "A list is no table"),
    ],
)
def test_long_frames_that_are_refused(frame: Any, words: str) -> None:
    with pytest.raises((InputError, SchemaError), match=words):
        Baskets.from_long(frame, basket="who", item="what")


ONEHOT = pa.table({"milk": [1, 0, 1], "beer": [False, False, True], "bread": [1.0, 0.0, 0.0]})


@pytest.mark.parametrize("kind", list(frames(ONEHOT)))
def test_every_kind_of_onehot_frame(kind: str) -> None:
    found = Baskets.from_onehot(frames(ONEHOT)[kind])
    assert found.names.to_pylist() == ["beer", "bread", "milk"]
    assert found.lists() == CLEAN


def test_onehot_columns_named_by_numbers() -> None:
    numbers = pd.DataFrame([[1, 0], [1, 1]], columns=[10, 9])
    assert Baskets.from_onehot(numbers).lists() == [[10], [9, 10]]
    assert Baskets.from_onehot(pa.table({"10": [1, 1], "9": [0, 1]})).lists() == [[10], [9, 10]]
    assert Baskets.from_onehot(pa.table({"10": [1, 1], "09": [0, 1]})).lists() == [["10"], ["09", "10"]]


@pytest.mark.parametrize(
    "column", [[0, 2], [0.5, 1], [1, None], ["0", "1"], [-1, 1], [float("nan"), 1.0], [[1], [0]]]
)
def test_onehot_frames_that_are_refused(column: Any) -> None:
    with pytest.raises(InputError, match="1 of the 2 columns hold something other than 0 and 1"):
        Baskets.from_onehot(pa.table({"good": [0, 1], "secret name": column}))
    with pytest.raises(InputError) as caught:
        Baskets.from_onehot(pa.table({"good": [0, 1], "secret name": column}))
    assert "secret" not in str(caught.value)


def test_onehot_columns_named_alike_or_oddly_are_refused() -> None:
    with pytest.raises(SchemaError, match="same name"):
        Baskets.from_onehot(pd.DataFrame([[1, 0]], columns=["a", "a"]))
    with pytest.raises(SchemaError, match="mix types"):
        Baskets.from_onehot(pd.DataFrame([[1, 0]], columns=["a", 1]))
    with pytest.raises((SchemaError, InputError), match="whole numbers or text"):
        Baskets.from_onehot(pd.DataFrame([[1, 0]], columns=[0.5, 1.5]))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_every_kind_of_sparse_matrix(form: str, kind: Any) -> None:
    matrix = kind(np.array([[0, 1, 7], [0, 0, 0], [1, 0, -1]])).asformat(form)
    assert Baskets.from_sparse(matrix).lists() == [[1, 2], [], [0, 2]]
    assert Baskets.from_sparse(matrix, names=["c", "b", "a"]).lists() == [["a", "b"], [], ["a", "c"]]


def test_sparse_entries_given_twice_and_zeros_given() -> None:
    twice = sparse.coo_array((np.ones(256, np.uint8), (np.zeros(256, int), np.zeros(256, int))), shape=(1, 2))
    assert Baskets.from_sparse(twice).lists() == [[0]]
    matrix = sparse.csr_array((np.array([0, 1]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    before = matrix.copy()
    assert Baskets.from_sparse(matrix).lists() == [[0]]
    assert (matrix.data == before.data).all()
    assert (matrix.indices == before.indices).all()


@pytest.mark.parametrize(
    ("matrix", "names", "words"),
    [
        (np.eye(2), None, "no sparse matrix"),
        (sparse.csr_array(np.array([[np.nan, 1]])), None, "1 entries"),
        (sparse.eye_array(2), ["a"], "2 columns, but 1 names"),
        (sparse.eye_array(2), ["a", "a"], "same name"),
        (sparse.eye_array(2), ["a", 1], "mix types"),
        (sparse.eye_array(2), ["a", None], "1 of the 2 items given as names are null"),
    ],
)
def test_sparse_matrices_that_are_refused(matrix: Any, names: Any, words: str) -> None:
    with pytest.raises((InputError, SchemaError), match=words):
        Baskets.from_sparse(matrix, names=names)


@given(baskets(used=True))
def test_lists_there_and_back(found: Baskets) -> None:
    assert Baskets.from_lists(found.lists()).equals(found)
    assert Baskets.from_lists(found.to_arrow()).equals(found)


@given(
    baskets(used=True, min_length=1, min_baskets=1, names=number_names(min_size=1) | text_names(min_size=1))
)
def test_long_there_and_back(found: Baskets) -> None:
    for frame in frames(found.to_long(basket="who", item="what")).values():
        assert Baskets.from_long(frame, basket="who", item="what").equals(found)


@given(baskets(min_baskets=1, names=number_names(min_size=1) | text_names(min_size=1)))
def test_onehot_there_and_back(found: Baskets) -> None:
    names = found.names.to_pylist()
    if all(isinstance(name, str) and (name == "0" or name == "-7") for name in names):
        with pytest.raises(InputError, match="come back as numbers"):
            found.to_onehot()
    else:
        assert Baskets.from_onehot(found.to_onehot()).equals(found)
        assert Baskets.from_onehot(found.to_onehot().to_pandas()).equals(found)


@given(baskets())
def test_sparse_there_and_back(found: Baskets) -> None:
    matrix = found.to_sparse()
    assert (matrix.sum(axis=0) == found.counts).all()
    assert Baskets.from_sparse(matrix, names=found.names.to_pylist()).equals(found)


def test_empty_baskets_do_not_vanish_from_long_tables() -> None:
    with pytest.raises(InputError, match="1 of the 3 baskets are empty"):
        Baskets.from_lists(LISTS).to_long()
    assert Baskets.from_lists(LISTS).to_long(drop_empty=True)["basket"].to_pylist() == [0, 0, 2, 2]
    with pytest.raises(InputError, match="no items"):
        Baskets.from_lists([[], []]).to_onehot()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=40), st.integers(6, 8))
def test_entries_in_any_order(entries: list[tuple[int, int]], n: int) -> None:
    rows, items = np.array(entries, int).reshape(-1, 2).T
    found = Baskets.from_entries(rows, items.astype(np.int32), pa.array(list("abcd")), n=n)
    assert list(found) == [sorted({item for row, item in entries if row == number}) for number in range(n)]


@given(baskets(), st.data())
def test_taking_and_keeping(found: Baskets, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(found) - 1), max_size=6)) if len(found) else []
    assert found.take(np.array(chosen, int)).lists() == [found.lists()[number] for number in chosen]
    wanted = np.array(
        data.draw(st.lists(st.booleans(), min_size=found.n_items, max_size=found.n_items)), bool
    )
    names = [name for name, want in zip(found.names.to_pylist(), wanted, strict=True) if want]
    kept = found.keep(wanted)
    assert kept.names.to_pylist() == names
    assert kept.lists() == [[name for name in row if name in names] for row in found.lists()]


@given(baskets())
def test_counts_and_lengths(found: Baskets) -> None:
    lists = found.lists()
    assert found.lengths.tolist() == [len(row) for row in lists]
    assert found.counts.tolist() == [sum(name in row for row in lists) for name in found.names.to_pylist()]
    assert found.rows().tolist() == [number for number, row in enumerate(lists) for _ in row]


def test_codes_of_names() -> None:
    found = Baskets.from_lists(LISTS)
    assert found.codes_of(["milk", "beer"]).tolist() == [2, 0]
    with pytest.raises(InputError, match="1 of the 2 items of 'items' do not occur"):
        found.codes_of(["milk", "wine"])
    with pytest.raises(InputError, match="not of the baskets' kind"):
        found.codes_of([1])


@pytest.mark.parametrize(
    ("indptr", "items", "names", "words"),
    [
        ([0, 2], [0], ["a"], "row pointers"),
        ([1, 1], [0], ["a"], "row pointers"),
        ([0, 2, 1, 3], [0, 1, 2], ["a", "b", "c"], "row pointers"),
        ([], [], [], "row pointers"),
        ([0, 1], [1], ["a"], "no name"),
        ([0, 1], [-1], ["a"], "no name"),
        ([0, 2], [1, 0], ["a", "b"], "ascending"),
        ([0, 2], [0, 0], ["a"], "ascending"),
        ([0, 1], [0], ["a", "a"], "same name"),
        ([0, 1], [0], ["a", None], "null"),
        ([0, 1], [0], [0.5], "whole numbers or text"),
    ],
)
def test_arrays_that_make_no_baskets(indptr: Any, items: Any, names: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Baskets(np.array(indptr, np.int64), np.array(items, np.int32), pa.array(names))


def test_neither_repr_nor_errors_tell_an_item() -> None:
    secret = Baskets.from_lists([["secret", "other"]])
    assert "secret" not in repr(secret)
    for bad in ([["secret", 1]], [["secret", None]], ["secret"], [[("secret",)]]):
        with pytest.raises(InputError) as caught:
            Baskets.from_lists(bad)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
