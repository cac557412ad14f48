"""What there is to hide: the sensitive rules that are found in baskets, what else is found there, and its border."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.sensitive_rules import SensitiveRule, code_of, codes_by_name
from discreet.core.baskets.supports import least_count
from discreet.core.errors import InputError
from discreet.guarantees import RulesHidden
from discreet.mine import FoundItemsets, Itemsets
from discreet.output.hiding.editing import Editing


@dataclass(frozen=True)
class Target:
    """A sensitive rule that must be or stay hidden, as columns of an `Editing`.

    ``by_confidence`` tells that lowering its confidence hides it as well as lowering its support.
    """

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    by_confidence: bool

    @property
    def items(self) -> tuple[int, ...]:
        """The columns of both sides."""
        return (*self.lhs, *self.rhs)


class Problem:
    """Baskets, the promise about them, and what has to be done.

    Parameters
    ----------
    baskets
        The original baskets.
    guarantee
        The rules to hide and the thresholds.
    """

    def __init__(self, baskets: Baskets, guarantee: RulesHidden) -> None:
        self.baskets = baskets
        self.guarantee = guarantee
        self.n = len(baskets)
        self.least = guarantee.least_support(self.n)
        """The support below which a rule is hidden, the margin taken off."""
        self.min_count = least_count(guarantee.min_support, self.n)
        """The support from which on an itemset is frequent."""
        _refuse_unknown_items(baskets, guarantee.rules)
        counts = guarantee.counts(baskets)
        pairs = list(zip(guarantee.rules, counts, strict=True))
        closed = [guarantee.hides(both, left, n=self.n, is_rule=rule.is_rule) for rule, (both, left) in pairs]
        self.already_hidden = sum(closed)
        """How many sensitive rules are not found to begin with."""
        self.watched = tuple(rule for rule, (both, _) in pairs if both >= self.least)
        """The sensitive rules that are found, and those that deletions could bring to light: they are frequent and
        hidden by their confidence alone, which rises when their left-hand side becomes rarer."""
        needed = _without_supersets(self.watched, guarantee)
        self.covered = len(self.watched) - len(needed)
        """How many sensitive itemsets contain another one, and are hidden with it."""
        codes = codes_by_name(baskets.names)
        sides = [
            [[code_of(codes, name) for name in side] for side in (rule.lhs, rule.rhs)] for rule in needed
        ]
        self.codes: CodeArray = np.array(
            sorted({code for pair in sides for side in pair for code in side}), np.int32
        )
        """The items of the sensitive rules, by which the columns of an `Editing` are numbered."""
        position = {int(code): at for at, code in enumerate(self.codes)}
        self.targets = tuple(
            Target(
                tuple(position[code] for code in left),
                tuple(position[code] for code in right),
                bool(right) and guarantee.min_confidence is not None,
            )
            for left, right in sides
        )

    def editing(self) -> Editing:
        """Return the entries of the sensitive items, ready to be changed."""
        return Editing(self.baskets, self.codes)

    def by_support(self) -> Problem:
        """Return the problem of hiding the same rules by their support alone."""
        promise = replace(self.guarantee, rules=self.watched, min_confidence=None)
        return Problem(self.baskets, promise)

    def is_open(self, target: Target, editing: Editing) -> bool:
        """Whether a rule is still found."""
        both, left = editing.count(target.items), editing.count(target.lhs)
        return not self.guarantee.hides(both, left, n=editing.n, is_rule=target.by_confidence)

    def open_targets(self, editing: Editing) -> list[Target]:
        """Return the rules that are still found."""
        return [target for target in self.targets if self.is_open(target, editing)]

    def one_by_one(self, editing: Editing) -> Iterator[Target]:
        """Yield the rules that are still found when their turn comes."""
        return (target for target in self.targets if self.is_open(target, editing))

    def first_hidden(self, target: Target, editing: Editing, lowers_lhs: BoolArray) -> int:
        """Return how many of a row of deletions hide a rule; each breaks one supporter.

        ``lowers_lhs`` tells of each deletion whether the item is of the left-hand side. Where not even all of them
        do, their number is returned.
        """
        both, left = editing.count(target.items), editing.count(target.lhs)
        steps = np.arange(1, lowers_lhs.size + 1)
        after = both - steps
        hidden = after < self.guarantee.least_support(editing.n)
        least = self.guarantee.least_confidence
        if target.by_confidence and least is not None:
            # Confidence below the least in whole numbers; the left-hand
            # side shrinks only where its own item is deleted.
            hidden |= after * least.denominator < (left - np.cumsum(lowers_lhs)) * least.numerator
        return int(np.argmax(hidden)) + 1 if hidden.any() else int(lowers_lhs.size)

    @cached_property
    def found(self) -> FoundItemsets:
        """All frequent itemsets of the original baskets."""
        return Itemsets(self.min_count).mine(self.baskets)

    @cached_property
    def others(self) -> FoundItemsets:
        """The frequent itemsets that may stay: those that hold no sensitive itemset."""
        return self.found.keep(~holding(self.found, self.sensitive_sets))

    @property
    def sensitive_sets(self) -> list[CodeArray]:
        """The item codes of the targets that are hidden by their support alone."""
        return [self.codes[list(target.items)] for target in self.targets if not target.by_confidence]

    @cached_property
    def touched(self) -> BoolArray:
        """Which of the `others` hold an item of a sensitive rule, and so may be lost."""
        owner = np.repeat(np.arange(len(self.others)), self.others.lengths)
        mine = np.isin(self.others.codes, self.codes)
        return np.asarray(np.bincount(owner[mine], minlength=len(self.others)) > 0)

    @cached_property
    def border(self) -> FoundItemsets:
        """The positive border that can be lost: the maximal ones among the `others` that hold a sensitive item."""
        subsets = self.others.subsets
        maximal = np.ones(len(self.others), np.bool_)
        maximal[subsets[subsets >= 0]] = False
        return self.others.keep(maximal & self.touched)


def holding(itemsets: FoundItemsets, sets: Sequence[CodeArray]) -> BoolArray:
    """Return which itemsets hold one of the given sets."""
    holds = np.zeros(len(itemsets), np.bool_)
    owner: IntArray = np.repeat(np.arange(len(itemsets)), itemsets.lengths)
    for codes in sets:
        inside = np.bincount(owner[np.isin(itemsets.codes, codes)], minlength=len(itemsets))
        holds |= inside == codes.size
    return holds


def _refuse_unknown_items(baskets: Baskets, rules: Sequence[SensitiveRule]) -> None:
    codes_by_item, counts = codes_by_name(baskets.names), baskets.counts
    for number, rule in enumerate(rules, start=1):
        codes = [code_of(codes_by_item, name) for name in rule.items]
        if any(code < 0 or counts[code] == 0 for code in codes):
            raise InputError(
                f"Sensitive rule {number} names an item that no basket holds; check its spelling."
            )


def _without_supersets(rules: Sequence[SensitiveRule], guarantee: RulesHidden) -> list[SensitiveRule]:
    """Leave out the rules that are hidden with an itemset that must be hidden anyway."""

    def by_support(rule: SensitiveRule) -> bool:
        return not rule.is_rule or guarantee.min_confidence is None

    sets = [frozenset(map(str, rule.items)) for rule in rules]
    smallest = []
    for at, rule in enumerate(rules):
        smaller = (
            by_support(other) and (sets[number] < sets[at] or (sets[number] == sets[at] and number < at))
            for number, other in enumerate(rules)
            if number != at
        )
        # An itemset of the same items that must fall below the support takes the rule with it.
        twin = not by_support(rule) and any(
            by_support(other) and sets[number] == sets[at] for number, other in enumerate(rules)
        )
        if not any(smaller) and not twin:
            smallest.append(rule)
    return smallest
