"""Hidden rules: no sensitive rule is found in the released data at its thresholds, nor a margin below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.row_items import RowItems
from discreet.core.baskets.sensitive_rules import SensitiveRule, code_of, codes_by_name, sensitive_rules
from discreet.core.baskets.supports import Support, least_count
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.guarantee import Guarantee, Relation
from discreet.core.params import NONE, Constraints, FloatIn, InstanceOf, require
from discreet.core.tables.groups import Groups
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict


@public
@dataclass(frozen=True, repr=False)
class RulesHidden(Guarantee):
    """No sensitive rule or itemset is found in the released data.

    A rule ``lhs => rhs`` is found where at least ``min_support`` of the baskets hold both sides, and at least
    ``min_confidence`` of those with the left-hand side; an itemset where at least ``min_support`` hold it. With a
    margin both thresholds are lowered by that share of themselves, so that somebody who mines a little below them does
    not meet the sensitive rules all at once. Judged by counting in the released data alone. An item that no released
    basket holds is in no basket, and an entry that is published as unknown is not held.

    Neither the text of the guarantee nor a verdict names a rule, a threshold or a support: the highest support of a
    sensitive rule would point at it.

    Parameters
    ----------
    rules
        The sensitive rules and itemsets, as `SensitiveRule.of` takes them.
    min_support
        The least support at which somebody may mine: an int is a number of baskets, a float a share of them.
    min_confidence
        The least confidence of rules. Without it a rule is judged by its support alone.
    margin
        How far below the thresholds the rules must be hidden too, as a share of the thresholds.
    reading
        How the rows of a table are read as baskets of ``column=value`` items, where a table is judged.

    Examples
    --------
    >>> shop = Baskets.from_lists([["diapers", "beer"], ["diapers", "beer"], ["diapers"], ["milk"]])
    >>> print(RulesHidden(["diapers => beer"], min_support=0.5, min_confidence=0.6).check(shop))
    RulesHidden(): broken (sensitive rules found 1, required <= 0)
    >>> RulesHidden(["diapers => beer"], min_support=0.5, min_confidence=0.7).check(shop).ok
    True
    """

    rules: Any = field(repr=False)
    min_support: float
    min_confidence: float | None = None
    margin: float = 0.0
    reading: RowItems = field(default_factory=RowItems, compare=False)

    relation: ClassVar[Relation] = "<="
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "sensitive rules found"

    constraints: ClassVar[Constraints] = {
        "min_support": Support(),
        "min_confidence": (FloatIn(0, 1, closed="right"), NONE),
        "margin": FloatIn(0, 1, closed="left"),
        "reading": InstanceOf((RowItems,), "how rows are read as baskets"),
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", sensitive_rules(self.rules))
        if isinstance(self.reading, Mapping):
            object.__setattr__(self, "reading", RowItems(**self.reading))
        super().__post_init__()

    def renamed(self, name_of: Callable[[Any], Any]) -> RulesHidden:
        """Return the same guarantee about data whose items have other names."""
        rules = (
            SensitiveRule(*(tuple(map(name_of, side)) for side in (rule.lhs, rule.rhs)))
            for rule in self.rules
        )
        return replace(self, rules=tuple(rules))

    @property
    def bound(self) -> float:
        """No rule may be found."""
        return 0.0

    @property
    def least_confidence(self) -> Fraction | None:
        """The confidence below which a rule is hidden, the margin taken off, exactly as written."""
        if self.min_confidence is None:
            return None
        return Fraction(str(self.min_confidence)) * (1 - Fraction(str(self.margin)))

    def least_support(self, n: int) -> int:
        """Return the number of n baskets below which a rule is hidden, the margin taken off."""
        return least_count(self.min_support, n, margin=self.margin)

    def hides(self, count: int, lhs_count: int, *, n: int, is_rule: bool = True) -> bool:
        """Whether a rule with these counts in n baskets is not found."""
        if count < self.least_support(n):
            return True
        least = self.least_confidence
        # In whole numbers: a confidence at the threshold is exactly that.
        return is_rule and least is not None and count * least.denominator < least.numerator * lhs_count

    def counts(self, data: Baskets | ItemBits) -> list[tuple[int, int]]:
        """Return, for every rule, how many baskets hold both sides and how many hold the left-hand side."""
        from discreet.kernels.itemsets.bits import counts_of

        names = codes_by_name(data.names)
        sides = [
            [[code_of(names, name) for name in side] for side in (rule.items, rule.lhs)]
            for rule in self.rules
        ]
        used = sorted({code for pair in sides for side in pair for code in side if code >= 0})
        columns = np.array(used, np.int32)
        blocks = (data.bits(items=columns) if isinstance(data, Baskets) else data.take(columns)).blocks
        position = {code: at for at, code in enumerate(used)}

        def count(side: list[int]) -> int:
            if min(side) < 0 or not len(data):
                return 0
            both = np.bitwise_and.reduce(blocks[:, [position[code] for code in side]], axis=1, keepdims=True)
            return int(counts_of(np.ascontiguousarray(both))[0])

        return [(count(both), count(left)) for both, left in sides]

    def found(self, subject: Any) -> list[SensitiveRule]:
        """Return the rules that are found; for the owner's eyes alone."""
        data = self._baskets(subject)
        return [
            rule
            for rule, (both, left) in zip(self.rules, self.counts(data), strict=True)
            if not self.hides(both, left, n=len(data), is_rule=rule.is_rule)
        ]

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge baskets, a release of them, or a table whose rows are read as baskets."""
        del suppressed
        n_found = len(self.found(subject))
        return self._found(ok=n_found == 0, worst=float(n_found))

    def measure(self, groups: Groups) -> NoReturn:
        """Refuse: items are not in the classes of a table."""
        del groups
        raise ParameterError(
            "RulesHidden is a guarantee about whole baskets or rows; classes cannot be judged by it."
        )

    def describe(self) -> str:
        """Say the guarantee in one plain sentence."""
        return "Whoever mines the released data finds none of the rules that its owner wants hidden."

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as plain data; the rules and the thresholds are the owner's and not in it."""
        return {"guarantee": type(self).__name__}

    def to_private_dict(self) -> dict[str, object]:
        """Return the whole guarantee as plain data, for the owner alone; `guarantee_from_dict` reads it."""
        return {
            **self.to_dict(),
            "rules": [
                [list(rule.lhs), list(rule.rhs)] if rule.is_rule else list(rule.lhs) for rule in self.rules
            ],
            "min_support": self.min_support,
            "min_confidence": self.min_confidence,
            "margin": self.margin,
            "reading": self.reading.to_dict(),
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _baskets(self, subject: Any) -> Baskets | ItemBits:
        """Return the baskets of a release or a table, or baskets as they are."""
        data = getattr(subject, "table", getattr(subject, "data", subject))
        if isinstance(data, Table):
            return self.reading.baskets(data)
        kinds = InstanceOf((Baskets, ItemBits), "Baskets, ItemBits, a Table, or a release of them")
        require(self, "subject", data, kinds)
        baskets: Baskets | ItemBits = data
        return baskets
