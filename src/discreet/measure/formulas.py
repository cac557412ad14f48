"""Formulas: what a spreadsheet would run in published data, of whatever kind it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.adapters import KIND_OF, load
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.figures import Caution
from discreet.core.records.sketches import Sketches
from discreet.core.release import Release
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.spreadsheet import formula_cells


def published_formulas(published: Any) -> int:
    """Count the cells, items and names of columns in published data that a spreadsheet would run.

    Everything that leaves is counted here: releases, frames and baskets. An item counts once, however many baskets
    hold it.

    >>> published_formulas(Baskets.from_lists([["=1+1", "milk"], ["=1+1"], ["-5"]]))
    1
    """
    return sum(map(formula_cells, _frames(published)))


def formula_cautions(*published: Any) -> tuple[Caution, ...]:
    """Return what to say of published data that a spreadsheet would run; nothing where there is none."""
    n_formulas = sum(map(published_formulas, published))
    if not n_formulas:
        return ()
    return (
        Caution(
            "formula-cells",
            f"{n_formulas:,} cells, items or names of columns start as a formula of a spreadsheet does, and would be "
            "run by one. A spreadsheet-safe release puts an apostrophe before cells and items; columns are to be "
            "renamed.",
        ),
    )


def _frames(data: Any) -> Iterator[Any]:
    """Return the frames that hold every text of published data."""
    if isinstance(data, Release):
        for part in load(KIND_OF)(data).published_texts(data):
            yield from _frames(part)
    elif isinstance(data, Sketches):
        return
    elif isinstance(data, GroupedTable):
        yield data.frame
        yield data.counts
    elif isinstance(data, GroupedBaskets):
        yield from _frames(data.baskets)
        yield _items(data.sensitive_names, np.unique(data.sensitive.values))
    elif isinstance(data, Baskets):
        yield _items(data.names, np.flatnonzero(data.counts))
    else:
        yield data


def _items(names: pa.Array, held: Any) -> pa.Table:
    return pa.table({"item": names.take(pa.array(held))})
