"""Minimality: whether sensitive values decided how rows were grouped, which the groups then reveal (Wong et al. 2007).

A publisher that makes groups as fine as a guarantee about sensitive values allows reveals something by each group that
it did not make finer. Where it would have made the same groups by their sizes alone, every assignment of sensitive
values to people that agrees with the groups has the same release, so that a person has a value with the probability
that the group shows, and no other.

R. Wong, A. Fu, K. Wang, J. Pei: Minimality attack in privacy preserving data publishing. VLDB 2007.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TypeVar

from discreet.core.errors import InfeasibleError
from discreet.core.guarantee import AllOf
from discreet.guarantees import Guarantee, KAnonymity

MINIMALITY = "minimality"
"""The detail of the evidence that says whether sensitive values decided."""

Chooser = TypeVar("Chooser")
Choice = TypeVar("Choice")


def blind(guarantee: Guarantee, sensitive: Sequence[str]) -> Guarantee:
    """Return what a guarantee demands of classes whatever their sensitive values are.

    >>> from discreet.guarantees import AlphaKAnonymity, KAnonymity
    >>> blind(KAnonymity(2) & AlphaKAnonymity(0.5, 3), ["disease"])
    KAnonymity(k=2) & KAnonymity(k=3)
    """
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    unseeing = [part for part in parts if not part.judged_values(sensitive)]
    return AllOf((*unseeing, KAnonymity(max(guarantee.smallest, 1))))


def decided_by_values(
    chooser: Chooser, sensitive: Sequence[str], choice: Choice, choose: Callable[[Chooser], Choice]
) -> bool:
    """Return whether a chooser with a guarantee would choose otherwise if it did not look at sensitive values."""
    guarantee: Guarantee = chooser.guarantee  # type: ignore[attr-defined]
    if not guarantee.judged_values(sensitive):
        return False
    twin = copy.copy(chooser)
    twin.guarantee = blind(guarantee, sensitive)  # type: ignore[attr-defined]
    try:
        return choose(twin) != choice
    except InfeasibleError:
        return True
