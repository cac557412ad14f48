"""Rows that workers distort: the cells of a row and a key decide its noise, and a secret the order of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.engines.spark import session

Perturb = Callable[[pa.Table, Sequence[str]], tuple[pa.Table, Any]]


def perturbed_rows(placed: Any, names: Sequence[str], hidden: Sequence[str], perturb: Perturb) -> Any:
    """Return rows of columns ``c0``, ``c1``, … and ``place`` under their names, some columns distorted."""
    places = {names.index(name): name for name in hidden}
    with session.failures("The rows cannot be distorted"):
        fields = placed.schema.fields[: len(names)]
        types = [
            f"c{at} {'DOUBLE' if at in places else _type(field.dataType)}" for at, field in enumerate(fields)
        ]
        rows = placed.mapInArrow(
            lambda batches: _perturbed(batches, places, perturb), ", ".join([*types, "place BIGINT"])
        )
    return shuffled(rows).toDF(*names)


def shuffled(rows: Any) -> Any:
    """Return rows in the order of the column ``place``, without it.

    They were dealt out by what they hold, which their order would show.
    """
    with session.failures("The rows cannot be put in order"):
        return rows.repartition("place").sortWithinPartitions("place").drop("place")


def _perturbed(
    batches: Iterable[pa.RecordBatch], places: dict[int, str], perturb: Perturb
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        columns = [f"c{place}" for place in places]
        distorted, order = perturb(
            rows.select(columns).rename_columns(list(places.values())), rows["place"].to_pylist()
        )
        for (place, name), column in zip(places.items(), columns, strict=True):
            rows = rows.set_column(place, column, distorted[name])
        yield from rows.set_column(
            rows.num_columns - 1, "place", pa.array(np.asarray(order).view(np.int64))
        ).to_batches()


def _type(type_: Any) -> str:
    """Return a type in Spark's words; texts of bounded length are texts."""
    return "STRING" if type(type_).__name__ in ("CharType", "VarcharType") else str(type_.simpleString())
