"""Slow, obvious definitions for baskets that are published empty: all arrangements of a group's sensitive items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product


def highest_probability(empty: int, filled: int, counts: Sequence[int]) -> Fraction:
    """Return the highest probability with which a basket of a group holds a sensitive item.

    The first baskets are published empty. All arrangements of the items are equally likely for the attacker, but for
    those in which the number of baskets that hold nothing at all is not the one he knows of; the number that helps him
    most counts.
    """
    baskets = range(empty + filled)
    fitting: dict[int, int] = defaultdict(int)
    holders: dict[tuple[int, int, int], int] = defaultdict(int)
    for held in product(*(combinations(baskets, count) for count in counts)):
        nothing = empty - len({basket for of_item in held for basket in of_item if basket < empty})
        fitting[nothing] += 1
        for item, of_item in enumerate(held):
            for basket in of_item:
                holders[nothing, item, basket] += 1
    return max(
        (Fraction(count, fitting[nothing]) for (nothing, _, _), count in holders.items()), default=Fraction(0)
    )
