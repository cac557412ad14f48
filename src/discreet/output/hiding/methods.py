"""Hiders by their names in the registry, and how they compare on the same baskets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import DiscreetError
from discreet.core.params import unknown
from discreet.core.registry import methods as registered
from discreet.core.rng import RandomState
from discreet.guarantees import RulesHidden
from discreet.output.hiding.blocking import certain
from discreet.output.hiding.hider import Hider
from discreet.output.hiding.quality import HidingQuality, hiding_quality


@public
def hider_of(
    method: str, guarantee: RulesHidden, *, random_state: RandomState = None, **options: Any
) -> Hider:
    """Return the hider of a name; options that are None, or that the method has no use for, are left out.

    >>> hider_of("bba", RulesHidden(["a, b"], 2), time_limit=30).method
    'bba'
    """
    methods_by_name = {entry.name: entry for entry in registered(role="hider")}
    if method not in methods_by_name:
        raise unknown("hider_of", "method", method, methods_by_name)
    usable = methods_by_name[method].options()
    more = {name: value for name, value in options.items() if value is not None and name in usable}
    hider: Hider = methods_by_name[method].make(guarantee, random_state=random_state, **more)
    return hider


@public
@dataclass(frozen=True)
class Compared:
    """What one method came to: its quality and processor seconds, or why it could not.

    ``solved`` tells whether a program had a solution of its own in time; where not, the quality is that of the
    border-based deletions that were taken instead.
    """

    method: str
    quality: HidingQuality | None
    seconds: float
    problem: str | None = None
    solved: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        quality = {} if self.quality is None else self.quality.to_dict()
        return {
            "method": self.method,
            "seconds": self.seconds,
            "problem": self.problem,
            "solved": self.solved,
            **quality,
        }


@public
def compare_methods(
    baskets: Baskets,
    guarantee: RulesHidden,
    *,
    methods: Iterable[str] | None = None,
    time_limit: float | None = 30.0,
    random_state: RandomState = 0,
    progress: Callable[[str], None] | None = None,
) -> list[Compared]:
    """Hide the same rules by several methods, all by default, and measure what each costs.

    A method that cannot hide them, or not in this way, is there with the reason.

    Examples
    --------
    >>> bought = Baskets.from_lists([list("abc")] * 3 + [list("ab"), list("ac")])
    >>> found = compare_methods(bought, RulesHidden(["a, b"], 3), methods=["exact", "maxfia", "1.a"])
    >>> [(one.method, one.quality and one.quality.lost_itemsets) for one in found]
    [('exact', 0), ('maxfia', 0), ('1.a', None)]
    """
    results = []
    named = [method.name for method in registered(role="hider")] if methods is None else methods
    for method in named:
        if progress is not None:
            progress(method)
        began = time.process_time()
        try:
            hider = hider_of(method, guarantee, random_state=random_state, time_limit=time_limit)
            sanitized = hider.sanitize(baskets, np.random.default_rng(0))
        except DiscreetError as error:
            results.append(Compared(method, None, math.nan, str(error)))
            continue
        seconds = time.process_time() - began
        after = certain(sanitized.baskets) if method == "blocking" else sanitized.baskets
        solved = bool(sanitized.details.get("solved", True))
        results.append(Compared(method, hiding_quality(baskets, after, guarantee), seconds, solved=solved))
    return results
