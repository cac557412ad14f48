"""Minimal removal sets: the ways to break some of the sensitive rules a basket supports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Items = frozenset[int]


def minimal_removals(sets: Sequence[Iterable[int]]) -> list[Items]:
    """Return the sets of items that break some of the given itemsets, and of which no smaller part breaks as many.

    >>> [sorted(one) for one in minimal_removals([(1, 2), (2, 3)])]
    [[1], [2], [3], [1, 3]]
    """
    whole = [frozenset(one) for one in sets]
    found: set[Items] = {frozenset()}
    for one in whole:
        found |= {part | {item} for part in found for item in one if not part & one}
    minimal = [part for part in found if part and _minimal(part, whole)]
    return sorted(minimal, key=lambda part: (len(part), sorted(part)))


def reduced(part: Items, sets: Sequence[Iterable[int]]) -> Items:
    """Return a minimal part of a removal set that breaks the same itemsets."""
    whole = [frozenset(one) for one in sets]
    for item in sorted(part):
        if _broken(part - {item}, whole) == _broken(part, whole):
            part -= {item}
    return part


def _minimal(part: Items, whole: Sequence[Items]) -> bool:
    """Whether every item breaks an itemset that no other item of the set breaks."""
    return all(_broken(part - {item}, whole) != _broken(part, whole) for item in part)


def _broken(part: Items, whole: Sequence[Items]) -> list[bool]:
    return [bool(part & one) for one in whole]
