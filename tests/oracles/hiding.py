"""Slow definitions of hiding: rules by looking at every basket, side effects by every subset, the best deletions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, combinations

from tests.oracles import itemsets as oracles_itemsets

Rows = Sequence[frozenset[str]]
Rule = tuple[frozenset[str], frozenset[str]]


def support(rows: Rows, items: Iterable[str]) -> int:
    wanted = frozenset(items)
    return sum(wanted <= row for row in rows)


def is_found(rows: Rows, rule: Rule, min_support: int, min_confidence: str | None) -> bool:
    """Whether a rule reaches both thresholds; an itemset has no right-hand side and no confidence."""
    both = support(rows, rule[0] | rule[1])
    if both < min_support:
        return False
    if not rule[1] or min_confidence is None:
        return True
    return Fraction(both, support(rows, rule[0])) >= Fraction(min_confidence)


def frequent(rows: Rows, min_support: int) -> dict[frozenset[str], int]:
    return oracles_itemsets.frequent(rows, min_support)  # type: ignore[arg-type,return-value]


def rules(rows: Rows, min_support: int, min_confidence: str) -> set[Rule]:
    found = set()
    for items in frequent(rows, min_support):
        for size in range(1, len(items)):
            for left in map(frozenset, combinations(sorted(items), size)):
                if is_found(rows, (left, items - left), min_support, min_confidence):
                    found.add((left, items - left))
    return found


def others(rows: Rows, secrets: Iterable[frozenset[str]], min_support: int) -> set[frozenset[str]]:
    """The frequent itemsets that hold no sensitive one."""
    hidden = list(secrets)
    return {items for items in frequent(rows, min_support) if not any(one <= items for one in hidden)}


def best(
    rows: Rows, sensitive: Sequence[Rule], min_support: int, min_confidence: str | None
) -> tuple[int, int]:
    """The fewest itemsets that any deletions lose, and the fewest deletions that lose no more; by trying them all."""
    secrets = [left | right for left, right in sensitive if not right or min_confidence is None]
    keep = others(rows, secrets, min_support)
    items = frozenset(chain.from_iterable(left | right for left, right in sensitive))
    cells = [(at, item) for at, row in enumerate(rows) for item in sorted(row & items)]
    found = None
    for size in range(len(cells) + 1):
        for chosen in combinations(cells, size):
            after = [row - {item for where, item in chosen if where == at} for at, row in enumerate(rows)]
            if any(is_found(after, one, min_support, min_confidence) for one in sensitive):
                continue
            lost = len(keep - frequent(after, min_support).keys())
            found = min(found, (lost, size)) if found else (lost, size)
    assert found is not None
    return found
