"""An attacker who knows the method: simulates it on all originals that fit, and keeps those with the same release."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Outcome = frozenset[tuple[frozenset[int], int]]
"""A release: the baskets of each group, and how many of them hold the sensitive item."""
Holders = frozenset[int]


@dataclass(frozen=True)
class Guesses:
    """How many groups' holders were guessed right, and how many would be by the published counts alone."""

    right: float
    by_counts: float
    variance: float
    n_groups: float
    above: float
    """The number of groups in which a basket holds the item with more than its share."""

    @property
    def deviations(self) -> float:
        """By how many standard deviations the guesses are better than the counts; at most a few for a sound method."""
        return (self.right - self.by_counts) / math.sqrt(self.variance)


def guess(
    simulated: Iterable[tuple[Holders, Outcome]], published: Iterable[tuple[Holders, Outcome]]
) -> Guesses:
    """Guess a holder in every group of published releases: the most frequent one in simulated ones that look the same.

    Simulated are all originals that fit, equally often. Where groups say no more than their counts, every guess is
    right with the group's share of holders, whatever was simulated.
    """
    likely: dict[Outcome, Counter[int]] = defaultdict(Counter)
    for holders, outcome in simulated:
        likely[outcome].update(holders)
    right, by_counts, variance, n_groups = 0.0, 0.0, 0.0, 0
    for holders, outcome in published:
        for members, count in outcome:
            if count in (0, len(members)):
                continue
            share = count / len(members)
            best = max(sorted(members), key=likely[outcome].__getitem__)
            right += best in holders
            by_counts += share
            variance += share * (1 - share)
            n_groups += 1
    return Guesses(right, by_counts, variance, n_groups, math.nan)


def posterior(likelihood: Mapping[Outcome, Mapping[Holders, float]]) -> Guesses:
    """Return how often the best guess is right, with the exact likelihood of every release under every original."""
    right = by_counts = variance = n_groups = above = 0.0
    for outcome, likely in likelihood.items():
        total = sum(likely.values())
        for members, count in outcome:
            if count == 0:
                continue
            highest = max(
                sum(weight for holders, weight in likely.items() if basket in holders) for basket in members
            )
            share = Fraction(count, len(members))
            right += highest
            by_counts += float(share) * total
            variance += float(share * (1 - share)) * total
            n_groups += total
            above += total * (highest > float(share) * total + 1e-9)
    return Guesses(right, by_counts, variance, n_groups, above)


def outcome_of(ids: Sequence[int], groups: Sequence[int], counts: Mapping[int, int]) -> Outcome:
    """Return a release by the number of each published basket, its group, and the holders of each group."""
    members: dict[int, set[int]] = defaultdict(set)
    for basket, group in zip(ids, groups, strict=True):
        members[group].add(basket)
    return frozenset((frozenset(inside), counts.get(group, 0)) for group, inside in members.items())


def likelihoods(
    originals: Iterable[Holders], outcomes: Callable[[Holders], Iterable[Outcome]]
) -> dict[Outcome, Counter[Holders]]:
    """Count how many of a method's equally likely runs on each original make each release."""
    found: dict[Outcome, Counter[Holders]] = defaultdict(Counter)
    for holders in originals:
        for outcome in outcomes(holders):
            found[outcome][holders] += 1
    return found
