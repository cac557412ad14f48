"""Mondrian by definition, on numbers without nulls: every way in which chance may share tied rows out, one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

Row = tuple[tuple[int, ...], Any]
"""The quasi-identifiers of a row, and its sensitive value."""
Classes = tuple[tuple[Any, ...], ...]
"""What a release shows: of each class its box and its sensitive values, in order."""
Holds = Callable[[list[Any]], bool]
"""Whether sensitive values may make up a class."""


def chances(rows: Sequence[Row], holds: Holds, k: int, *, strict: bool) -> dict[Classes, float]:
    """The probability of each release of rows, in which groups with the same box are one class."""
    spans = [_span(rows, column) for column in range(len(rows[0][0]))]
    shown: dict[Classes, float] = defaultdict(float)
    for groups, chance in _divided(list(rows), holds, k, strict, spans, frozenset()).items():
        classes: dict[Any, list[Any]] = defaultdict(list)
        for box, values in groups:
            classes[box] += values
        shown[tuple(sorted((box, tuple(sorted(values))) for box, values in classes.items()))] += chance
    return shown


def _divided(
    rows: list[Row], holds: Holds, k: int, strict: bool, spans: list[int], refused: frozenset[int]
) -> dict[Classes, float]:
    """Cut along the widest column that is not refused yet; where a cut is refused, go on with the next."""
    widths = {
        column: _span(rows, column) / span
        for column, span in enumerate(spans)
        if column not in refused and _span(rows, column)
    }
    for column in sorted(widths, key=lambda column: (-widths[column], column)):
        cuts = _strict_cut(rows, column, k) if strict else _relaxed_cuts(rows, column, k)
        if not cuts:
            continue
        found: dict[Classes, float] = defaultdict(float)
        for left in cuts:
            parts = [rows[i] for i in sorted(left)], [rows[i] for i in range(len(rows)) if i not in left]
            if all(holds([value for _, value in part]) for part in parts):
                halves = [_divided(part, holds, k, strict, spans, frozenset()) for part in parts]
                for one, chance in halves[0].items():
                    for two, times in halves[1].items():
                        found[tuple(sorted(one + two))] += chance * times / len(cuts)
            else:
                for one, chance in _divided(rows, holds, k, strict, spans, refused | {column}).items():
                    found[one] += chance / len(cuts)
        return found
    box = tuple((min(q[c] for q, _ in rows), max(q[c] for q, _ in rows)) for c in range(len(spans)))
    return {((box, tuple(sorted(value for _, value in rows))),): 1.0}


def _span(rows: Sequence[Row], column: int) -> int:
    numbers = [quasi[column] for quasi, _ in rows]
    return max(numbers) - min(numbers)


def _strict_cut(rows: list[Row], column: int, k: int) -> list[set[int]]:
    """The most even cut between two values, the first of several, with k rows on both sides."""
    best: list[set[int]] = []
    for value in sorted({quasi[column] for quasi, _ in rows}):
        left = {i for i, (quasi, _) in enumerate(rows) if quasi[column] <= value}
        if min(len(left), len(rows) - len(left)) >= k and (
            not best or abs(2 * len(left) - len(rows)) < abs(2 * len(best[0]) - len(rows))
        ):
            best = [left]
    return best


def _relaxed_cuts(rows: list[Row], column: int, k: int) -> list[set[int]]:
    """All ways to take half of the rows, the least values first, which differ in the tied rows of the last value."""
    if len(rows) < 2 * k:
        return []
    last = sorted(quasi[column] for quasi, _ in rows)[len(rows) // 2 - 1]
    less = {i for i, (quasi, _) in enumerate(rows) if quasi[column] < last}
    tied = [i for i, (quasi, _) in enumerate(rows) if quasi[column] == last]
    return [less | set(some) for some in combinations(tied, len(rows) // 2 - len(less))]
