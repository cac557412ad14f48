"""Admission of frames: those in memory, Polars' lazy frames and DuckDB relations. Other lazy frames are refused unread.

A frame of Spark, Dask or Ibis looks like one in memory: iterated, or turned into an array, it runs a query and fetches
all rows. Nothing here touches an object that may be one; its type decides.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from discreet.core.adapters import ENGINES
from discreet.core.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

_LOCAL = {
    "pandas",
    "polars",
    "pyarrow",
    "numpy",
    "scipy",
    "cudf",
    "discreet",
    "sklearn",
    "builtins",
    *ENGINES,
}
"""Packages whose objects hold their rows, or are run on this machine by choice of the user."""
_ELSEWHERE = {
    "bodo", "daft", "dask", "dask_expr", "datafusion", "fugue", "ibis", "modin", "pyspark", "ray", "snowflake",
    "sqlframe", "vaex", "xorq",
}  # fmt: skip
"""Packages whose objects stand for rows elsewhere."""
_FETCHES = ("collect", "compute", "execute", "toPandas", "toArrow", "to_pyarrow")
_TRAITS = ("columns", "schema", "dtypes", "__arrow_c_stream__", "__dataframe__", "__array__")
_LAZY_LOCAL = ("polars", *ENGINES)
_MOST_LISTED = 64


def refuse_lazy(value: Any, *, depth: int = 2) -> None:
    """Refuse a lazy frame of another engine, also in a short dict or list; nothing of it is read.

    >>> refuse_lazy([1, 2, 3])
    """
    kind: type = type(value)
    if _is_elsewhere(kind) or (_package(kind) == "narwhals" and _wraps_other(value)):
        raise InputError(
            f"A {kind.__name__} of {_package(kind)} is not fetched: collect it yourself, for example to pandas or "
            "PyArrow, or write it to Parquet and pass that file."
        )
    if depth and isinstance(value, dict | list | tuple) and len(value) <= _MOST_LISTED:
        for part in value.values() if isinstance(value, dict) else value:
            refuse_lazy(part, depth=depth - 1)


def admitted(native: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Return a frame in memory, a lazy frame of Polars or a DuckDB relation as Narwhals wraps them."""
    import narwhals as nw

    refuse_lazy(native)
    try:
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(native)
    except TypeError:
        raise InputError(
            f"A {type(native).__name__} is no table; give a pandas, Polars, PyArrow or DuckDB frame."
        ) from None
    refuse_lazy(frame)
    return frame


def in_memory(native: Any) -> nw.DataFrame[Any]:
    """Return an admitted frame in memory; lazy ones of this machine are collected."""
    import narwhals as nw

    frame = admitted(native)
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


@cache
def _is_elsewhere(kind: type) -> bool:
    """Whether objects of a type stand for rows that a query would have to fetch."""
    packages = {_package(base) for base in kind.__mro__[:-1]}
    if packages & _ELSEWHERE or hasattr(kind, "__narwhals_lazyframe__"):
        return True
    if packages & (_LOCAL | {"narwhals"}):
        return False
    return any(hasattr(kind, name) for name in _FETCHES) and any(hasattr(kind, name) for name in _TRAITS)


def _wraps_other(value: Any) -> bool:
    """Whether Narwhals wraps a lazy frame of an engine that is not on this machine."""
    return type(value).__name__ == "LazyFrame" and value.implementation.name.lower() not in _LAZY_LOCAL


def package_of(value: Any) -> str:
    """Return the package that the type of an object comes from.

    >>> package_of(InputError("The table has no rows."))
    'discreet'
    """
    return _package(type(value))


def _package(kind: type) -> str:
    return kind.__module__.split(".")[0].lstrip("_")
