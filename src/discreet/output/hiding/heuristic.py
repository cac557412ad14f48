"""Heuristic hiding: delete or add items, or leave baskets out, by a simple order of rules, baskets and items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import NONE, Constraints, EachOf, FloatIn, IntIn, OneOf, check_parameters
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.hider import Hider, Sanitized, edited
from discreet.output.hiding.problem import Problem
from discreet.output.hiding.strategies import Options, Strategy

_CONFIDENCE = ("1.a", "1.b", "wsda")


@public
@dataclass(kw_only=True, repr=False, eq=False)
class HeuristicHiding(Hider):
    """Hide rules by one of the simple published strategies.

    ================== ==============================================================================================
    strategy           what it does
    ================== ==============================================================================================
    remove_transactions leaves out whole baskets that support a rule
    1.a                lowers the confidence: adds left-hand items to baskets that hold part of the left-hand side
    1.b                lowers the confidence: deletes a right-hand item from the shortest supporting baskets
    2.a                deletes the item of the rule that fewest frequent itemsets need, from the shortest baskets
    2.b                deletes the most frequent item of the itemset from the shortest baskets
    2.c                deletes the items of the itemset in turn, from the supporting baskets as they come
    minfia, maxfia     deletes the least or the most frequent item of the itemset from the baskets in most conflicts
    iga                groups itemsets that share an item, and deletes that item
    swa                one pass over windows of baskets, each itemset with a disclosure threshold of its own
    wsda               deletes a right-hand item from the baskets that support the fewest other frequent itemsets
    ================== ==============================================================================================

    All are fast, and all lose more than `BorderHiding` and `ExactHiding`. The strategies 1.a, 1.b and wsda are for
    rules with a confidence; the others hide a rule by the support of its items.

    Parameters
    ----------
    rules
        A `RulesHidden`, or the sensitive rules.
    strategy
        One of the above.
    min_support, min_confidence, margin
        The thresholds, where no `RulesHidden` has them; see there.
    psi
        The disclosure threshold ψ of minfia, maxfia, iga and swa: the share of the supporting baskets that may stay as
        they are; for swa also one for each rule. By default as many stay as the thresholds allow, and more never do.
    window
        The number of baskets swa looks at together.
    random_state
        Seeds the order of the released baskets, and what swa draws.

    Examples
    --------
    >>> from discreet import Baskets
    >>> shop = Baskets.from_lists([["bread", "milk"], ["bread", "milk", "beer"], ["bread", "milk"], ["milk", "beer"]])
    >>> release = HeuristicHiding(["bread, milk"], min_support=3, strategy="maxfia", random_state=0).hide(shop)
    >>> sorted(release.data.lists())
    [['beer', 'bread', 'milk'], ['beer', 'milk'], ['bread'], ['bread', 'milk']]
    >>> print(release.verdict)
    RulesHidden(): verified (sensitive rules found 0, required <= 0)

    References
    ----------
    V. S. Verykios, A. K. Elmagarmid, E. Bertino, Y. Saygin, E. Dasseni: Association rule hiding. IEEE TKDE 16(4), 2004.
    S. R. M. Oliveira, O. R. Zaïane: Privacy preserving frequent itemset mining. ICDM workshop on privacy, 2002.
    S. R. M. Oliveira, O. R. Zaïane: Protecting sensitive knowledge by data sanitization. ICDM 2003.
    E. D. Pontikakis, A. A. Tsitsonis, V. S. Verykios: An experimental study of distortion-based techniques for
    association rule hiding. DBSec 2004.
    """

    strategy: Strategy = "minfia"
    psi: float | Sequence[float] | None = None
    window: int = 1000

    constraints: ClassVar[Constraints] = {
        **Hider.constraints,
        "strategy": OneOf(get_args(Strategy)),
        "psi": (FloatIn(0, 1), EachOf(FloatIn(0, 1), "a list of such numbers"), NONE),
        "window": IntIn(1),
    }

    def parameters(self) -> dict[str, object]:
        """Return the parameters that a recipe may name."""
        return {"strategy": self.strategy}

    def sanitize(self, baskets: Baskets, rng: np.random.Generator) -> Sanitized:
        """Return sanitized baskets in the order of the originals, which is for the owner and not to be published."""
        check_parameters(self)
        self._check_together()
        return super().sanitize(baskets, rng)

    def _check_together(self) -> None:
        """Refuse parameters that do not fit together."""
        if isinstance(self.psi, list | tuple):
            if self.strategy != "swa":
                raise ParameterError(
                    "Only swa takes a disclosure threshold ψ for each rule; name one number."
                )
            if len(self.psi) != len(self.guarantee.rules):
                raise ParameterError("swa takes one disclosure threshold ψ for all rules, or one for each.")
        if self.strategy in _CONFIDENCE:
            guarantee = self.guarantee
            if guarantee.min_confidence is None or not all(rule.is_rule for rule in guarantee.rules):
                raise ParameterError(
                    f"The strategy {self.strategy} lowers the confidence of rules: name rules, not itemsets, and a "
                    "min_confidence; or take a strategy that lowers supports, such as minfia."
                )

    def _sanitized(self, problem: Problem, rng: np.random.Generator) -> Sanitized:
        editing = problem.editing()
        options = Options(self._psi(problem), self.window, rng)
        strategy: Callable[[Problem, Editing, Options], None] = STRATEGIES[self.strategy]
        passes = 0
        # Hiding a rule can bring another one to light, whose left-hand
        # side became rarer; so passes go on until none is found.
        while problem.open_targets(editing):
            strategy(problem, editing, options)
            passes += 1
        return edited(editing, passes=passes)

    def _psi(self, problem: Problem) -> list[float | None]:
        """Return the disclosure threshold of every target."""
        if self.psi is None or isinstance(self.psi, int | float):
            return [self.psi] * len(problem.targets)
        by_items = dict(
            zip((frozenset(map(str, rule.items)) for rule in self.guarantee.rules), self.psi, strict=True)
        )
        names = problem.baskets.names.to_pylist()
        return [
            by_items[frozenset(str(names[int(problem.codes[at])]) for at in target.items)]
            for target in problem.targets
        ]


def _strategies() -> dict[str, Callable[[Problem, Editing, Options], None]]:
    from discreet.output.hiding import oliveira, verykios

    return {
        "remove_transactions": verykios.remove_transactions,
        "1.a": verykios.raise_left,
        "1.b": verykios.lower_right,
        "2.a": verykios.lower_least_needed,
        "2.b": verykios.lower_most_frequent,
        "2.c": verykios.lower_in_turn,
        "minfia": oliveira.minfia,
        "maxfia": oliveira.maxfia,
        "iga": oliveira.iga,
        "swa": oliveira.swa,
        "wsda": verykios.lower_least_weight,
    }


STRATEGIES = _strategies()
"""What each strategy does, by its name: one pass over the rules that are still found."""
