"""The boundary of the library: what an error may carry out of a public function or class.

Exceptions of other libraries quote what they could not read: ``could not convert string to float: '…'`` names a cell,
``KeyError`` holds a key, ``UnicodeDecodeError`` the whole text. Every public function and class is marked `public`. Its
own errors pass with their chain cut; any other exception is replaced by an `InputError` or `InternalError` that says
where it arose and of what type it was, and nothing of what it held.

It is also where lazy frames of other engines are refused, before anything can fetch their rows.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from discreet.core.adapters import ENGINES
from discreet.core.errors import DiscreetError, InputError, InternalError

if TYPE_CHECKING:
    import narwhals as nw

Entry = TypeVar("Entry", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parents[1]
_MARK = "__public_entry__"
_TAKES_CLUSTERS = "__takes_clusters__"
_SPECIAL = {"__init__", "__call__", "__and__", "__or__"}
_DATA_ERRORS = (ValueError, TypeError, ArithmeticError)
_DATA_PACKAGES = ("pyarrow", "polars", "pandas", "narwhals", *ENGINES)
_inside: ContextVar[bool] = ContextVar("inside a public entry", default=False)


def public(entry: Entry) -> Entry:
    """Mark a public function or class: no data value leaves it in an exception, and no lazy frame enters it.

    Of a class, all public methods and properties are entries, those it inherits too. Only the outermost call acts, so
    that code inside the library sees exceptions as they were raised.

    Examples
    --------
    >>> @public
    ... def mean_age(rows):
    ...     return sum(float(row["age"]) for row in rows) / len(rows)
    >>> try:
    ...     mean_age([{"age": "forty-two"}])
    ... except InputError as error:
    ...     print("forty-two" in str(error), error.__cause__, error.__context__)
    False None None
    """
    if not isinstance(entry, type):
        return cast("Entry", _guarded(entry))
    for base in reversed(entry.__mro__[:-1]):
        for name, member in list(vars(base).items()):
            if _is_entry(base, name) and inspect.getattr_static(entry, name) is member:
                _guard_member(entry, name, member, declared=base is entry)
    setattr(entry, _MARK, True)
    return entry


def reads(what: str) -> Callable[[Entry], Entry]:
    """Mark a function that reads plain data or files written earlier: whatever it stumbles over, the data is damaged.

    Its own errors pass; any other exception becomes an `InputError` that names what was read.

    Examples
    --------
    >>> @reads("The model")
    ... def depth(plain):
    ...     return plain["tree"]["nodes"][0]["depth"] + 1
    >>> depth({"tree": {"nodes": []}})
    Traceback (most recent call last):
    discreet.core.errors.InputError: The model is damaged: it does not have the shape that was written.
    """

    def marked(function: Entry) -> Entry:
        @functools.wraps(function)
        def read(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except DiscreetError:
                raise
            except Exception as error:  # a file can be wrong in any way
                failure = InputError(f"{what} is damaged: it does not have the shape that was written.")
                if isinstance(error, ImportError) or (isinstance(error, TypeError) and _is_call(error)):
                    raise
            raise failure

        return cast("Entry", read)

    return marked


def is_public(entry: Any) -> bool:
    """Return whether a function or a class was marked."""
    return _MARK in vars(entry)


def _is_entry(base: type, name: str) -> bool:
    if base.__module__.split(".")[0] not in ("discreet", "sklearn", "__main__", "tests"):
        return False
    if base.__module__.startswith("sklearn"):
        return name in ("fit_predict", "fit_transform", "score")
    return name in _SPECIAL or not name.startswith("_")


def _guard_member(owner: type, name: str, member: Any, *, declared: bool) -> None:
    if isinstance(member, FunctionType):
        guarded: Any = member if hasattr(member, _MARK) else _guarded(member)
    elif isinstance(member, classmethod | staticmethod) and isinstance(member.__func__, FunctionType):
        guarded = member if hasattr(member.__func__, _MARK) else type(member)(_guarded(member.__func__))
    elif isinstance(member, functools.cached_property):
        if not hasattr(member.func, _MARK):
            member.func = _guarded(member.func, is_property=True)
        return
    elif isinstance(member, property) and member.fget is not None and not hasattr(member.fget, _MARK):
        guarded = property(_guarded(member.fget, is_property=True), member.fset, member.fdel, member.__doc__)
    else:
        return
    if guarded is not member or declared:
        setattr(owner, name, guarded)


def _guarded(function: Callable[..., Any], *, is_property: bool = False) -> Any:
    """Wrap a function so that its arguments are admitted and its exceptions are checked."""

    @functools.wraps(function)
    def entry(*args: Any, **kwargs: Any) -> Any:
        if _inside.get():
            return function(*args, **kwargs)
        token = _inside.set(True)
        try:
            for argument in (*args, *kwargs.values()):
                refuse_lazy(argument, clusters=hasattr(function, _TAKES_CLUSTERS))
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is checked
            failure = safe_error(error, function.__qualname__, is_property=is_property)
        finally:
            _inside.reset(token)
        raise failure

    setattr(entry, _MARK, True)
    return entry


def safe_error(error: Exception, where: str, *, is_property: bool = False) -> Exception:
    """Return the exception that may leave: the same one with its chain cut, or one of ours in its place."""
    if _passes(error):
        error.__cause__ = error.__context__ = None
        return error
    failure = _replaced(error, where, is_property=is_property)
    failure.__suppress_context__ = True
    return failure.with_traceback(error.__traceback__)


def _passes(error: Exception) -> bool:
    """Return whether an exception is ours, or one whose words never hold data: no memory, no module, no fit."""
    if isinstance(error, DiscreetError | InternalError | MemoryError | ImportError | Warning):
        return True
    if isinstance(error, TypeError) and _is_call(error):
        return True
    fitted = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    return fitted is not None and isinstance(error, fitted)


def _is_call(error: TypeError) -> bool:
    """Return whether arguments did not fit a signature: raised by the call itself, before anything ran."""
    here = error.__traceback__
    return here is not None and here.tb_next is None


def _replaced(error: Exception, where: str, *, is_property: bool) -> Exception:
    kind = f"{type(error).__name__}{_location(error)}"
    if is_property and isinstance(error, AttributeError):
        return AttributeError(f"{where} is not there ({kind}).")
    if isinstance(error, OSError):
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        return InputError(f"{where}: the system refused: {reason}.")
    if isinstance(error, UnicodeError):
        return InputError(f"{where} was given text that is not valid Unicode ({kind}).")
    if isinstance(error, _DATA_ERRORS) or package_of(error) in _DATA_PACKAGES:
        return InputError(
            f"{where} cannot use what it was given: a value is of the wrong type, or out of range ({kind})."
        )
    return InternalError(f"{where} failed: {kind}. If its arguments are as documented, please report this.")


def _location(error: Exception) -> str:
    """Return the last place of the library that an exception came through."""
    frames = [frame for frame in library_frames(error) if frame.filename != __file__]
    return f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""


def library_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of this package that an exception came through, the outermost first."""
    # The folder is compared whole: a clone of the project is often called like the package.
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]


# Admission of frames: those in memory, Polars' lazy frames and DuckDB relations. Other lazy frames are refused unread.
#
# A frame of Spark, Dask or Ibis looks like one in memory: iterated, or turned into an array, it runs a query and
# fetches all rows. Nothing here touches an object that may be one; its type decides.


_CLUSTERS = {"pyspark": ("pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe")}
"""Packages of engines elsewhere whose frames are not fetched but worked on there, and the modules of those frames."""
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
    *(set(ENGINES) - set(_CLUSTERS)),
}
"""Packages whose objects hold their rows, or are run on this machine by choice of the user."""
_ELSEWHERE = {
    "bodo", "daft", "dask", "dask_expr", "datafusion", "fugue", "ibis", "modin", "pyspark", "ray", "snowflake",
    "sqlframe", "vaex", "xorq",
}  # fmt: skip
"""Packages whose objects stand for rows elsewhere."""
_FETCHES = ("collect", "compute", "execute", "toPandas", "toArrow", "to_pyarrow")
_TRAITS = ("columns", "schema", "dtypes", "__arrow_c_stream__", "__dataframe__", "__array__")
_LAZY_LOCAL = ("polars", *(set(ENGINES) - set(_CLUSTERS)))
_MOST_LISTED = 64


def takes_clusters(entry: Entry) -> Entry:
    """Mark a function, or the constructor of a class, that takes frames on a cluster: it leaves their rows there."""
    marked: Any = entry
    setattr(marked.__init__ if isinstance(entry, type) else marked, _TAKES_CLUSTERS, True)
    return entry


def is_on_cluster(value: Any) -> bool:
    """Whether an object is a frame whose rows lie on a cluster, where an engine of ours works on them."""
    return any(
        base.__name__ == "DataFrame" and base.__module__ in _CLUSTERS.get(_package(base), ())
        for base in type(value).__mro__
    )


def refuse_lazy(value: Any, *, depth: int = 2, clusters: bool = False) -> None:
    """Refuse a lazy frame of another engine, also in a short dict or list; nothing of it is read.

    With ``clusters``, a frame on a cluster is let through.

    >>> refuse_lazy([1, 2, 3])
    """
    kind: type = type(value)
    if clusters and is_on_cluster(value):
        return
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
    """Return the package that the type of an object comes from: of our own, the one of its engine where it has one.

    >>> package_of(InputError("The table has no rows."))
    'discreet'
    """
    package = _package(type(value))
    own = type(value).__module__.rpartition(".")[0]
    return own if package == "discreet" and own in ENGINES else package


def _package(kind: type) -> str:
    return kind.__module__.split(".")[0].lstrip("_")
