"""Tables of cells, slowly: every table of whole numbers that agrees with a published one, by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from discreet.core.tables.cell_table import CellTable, with_margins


def all_tables(table: CellTable, low: list[int], high: list[int]) -> Any:
    """Return all tables whose inner cells lie between ends, margins added, a row for each table."""
    shape = tuple(len(item.leaves) for item in table.dimensions)
    unit = [
        with_margins(table.dimensions, cell.reshape(shape)).reshape(-1)
        for cell in np.eye(len(low), dtype=np.int64)
    ]
    inner = np.stack(np.meshgrid(*map(np.arange, low, np.add(high, 1)), indexing="ij"), axis=-1)
    return inner.reshape(-1, len(low)) @ np.array(unit)


def consistent_tables(table: CellTable, small: int, most: int) -> Any:
    """Return all tables an attacker cannot rule out, of inner cells up to ``most``; ``small`` is the rule's."""
    inner = np.ix_(*(item.leaves for item in table.dimensions))
    pairs = list(zip(table.values[inner].ravel().tolist(), table.suppressed[inner].ravel(), strict=True))
    if table.base:
        low = [max(value - table.base + 1, 0) for value, _ in pairs]
        tables = all_tables(table, low, [value + table.base - 1 for value, _ in pairs])
        return tables[(np.abs(tables - table.values.reshape(-1)) < table.base).all(axis=1)]
    low = [1 if hidden else value for value, hidden in pairs]
    tables = all_tables(table, low, [most if hidden else value for value, hidden in pairs])
    return agreeing(tables, table, small)


def agreeing(tables: Any, table: CellTable, small: int) -> Any:
    """Return those of some tables that agree with the published cells and the rule."""
    hidden = table.suppressed.reshape(-1)
    agrees = (tables[:, ~hidden] == table.values.reshape(-1)[~hidden]).all(axis=1)
    agrees &= (tables[:, hidden] >= 1).all(axis=1)
    if small and hidden.any():
        agrees &= (tables[:, hidden] <= small).any(axis=1)
    return tables[agrees]


def is_safe(table: CellTable, threshold: int, width: int, tables: Any) -> bool:
    """Return whether no small count is published and every unpublished cell takes values ``width`` apart."""
    shown = table.values[~table.suppressed]
    if ((shown > 0) & (shown < threshold)).any():
        return False
    unknown = np.ones(table.n_cells, bool) if table.base else table.suppressed.reshape(-1)
    return not unknown.any() or bool((np.ptp(tables[:, unknown], axis=0) >= max(width, 1)).all())


def least_cost(true: CellTable, threshold: int, most: int) -> float:
    """Return the least suppressed value over all choices of cells beside the small ones."""
    primary = (true.values > 0) & (true.values < threshold)
    free = np.flatnonzero(((true.values > 0) & ~primary).reshape(-1))
    n_inner = int(np.prod([len(item.leaves) for item in true.dimensions]))
    every, best = all_tables(true, [0] * n_inner, [most] * n_inner), np.inf
    for chosen in product([False, True], repeat=free.size):
        cost = float(true.values.reshape(-1)[free][list(chosen)].sum())
        if cost < best:
            suppressed = primary.reshape(-1).copy()
            suppressed[free] = chosen
            table = true.without(suppressed)
            if is_safe(table, threshold, threshold, agreeing(every, table, threshold - 1)):
                best = cost
    return best
