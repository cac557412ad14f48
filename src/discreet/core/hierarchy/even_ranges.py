"""A tree over items in their order: neighbors are joined on every level."""

from __future__ import annotations

import pyarrow as pa

from discreet.core.hierarchy.bound import Hierarchy, build_hierarchy
from discreet.core.tables.labels import STAR, interval


def even_ranges(names: pa.Array, fan_out: int) -> Hierarchy:
    """Make a tree over items in their order: ``fan_out`` neighbors are joined on every level.

    >>> even_ranges(pa.array([1, 2, 5, 7]), 2).labels[1]
    [None, '[1, 2]', '[5, 7]']
    """
    values = names.to_pylist()
    upper, width = [], fan_out
    while width < len(values):
        labels: list[str] = []
        for start in range(0, len(values), width):
            inside = values[start : start + width]
            labels += [_range(inside[0], inside[-1])] * len(inside)
        upper.append(labels)
        width *= fan_out
    return build_hierarchy(names, [*upper, [STAR] * len(values)], column="item", ordered=True)


def _range(first: object, last: object) -> str:
    if first == last:
        return str(first)
    return f"{first} … {last}" if isinstance(first, str) else interval(first, last)
