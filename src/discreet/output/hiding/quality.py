"""How well rules were hidden, and at what cost: hiding failure, lost and ghost itemsets and rules, dissimilarity."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.sensitive_rules import SensitiveRule
from discreet.core.boundary import public
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.guarantees import RulesHidden
from discreet.mine import FoundItemsets, Itemsets, rules
from discreet.output.hiding.blocking import Blocking, certain

Names = frozenset[str]


@public
@dataclass(frozen=True)
class HidingQuality:
    """What hiding achieved and what it cost.

    Attributes
    ----------
    hiding_failure
        The share of the sensitive rules found in the original that are still found; 0 where none was found.
    lost_itemsets, lost_rules
        How many other itemsets and rules are no longer found (misses).
    ghost_itemsets, ghost_rules
        How many are found that were not found in the original.
    n_itemsets, n_rules
        How many other itemsets and rules the original has. Rules are counted where there is a min_confidence.
    dissimilarity
        The sum of the changes of all items' counts, over the sum of the counts.
    support_error
        The mean relative error of the supports, as shares, of the other itemsets that are still found; 0 where none is.
    changed_baskets, changed_cells
        How many baskets and entries changed. None where the order of the baskets does not say.
    """

    hiding_failure: float
    lost_itemsets: int
    ghost_itemsets: int
    n_itemsets: int
    lost_rules: int
    ghost_rules: int
    n_rules: int
    dissimilarity: float
    support_error: float
    changed_baskets: int | None
    changed_cells: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


@public
def hiding_quality(original: Baskets, sanitized: Baskets | Release, guarantee: RulesHidden) -> HidingQuality:
    """Compare sanitized baskets with the originals; both are mined at the thresholds of the promise.

    Itemsets that hold a sensitive itemset are sensitive too, and neither lost nor kept. So are rules made of them, and
    the sensitive rules themselves. What is published as unknown is not held.

    Parameters
    ----------
    original
        The baskets as they were.
    sanitized
        A release, or baskets in the order of the originals.
    guarantee
        The sensitive rules and the thresholds.

    Examples
    --------
    >>> before = Baskets.from_lists([["a", "b"], ["a", "b"], ["a", "c"], ["b", "c"]])
    >>> after = Baskets.from_lists([["a", "b"], ["a"], ["a", "c"], ["b", "c"]])
    >>> found = hiding_quality(before, after, RulesHidden(["a, b"], min_support=2))
    >>> found.hiding_failure, found.lost_itemsets, found.ghost_itemsets, found.dissimilarity
    (0.0, 0, 0, 0.125)
    """
    require("hiding_quality", "original", original, InstanceOf((Baskets,), "Baskets"))
    kinds = InstanceOf((Baskets, Release), "Baskets or a release of them")
    require("hiding_quality", "sanitized", sanitized, kinds)
    require("hiding_quality", "guarantee", guarantee, InstanceOf((RulesHidden,), "a RulesHidden"))
    after = released_baskets(sanitized)
    mined = [Itemsets(guarantee.min_support).mine(itemset) for itemset in (original, after)]
    sets = [_supports(itemset) for itemset in mined]
    sensitive = [
        frozenset(map(str, itemset.items)) for itemset in guarantee.rules if by_support(itemset, guarantee)
    ]
    # What holds a sensitive itemset has to go, and is no loss.
    others = {
        itemset: share
        for itemset, share in sets[0].items()
        if not any(secret <= itemset for secret in sensitive)
    }
    common = others.keys() & sets[1].keys()
    errors = [abs(sets[1][itemset] - others[itemset]) / others[itemset] for itemset in common]
    lost_rules, ghost_rules, n_rules = _rules(mined, guarantee, sensitive)
    changed = _changes(original, sanitized)
    return HidingQuality(
        hiding_failure=_failure(original, after, guarantee),
        lost_itemsets=len(others) - len(common),
        ghost_itemsets=len(sets[1].keys() - sets[0].keys()),
        n_itemsets=len(others),
        lost_rules=lost_rules,
        ghost_rules=ghost_rules,
        n_rules=n_rules,
        dissimilarity=_dissimilarity(original, after),
        support_error=math.fsum(errors) / len(errors) if errors else 0.0,
        changed_baskets=changed[0],
        changed_cells=changed[1],
    )


def released_baskets(sanitized: Baskets | Release) -> Baskets:
    """Return the baskets of a release as far as they are certain, or baskets as they are."""
    if isinstance(sanitized, Baskets):
        return sanitized
    data: Any = sanitized.data
    require("hiding_quality", "sanitized", data, InstanceOf((Baskets,), "a release of plain baskets"))
    blocked = sanitized.recipe.get("method") == Blocking.__name__
    return certain(data) if blocked else data


def by_support(rule: SensitiveRule, guarantee: RulesHidden) -> bool:
    """Whether a rule is hidden by its support alone, so that larger itemsets are hidden with it."""
    return not rule.is_rule or guarantee.min_confidence is None


def _supports(itemsets: FoundItemsets) -> dict[Names, float]:
    names = [str(name) for name in itemsets.names.to_pylist()]
    codes, bounds, n = itemsets.codes.tolist(), itemsets.indptr.tolist(), max(itemsets.n, 1)
    return {
        frozenset(names[code] for code in codes[start:stop]): count / n
        for start, stop, count in zip(bounds, bounds[1:], itemsets.counts.tolist(), strict=False)
    }


def _failure(original: Baskets, after: Baskets, guarantee: RulesHidden) -> float:
    before = guarantee.found(original)
    return len(set(guarantee.found(after)) & set(before)) / len(before) if before else 0.0


def _rules(
    mined: list[FoundItemsets], guarantee: RulesHidden, sensitive: Iterable[Names]
) -> tuple[int, int, int]:
    """Count lost and ghost rules, and the rules that should stay."""
    if guarantee.min_confidence is None:
        return 0, 0, 0
    named = {(frozenset(map(str, rule.lhs)), frozenset(map(str, rule.rhs))) for rule in guarantee.rules}
    sides = [_sides(rule, guarantee.min_confidence) for rule in mined]
    others = {
        rule for rule in sides[0] - named if not any(secret <= rule[0] | rule[1] for secret in sensitive)
    }
    return len(others - sides[1]), len(sides[1] - sides[0]), len(others)


def _sides(itemsets: FoundItemsets, min_confidence: float) -> set[tuple[Names, Names]]:
    if not len(itemsets) or int(itemsets.lengths.max()) < 2:
        return set()
    table = rules(itemsets, metric="confidence", min_threshold=min_confidence)
    columns = (table["antecedents"].to_pylist(), table["consequents"].to_pylist())
    return {
        (frozenset(map(str, left)), frozenset(map(str, right))) for left, right in zip(*columns, strict=True)
    }


def _dissimilarity(original: Baskets, after: Baskets) -> float:
    before = dict(zip(map(str, original.names.to_pylist()), original.counts.tolist(), strict=True))
    now = dict(zip(map(str, after.names.to_pylist()), after.counts.tolist(), strict=True))
    off = sum(abs(now.get(name, 0) - before.get(name, 0)) for name in before.keys() | now.keys())
    return float(off / max(sum(before.values()), 1))


def _changes(original: Baskets, sanitized: Baskets | Release) -> tuple[int | None, int | None]:
    if isinstance(sanitized, Release):
        details: dict[str, Any] = dict(sanitized.evidence.details)
        cells = [details.get(name) for name in ("removed_items", "added_items")]
        counts = [int(basket) for basket in cells if basket is not None]
        return details.get("changed_baskets"), sum(counts) if counts else None
    if len(original) != len(sanitized):
        return None, None
    pairs = zip(original.lists(), sanitized.lists(), strict=True)
    off = np.array([len({*map(str, basket)} ^ {*map(str, two)}) for basket, two in pairs], np.int64)
    return int(np.count_nonzero(off)), int(off.sum())
