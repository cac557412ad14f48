"""Stand-ins for lazy frames of engines that are not installed: whatever would fetch their rows fails the test."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

FETCHES = (
    "collect", "compute", "execute", "persist", "toPandas", "toArrow", "toLocalIterator", "to_pandas", "to_pyarrow",
    "to_arrow", "to_arrow_table", "to_polars", "to_numpy", "to_list", "tolist", "head", "limit", "count", "show",
    "__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "__array__", "__iter__", "__len__", "__getitem__",
    "__float__", "__bool__", "__eq__", "__contains__",
)  # fmt: skip
"""Methods of one engine or another that run a query."""


class FetchedError(BaseException):
    """A lazy frame was read; no ``except Exception`` hides it."""


def _fetch(name: str) -> Any:
    def fetched(self: object, *args: object, **named: object) -> Any:
        raise FetchedError(f"{type(self).__name__}.{name} was called")

    return fetched


def lazy_type(module: str, name: str, *traits: str, fetches: tuple[str, ...] = FETCHES) -> type:
    """Return a class that looks like one of another package, with methods that must not be called."""
    members = {fetch: _fetch(fetch) for fetch in fetches} | {
        "__hash__": object.__hash__,
        "__module__": module,
    }
    return type(name, (), members | dict.fromkeys(traits, ()))


SPARK = lazy_type("pyspark.sql.classic.dataframe", "DataFrame", "columns", "schema", "dtypes")
DASK = lazy_type("dask.dataframe.dask_expr._collection", "DataFrame", "columns", "dtypes")
CLUSTERS: dict[str, Any] = {
    "Spark": SPARK(),
    "Spark Connect": lazy_type("pyspark.sql.connect.dataframe", "DataFrame", "columns", "schema")(),
}
"""A frame of each kind that tables are made of where they lie; all else refuses them."""
KINDS: dict[str, Any] = {
    "pandas on Spark": lazy_type("pyspark.pandas.frame", "DataFrame", "columns", "dtypes")(),
    "Ibis": lazy_type("ibis.expr.types.relations", "Table", "columns", "schema")(),
    "Ibis column": lazy_type("ibis.expr.types.numeric", "IntegerColumn")(),
    "Dask": DASK(),
    "Dask bag": lazy_type("dask.bag.core", "Bag", fetches=("compute", "__iter__"))(),
    "Dask array": lazy_type("dask.array.core", "Array", "dtype", "shape")(),
    "a subclass of Dask's": type("GeoDataFrame", (DASK,), {"__module__": "dask_geopandas.core"})(),
    "SQLFrame": lazy_type("sqlframe.duckdb.dataframe", "DuckDBDataFrame", "columns", "schema")(),
    "Snowpark": lazy_type("snowflake.snowpark.dataframe", "DataFrame", "columns", "schema")(),
    "Modin": lazy_type("modin.pandas.dataframe", "DataFrame", "columns", "dtypes")(),
    "Daft": lazy_type("daft.dataframe.dataframe", "DataFrame", "columns", "schema")(),
    "DataFusion": lazy_type("datafusion.dataframe", "DataFrame", "schema")(),
    "an unknown one that is collected": lazy_type("acme.frames", "Frame", "columns", fetches=("collect",))(),
    "an unknown one with an Arrow stream": lazy_type(
        "acme.frames", "Query", fetches=("execute", "__arrow_c_stream__")
    )(),
    "an unknown one for Narwhals": lazy_type("acme.frames", "Plugged", fetches=("__narwhals_lazyframe__",))(),
}
"""A lazy frame, column or collection of each engine."""


def wrapped(implementation: str) -> Any:
    """Return what looks like a lazy frame of Narwhals over an engine."""
    kind = lazy_type("narwhals.dataframe", "LazyFrame", "columns", "schema")
    kind.implementation = property(lambda _: SimpleNamespace(name=implementation))
    return kind()


KINDS |= {
    f"Narwhals over {name}": wrapped(name) for name in ("PYSPARK", "IBIS", "DASK", "SQLFRAME", "UNKNOWN")
}
