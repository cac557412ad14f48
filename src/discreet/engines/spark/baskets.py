"""Baskets on the cluster: queries count the items, and workers the candidate sets, over bit columns of their rows."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.cluster_baskets import ClusterBaskets, Perturb
from discreet.core.baskets.forms import to_arrow
from discreet.core.baskets.names import sorted_items, sorted_names
from discreet.core.errors import InputError, SchemaError
from discreet.core.tables.encoding import combined
from discreet.engines.spark import session
from discreet.engines.spark.admission import frame_columns
from discreet.engines.spark.perturbing import shuffled
from discreet.engines.spark.tuples import let_go

_AT_ONCE = 1_000_000
"""How many candidates are sent to the workers at a time."""
_COUNTS = "place BIGINT, n BIGINT"


class SparkBaskets(ClusterBaskets):
    """Baskets in a frame whose column ``items`` holds lists in which nothing occurs twice.

    Another column, ``basket``, names each basket where the frame had a name for it.
    """

    def __init__(
        self, frame: Any, names: pa.Array | None = None, distorted: tuple[float, float] | None = None
    ) -> None:
        self._frame, self.distorted = frame, distorted
        with session.failures("The baskets cannot be read"):
            frame.persist()
            counted = frame.selectExpr("explode(items) AS item").groupBy("item").count()
        weakref.finalize(self, let_go, frame).atexit = False
        totals = session.fetched(
            session.query_frame(frame, "SELECT CAST(count(*) AS BIGINT) AS n FROM source")
        )
        self._n = int(totals["n"][0].as_py())
        items = session.fetched(counted)
        column = combined(items.column(0))
        if column.null_count:
            nulls = items.column(1).filter(pc.is_null(column))[0].as_py()
            raise InputError(f"{nulls} of the {self._n} baskets hold a null item; leave it out.")
        self.names = sorted_items(column)[0] if names is None else names
        codes = pc.index_in(column, value_set=self.names)
        if codes.null_count:
            raise InputError(f"{codes.null_count} of the {len(column)} items of the baskets are not listed.")
        self.counts = np.zeros(len(self.names), np.int64)
        self.counts[codes.to_numpy()] = items.column(1).to_numpy()

    @property
    def frame(self) -> Any:
        """The baskets as a frame of lists."""
        return self._frame.select("items")

    def listed(self, names: Iterable[Any]) -> SparkBaskets:
        """Return the baskets over a list of items."""
        catalog, _ = sorted_names(pa.array(list(names), self.names.type), where="that are listed")
        return SparkBaskets(self._frame, catalog, self.distorted)

    def perturbed(self, perturb: Perturb, *, distorted: tuple[float, float]) -> SparkBaskets:
        """Return baskets that the workers distort."""
        names = self.names
        with session.failures("The baskets cannot be distorted"):
            rows = self._frame
            if "basket" in rows.columns:
                placed = rows.selectExpr("items", "CAST(basket AS STRING) AS basket")
            else:
                # Baskets that are alike are numbered, so that each is distorted for itself.
                alike = "row_number() OVER (PARTITION BY items ORDER BY items)"
                placed = rows.selectExpr("array_sort(items) AS items").selectExpr(
                    "items", f"CAST({alike} AS STRING) AS basket"
                )
            type_ = "BIGINT" if pa.types.is_integer(names.type) else "STRING"
            flipped = placed.mapInArrow(
                lambda batches: flipped_of(batches, names, perturb), f"items ARRAY<{type_}>, place BIGINT"
            )
        return SparkBaskets(shuffled(flipped), names, distorted)

    def counter(self, codes: CodeArray) -> SparkSetCounter:
        """Return what counts sets of some items."""
        return SparkSetCounter(self._frame, self.names.take(pa.array(codes)))

    def __len__(self) -> int:
        return self._n


class SparkSetCounter:
    """Counts sets of some items: every worker those in its rows, and the cluster adds them up.

    A pass takes as long as counting the rows of one worker; no more than the counts above zero are fetched.
    """

    def __init__(self, frame: Any, names: pa.Array) -> None:
        self._frame, self._names = frame, names

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self._names)

    def pair_counts(self, start: int, stop: int) -> IntArray:
        """Count the baskets that hold both items of each pair whose first item is between two places."""
        counts = self._counted(partial(pairs_in, start=start, stop=stop), (stop - start) * self.n_items)
        return counts.reshape(stop - start, self.n_items)

    def set_counts(self, sets: CodeArray) -> IntArray:
        """Count the baskets that hold all items of each set."""
        parts = [sets[at : at + _AT_ONCE] for at in range(0, len(sets), _AT_ONCE)]
        counts = [self._counted(partial(sets_in, sets=part), len(part)) for part in parts]
        return np.concatenate([np.empty(0, np.int64), *counts])

    def _counted(self, count: Callable[[Any], Any], size: int) -> IntArray:
        names = self._names
        with session.failures("The candidates cannot be counted"):
            parts = self._frame.select("items").mapInArrow(
                lambda batches: added_counts(batches, names, count), _COUNTS
            )
        total = session.query_frame(
            parts, "SELECT place, CAST(sum(n) AS BIGINT) AS n FROM source GROUP BY place"
        )
        entries = session.fetched(total)
        counts = np.zeros(size, np.int64)
        counts[entries["place"].to_numpy()] = entries["n"].to_numpy()
        return counts


def pairs_in(blocks: Any, start: int, stop: int) -> Any:
    """Count pairs in the bit columns of a worker."""
    from discreet.kernels.itemsets.counting import pair_counts

    return pair_counts(blocks, start, stop).ravel()


def sets_in(blocks: Any, sets: CodeArray) -> Any:
    """Count sets in the bit columns of a worker."""
    from discreet.kernels.itemsets.counting import set_counts

    return set_counts(blocks, sets)


def added_counts(
    batches: Iterable[pa.RecordBatch], names: pa.Array, count: Callable[[Any], Any]
) -> Iterator[pa.RecordBatch]:
    """Add up the counts of a worker's batches; those above zero, with their places."""
    total = None
    for batch in batches:
        part = count(baskets_of(batch.column(0), names).bits().blocks).astype(np.int64)
        total = part if total is None else total + part
    if total is not None:
        (places,) = np.nonzero(total)
        yield pa.RecordBatch.from_pydict({"place": places.astype(np.int64), "n": total[places]})


def flipped_of(
    batches: Iterable[pa.RecordBatch], names: pa.Array, perturb: Perturb
) -> Iterator[pa.RecordBatch]:
    """Distort the baskets of a worker's batches."""
    for batch in batches:
        rows = baskets_of(batch.column(0), names)
        # The name alone would be that of any number; what a basket holds differs between those that are numbered.
        places = [
            f"{items}{name}" for items, name in zip(rows.lists(), batch.column(1).to_pylist(), strict=True)
        ]
        flipped, order = perturb(rows, places)
        yield pa.RecordBatch.from_pydict({"items": to_arrow(flipped), "place": order})


def baskets_of(lists: pa.Array, names: pa.Array) -> Baskets:
    """Return a batch of lists as baskets; items that are none of the names are left out."""
    parents = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    codes = pc.index_in(pc.list_flatten(lists).cast(names.type), value_set=names)
    is_named = pc.is_valid(codes).to_numpy(zero_copy_only=False)
    items = codes.drop_null().to_numpy().astype(np.int32)
    return Baskets.from_entries(parents[is_named], items, names, n=len(lists))


def spark_baskets(frame: Any, *, item: str, basket: str | None) -> SparkBaskets:
    """Return the baskets of a frame with a row per entry, or with a column of lists."""
    for name in (item, basket):
        if name is not None and frame.columns.count(name) != 1:
            raise SchemaError(f"The frame has {frame.columns.count(name) or 'no'} columns named '{name}'.")
    return SparkBaskets(_of_lists(frame, item) if basket is None else _of_entries(frame, basket, item))


def _of_lists(frame: Any, column: str) -> Any:
    """Return the lists of a column, each item once."""
    with session.failures("The baskets cannot be read"):
        place = frame.columns.index(column)
        type_ = frame.schema.fields[place].dataType
        if type(type_).__name__ != "ArrayType":
            raise SchemaError(f"Column '{column}' holds no lists; make baskets of its rows (from_long).")
        inner = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
        named = _named_type(type_.elementType, column)
        lists = f"array_distinct(CAST(c{place} AS ARRAY<{named}>))"
        return inner.selectExpr(f"coalesce({lists}, CAST(array() AS ARRAY<{named}>)) AS items")


def _of_entries(frame: Any, basket: str, item: str) -> Any:
    """Return the items of each basket as a list."""
    rows = frame_columns(frame)
    with session.failures("The baskets cannot be read"):
        named = _named_type(frame.schema.fields[frame.columns.index(item)].dataType, item)
        entries = rows.relation.selectExpr(
            f"{rows.inner(basket)} AS basket", f"CAST({rows.inner(item)} AS {named}) AS item"
        )
    for name, column in (("basket", basket), ("item", item)):
        counted = session.query_frame(
            entries,
            f"SELECT CAST(count(*) - count({name}) AS BIGINT) AS n, CAST(count(*) AS BIGINT) AS m FROM source",
        )
        nulls, n_rows = (int(entry[0].as_py()) for entry in session.fetched(counted).columns)
        if nulls:
            raise InputError(f"{nulls} of the {n_rows} rows have no {name} (column '{column}').")
    with session.failures("The baskets cannot be read"):
        return entries.groupBy("basket").agg({"item": "collect_set"}).toDF("basket", "items")


def _named_type(type_: Any, column: str) -> str:
    """Return the type of items in Spark's words: whole numbers or text; others are refused."""
    arrow = session.arrow_type(type_)
    if arrow is not None and pa.types.is_integer(arrow):
        return "BIGINT"
    if arrow is not None and pa.types.is_string(arrow):
        return "STRING"
    raise SchemaError(
        f"The items of column '{column}' are neither whole numbers nor text; make them text first."
    )
