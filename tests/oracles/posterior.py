"""What an attacker believes who has a release, knows the method and everybody's quasi-identifiers: by enumeration.

A world says which sensitive values the people of each quasi-identifier have. All assignments of values to people are
equally likely beforehand, so a world weighs as many assignments as it stands for. People with the same
quasi-identifiers cannot be distinguished, so a world need only count their values.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

World = tuple[tuple[Any, ...], ...]
"""The values of the people of each quasi-identifier, in order."""
Chances = Mapping[Hashable, float]
"""The probability of each release."""


def worlds(sizes: Sequence[int], domain: Sequence[Any]) -> Iterator[tuple[World, int]]:
    """Every world over numbers of people with the same quasi-identifiers, and how many assignments it stands for."""
    for world in product(*(combinations_with_replacement(domain, size) for size in sizes)):
        weight = 1
        for values in world:
            weight *= math.factorial(len(values))
            for count in Counter(values).values():
                weight //= math.factorial(count)
        yield world, weight


def posteriors(
    sizes: Sequence[int], domain: Sequence[Any], publish: Callable[[World], Chances]
) -> dict[Hashable, list[dict[Any, float]]]:
    """The probability of each value for somebody of each quasi-identifier, by release: Bayes' rule over all worlds."""
    believed: dict[Hashable, list[dict[Any, float]]] = {}
    total: dict[Hashable, float] = defaultdict(float)
    for world, weight in worlds(sizes, domain):
        for release, chance in publish(world).items():
            total[release] += weight * chance
            people = believed.setdefault(release, [dict.fromkeys(domain, 0.0) for _ in sizes])
            for person, values in zip(people, world, strict=True):
                for value in values:
                    person[value] += weight * chance / len(values)
    for release, people in believed.items():
        for person in people:
            for value in domain:
                person[value] /= total[release]
    return believed


def is_exceeded(guarantee: Any, belief: Mapping[Any, float], overall: Mapping[Any, float]) -> bool:
    """Whether a belief about one person is more than a guarantee promises of classes; ``overall`` are all shares."""
    slack = 1e-9
    gains = {value: belief[value] / share - 1 for value, share in overall.items()}
    match type(guarantee).__name__:
        case "AlphaKAnonymity":
            return max(belief.values()) > guarantee.alpha + slack
        case "PrivacyDegree":
            return max(belief.values()) > 1 / guarantee.p + slack
        case "DistinctDiversity":
            return sum(chance > slack for chance in belief.values()) < guarantee.l
        case "EntropyDiversity":
            effective = math.prod(chance**-chance for chance in belief.values() if chance > 0)
            return effective < guarantee.l - slack
        case "BasicBetaLikeness":
            return max(gains.values()) > guarantee.beta + slack
        case "EnhancedBetaLikeness":
            return any(
                gain > min(guarantee.beta, -math.log(overall[value])) + slack
                for value, gain in gains.items()
                if gain > 0
            )
        case "DeltaDisclosure":
            return max(gains.values()) + 1 > 2**guarantee.delta + slack
    raise AssertionError(guarantee)
