"""The column types of Arrow, pandas, Polars and DuckDB, each with a few values that are easily taken for one another.

A case has six rows: the first value three times, the second twice, the third once.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

ROWS = (0, 0, 0, 1, 1, 2)
COUNTS = [1, 2, 3]
_D = decimal.Decimal
_UTC = dt.UTC
_MOMENTS = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 0, 0, 1), dt.datetime(2024, 10, 27, 2, 30)]
_DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(1, 1, 1)]
_SPANS = [dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(microseconds=1000)]
_CLOCKS = [dt.time(0), dt.time(0, 0, 1), dt.time(23, 59, 59)]
_IDS = [uuid.UUID(int=number) for number in (1, 2, 3)]


def _six(values: list[Any]) -> list[Any]:
    return [values[row] for row in ROWS]


def _arrow_types() -> dict[str, pa.Array]:
    cases: dict[str, pa.Array] = {
        "bool": pa.array(_six([True, False, None])),
        "null in dictionary": pa.DictionaryArray.from_arrays(_six([0, 1, None]), pa.array(["a", None])),
        "string_view": pa.array(_six(["a", "A", "a "]), pa.string_view()),
        "large_string": pa.array(_six(["a", "A", "a "]), pa.large_string()),
        "unicode": pa.array(_six(["á", "a\u0301", "a"])),
        "decimal256": pa.array(_six([_D("1.20"), _D("1.3"), _D(-1)]), pa.decimal256(60, 20)),
        "decimal128": pa.array(_six([_D("1.20"), _D("1.3"), _D(-1)]), pa.decimal128(38, 20)),
        "decimal64": pa.array(_six([_D("1.20"), _D("1.3"), _D(-1)]), pa.decimal64(18, 2)),
        "decimal32": pa.array(_six([_D("1.20"), _D("1.3"), _D(-1)]), pa.decimal32(9, 2)),
        "float16": pa.array([np.float16(one) for one in _six([0.5, 2.0, 3.0])], pa.float16()),
        "zeros": pa.array([0.0, -0.0, 0.0, 1.5, 1.5, float("nan")]),
        "wide unsigned": pa.array(_six([2**64 - 1, 2**64 - 2, 2**63]), pa.uint64()),
        "date64": pa.array(_six(_DAYS), pa.date64()),
        "dictionary of numbers": pa.array(_six([3, 1, 2])).dictionary_encode(),
        "dictionary of dates": pa.array(_six(_DAYS)).dictionary_encode(),
        "narrow dictionary": pa.array(_six(["b", "a", "c"]))
        .dictionary_encode()
        .cast(pa.dictionary(pa.uint8(), pa.string())),
        "run ends": pa.RunEndEncodedArray.from_arrays([3, 5, 6], ["b", "a", "c"]),
        "binary": pa.array(_six([b"a", b"b", b"\xff"])),
        "fixed binary": pa.array(_six([b"a", b"b", b"\xff"]), pa.binary(1)),
        "list": pa.array(_six([[1], [2], None])),
        "large list": pa.array(_six([["a"], ["b"], None]), pa.large_list(pa.string())),
        "fixed list": pa.array(_six([[1], [2], None]), pa.list_(pa.int64(), 1)),
        "struct": pa.array(_six([{"a": 1}, {"a": 2}, None])),
        "map": pa.array(_six([[("a", 1)], [("b", 2)], None]), pa.map_(pa.string(), pa.int64())),
        "interval": pa.array(_six([(1, 0, 0), (0, 30, 0), None]), pa.month_day_nano_interval()),
        "union": pa.UnionArray.from_sparse(pa.array([0] * 6, pa.int8()), [pa.array(_six([1, 2, 3]))]),
        "uuid": pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([one.bytes for one in _six(_IDS)], pa.binary(16))
        ),
        "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(_six(["{}", "[]", "1"]))),
        "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array(_six([1, 0, None]), pa.int8())),
    }
    cases |= {f"int{width}": pa.array(_six([1, -1, None]), f"int{width}") for width in (8, 16, 32, 64)}
    cases |= {f"uint{width}": pa.array(_six([1, 2, 255]), f"uint{width}") for width in (8, 16, 32)}
    for unit in ("s", "ms", "us", "ns"):
        wide = [*_MOMENTS[:2], None]
        cases[f"timestamp {unit}"] = pa.array(_six(wide), pa.timestamp(unit))
        cases[f"timestamp {unit} zone"] = pa.array(_six(wide), pa.timestamp(unit, "Europe/Berlin"))
        cases[f"duration {unit}"] = pa.array(_six([_SPANS[0], _SPANS[1], None]), pa.duration(unit))
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        cases[str(kind)] = pa.array(_six(_CLOCKS), kind)
    return cases


def _pandas_types() -> dict[str, Any]:
    objects: dict[str, list[Any]] = {
        "object texts": ["a", None, "A"],
        "object numbers": [1, 2.5, None],
        "object decimals": [_D("1.20"), _D("1.3"), None],
        "object dates": [*_DAYS[:2], None],
        "object moments": [*_MOMENTS[:2], None],
        "object bytes": [b"a", b"b", None],
        "object lists": [[1], [2], None],
        "object mixed": [1, "1", None],
        "object wide": [2**70, 1, None],
        "object surrogates": ["\ud800", "a", None],
        "object objects": [object(), "a", None],
    }
    cases: dict[str, Any] = {name: pd.Series(_six(values), dtype=object) for name, values in objects.items()}
    for dtype in (
        "Int8",
        "UInt64",
        "Float32",
        "Float64",
        "boolean",
        "string[python]",
        "string[pyarrow]",
        "str",
    ):
        texts = dtype.startswith("str")
        values = ["a", "A", None] if texts else [True, False, None] if dtype == "boolean" else [1, 2, None]
        cases[dtype] = pd.Series(_six(values), dtype=dtype)
    cases |= {
        "category": pd.Series(_six(["b", "a", "c"]), dtype="category"),
        "ordered": pd.Series(
            pd.Categorical(_six(["low", "mid", None]), ["high", "mid", "low"], ordered=True)
        ),
        "category of numbers": pd.Series(_six([3, 1, 2]), dtype="category"),
        "category of floats": pd.Series(_six([1.5, 0.5, None]), dtype="category"),
        "category of dates": pd.Series(pd.to_datetime(_six(_MOMENTS))).astype("category"),
        "category of truth": pd.Series(_six([True, False, None]), dtype="category"),
        "category of periods": pd.Series(
            pd.PeriodIndex(_six(["2020-01", "2020-02", "2020-03"]), freq="M")
        ).astype("category"),
        "period": pd.Series(pd.PeriodIndex(_six(["2020-01", "2020-02", "2020-03"]), freq="M")),
        "interval": pd.Series(pd.arrays.IntervalArray.from_tuples(_six([(0, 1), (1, 2), (2, 3)]))),
        "sparse": pd.Series(pd.arrays.SparseArray(_six([0, 1, 2]))),
        "complex": pd.Series(_six([1j, 2j, 3j])),
        "float16": pd.Series(_six([0.5, 1.5, np.nan]), dtype="float16"),
        "zone": pd.Series(pd.to_datetime(_six(_MOMENTS)).tz_localize("Europe/Berlin", ambiguous=True)),
        "nanoseconds": pd.Series(pd.to_datetime(_six(_MOMENTS))).astype("datetime64[ns]"),
        "span": pd.Series(pd.to_timedelta(_six(_SPANS))),
        "arrow dictionary": pd.Series(
            _six(["b", "a", "c"]), dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
        ),
        "arrow zeros": pd.Series([0.0, -0.0, 0.0, 1.0, 1.0, None], dtype=pd.ArrowDtype(pa.float64())),
    }
    return cases


def _polars_types() -> dict[str, Any]:
    nested: dict[str, tuple[Any, list[Any]]] = {
        "Categorical": (pl.Categorical, ["b", "a", None]),
        "Enum": (pl.Enum(["c", "b", "a"]), ["b", "a", None]),
        "Int128": (pl.Int128, [2**100, 1, None]),
        "UInt64": (pl.UInt64, [2**64 - 1, 2**64 - 2, None]),
        "Float16": (pl.Float16, [0.5, 1.5, None]),
        "Decimal": (pl.Decimal(38, 2), [_D("1.20"), _D("1.3"), None]),
        "Time": (pl.Time, _CLOCKS),
        "Duration": (pl.Duration("ns"), _SPANS),
        "Datetime": (pl.Datetime("ms"), _MOMENTS),
        "Binary": (pl.Binary, [b"a", b"b", None]),
        "List": (pl.List(pl.Int8), [[1], [2], None]),
        "Array": (pl.Array(pl.Int8, 1), [[1], [2], None]),
        "Struct": (pl.Struct({"a": pl.Int8}), [{"a": 1}, {"a": 2}, None]),
        "List of Categorical": (pl.List(pl.Categorical), [["a"], ["b"], None]),
        "Object": (pl.Object, [object(), object(), None]),
    }
    return {name: pl.Series("x", _six(values), dtype=dtype) for name, (dtype, values) in nested.items()}


_DUCKDB_TYPES = {
    "HUGEINT": ("36893488147419103233::HUGEINT", "36893488147419103232::HUGEINT", "1::HUGEINT"),
    "small HUGEINT": ("1::HUGEINT", "2::HUGEINT", "NULL"),
    "widest HUGEINT": ("170141183460469231731687303715884105727::HUGEINT", "1::HUGEINT", "2::HUGEINT"),
    "UHUGEINT": ("340282366920938463463374607431768211455::UHUGEINT", "0::UHUGEINT", "1::UHUGEINT"),
    "small UHUGEINT": ("18446744073709551615::UHUGEINT", "18446744073709551614::UHUGEINT", "NULL"),
    "TIMETZ": ("'12:00:00+02'::TIMETZ", "'12:00:00+01'::TIMETZ", "'10:00:00+00'::TIMETZ"),
    "TIME": ("'12:00:00'::TIME", "'12:00:01'::TIME", "NULL"),
    "TIME_NS": ("'12:00:00'::TIME_NS", "'12:00:00.000000001'::TIME_NS", "NULL"),
    "TIMESTAMP_NS": ("'2024-01-01'::TIMESTAMP_NS", "'2024-01-01 00:00:00.000000001'::TIMESTAMP_NS", "NULL"),
    "TIMESTAMP_S": ("'2024-01-01'::TIMESTAMP_S", "'2024-01-02'::TIMESTAMP_S", "NULL"),
    "TIMESTAMP_MS": ("'2024-01-01'::TIMESTAMP_MS", "'2024-01-02'::TIMESTAMP_MS", "NULL"),
    "TIMESTAMPTZ": ("'2024-01-01'::TIMESTAMPTZ", "'2024-01-02'::TIMESTAMPTZ", "NULL"),
    "infinite DATE": ("'infinity'::DATE", "'2024-01-01'::DATE", "NULL"),
    "infinite TIMESTAMP": ("'-infinity'::TIMESTAMP", "'2024-01-01'::TIMESTAMP", "NULL"),
    "late DATE": ("'20240-01-01'::DATE", "'2024-01-01'::DATE", "NULL"),
    "early DATE": ("'0044-03-15 (BC)'::DATE", "'2024-01-01'::DATE", "NULL"),
    "INTERVAL": ("INTERVAL 1 MONTH", "INTERVAL 30 DAY", "NULL"),
    "UUID": (*(f"'{one}'::UUID" for one in _IDS),),
    "BIT": ("'101'::BIT", "'0101'::BIT", "NULL"),
    "BIGNUM": ("'1'::BIGNUM", "'2'::BIGNUM", "NULL"),
    "DECIMAL": ("1.20::DECIMAL(4, 2)", "1.3::DECIMAL(4, 2)", "NULL"),
    "wide DECIMAL": ("1.20::DECIMAL(38, 10)", "1.3::DECIMAL(38, 10)", "NULL"),
    "ENUM": ("'b'::ENUM('c', 'b', 'a')", "'a'::ENUM('c', 'b', 'a')", "NULL"),
    "LIST": ("[1]", "[2]", "NULL"),
    "LIST of TIMETZ": ("['12:00:00+02'::TIMETZ]", "['12:00:00+01'::TIMETZ]", "NULL"),
    "ARRAY": ("[1]::INT[1]", "[2]::INT[1]", "NULL"),
    "STRUCT": ("{'a': 1}", "{'a': 2}", "NULL"),
    "MAP": ("MAP {'a': 1}", "MAP {'a': 2}", "NULL"),
    "UNION": ("union_value(a := 1)", "union_value(a := 2)", "NULL"),
    "VARIANT": ("1::VARIANT", "2::VARIANT", "NULL"),
    "BLOB": ("'a'::BLOB", "'b'::BLOB", "NULL"),
    "JSON": ("'{}'::JSON", "'[]'::JSON", "NULL"),
    "zeros": ("0.0::DOUBLE", "'nan'::DOUBLE", "1.5::DOUBLE"),
    "FLOAT": ("0.1::FLOAT", "0.2::FLOAT", "NULL"),
    "BOOLEAN": ("true", "false", "NULL"),
    "UBIGINT": ("18446744073709551615::UBIGINT", "18446744073709551614::UBIGINT", "NULL"),
    "nocase": ("'a' COLLATE NOCASE", "'A' COLLATE NOCASE", "'b' COLLATE NOCASE"),
}


def _relation(values: tuple[str, ...]) -> duckdb.DuckDBPyRelation:
    rows = " UNION ALL ".join(
        f"SELECT {values[row]} AS x, '{'ab'[at % 2]}' AS d, {at} AS n" for at, row in enumerate(ROWS)
    )
    return duckdb.connect().sql(rows)


def _beside(make: Callable[[dict[str, Any]], Any], column: Any) -> Any:
    return make({"x": column, "d": ["a", "b"] * 3, "n": list(range(6))})


def frames() -> dict[str, Callable[[], Any]]:
    """Return how to make a frame with each column type as ``x``, beside ``d`` (a or b) and ``n`` (the row)."""
    made: dict[str, Callable[[], Any]] = {}
    for name, array in _arrow_types().items():
        made[f"arrow {name}"] = lambda array=array: _beside(pa.table, array)
    for name, series in _pandas_types().items():
        made[f"pandas {name}"] = lambda series=series: _beside(pd.DataFrame, series)
    for name, series in _polars_types().items():
        made[f"polars {name}"] = lambda series=series: _beside(pl.DataFrame, series)
    for name, values in _DUCKDB_TYPES.items():
        made[f"duckdb {name}"] = lambda values=values: _relation(values)
    return made
