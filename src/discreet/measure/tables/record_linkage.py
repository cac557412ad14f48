"""Record linkage: people looked for in a published table by values that they are known by (Domingo-Ferrer & Torra)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import InstanceOf, require

_TARGETS = 2000
_ROUNDING = 1e-12


@public
@dataclass(frozen=True)
class RecordLinkage:
    """How often somebody who knows a person's true values finds a row, and that person's own.

    Attributes
    ----------
    equal
        The share of people whose values some published row has.
    alone
        The share whose values exactly one published row has: the attacker is sure.
    right
        The share of people for whom that one row is their own.
    nearest
        The share found by taking the row with the nearest ranks, ties by chance; None without a column of ranks.
    """

    equal: float
    alone: float
    right: float
    nearest: float | None

    def to_dict(self) -> dict[str, float | None]:
        """Return the shares as plain data for JSON."""
        return asdict(self)


@public
def record_linkage(
    original: Any, published: Any, *, on: Sequence[str], within: Sequence[str] = ()
) -> RecordLinkage:
    """Look for every person of an original in what was published, by an equal row and by the nearest one.

    Parameters
    ----------
    original, published
        Frames of the same rows in the same order, before and after values were changed.
    on
        The columns that people are known by, with their true values. Ranks are those of numbers and dates; the nearest
        row is looked for by all of these together, for 2,000 people at most.
    within
        Further ones that were not changed: a row is somebody's only where it is equal in all of these.

    Examples
    --------
    Two people changed places: each is sought, and the other found.

    >>> before, after = ({"age": ages, "town": ["A", "A", "B", "B"]} for ages in ([20, 30, 40, 60], [30, 20, 40, 60]))
    >>> record_linkage(pa.table(before), pa.table(after), on=["age"], within=["town"])
    RecordLinkage(equal=1.0, alone=1.0, right=0.5, nearest=0.5)

    References
    ----------
    J. Domingo-Ferrer, V. Torra: Disclosure risk assessment in statistical microdata protection via advanced record
    linkage. Statistics and Computing 13, 2003.
    """
    before, after = arrow_table(original), arrow_table(published)
    n = before.num_rows
    if not n or after.num_rows != n:
        raise InputError("The two tables must have the same rows, and at least one.")
    for name in (*on, *within):
        require("record_linkage", "columns", name, InstanceOf((str,), "names of columns"))
        if name not in before.column_names or name not in after.column_names:
            raise SchemaError(f"Column '{name}' is not in both tables.")
    columns = [_codes(before[name], after[name]) for name in on]
    stable = _tuples([_codes(before[name], after[name]) for name in within], 2 * n)
    rows = _tuples([*columns, stable], 2 * n)
    target, row = rows[:n], rows[n:]
    matches = np.bincount(row, minlength=int(rows.max()) + 1)[target]
    alone = matches == 1
    ordered = [codes for name, codes in zip(on, columns, strict=True) if _has_order(before[name].type)]
    return RecordLinkage(
        equal=float((matches > 0).mean()),
        alone=float(alone.mean()),
        right=float((alone & (target == row)).mean()),
        nearest=_nearest(ordered, stable, n) if ordered else None,
    )


def _tuples(columns: Sequence[IntArray], n: int) -> IntArray:
    """Return a number for each row, the same for rows that are equal in all columns."""
    listed = np.stack([np.zeros(n, np.int64), *columns], axis=1)
    return np.asarray(np.unique(listed, axis=0, return_inverse=True)[1], np.int64).reshape(-1)


def _nearest(columns: Sequence[IntArray], stable: IntArray, n: int) -> float:
    """Return how likely the nearest of the published rows is a person's own, on average over some people."""
    from scipy.spatial import KDTree

    # Ranks are shares, so that rows of different classes are farther apart than any two of one.
    apart = stable * (2 + len(columns) ** 0.5)
    ranks = np.stack([*(_ranks(codes, n) for codes in columns), apart], axis=1)
    people, rows = ranks[:n], ranks[n:]
    sample = np.linspace(0, n - 1, min(n, _TARGETS)).astype(np.int64)
    tree = KDTree(rows)
    # Rows as near but for rounding count as near.
    reach = tree.query(people[sample])[0] * (1 + _ROUNDING) + _ROUNDING
    near = tree.query_ball_point(people[sample], reach, return_length=True)
    own = np.linalg.norm(rows[sample] - people[sample], axis=1)
    return float(((own <= reach) / near).mean())


def _ranks(codes: IntArray, n: int) -> FloatArray:
    """Return where each value lies among those of the people, as a share: the mean of the ranks that equals share."""
    counts = np.bincount(codes[:n], minlength=int(codes.max()) + 1)
    places: FloatArray = (np.cumsum(counts) - counts / 2) / n
    return places[codes]


def _codes(before: pa.ChunkedArray, after: pa.ChunkedArray) -> IntArray:
    """Return the place of every value among the sorted ones of both columns; null is the lowest."""
    both = pa.chunked_array([*_decoded(before).chunks, *_decoded(after).cast(_decoded(before).type).chunks])
    values = both.combine_chunks()
    domain = values.unique().drop_null()
    domain = domain.take(pc.array_sort_indices(domain))
    places = pc.fill_null(pc.index_in(values, value_set=domain), -1)
    return np.asarray(places).astype(np.int64) + 1


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _has_order(type_: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal)
    return any(kind(type_) for kind in kinds)
