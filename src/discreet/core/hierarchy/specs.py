"""All ways to specify a hierarchy, and one built from the data.

A specification says how to generalize; ``bind`` builds the `Hierarchy` over a column's values.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, domain_of
from discreet.core.hierarchy.ranges import Cuts, Intervals, cuts, intervals
from discreet.core.hierarchy.trees import Flat, Masked, Rows, flat, from_mapping, masked, read_hierarchy, tree
from discreet.core.params import IntIn, OneOf, require
from discreet.core.tables.labels import STAR, kind_of, moments, set_of, text, texts

__all__ = [
    "Cuts",
    "Flat",
    "Hierarchy",
    "HierarchySpec",
    "Intervals",
    "Masked",
    "Rows",
    "cuts",
    "flat",
    "from_mapping",
    "intervals",
    "masked",
    "read_hierarchy",
    "spec_from_dict",
    "suggest",
    "tree",
]

Method = Literal["equal-frequency", "equal-width", "prefix", "balanced", "calendar"]
_METHODS = {
    "number": ("equal-frequency", "equal-width", "prefix"),
    "date": ("calendar", "equal-frequency"),
    "text": ("balanced", "prefix"),
}
_SPECS: dict[str, type[HierarchySpec]] = {one.kind: one for one in (Intervals, Cuts, Flat, Masked, Rows)}
_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9.]{2,12}")
_MOST_BINS = 64
_SOME_BINS = 20


def spec_from_dict(data: Mapping[str, Any]) -> HierarchySpec | Hierarchy:
    """Rebuild a specification, or a bound hierarchy, from what its ``to_dict`` gave."""
    if "leaves" in data and "kind" not in data:
        return Hierarchy.from_dict(data)
    made = _SPECS.get(data.get("kind", ""))
    if made is None:
        raise HierarchyError(f"A hierarchy's kind must be one of {', '.join(_SPECS)}.")
    try:
        return made(**{name: _tupled(value) for name, value in data.items() if name != "kind"})
    except TypeError:
        raise HierarchyError(
            f"A hierarchy of the kind '{made.kind}' has fields that do not belong to it."
        ) from None


def suggest(
    domain: pa.Array,
    *,
    counts: Sequence[int] | IntArray | None = None,
    kind: Literal["number", "date", "text"] | None = None,
    method: Method | None = None,
    branching: int = 2,
) -> HierarchySpec:
    """Suggest a hierarchy for the values of a column.

    Parameters
    ----------
    domain : pyarrow.Array
        The distinct values.
    counts : array of int, optional
        How often each value occurs; all alike if missing.
    kind : {"number", "date", "text"}, optional
        How to see the values; by default after their type. Numbers seen as text are codes.
    method : str, optional
        "equal-frequency" (the default for numbers), "equal-width" intervals; "calendar" (dates: months,
        quarters or years, after their span); "prefix" masks (the default for text that looks like codes);
        "balanced" categories of like frequency (the default for other text).
    branching : int
        How many nodes are joined into one on the next level.
    """
    require("suggest", "branching", branching, IntIn(2))
    values = domain_of(domain)
    weights = _weights(domain, values, counts)
    native = kind_of(values.type)
    if kind is None:
        kind = "text" if native == "other" else native
    require("suggest", "kind", kind, OneOf(("text",) if native in ("text", "other") else (native, "text")))
    if method is not None:
        require("suggest", "method", method, OneOf(_METHODS[kind]))
    if len(values) <= branching:
        return flat()
    if kind == "text":
        return _suggest_categories(texts(values).to_pylist(), weights, method, branching)
    if method == "prefix":
        return masked()
    if kind == "date" and method != "equal-frequency":
        return _suggest_calendar(values)
    if method == "equal-width":
        return _suggest_widths(values, branching)
    return _suggest_cuts(values, weights, branching)


def _weights(domain: pa.Array, values: pa.Array, counts: Sequence[int] | IntArray | None) -> IntArray:
    """Return the count of each sorted value."""
    if counts is None:
        return np.ones(len(values), np.int64)
    require("suggest", "counts", len(counts), OneOf((len(domain),)))
    at = pc.index_in(domain, value_set=values)
    known = np.asarray(at.is_valid())
    totals = np.bincount(
        np.asarray(at.drop_null()), weights=np.asarray(counts, dtype=np.int64)[known], minlength=len(values)
    )
    return totals.astype(np.int64)


def _suggest_cuts(values: pa.Array, weights: IntArray, branching: int) -> HierarchySpec:
    """Cut where the cumulated frequency passes equal shares; join neighbors on the levels above."""
    n_bins = branching ** max(1, int(math.log(min(_MOST_BINS, len(values) // 2 or 1), branching)))
    reached = np.cumsum(weights) - weights
    firsts = np.searchsorted(reached, np.arange(1, n_bins) * weights.sum() / n_bins)
    firsts = np.unique(firsts[(firsts > 0) & (firsts < len(values))])
    points: list[Any] = [_cut(values[int(first)]) for first in firsts]
    levels = []
    while points:
        levels.append(points)
        points = points[branching - 1 :: branching]
    return cuts(*levels) if levels else flat()


def _suggest_widths(values: pa.Array, branching: int) -> HierarchySpec:
    """Choose a round width that cuts the span into at most twenty, and widen it by the branching."""
    finite = [one for one in values.to_pylist() if math.isfinite(one)]
    span = float(finite[-1] - finite[0]) if finite else 0.0
    if not span:
        return flat()
    size = Fraction(10) ** math.floor(math.log10(span / _SOME_BINS))
    width = next(step * size for step in (1, 2, 5, 10) if step * size * _SOME_BINS >= span)
    if pa.types.is_integer(values.type):
        width = max(width, Fraction(1))
    n_levels = max(1, math.ceil(math.log(span / width, branching)))
    exact = [width * branching**level for level in range(n_levels)]
    ends = (None, None) if len(finite) == len(values) else (finite[0], finite[-1])
    widths = [int(one) if one.denominator == 1 else float(one) for one in exact]
    return intervals(*widths, bottom=ends[0], top=ends[1])


def _suggest_calendar(values: pa.Array) -> HierarchySpec:
    """Choose days to decades after the span of the dates."""
    days = moments(values).astype("datetime64[D]").astype(np.int64)
    span = int(days[-1] - days[0])
    if span <= 2 * 31:
        return intervals("day", "week") if span > 7 else intervals("day")
    if span <= 10 * 366:
        return intervals("month", "quarter", "year")
    return intervals(1, 5, 10, unit="year")


def _suggest_categories(
    values: list[str], weights: IntArray, method: Method | None, branching: int
) -> HierarchySpec:
    if method == "prefix" or (method is None and all(_CODE.fullmatch(value) for value in values)):
        return masked()
    members = [[number] for number in range(len(values))]
    columns = [tuple(values)]
    while len(members) > branching:
        members = _joined(members, weights, branching)
        names = [""] * len(values)
        for group in members:
            label = set_of([values[number] for number in group])
            for number in group:
                names[number] = label
        columns.append(tuple(names))
    return Rows((*columns, (STAR,) * len(values)))


def _joined(members: list[list[int]], weights: IntArray, branching: int) -> list[list[int]]:
    """Join groups into fewer of like frequency: the heaviest first, each to the lightest that has room."""
    n_groups = -(-len(members) // branching)
    sizes = [int(weights[group].sum()) for group in members]
    joined: list[list[int]] = [[] for _ in range(n_groups)]
    lightest = [(0, number) for number in range(n_groups)]
    room = [branching] * n_groups
    for position in sorted(range(len(members)), key=lambda one: (-sizes[one], one)):
        total, number = heapq.heappop(lightest)
        joined[number] += members[position]
        room[number] -= 1
        if room[number]:
            heapq.heappush(lightest, (total + sizes[position], number))
    return [sorted(group) for group in joined]


def _cut(value: pa.Scalar) -> Any:
    plain = value.as_py()
    if isinstance(plain, Decimal):
        return float(plain)
    return plain if isinstance(plain, int | float) else text(plain)


def _tupled(value: object) -> object:
    return tuple(_tupled(one) for one in value) if isinstance(value, list) else value
