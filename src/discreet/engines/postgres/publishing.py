"""New tables and views in PostgreSQL: rows are written, read back and judged in one transaction, which ends last."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from discreet.core.engine import engine_of
from discreet.core.errors import OutputError
from discreet.core.tables.publication import publishable
from discreet.engines.addresses import Address
from discreet.engines.postgres.admission import COLUMNS, find_table
from discreet.engines.postgres.session import DatabaseSession, PostgresRelation
from discreet.engines.sql.source import quoted_name

_LONGEST_NAME = 63
_TYPES = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "integer"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_float32, "real"),
    (pa.types.is_float64, "double precision"),
    (pa.types.is_string, "text"),
    (pa.types.is_date32, "date"),
    (pa.types.is_time64, "time"),
)
_WIDER = (
    (pa.types.is_int8, pa.int16()),
    (pa.types.is_uint8, pa.int16()),
    (pa.types.is_uint16, pa.int32()),
    (pa.types.is_uint32, pa.int64()),
    (pa.types.is_uint64, pa.decimal128(20, 0)),
    (pa.types.is_float16, pa.float32()),
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_null, pa.string()),
    (pa.types.is_date64, pa.date32()),
    (pa.types.is_time32, pa.time64("us")),
)
"""Types that PostgreSQL does not have, and those that hold all their values."""


class NewTable:
    """A table that nobody else sees until it is committed."""

    noun = "TABLE"

    def __init__(self, address: Address) -> None:
        self.address = address
        self._session = DatabaseSession(address, reads=False)
        schema, dot, name = (address.view or address.table).partition(".")
        self._schema: str | None = schema if dot else None
        self._name = name if dot else schema
        self._quoted = ".".join(quoted_name(part) for part in (self._schema, self._name) if part)
        self.is_committed = False

    def require_new(self) -> None:
        """Refuse a table that is there, one that may not be made, and a name that is cut."""
        if len(self._name.encode()) > _LONGEST_NAME:
            raise OutputError(f"{self.address} cannot be written: the name of the table is too long.")
        schema = "current_schema()" if self._schema is None else "$1"
        parameters = [] if self._schema is None else [self._schema]
        sql = (
            f"SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = {schema}), "
            "coalesce((SELECT pg_catalog.has_schema_privilege(oid, 'CREATE') "
            f"FROM pg_catalog.pg_namespace WHERE nspname = {schema}), false)"
        )
        ((is_there, may_create),) = self._session.execute(sql, parameters)
        if not is_there:
            raise OutputError(f"{self.address} cannot be written: there is no schema of this name.")
        if not may_create:
            raise OutputError(f"{self.address} cannot be written: no right to create a table there.")
        if self._session.execute("SELECT 1 WHERE to_regclass($1) IS NOT NULL", [self._quoted]):
            raise OutputError(
                f"{self.address}: the table is there already, and no table is ever replaced; name a new one."
            )

    def fill(self, frame: Any) -> None:
        """Make the table and write the rows of a frame into it, as they are published."""
        engine = engine_of(frame)
        schema = _storable(engine.schema(frame).empty_table()).schema
        columns = ", ".join(f"{quoted_name(field.name)} {_type(field)}" for field in schema)
        self._session.execute(f"CREATE TABLE {self._quoted} ({columns})")
        batches = (
            batch
            for rows in engine.batches(frame)
            for batch in _storable(pa.Table.from_batches([rows])).cast(schema).to_batches()
        )
        self._session.append(self._schema, self._name, pa.RecordBatchReader.from_batches(schema, batches))

    @property
    def rows(self) -> PostgresRelation:
        """The rows as they lie in the table."""
        return PostgresRelation(self._session, f"SELECT * FROM {self._quoted}")

    def commit(self) -> None:
        """Publish the table."""
        self._session.commit()
        self.is_committed = True

    def withdraw(self) -> None:
        """Remove the table, whether it was committed or not."""
        if self.is_committed:
            self._session.execute(f"DROP {self.noun} {self._quoted}")
            self._session.commit()

    def close(self) -> None:
        """End the session."""
        self._session.close()


class NewView(NewTable):
    """A view over the table that was released, which shows now what was released."""

    noun = "VIEW"

    def fill(self, frame: Any) -> None:
        """Make the view, and see that it shows the released rows; ``frame`` says what it reads and how."""
        original, released = frame.original, frame.released
        if not isinstance(original, PostgresRelation):
            raise OutputError(
                f"{self.address}: a view is made over a table of the same database; release one."
            )
        places = [session.execute(_PLACE)[0] for session in (self._session, original.session)]
        if places[0] != places[1]:
            raise OutputError(f"{self.address}: a view lies in the database of the table; name the same one.")
        names = set(released.columns)
        table, _ = find_table(self._session, original.session.address.table)
        for name, type_, _, modifier in self._session.execute(COLUMNS, [table]):
            if name in names and type_ == "numeric" and modifier < 0:
                raise OutputError(
                    f"{self.address}: column '{name}' is numeric without a number of digits, and the view would be "
                    "made for the digits that there are; state them (ALTER TABLE), or release into a table."
                )
        # Without the barrier, a condition of whoever reads the view could run on rows that the view leaves
        # out.
        live = original.narrowed(names)
        self._session.execute(
            f"CREATE VIEW {self._quoted} WITH (security_barrier) AS WITH live AS ({live}), {frame.select}"
        )
        if _digest(self.rows) != _digest(released):
            raise OutputError(
                f"{self.address}: the view does not show what was released: rows have come or gone meanwhile, or its "
                "columns read otherwise in PostgreSQL. Run again, or release into a table."
            )


# By when it started: a server may have several addresses.
_PLACE = "SELECT current_database()::text, pg_postmaster_start_time()::text"


def _digest(rows: PostgresRelation) -> tuple[Any, ...]:
    """Return how many rows there are, and a sum of digests, in which their order does not matter."""
    # 15 hexadecimal digits are 60 bits, so that no digest is negative; sums of bigint are numeric and do not
    # overflow.
    digest = "('x' || left(md5(CAST(ROW(counted.*) AS text)), 15))::bit(60)::bigint"
    sql = f"SELECT count(*)::int8, coalesce(sum({digest}), 0)::text FROM ({rows.sql}) AS counted"
    return rows.session.execute(sql)[0]


def _storable(rows: pa.Table) -> pa.Table:
    """Return rows as they may leave, in types that PostgreSQL has."""
    rows = publishable(rows)
    columns = []
    for field, column in zip(rows.schema, rows.columns, strict=True):
        plain = column.cast(field.type.value_type) if pa.types.is_dictionary(field.type) else column
        if isinstance(plain.type, pa.BaseExtensionType):
            plain = plain.cast(pa.string()) if field.type.extension_name == "arrow.json" else plain
        if pa.types.is_timestamp(plain.type):
            plain = plain.cast(pa.timestamp("us", plain.type.tz))
        wider = next((type_ for is_one, type_ in _WIDER if is_one(plain.type)), plain.type)
        columns.append(plain if wider == plain.type else plain.cast(wider))
    return pa.Table.from_arrays(columns, names=rows.column_names)


def _type(field: pa.Field) -> str:
    """Return the type of PostgreSQL that holds the values of an Arrow type; one without is refused by name."""
    kind = field.type
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    if pa.types.is_decimal128(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    found = next((sql for is_one, sql in _TYPES if is_one(kind)), None)
    if found is None:
        raise OutputError(
            f"Column '{field.name}' has a type that PostgreSQL tables do not keep exactly; make it text first."
        )
    return found
