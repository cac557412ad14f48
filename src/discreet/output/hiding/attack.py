"""Guessing hidden rules: whoever knows the thresholds looks for what lies suspiciously close below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.sensitive_rules import SensitiveRule
from discreet.core.baskets.supports import least_count
from discreet.core.boundary import public
from discreet.core.params import FloatIn, InstanceOf, require
from discreet.core.release import Release
from discreet.guarantees import RulesHidden
from discreet.mine import FoundItemsets, Itemsets, rules
from discreet.output.hiding.quality import released_baskets


@public
@dataclass(frozen=True)
class HidingAttack:
    """How well hidden rules are guessed; for the owner alone, since it names them.

    Attributes
    ----------
    ranks
        For each rule its place among the candidates, 1 for the first guess; None where it is no candidate.
    n_itemsets, n_rules
        How many itemsets and rules are candidates.
    """

    ranks: tuple[tuple[SensitiveRule, int | None], ...]
    n_itemsets: int
    n_rules: int

    @property
    def best(self) -> int | None:
        """The place of the rule that is guessed first."""
        return min((rank for _, rank in self.ranks if rank is not None), default=None)

    @property
    def chance(self) -> float:
        """The mean over the rules of 1 / place, 0 for a rule that is no candidate."""
        return float(np.mean([0.0 if rank is None else 1 / rank for _, rank in self.ranks]))


@public
def hiding_attack(
    released: Baskets | Release, guarantee: RulesHidden, *, window: float = 0.5
) -> HidingAttack:
    """Rank candidates for hidden rules as somebody would who knows the method and the thresholds, not the rules.

    Candidates are the itemsets of the negative border, infrequent ones with frequent subsets only, whose support lies
    in a window below min_support; and the rules with enough support whose confidence lies in a window below
    min_confidence. The nearer to the threshold the earlier; among the equally near those come first that the supports
    of their items make one expect most often. Equal ones share the mean of their places, rounded up.

    Parameters
    ----------
    released
        What was handed over.
    guarantee
        The thresholds, which the attacker is taken to know, and the rules, for the owner to see their places.
    window
        How far below the thresholds candidates are looked for, as a share of the thresholds.

    Examples
    --------
    >>> bought = Baskets.from_lists([["a", "b"]] * 9 + [["a"], ["b"]] * 9 + [["c"]] * 5)
    >>> found = hiding_attack(bought, RulesHidden(["a, b"], min_support=10))
    >>> found.best, found.n_itemsets
    (1, 2)
    """
    require("hiding_attack", "guarantee", guarantee, InstanceOf((RulesHidden,), "a RulesHidden"))
    require("hiding_attack", "window", window, FloatIn(0, 1, closed="left"))
    data = released_baskets(released)
    least = least_count(guarantee.min_support, len(data))
    # Mined down to the end of the window: there the negative border at the threshold itself can be seen.
    itemsets = Itemsets(least_count(guarantee.min_support, len(data), margin=window)).mine(data)
    near = _negative_border(itemsets, least)
    names = [str(name) for name in data.names.to_pylist()]
    places = _places(least - itemsets.counts[near], -_expected(itemsets, data)[near])
    sets = _named(itemsets.keep(near), names)
    by_set = dict(zip(sets, places.tolist(), strict=True))
    by_rule = _near_rules(itemsets.keep(itemsets.counts >= least), guarantee, window)
    ranks = []
    for rule in guarantee.rules:
        sides = tuple(frozenset(map(str, side)) for side in (rule.lhs, rule.rhs))
        guesses = [by_set.get(sides[0] | sides[1]), by_rule.get((sides[0], sides[1]))]
        ranks_of_rule = [guess for guess in guesses if guess is not None]
        ranks.append((rule, min(ranks_of_rule) if ranks_of_rule else None))
    return HidingAttack(tuple(ranks), len(sets), len(by_rule))


def _negative_border(itemsets: FoundItemsets, least: int) -> BoolArray:
    """Return which itemsets are infrequent while all with one item less are frequent."""
    owner = np.repeat(np.arange(len(itemsets)), itemsets.lengths)
    subsets = itemsets.subsets
    rare = (subsets >= 0) & (itemsets.counts[subsets] < least)
    below = np.bincount(owner[rare], minlength=len(itemsets)) > 0
    return np.asarray((itemsets.counts < least) & ~below)


def _expected(itemsets: FoundItemsets, data: Baskets) -> FloatArray:
    """Return how many baskets would hold each itemset if its items were independent."""
    if not len(itemsets):
        return np.empty(0)
    shares = np.log(np.maximum(data.counts, 1) / max(len(data), 1))
    return np.asarray(len(data) * np.exp(np.add.reduceat(shares[itemsets.codes], itemsets.indptr[:-1])))


def _places(gap: Sequence[float] | np.ndarray, tie: np.ndarray) -> np.ndarray:
    """Return the place of each candidate; equal ones share the mean of their places, rounded up."""
    # Rounded, since products of the same shares in another order differ in their last digits.
    keys = np.stack([np.asarray(gap, np.float64), np.round(np.asarray(tie, np.float64), 9)], axis=1)
    _, kind, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    first = np.cumsum(counts) - counts
    # The mean of the places first + 1, …, first + c is first + (c + 1) / 2.
    return np.asarray((first + (counts + 2) // 2)[kind.reshape(-1)], np.int64)


def _named(itemsets: FoundItemsets, names: list[str]) -> list[frozenset[str]]:
    bounds, codes = itemsets.indptr.tolist(), itemsets.codes.tolist()
    return [frozenset(names[code] for code in codes[start:stop]) for start, stop in pairwise(bounds)]


def _near_rules(
    itemsets: FoundItemsets, guarantee: RulesHidden, window: float
) -> dict[tuple[frozenset[str], frozenset[str]], int]:
    """Return the places of the rules whose confidence lies in the window below the threshold."""
    if guarantee.min_confidence is None or not len(itemsets) or int(itemsets.lengths.max()) < 2:
        return {}
    table = rules(itemsets, metric="confidence", min_threshold=guarantee.min_confidence * (1 - window))
    confidence = table["confidence"].to_numpy()
    # A confidence at the threshold is no candidate; the tolerance takes up the rounding of the quotient.
    below = confidence < guarantee.min_confidence * (1 - 1e-12)
    columns = [table[name].filter(below).to_pylist() for name in ("antecedents", "consequents")]
    places = _places(-confidence[below], -table["support"].to_numpy()[below])
    return {
        (frozenset(map(str, left)), frozenset(map(str, right))): rank
        for left, right, rank in zip(*columns, places.tolist(), strict=True)
    }
