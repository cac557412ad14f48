"""Sessions with Spark, classic or by Spark Connect: queries in its SQL, and the one way by which counts are fetched."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.errors import DiscreetError, InputError, NetworkError, ParameterError
from discreet.engines.formats import package
from discreet.engines.sql.transpile import transpiled

_JAVA = 17
_EXAMPLE, _PORT, _TIMEOUT = "sc://host:15002", 15002, 10.0
_MOST_BROADCAST = 200_000
"""The most rows of a mapping that every worker gets whole."""
TOO_LARGE = "spark.driver.maxResultSize"
_REASONS = (
    (r"No module named '(discreet|numba|llvmlite|pyarrow)", "its workers lack discreet; install it there"),
    (r"PYTHON_VERSION_MISMATCH", "its workers run another version of Python than this machine"),
    (r"ExecutorLostFailure|Lost executor|lost worker|worker lost", "workers were lost, and too often to try again"),
    (r"maxResultSize", f"the distinct tuples exceed {TOO_LARGE}; raise it, or round values first"),
    (r"OutOfMemory|Java heap space|resources exhausted", "it is out of memory"),
    (r"No space left", "a disk is full"),
    (r"Permission ?[Dd]enied|AccessControlException", "permission denied"),
    (r"PATH_NOT_FOUND|FileNotFoundException|SparkFileNotFound|[Nn]o such file|not found in", "a file is not there"),
    (r"CANNOT_READ_FILE_FOOTER|UNABLE_TO_INFER_SCHEMA|not a Parquet file", "a file is no Parquet file"),
    (r"SparkContext was (shut down|stopped)|stopped SparkContext|SESSION_(CLOSED|NOT_FOUND)", "its session has ended"),
    (r"canceled|cancelled|interrupted", "the query was canceled"),
    (r"UNAVAILABLE|[Cc]onnection refused|failed to connect|RETRIES_EXCEEDED|DNS resolution", "no server answers"),
    (r"Answer from Java side is empty|Error while sending or receiving|Connection reset", "its driver has stopped"),
)  # fmt: skip
_INTEGERS = {
    "ByteType": pa.int8(),
    "ShortType": pa.int16(),
    "IntegerType": pa.int32(),
    "LongType": pa.int64(),
}
_TYPES = _INTEGERS | {
    "FloatType": pa.float32(),
    "DoubleType": pa.float64(),
    "BooleanType": pa.bool_(),
    "StringType": pa.string(),
    "CharType": pa.string(),
    "VarcharType": pa.string(),
    "NullType": pa.string(),
    "DateType": pa.date32(),
    "TimestampType": pa.timestamp("us", "UTC"),
    "TimestampNTZType": pa.timestamp("us"),
}
"""The types that are kept, and what they are in Arrow."""


@contextlib.contextmanager
def failures(what: str, kind: type[DiscreetError] = InputError) -> Iterator[None]:
    """Turn what Spark raises into one line that holds no value."""
    failure: DiscreetError | None = None
    try:
        # PySpark warns of versions of pandas, which is not used here.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"pyspark\.")
            yield
    except (DiscreetError, ImportError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is: those of Java, of gRPC and of PySpark have no base
        failure = kind(f"{what}: {spark_failure(error)}.")
    if failure is not None:
        raise failure from None


def spark_failure(error: Exception) -> str:
    """Return why Spark failed; its own message may hold values."""
    words = str(error)
    condition = getattr(error, "getCondition", getattr(error, "getErrorClass", lambda: None))()
    for pattern, why in _REASONS:
        if re.search(pattern, f"{condition} {words}"):
            return why
    named = condition if isinstance(condition, str) and re.fullmatch(r"[A-Z0-9_.]+", condition) else None
    return f"Spark failed ({named or type(error).__name__})"


def arrow_schema(frame: Any) -> pa.Schema:
    """Return the names and Arrow types of a frame's columns; those of types that are not kept are bytes."""
    with failures("The columns cannot be read"):
        fields = frame.schema.fields
    return pa.schema([pa.field(field.name, arrow_type(field.dataType) or pa.binary()) for field in fields])


def arrow_type(type_: Any) -> pa.DataType | None:
    """Return the Arrow type that holds what a type of Spark does; None where it is not kept exactly."""
    name = type(type_).__name__
    if name == "DecimalType":
        return pa.decimal128(type_.precision, type_.scale)
    return _TYPES.get(name)


def fetched(counted: Any) -> pa.Table:
    """Fetch what a query counted. Rows are never fetched: whoever calls this has grouped or aggregated them."""
    schema = arrow_schema(counted)
    with failures("The rows cannot be counted"):
        return counted.toArrow().rename_columns(schema.names).cast(schema)


def query_frame(frame: Any, sql: str, mapping: pa.Table | None = None) -> Any:
    """Query a frame under the name ``source``, in the SQL of DuckDB, with an Arrow table under the name ``mapping``.

    Spark takes names that differ in case alone for the same, so columns with such names go by others of our own.
    """
    session = frame.sparkSession
    names = frame.columns
    inner = dict(zip(names, names, strict=True))
    if len({name.casefold() for name in names}) < len(names):
        inner = {name: f"{name} {number}" for number, name in enumerate(names)}
        frame = frame.toDF(*inner.values())
    views = {"source": frame}
    if mapping is not None:
        views["mapping"] = lent(session, mapping)
    # PySpark puts frames where braces are. A common table expression would hide the hint to broadcast the mapping.
    marks = {name: f"{name}_{secrets.token_hex(8)}" for name in views}
    written = transpiled(sql, "spark", inner, marks).replace("{", "{{").replace("}", "}}")
    for name, mark in marks.items():
        written = written.replace(mark, f"{{{name}}}")
    with failures("The rows cannot be queried"):
        return session.sql(written, **views)


def lent(session: Any, rows: pa.Table) -> Any:
    """Return a small table as a frame of a session."""
    columns = [_storable(column) for column in rows.columns]
    with failures("A mapping cannot be sent to the cluster"):
        frame = session.createDataFrame(pa.Table.from_arrays(columns, names=rows.column_names))
        return frame.hint("broadcast") if rows.num_rows <= _MOST_BROADCAST else frame


def _storable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that Spark has: whole numbers have signs there."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _storable(column.cast(kind.value_type))
    if pa.types.is_uint64(kind):
        return column.cast(pa.decimal128(20, 0))
    if pa.types.is_unsigned_integer(kind):
        return column.cast(pa.int64() if pa.types.is_uint32(kind) else pa.int32())
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", kind.tz))
    return column.cast(pa.string()) if pa.types.is_null(kind) or pa.types.is_string_view(kind) else column


def spark_session(master: str | None = None, remote: str | None = None) -> Any:
    """Return a session with the cluster of a master, or of a server of Spark Connect, or that the environment names."""
    if master is not None and remote is not None:
        raise ParameterError("A cluster has a master or a remote address, not both.")
    with failures("PySpark cannot be loaded"):
        builder = package("pyspark.sql", "spark", "Spark").SparkSession.builder
    if remote is None and master is None and os.environ.get("SPARK_REMOTE", "").startswith("sc://"):
        remote = os.environ["SPARK_REMOTE"]
    if remote is not None:
        return _connected(builder, remote)
    if "SPARK_REMOTE" not in os.environ:
        require_java()
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    with failures(f"{master or 'Spark'} cannot be reached", NetworkError):
        return (builder if master is None else builder.master(master)).getOrCreate()


def _connected(builder: Any, remote: str) -> Any:
    """Return a session of Spark Connect that gives up within a minute where its server is gone, and not after ten."""
    named = remote.partition("/;")[0]  # what follows may be a token
    found = re.fullmatch(r"sc://([^/:;]+|\[[^/;]+\])(?::(\d{1,5}))?", named.rstrip("/"))
    if found is None:
        raise ParameterError(f"A server of Spark Connect is named as {_EXAMPLE}.")
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2] or _PORT)), _TIMEOUT).close()
    except (OSError, OverflowError):
        raise NetworkError(f"{named} cannot be reached: no server answers.") from None
    with failures(f"{named} cannot be reached", NetworkError):
        session = builder.remote(remote).getOrCreate()
        from pyspark.sql.connect.client.retries import DefaultPolicy

        session.client.set_retry_policies([DefaultPolicy(max_retries=10, max_backoff=5_000)])
        return session


def require_java() -> None:
    """Refuse a machine on which Spark cannot start: it needs Java, and a new one."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    remedy = (
        f"install Java {_JAVA} and set JAVA_HOME to its folder, or name a server of Spark Connect (remote), "
        "which takes no Java here."
    )
    program = shutil.which(java)
    if program is None:
        raise InputError(f"Spark needs Java, and there is none{' in JAVA_HOME' if home else ''}: {remedy}")
    words = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', words)
    if version is None or int(version[1]) < _JAVA:
        named = "this Java does not say its version" if version is None else f"this is Java {version[1]}"
        raise InputError(f"Spark needs Java {_JAVA} or newer, and {named}: {remedy}")
