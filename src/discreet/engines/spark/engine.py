"""The engine for Spark frames: rows are counted, recoded, written and judged on the cluster, and never fetched."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.baskets.cluster_baskets import ClusterBaskets
from discreet.core.engine import Facts, TextLayout, ValueList
from discreet.core.errors import InputError
from discreet.core.tables.encoding import Codebook, combined
from discreet.core.tables.publication import publishable
from discreet.core.tables.source import ClassShapes, Recoding, Singletons, Tuples
from discreet.engines.spark import parquet, session
from discreet.engines.spark.admission import frame_columns
from discreet.engines.spark.baskets import spark_baskets
from discreet.engines.spark.perturbing import perturbed_rows
from discreet.engines.spark.tuples import SparkTuples
from discreet.engines.sql import source
from discreet.engines.sql.column_counts import ColumnCounts
from discreet.engines.sql.engine import SqlEngine
from discreet.engines.sql.shapes import class_shapes, coded_tuples, column_values
from discreet.engines.sql.source import SqlSource, TooManyTuplesError, row_text

_FEWEST_SAMPLED, _SAMPLED, _SURELY = 1_000_000, 16, 0.8
"""From how many rows on combinations are sampled, one in how many, and what part of a share is surely below it."""
_PLACE = 32
"""How many hexadecimal digits of a digest order the rows."""
_unsorted: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The rows of released frames before they were shuffled, which are cheaper to count."""
_counts: WeakKeyDictionary[Any, dict[str, tuple[str, ColumnCounts]]] = WeakKeyDictionary()
"""What was counted of the columns of frames, and the expression that was looked for: to count it again takes a pass."""


def not_fetched() -> NoReturn:
    """Refuse whatever looks at every row."""
    raise InputError(
        "This looks at every row by itself, and rows on a cluster are not fetched: write the frame to Parquet and pass "
        "that file, or choose a method that searches distinct tuples, such as mondrian or optimal-lattice."
    )


class SparkSource(SqlSource):
    """Rows of a Spark frame."""

    beyond = (
        "choose mondrian, strict and with boxes, or generalization to given levels, which search on the cluster, round "
        "values first, or judge fewer columns"
    )
    _too_many: tuple[str, ...] = ()
    """The columns whose distinct tuples are too many to be fetched."""

    def __init__(self, native: Any) -> None:
        super().__init__(native, frame_columns(native))
        self._singletons: dict[tuple[frozenset[str], str | None], Singletons] = {}
        if native in _unsorted:
            self._unsorted = frame_columns(_unsorted[native]).relation

    def _query(self, relation: Any, sql: str, mapping: pa.Table | None = None) -> Any:
        return session.query_frame(relation, sql, mapping)

    def _batches(self, relation: Any) -> Iterator[pa.RecordBatch]:
        yield from session.fetched(relation).to_batches()

    def _schema(self, relation: Any) -> pa.Schema:
        return session.arrow_schema(relation)

    def values(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return the distinct values of columns, also where their tuples are too many to be fetched."""
        try:
            return super().values(names)
        except InputError as error:
            # How many bytes the driver takes is a setting of the cluster, which is met before our own limit.
            if not isinstance(error, TooManyTuplesError) and session.TOO_LARGE not in str(error):
                raise
            self._too_many = tuple(names)
        self._values = column_values(self, self._unsorted, names)
        return self._values

    def tuples(self, encoded: Sequence[Codebook]) -> Tuples:
        """Count the distinct tuples; where those of values are too many, perhaps those of their codes are not."""
        if tuple(book.name for book in encoded) != self._too_many:
            return super().tuples(encoded)
        coded = self._coded(self._unsorted, dict(enumerate(encoded)), {})
        self._refuse_too_many(coded, encoded)
        return coded_tuples(self, coded, encoded)

    def class_shapes(self, encoded: Sequence[Codebook], n_quasi: int) -> ClassShapes | None:
        """Count the classes on the cluster where the distinct tuples are too many to be fetched."""
        if tuple(book.name for book in encoded) != self._too_many:
            return None
        coded = self._coded(self._unsorted, dict(enumerate(encoded)), {})
        return class_shapes(
            self,
            coded,
            encoded,
            n_quasi,
            source.MOST_TUPLES,
            lambda part: self._refuse_too_many(part, encoded),
        )

    def tuples_elsewhere(self, encoded: Sequence[Codebook]) -> SparkTuples:
        """Return the distinct tuples where they are, to be divided there."""
        return SparkTuples(self, encoded)

    def _refuse_too_many(self, coded: Any, encoded: Sequence[Codebook]) -> None:
        codes = ", ".join(f"code{number}" for number in range(len(encoded)))
        distinct = f"SELECT DISTINCT {codes} FROM source"
        counted = self._query(coded, f"SELECT CAST(count(*) AS BIGINT) AS n FROM ({distinct}) AS tuples")
        if session.fetched(counted)["n"][0].as_py() > source.MOST_TUPLES:
            raise TooManyTuplesError(
                f"There are more than {source.MOST_TUPLES:,} distinct tuples of the judged columns, which are not "
                f"fetched from the cluster: {self.beyond}."
            )

    def _pieced(self, relation: Any, recoding: Recoding) -> Any:
        if recoding.assigned is None:
            return super()._pieced(relation, recoding)
        return recoding.assigned.joined(relation, recoding.by_piece)

    def columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Refuse to fetch rows."""
        del names
        not_fetched()

    def singletons(self, names: Sequence[str], unit: str | None = None) -> Singletons:
        """Count the rows whose values in the columns no other row, or unit, has; the same columns once."""
        key = frozenset(names), unit
        if key not in self._singletons:
            self._singletons[key] = super().singletons(names, unit)
        return self._singletons[key]

    def column_singletons(self, names: Sequence[str], unit: str | None = None) -> dict[str, Singletons]:
        """Count for each of some columns the rows whose value no other row has, of all columns in one query."""
        if unit is not None:
            return super().column_singletons(names, unit)
        for name in names:
            self._normalized.inner(name)  # refuses what is not kept
        return {name: each.singletons for name, each in ENGINE.column_counts(self.native, names).items()}

    def has_few_singletons(self, columns: Mapping[str, Singletons], share: float) -> bool:
        """Whether surely no more than a share of the rows have a combination of their own.

        There are no more such rows than combinations. Where there may be many, the combinations of which a hash with
        a fresh number ends in zeros are counted: all rows of a combination are among them, or none. With a million
        rows, a share of 10 % and one combination in 16, a fifth less than that share lies 16 standard deviations below.
        """
        n_rows = max((each.n_rows for each in columns.values()), default=0)
        if math.prod(each.n_distinct + 1 for each in columns.values()) <= share * n_rows:
            return True
        if n_rows < _FEWEST_SAMPLED:
            return False
        inner = [self._normalized.inner(name) for name in columns]
        cells = ", ".join(f"{column}, {column} IS NULL" for column in inner)
        chosen = f"mod(xxhash64({secrets.randbits(31)}, {cells}), {_SAMPLED}) = 0"
        classes = f"SELECT count(*) AS n FROM source WHERE {chosen} GROUP BY {', '.join(inner)}"
        (n_singletons,) = self._counts(["sum(CASE WHEN n = 1 THEN 1 END)"], classes)
        return n_singletons * _SAMPLED <= _SURELY * share * n_rows

    def has_only_large_classes(self, names: Sequence[str], unit: str, fewest: int, n_classes: int) -> bool:
        """Whether surely each of all classes has as many units: even one unit in 16 are enough in each."""
        inner, whose = ", ".join(map(self._normalized.inner, names)), self._normalized.inner(unit)
        chosen = f"SELECT * FROM source WHERE mod(xxhash64({whose}), {_SAMPLED}) = 0"
        classes = f"SELECT count(DISTINCT {whose}) AS owners FROM ({chosen}) AS chosen GROUP BY {inner}"
        return self._counts([f"sum(CASE WHEN owners >= {int(fewest)} THEN 1 END)"], classes) == [n_classes]

    def framed(self, rows: pa.Table) -> Any:
        """Return rows made elsewhere as a frame of the same session."""
        return session.lent(self.native.sparkSession, publishable(rows))

    def _placed(self, relation: Any) -> Any:
        """Say what every row holds. Rows that hold the same are alike in the release, whichever comes first."""
        columns = [
            f"c{number}" for number, name in enumerate(self.names) if name not in self._normalized.refused
        ]
        return self._query(relation, f"SELECT *, {row_text(columns)} AS place FROM source")

    def _sorted(self, relation: Any, sql: str, seed: int) -> Any:
        """Deal the rows out to files, and sort each, by a digest of what is released of them and the secret.

        The order is a function of the released cells and the secret, so it reveals nothing; what lies side by side
        because it is alike is seen to be alike. The cells enter the digest by a hash of 64 bits, which spares the
        cluster texts of all of them: rows that share one by chance lie side by side, and nothing follows from that.
        """
        rows = self._query(relation, sql)
        names = rows.columns
        inner = [f"c{number}" for number in range(len(names))]
        # The hash passes over nulls, so it is of where they are as well.
        cells = ", ".join(f"{column}, {column} IS NULL" for column in inner)
        place = f"left(sha256('{seed:064x}' || CAST(xxhash64({cells}) AS VARCHAR)), {_PLACE})"
        placed = session.query_frame(rows.toDF(*inner), f"SELECT *, {place} AS place FROM source")
        shuffled = placed.repartition("place").sortWithinPartitions("place").drop("place").toDF(*names)
        _unsorted[shuffled] = rows
        return shuffled


class Spark(SqlEngine):
    """Spark frames, of classic sessions and of Spark Connect."""

    errors: tuple[type[Exception], ...] = ()
    fetches = False
    most_texts = " LIMIT 10000"

    def query(self, frame: Any, sql: str, mapping: pa.Table | None = None) -> Any:
        """Query a frame under the name ``source``, with an Arrow table under the name ``mapping``."""
        return session.query_frame(frame, sql, mapping)

    def _counted(self, frame: Any, sql: str) -> pa.Table:
        return session.fetched(session.query_frame(_unsorted.get(frame, frame), sql))

    def column_counts(
        self, frame: Any, names: Sequence[str], expression: str | None = None
    ) -> dict[str, ColumnCounts]:
        """Count columns by themselves, those that were not counted yet in one query; NaN counts as null."""
        counted = _counts.setdefault(frame, {})
        fresh = [
            name
            for name in names
            if expression not in (None, counted.get(name, (None,))[0]) or name not in counted
        ]
        if fresh:
            rows = frame_columns(_unsorted.get(frame, frame))
            inner = {name: f"c{rows.names.index(name)}" for name in fresh}
            counts = super().column_counts(rows.relation, list(inner.values()), expression)
            counted |= {name: (expression or "", counts[inner[name]]) for name in fresh}
        return {name: counted[name][1] for name in names}

    def matching_texts(
        self, frame: Any, expression: str, without: Collection[str] = ()
    ) -> Iterator[tuple[Facts, pa.Array]]:
        """Return facts of columns, and their texts with an expression; the other columns are counted as well."""
        self.column_counts(
            frame, [name for name in self.value_types(frame) if name not in without], expression
        )
        return super().matching_texts(frame, expression, without)

    def value_lists(self, frame: Any, names: Sequence[str], most: int) -> dict[str, ValueList]:
        """Return how many different values columns have, and fetch those of columns with few, in one query."""
        counts = self.column_counts(frame, names)
        types = {field.name: field.type for field in self.schema(frame)}
        lists = {
            name: ValueList(each.n_distinct, each.n_known, pa.array([], types[name]), np.empty(0, np.int64))
            for name, each in counts.items()
        }
        few = [name for name in names if 0 < counts[name].n_distinct <= most]
        if few:
            rows = frame_columns(_unsorted.get(frame, frame))
            inner = [f"c{rows.names.index(name)}" for name in few]
            sets, listed = ", ".join(f"({column})" for column in inner), ", ".join(inner)
            sql = (
                f"SELECT {listed}, CAST(count(*) AS BIGINT) AS n FROM source GROUP BY GROUPING SETS ({sets})"
            )
            values = session.fetched(session.query_frame(rows.relation, sql))
            for name, column in zip(few, inner, strict=True):
                # Null is where the line is of another column as well, and no value here.
                own = values.filter(pc.is_valid(values[column])).sort_by(column)
                lists[name] = lists[name]._replace(
                    values=combined(own[column]), counts=np.asarray(own["n"], np.int64)
                )
        return lists

    def value_sets(self, frame: Any, names: Sequence[str]) -> dict[str, frozenset[Any]]:
        """Return the different values of columns that have few of them."""
        lists = self.value_lists(frame, names, source.MOST_TUPLES)
        return {name: frozenset(each.values.to_pylist()) for name, each in lists.items()}

    def source(self, frame: Any) -> SparkSource:
        """Return the rows as searches and judgments use them."""
        return SparkSource(frame)

    def schema(self, frame: Any) -> pa.Schema:
        """Return the names and Arrow types of the columns."""
        return session.arrow_schema(frame)

    def arrow(self, frame: Any) -> pa.Table:
        """Refuse to fetch rows."""
        del frame
        not_fetched()

    def batches(self, frame: Any) -> Iterator[pa.RecordBatch]:
        """Refuse to fetch rows."""
        del frame
        not_fetched()

    def framed(self, rows: pa.Table | pa.RecordBatchReader, *, like: Any = None) -> Any:
        """Return rows made elsewhere as a frame of the same session."""
        table = rows.read_all() if isinstance(rows, pa.RecordBatchReader) else rows
        return session.lent(session.spark_session() if like is None else like.sparkSession, table)

    def write(self, frame: Any, path: Path, format_: str, *, packing: str, layout: TextLayout) -> None:
        """Write the rows into a folder of Parquet files, from where they are."""
        del packing, layout
        parquet.write_parts(frame, path, format_)

    def perturbed(
        self,
        frame: Any,
        names: Sequence[str],
        perturb: Callable[[pa.Table, Sequence[str]], tuple[pa.Table, Any]],
    ) -> Any:
        """Return the rows, in an order that means nothing, with columns distorted by the workers."""
        source = SparkSource(frame)
        rows = source._normalized
        for name in rows.refused:
            raise rows.refusal(name)
        # Rows that are alike are numbered, so that each has noise of its own.
        placed = SqlSource._placed(source, rows.relation)
        return perturbed_rows(placed, list(rows.names), names, perturb)

    def baskets(self, frame: Any, *, item: str, basket: str | None = None) -> ClusterBaskets:
        """Return the baskets of a frame with a row per entry, or with a column of lists."""
        return spark_baskets(frame, item=item, basket=basket)

    def written(self, path: Path, frame: Any) -> Any:
        """Return what was written into a folder, as the session of a frame reads it."""
        return parquet.read_parts(path, frame)


ENGINE = Spark()
