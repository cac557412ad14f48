"""Tuples that stay on the cluster: counted segment by segment, divided by the workers, and joined to their rows."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.errors import InputError
from discreet.core.tables.encoding import Codebook
from discreet.core.tables.source import (
    AssignedTuples,
    CodeCounts,
    Cuts,
    PieceCodes,
    Replacement,
    TuplesElsewhere,
)
from discreet.engines.spark import session
from discreet.engines.sql import source as sql_source
from discreet.engines.sql.source import SqlSource

_ADDED = "n BIGINT, piece BIGINT, refused INT, stands BIGINT"
_PARTS = 8
"""How many parts the tuples that could be fetched are divided into, so that several workers have work."""


class SparkTuples(TuplesElsewhere):
    """The distinct tuples of a frame as codes on the cluster: ``code0``, ``code1``, … and ``n`` rows of each."""

    def __init__(self, source: SqlSource, encoded: Sequence[Codebook]) -> None:
        self._columns = [f"code{number}" for number in range(len(encoded))]
        self._listed = ", ".join(self._columns)
        coded = source._coded(source._unsorted, dict(enumerate(encoded)), {})
        sql = f"SELECT {self._listed}, CAST(count(*) AS BIGINT) AS n FROM source GROUP BY {self._listed}"
        self._frame = session.query_frame(coded, sql)
        with session.failures("The tuples cannot be counted"):
            self._frame.persist()

    @property
    def most(self) -> int:
        """The most tuples that a worker divides by itself."""
        return max(sql_source.MOST_TUPLES // _PARTS, 1)

    def code_counts(self, cuts: Cuts, segments: Sequence[int]) -> CodeCounts:
        """Count the codes of each column in some of the segments that cuts make; O(tuples) on the cluster."""
        segment = _segment_of(cuts)
        chosen = ", ".join(map(str, segments))
        sets = ", ".join(f"(segment, {column})" for column in self._columns)
        sql = (
            f"SELECT segment, CAST(grouping_id(segment, {self._listed}) AS BIGINT) AS columns, "
            f"coalesce({self._listed}) AS code, CAST(sum(n) AS BIGINT) AS n_rows, CAST(count(*) AS BIGINT) AS n_tuples "
            f"FROM (SELECT {segment} AS segment, {self._listed}, n FROM source) AS segmented "
            f"WHERE segment IN ({chosen}) GROUP BY GROUPING SETS ({sets})"
        )
        counted = session.fetched(session.query_frame(self._frame, sql))
        # A bit for each column, the first the highest, is 0 where the row counts that column.
        absent = (1 << len(self._columns)) - 1 - counted["columns"].to_numpy()
        column = len(self._columns) - 1 - np.log2(absent).astype(np.int64)
        segment_, code, n_rows, n_tuples = (
            counted[name].to_numpy().astype(np.int64) for name in ("segment", "code", "n_rows", "n_tuples")
        )
        return CodeCounts(segment_, column, code, n_rows, n_tuples)

    def divided(
        self, cuts: Cuts, undivided: Sequence[int], divide: Callable[[pa.Table], pa.Table]
    ) -> SparkAssignment:
        """Return the piece of every tuple: segments in ``undivided`` are one piece, workers divide each of the others.

        ``divide`` takes the segment, the codes and the counts of tuples, and returns them with the piece, whether
        sensitive values refused a cut, and a bit for each column in which the tuple stands for others of its piece.
        """
        negative = {number: -number - 1 for number in undivided}
        sql = f"SELECT {_segment_of(cuts, negative)} AS segment, {self._listed}, n FROM source"
        segmented = session.query_frame(self._frame, sql)
        types = ", ".join(f"{column} INT" for column in self._columns)
        with session.failures("The tuples cannot be divided"):
            parts = session.query_frame(segmented, "SELECT * FROM source WHERE segment >= 0")
            divided = parts.groupBy("segment").applyInArrow(divide, f"{types}, {_ADDED}")
            rest = session.query_frame(
                segmented,
                f"SELECT {self._listed}, n, segment AS piece, CAST(0 AS INT) AS refused, CAST(-1 AS BIGINT) AS stands "
                "FROM source WHERE segment < 0",
            )
            assigned = divided.unionAll(rest) if undivided else divided
            assigned.persist()
        return SparkAssignment(assigned, self._columns, self._frame)


class SparkAssignment(AssignedTuples):
    """The piece of every tuple, on the cluster; it is held there as long as this object is."""

    def __init__(self, frame: Any, columns: Sequence[str], tuples: Any) -> None:
        self._frame, self._columns = frame, list(columns)
        self._keys: IntArray = np.empty(0, np.int64)
        for cached in (frame, tuples):
            weakref.finalize(self, let_go, cached).atexit = False

    def pieces(self, n_quasi: int, sets: Sequence[int]) -> PieceCodes:
        """Return what each piece holds: its rows, the ends of its codes in each column, and of some columns all."""
        ends = ", ".join(
            f"CAST({end}(code{at}) AS BIGINT) AS {end}{at}" for at in range(n_quasi) for end in ("min", "max")
        )
        sql = (
            f"SELECT piece, CAST(sum(n) AS BIGINT) AS n, CAST(max(refused) AS BIGINT) AS refused, {ends} "
            "FROM source GROUP BY piece"
        )
        counted = _fetched(self._frame, sql)
        keys = counted["piece"].to_numpy()
        order = np.argsort(keys)
        self._keys = keys[order]
        at, columns, codes = [], [], []
        for number in range(n_quasi):
            if number in sets:
                pairs = _fetched(
                    self._frame,
                    f"SELECT DISTINCT piece, code{number} AS code FROM source WHERE (stands & {1 << number}) <> 0",
                )
                pieces, ends_or_all = pairs["piece"].to_numpy(), pairs["code"].to_numpy()
            else:
                low, high = (counted[f"{end}{number}"].to_numpy() for end in ("min", "max"))
                wide = low < high
                pieces, ends_or_all = np.concatenate([keys, keys[wide]]), np.concatenate([low, high[wide]])
            at.append(np.searchsorted(self._keys, pieces))
            columns.append(np.full(pieces.size, number))
            codes.append(ends_or_all.astype(np.int64))
        return PieceCodes(
            counted["n"].to_numpy()[order],
            bool(counted["refused"].to_numpy().any()),
            *(np.concatenate(parts) for parts in (at, columns, codes)),
        )

    def joined(self, rows: Any, labels: Mapping[str, Replacement]) -> Any:
        """Return coded rows with the new cells of their pieces beside them, as ``new0``, ``new1``, …."""
        columns = {"piece": pa.array(self._keys)} | {
            f"new{number}": replacement.labels.take(pa.array(replacement.index, pa.int32()))
            for number, replacement in enumerate(labels.values())
        }
        cells = session.lent(rows.sparkSession, pa.table(columns))
        with session.failures("The rows cannot be recoded"):
            piece_of = self._frame.select(*self._columns, "piece")
            return rows.join(piece_of, self._columns).join(cells, "piece")


def _segment_of(cuts: Cuts, renamed: Mapping[int, int] | None = None, segment: int = 0) -> str:
    """Write the segment of a tuple: the cuts that made it, one inside the other."""
    if segment not in cuts:
        return f"CAST({(renamed or {}).get(segment, segment)} AS BIGINT)"
    cut = cuts[segment]
    left, right = (_segment_of(cuts, renamed, side) for side in (cut.left, cut.right))
    return f"CASE WHEN code{cut.column} <= {cut.code} THEN {left} ELSE {right} END"


def _fetched(frame: Any, sql: str) -> pa.Table:
    """Fetch what was counted of tuples, unless that is more than the driver may hold."""
    most = sql_source.MOST_TUPLES
    counted = session.fetched(session.query_frame(frame, f"{sql} LIMIT {most + 1}"))
    if counted.num_rows > most:
        raise InputError(
            f"The groups are described by more than {most:,} codes, which are not fetched from the cluster: ask for "
            "larger groups (a larger k), or round values first."
        )
    return counted


def let_go(frame: Any) -> None:
    """Have the cluster hold a frame no longer."""
    # The session may have ended, and what it held with it.
    with contextlib.suppress(Exception):
        frame.unpersist()
