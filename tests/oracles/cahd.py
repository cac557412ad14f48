"""Slow, obvious definitions for published baskets: judged from the written files alone, or on the explicit graph."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

Lists = Sequence[Sequence[Any]]


class Files:
    """What two CSV files tell: the group and the items of each basket, and the counts of each group."""

    def __init__(self, folder: Path) -> None:
        self.items: dict[int, set[str]] = defaultdict(set)
        self.group: dict[int, int] = {}
        self.counts: dict[int, Counter[str]] = defaultdict(Counter)
        for line in _lines(folder / "baskets.csv"):
            self.group[int(line["basket"])] = int(line["group"])
            self.items[int(line["basket"])] |= {line["item"]} - {""}
        for line in _lines(folder / "sensitive.csv"):
            self.counts[int(line["group"])][line["item"]] += int(line["count"])
        self.sizes = Counter(self.group.values())

    def degree(self) -> Fraction | float:
        """Return the least |G|/f over groups and sensitive items."""
        degrees = [
            Fraction(self.sizes[group], count)
            for group, counts in self.counts.items()
            for count in counts.values()
        ]
        return min(degrees, default=float("inf"))

    def mixed_groups(self) -> set[int]:
        """Return the groups in which some baskets are published empty and others are not."""
        empty = {group for basket, group in self.group.items() if not self.items[basket]}
        return empty & {group for basket, group in self.group.items() if self.items[basket]}

    def baskets(self) -> Counter[frozenset[str]]:
        """Return the multiset of baskets."""
        return Counter(frozenset(self.items[basket]) for basket in self.group)

    def totals(self) -> Counter[str]:
        """Return how often each sensitive item occurs."""
        return sum(self.counts.values(), Counter())


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def count(
    lists: Lists, groups: Sequence[int], holders: Sequence[bool], wanted: set[Any], unwanted: set[Any]
) -> Fraction:
    """Estimate by equation 2: the sum over groups of a·b/|G|."""
    total = Fraction(0)
    for group in set(groups):
        members = [row for row, one in enumerate(groups) if one == group]
        a = sum(holders[row] for row in members)
        b = sum(wanted <= set(lists[row]) and not unwanted & set(lists[row]) for row in members)
        total += Fraction(a * b, len(members))
    return total


def cells(
    lists: Lists, groups: Sequence[int], holders: Sequence[bool], items: Sequence[Any]
) -> dict[tuple[int, ...], Fraction]:
    """Estimate every cell that some items make."""
    found = {}
    for cell in product((0, 1), repeat=len(items)):
        wanted = {item for item, inside in zip(items, cell, strict=True) if inside}
        found[cell] = count(lists, groups, holders, wanted, set(items) - wanted)
    return found


def reverse_cuthill_mckee(lists: Lists) -> list[int]:
    """Order rows on the explicit graph of who shares an item with whom; ties go to the lesser degree, then row."""
    sets = [set(one) for one in lists]
    rows = [row for row, one in enumerate(sets) if one]
    near = {row: {other for other in rows if sets[row] & sets[other]} for row in rows}
    rank = {row: (len(near[row]), row) for row in rows}

    def search(start: int) -> list[list[int]]:
        """Return the rows in Cuthill–McKee order, level by level."""
        seen, levels = {start}, [[start]]
        while True:
            following: list[int] = []
            for row in levels[-1]:
                fresh = sorted(near[row] - seen, key=rank.__getitem__)
                seen |= set(fresh)
                following += fresh
            if not following:
                return levels
            levels.append(following)

    order: list[int] = []
    for first in sorted(rows, key=rank.__getitem__):
        if first in order:
            continue
        start, levels = first, search(first)
        while True:
            far = min(levels[-1], key=rank.__getitem__)
            deeper = search(far)
            if len(deeper) <= len(levels):
                break
            start, levels = far, deeper
        order += [row for level in search(start) for row in level]
    empty = sorted((row for row, one in enumerate(sets) if not one))
    return order[::-1] + empty


def greedy_groups(
    order: Iterable[int], ordinary: Lists, held: Lists, *, p: int, alpha: int
) -> set[frozenset[int]]:
    """Form groups as the paper's pseudocode does; of those equally alike the nearer, predecessors first."""
    alive = list(order)
    left = Counter(item for one in held for item in one)
    groups = []
    for row in list(alive):
        if row not in alive or not held[row]:
            continue
        at = alive.index(row)
        used, sides = set(held[row]), []
        for side in (alive[:at][::-1], alive[at + 1 :]):
            found: list[int] = []
            for other in side:
                if len(found) < alpha * p and not used & set(held[other]):
                    used |= set(held[other])
                    found.append(other)
            sides.append(found)
        ranked = sorted(
            (-len(set(ordinary[row]) & set(ordinary[other])), step, number, other)
            for number, found in enumerate(sides)
            for step, other in enumerate(found)
        )
        group = [row, *(other for *_, other in ranked[: p - 1])]
        after = left - Counter(item for one in group for item in held[one])
        if len(group) < p or any(count * p > len(alive) - p for count in after.values()):
            continue
        left = after
        groups.append(frozenset(group))
        alive = [one for one in alive if one not in group]
    return {*groups, frozenset(alive)} - {frozenset()}
