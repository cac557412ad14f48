"""Slow, obvious definitions of k^m-anonymity, of recodings along a tree, and of what an attacker with r items finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Lists = Sequence[Sequence[Any]]
Tree = Mapping[str, Any]
"""Names of nodes with the tree below each; a leaf has nothing below."""


def combination_counts(lists: Lists, m: int) -> Counter[frozenset[Any]]:
    """Count the baskets of every combination of one to m items that occurs."""
    return Counter(
        frozenset(one)
        for basket in lists
        for size in range(1, m + 1)
        for one in combinations(set(basket), size)
    )


def is_km_anonymous(lists: Lists, k: int, m: int) -> bool:
    """Return whether every combination that occurs is in k baskets."""
    return all(count >= k for count in combination_counts(lists, m).values())


def leaves(name: str, below: Tree) -> list[str]:
    """Return the leaves of a node."""
    return [leaf for child, rest in below.items() for leaf in leaves(child, rest)] if below else [name]


def cuts(name: str, below: Tree) -> Iterator[dict[str, str]]:
    """Return every cut: the node each leaf is published as."""
    yield dict.fromkeys(leaves(name, below), name)
    if below:
        for parts in product(*(list(cuts(child, rest)) for child, rest in below.items())):
            yield {leaf: node for part in parts for leaf, node in part.items()}


def recoded(lists: Lists, cut: Mapping[str, str]) -> list[list[str]]:
    """Publish each item as its node."""
    return [sorted({cut[item] for item in basket}) for basket in lists]


def penalty(lists: Lists, cut: Mapping[str, str]) -> Fraction:
    """Return the mean certainty penalty of an occurrence."""
    covered = Counter(cut.values())
    paid = [
        Fraction(covered[cut[item]], len(cut)) if covered[cut[item]] > 1 else Fraction(0)
        for basket in lists
        for item in basket
    ]
    return sum(paid, Fraction(0)) / max(len(paid), 1)


def is_finer(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether the nodes of a cut lie at or below those of another, and the cuts differ."""
    blocks = [{leaf for leaf in one if one[leaf] == node} for node in set(one.values())]
    return one != other and all(len({other[leaf] for leaf in block}) == 1 for block in blocks)


def found_again(lists: Lists, r: int) -> tuple[Fraction, Fraction]:
    """Return the mean of 1/matches and the share of one match, over baskets of at least r items and their r-sets."""
    sets = [set(basket) for basket in lists]
    means, shares = [], []
    for basket in sets:
        if len(basket) >= r:
            matches = [sum(set(known) <= other for other in sets) for known in combinations(basket, r)]
            means.append(sum((Fraction(1, n) for n in matches), Fraction(0)) / len(matches))
            shares.append(Fraction(sum(n == 1 for n in matches), len(matches)))
    return sum(means, Fraction(0)) / len(means), sum(shares, Fraction(0)) / len(shares)
