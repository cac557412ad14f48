"""Suggestions: a hierarchy for a column, from what is known about its name and its values."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.hierarchy.bound import HierarchySpec, domain_of
from discreet.core.hierarchy.knowledge import is_whole, recognized
from discreet.core.hierarchy.ranges import cuts, intervals
from discreet.core.hierarchy.trees import Rows, flat, masked
from discreet.core.params import IntIn, OneOf, require
from discreet.core.tables.labels import STAR, datetimes, set_of, text, texts, value_kind

Method = Literal["equal-frequency", "equal-width", "prefix", "pooled", "balanced", "calendar"]
_METHODS = {
    "number": ("equal-frequency", "equal-width", "prefix"),
    "date": ("calendar", "equal-frequency"),
    "text": ("pooled", "prefix", "balanced"),
}
_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9.]{2,12}")
_MOST_BINS = 64
_SOME_BINS = 20
FEW = 10
"""A value that fewer rows have is rare: no label names it."""
_LARGEST_SET = 8
OTHERS = "other values"
_MARKS = re.compile(r"\s*[-/:(,]\s*")
_WORD_ENDS = re.compile(r"\s*[-/:(,]\s*|\s+")


@public
def suggest(
    domain: pa.Array,
    *,
    counts: Sequence[int] | IntArray | None = None,
    kind: Literal["number", "date", "text"] | None = None,
    method: Method | None = None,
    branching: int = 2,
    name: str | None = None,
) -> HierarchySpec:
    """Suggest a hierarchy for the values of a column.

    Bands, scales of words, IP addresses and diagnosis codes are recognized by their values; ages, years of birth,
    postal codes and months by the column's name.

    Parameters
    ----------
    domain : pyarrow.Array
        The distinct values.
    counts : array of int, optional
        How often each value occurs; all alike if missing. With counts, no label of a category names a value that
        fewer than ten rows have: such values are pooled.
    kind : {"number", "date", "text"}, optional
        How to see the values; by default after their type. Numbers seen as text are codes.
    method : str, optional
        "equal-frequency" (the default for numbers), "equal-width" intervals; "calendar" (dates: months,
        quarters or years, after their span); "prefix" masks (the default for text that looks like codes);
        "pooled" categories, which are kept, gathered where they begin with the same word, or hidden (the default for
        other text); "balanced" sets of like frequency, which mean nothing to a reader and keep more detail.
    branching : int
        How many nodes are joined into one on the next level.
    name : str, optional
        The column's name, for what it says about the values.
    """
    require("suggest", "branching", branching, IntIn(2))
    values = domain_of(domain)
    weights = _weights(domain, values, counts)
    native = value_kind(values.type)
    if kind is None:
        kind = "text" if native == "other" else native
    require("suggest", "kind", kind, OneOf(("text",) if native in ("text", "other") else (native, "text")))
    if method is not None:
        require("suggest", "method", method, OneOf(_METHODS[kind]))
    recognition = recognized(name, values) if method is None and kind == native else None
    if recognition is not None:
        return recognition.spec
    if len(values) <= branching:
        return flat()
    if kind == "text":
        few = FEW if counts is not None else 0
        return _suggest_categories(texts(values).to_pylist(), weights, method, branching, few)
    if method == "prefix":
        return masked().fixed(values)
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
    valid = np.asarray(at.is_valid())
    totals = np.bincount(
        np.asarray(at.drop_null()), weights=np.asarray(counts, dtype=np.int64)[valid], minlength=len(values)
    )
    return totals.astype(np.int64)


def _suggest_cuts(values: pa.Array, weights: IntArray, branching: int) -> HierarchySpec:
    """Cut where the cumulated frequency passes equal shares; join neighbors on the levels above."""
    # A power of the branching, so that nodes join evenly on each level.
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
    """Choose a round width that cuts the span into at most twenty, and widen it by the branching.

    Where infinite values need a bottom and a top, those are round too: no value of the data.
    """
    finite = [number for number in values.to_pylist() if math.isfinite(number)]
    span = float(finite[-1] - finite[0]) if finite else 0.0
    if not span:
        return flat()
    size = Fraction(10) ** math.floor(math.log10(span / _SOME_BINS))
    width = next(step * size for step in (1, 2, 5, 10) if step * size * _SOME_BINS >= span)
    if is_whole(values):
        width = max(width, Fraction(branching))
    n_levels = max(1, math.ceil(math.log(span / width, branching)))
    exact = [width * branching**level for level in range(n_levels)]
    widths = [_plain_number(number) for number in exact]
    if len(finite) == len(values):
        return intervals(*widths)
    bottom = Fraction(text(finite[0])) // width * width
    top = (Fraction(text(finite[-1])) // width + 1) * width
    return intervals(*widths, bottom=_plain_number(bottom), top=_plain_number(top))


def _suggest_calendar(values: pa.Array) -> HierarchySpec:
    """Choose days to decades after the span of the dates; moments become days first."""
    times = datetimes(values)
    days = times.astype("datetime64[D]")
    first = ("day",) if bool((days != times).any()) else ()
    span = int((days[-1] - days[0]).astype(np.int64))
    if span <= 2 * 31:
        return intervals("day", "week") if span > 7 else intervals("day")
    if span <= 10 * 366:
        return intervals(*first, "month", "quarter", "year")
    return intervals(*first, "month", "quarter", "year", "decade")


def _suggest_categories(
    values: list[str], weights: IntArray, method: Method | None, branching: int, few: int
) -> HierarchySpec:
    """Pool the rare values, then gather those that begin alike, or join the frequent ones into even sets."""
    if method == "prefix" or (method is None and all(_CODE.fullmatch(value) for value in values)):
        return masked().fixed(pa.array(values, pa.string()))
    members = [[number] for number in range(len(values)) if weights[number] >= few]
    if len(members) < 2:
        return flat()
    others = OTHERS if OTHERS not in values else f"all {OTHERS}"
    columns = [tuple(values)]
    if len(members) < len(values):
        columns.append(tuple(value if weights[at] >= few else others for at, value in enumerate(values)))
    if method != "balanced":
        alike = begin_alike(columns[-1], others)
        columns += [] if alike is None else [alike]
        if len(columns) == 1:
            return flat()
        return Rows((*columns, (STAR,) * len(values)))
    while len(members) > branching and max(map(len, members)) * branching <= _LARGEST_SET:
        members = _joined(members, weights, branching)
        names = [others] * len(values)
        for group in members:
            label = set_of([values[number] for number in group])
            for number in group:
                names[number] = label
        columns.append(tuple(names))
    return Rows((*columns, (STAR,) * len(values)))


def begin_alike(
    labels: Sequence[str], others: str = OTHERS, *, sentences: bool = False
) -> tuple[str, ...] | None:
    """Gather labels that begin with the same word before a mark, such as Surgery-Neuro; None where few do.

    In ``sentences`` a space ends a word as well.

    >>> begin_alike(["Surgery-Neuro", "Surgery-Plastic", "Cardiology", "Cardiology-Pediatric", "Urology"])
    ('Surgery …', 'Surgery …', 'Cardiology …', 'Cardiology …', 'Urology')
    """
    ends = _WORD_ENDS if sentences else _MARKS
    firsts = [label if label == others else ends.split(label.strip(), maxsplit=1)[0] for label in labels]
    members: dict[str, set[str]] = {}
    for first, label in zip(firsts, labels, strict=True):
        members.setdefault(first, set()).add(label)
    gathered = {first for first, group in members.items() if len(group) > 1}
    if sum(len(members[first]) for first in gathered) * 4 < len(set(labels)) or len(members) < 2:
        return None
    return tuple(
        f"{first} …" if first in gathered else label for first, label in zip(firsts, labels, strict=True)
    )


def _joined(members: list[list[int]], weights: IntArray, branching: int) -> list[list[int]]:
    """Join groups into fewer of like frequency: the heaviest first, each to the lightest that is not full."""
    n_groups = -(-len(members) // branching)
    sizes = [int(weights[group].sum()) for group in members]
    joined: list[list[int]] = [[] for _ in range(n_groups)]
    lightest = [(0, number) for number in range(n_groups)]
    places_left = [branching] * n_groups
    for position in sorted(range(len(members)), key=lambda group: (-sizes[group], group)):
        total, number = heapq.heappop(lightest)
        joined[number] += members[position]
        places_left[number] -= 1
        if places_left[number]:
            heapq.heappush(lightest, (total + sizes[position], number))
    return [sorted(group) for group in joined]


def _plain_number(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def _cut(value: pa.Scalar) -> Any:
    number = value.as_py()
    if isinstance(number, Decimal):
        return float(number)
    return number if isinstance(number, int | float) else text(number)
