"""Judging baskets: published groups or plain baskets, by a promise and by what they reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError
from discreet.core.verdict import Verdict
from discreet.guarantees import Guarantee, KmAnonymity, PrivacyDegree, RulesHidden
from discreet.job.checking import Measure

_MOST_KNOWN = 3
_MOST_SETS = 3e8


@dataclass(frozen=True)
class BasketJudgment:
    """The verdict on a promise, if one was named, and what the baskets reach."""

    n_baskets: int
    n_groups: int | None
    verdict: Verdict | None
    measures: tuple[Measure, ...]

    @property
    def ok(self) -> bool:
        """Whether the named promise is kept."""
        return self.verdict is None or self.verdict.ok


def judge_baskets(data: Baskets | GroupedBaskets, guarantee: Guarantee | None = None) -> BasketJudgment:
    """Judge baskets by a promise, and measure them by those that fit them."""
    if isinstance(data, GroupedBaskets):
        if not isinstance(guarantee, PrivacyDegree | None):
            raise InputError(
                "These baskets are grouped, with sensitive items apart; judge them by a privacy degree."
            )
        verdict = None if guarantee is None else guarantee.check(data)
        reached = PrivacyDegree(1).check(data)
        measures = (Measure("privacy degree, p", None, reached.relation, reached.worst),)
        return BasketJudgment(len(data), data.n_groups, verdict, measures)
    if not isinstance(guarantee, KmAnonymity | RulesHidden | None):
        raise InputError("A privacy degree is about groups of baskets, and these have none.")
    verdict = None if guarantee is None else guarantee.check(data)
    lengths = data.lengths.astype(np.float64)
    found = []
    sets = np.ones(len(data))
    for m in range(1, _MOST_KNOWN + 1):
        sets = sets * np.maximum(lengths - m + 1, 0) / m
        if m == 1 or sets.sum() <= _MOST_SETS:
            one = KmAnonymity(1, m).check(data)
            found.append(Measure(f"k^{m}-anonymity, k", None, one.relation, one.worst))
    return BasketJudgment(len(data), None, verdict, tuple(found))
