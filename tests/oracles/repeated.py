"""Repeated releases by definition: classes that share a point, and all worlds that agree with the releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

Box = tuple[frozenset[Any], ...]
"""The values that a cell covers, by column."""
Class = tuple[Box, Counter[Any]]
"""What a class covers, and how many of its rows have each sensitive value."""
Group = tuple[Box, frozenset[Any], int]
"""The box of a group, its values, and how many of its rows are counterfeits."""


def covers(box: Box, point: Sequence[Any]) -> bool:
    """Whether a point lies in a box."""
    return all(value in values for values, value in zip(box, point, strict=True))


def combinations(
    releases: Sequence[Sequence[Class]], grid: Sequence[Sequence[Any]]
) -> Iterator[tuple[Class, ...]]:
    """Classes, one of each release, that cover a point together and share a value."""
    points = list(product(*grid))
    for chosen in product(*releases):
        together = any(all(covers(box, point) for box, _ in chosen) for point in points)
        if together and set.intersection(*(set(values) for _, values in chosen)):
            yield chosen


def figures(releases: Sequence[Sequence[Class]], grid: Sequence[Sequence[Any]]) -> dict[str, int]:
    """What intersections leave: combinations, rows, values, and the rows of the first release with a certain value."""
    found = list(combinations(releases, grid))
    shared = [set.intersection(*(set(values) for _, values in chosen)) for chosen in found]
    rows = [
        sum(values[each] for each in common)
        for chosen, common in zip(found, shared, strict=True)
        for _, values in chosen
    ]
    at_risk = {
        (next(at for at, each in enumerate(releases[0]) if each is chosen[0]), next(iter(common)))
        for chosen, common in zip(found, shared, strict=True)
        if len(common) == 1
    }
    return {
        "n_combinations": len(found),
        "smallest": min(rows, default=0),
        "values": min(map(len, shared), default=0),
        "disclosed": sum(len(common) == 1 for common in shared),
        "rows_at_risk": sum(releases[0][number][1][value] for number, value in at_risk),
    }


def worlds(
    people: Sequence[Mapping[Any, Sequence[Any]]], releases: Sequence[Sequence[Group]]
) -> Iterator[tuple[dict[Any, Any], tuple[dict[Any, int], ...]]]:
    """Every world that agrees with m-invariant releases: the value of each person, and their group in each release.

    An attacker knows who is in which release, their quasi-identifiers, all that is published, and that a person's
    groups have the same values. A group of n values and c counterfeits holds n - c people with different values.
    """
    everyone = sorted({who for present in people for who in present})
    for places in product(
        *(_dealt(present, groups) for present, groups in zip(people, releases, strict=True))
    ):
        signatures: dict[Any, set[frozenset[Any]]] = {who: set() for who in everyone}
        for place, groups in zip(places, releases, strict=True):
            for who, number in place.items():
                signatures[who].add(groups[number][1])
        if any(len(each) > 1 for each in signatures.values()):
            continue
        choices = [sorted(next(iter(signatures[who]))) for who in everyone]
        for values in product(*choices):
            world = dict(zip(everyone, values, strict=True))
            if all(_differ(place, world) for place in places):
                yield world, places


def _dealt(present: Mapping[Any, Sequence[Any]], groups: Sequence[Group]) -> list[dict[Any, int]]:
    """Every way to deal the people of a release to its groups."""
    seats = [number for number, (_, values, fakes) in enumerate(groups) for _ in range(len(values) - fakes)]
    if len(seats) != len(present):
        return []
    dealt = {
        tuple(order) for order in set(permutations(seats))
        if all(covers(groups[number][0], point) for number, point in zip(order, present.values(), strict=True))
    }  # fmt: skip
    return [dict(zip(present, order, strict=True)) for order in sorted(dealt)]


def _differ(place: Mapping[Any, int], world: Mapping[Any, Any]) -> bool:
    pairs = [(number, world[who]) for who, number in place.items()]
    return len(set(pairs)) == len(pairs)


def beliefs(
    people: Sequence[Mapping[Any, Sequence[Any]]], releases: Sequence[Sequence[Group]]
) -> dict[Any, Fraction]:
    """The largest probability that each person has some value, all worlds being equally likely."""
    counts: dict[Any, Counter[Any]] = {}
    n = 0
    for world, _ in worlds(people, releases):
        n += 1
        for who, value in world.items():
            counts.setdefault(who, Counter())[value] += 1
    return {who: Fraction(max(each.values()), n) for who, each in counts.items()}
