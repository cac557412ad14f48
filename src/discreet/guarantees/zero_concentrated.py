"""Zero-concentrated differential privacy (Bun & Steinke 2016): costs that add up, and the (epsilon, delta) they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ORDERS = 1 + np.logspace(-6, 9, 1_501)
"""The orders that are tried. Each of them proves an epsilon, so that a coarse grid is only a little high."""
_STEPS = 60


@dataclass(frozen=True)
class SpentBudget:
    """What a release has cost: the zero-concentrated cost (rho) of each measurement, and the delta of the promise."""

    costs: Sequence[float]
    delta: float
    condition: None = None

    def privacy_loss(self) -> tuple[float, float]:
        """Return the epsilon and the delta of all measurements together; costs are rounded up as they are added."""
        rho = math.nextafter(math.fsum(self.costs), math.inf) if self.costs else 0.0
        return epsilon_of(rho, self.delta), self.delta if rho else 0.0


def epsilon_of(rho: float, delta: float) -> float:
    """Return the epsilon that rho-zCDP promises with a delta (Canonne, Kamath and Steinke 2020, proposition 12).

    It is the least of a rho + ln((a - 1)/a) - ln(delta a)/(a - 1) over the orders a above 1.

    >>> 0 < epsilon_of(0.01, 1e-9) < 0.01 + 2 * math.sqrt(0.01 * math.log(1e9))
    True
    """
    if rho <= 0:
        return 0.0
    if delta <= 0:
        return math.inf
    beyond = _ORDERS - 1
    bounds = _ORDERS * rho + np.log1p(-1 / _ORDERS) - (math.log(delta) + np.log(_ORDERS)) / beyond
    return max(float(bounds.min()), 0.0)


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest cost, but for rounding, whose epsilon at a delta is no more than this one.

    >>> rho = rho_of(1.0, 1e-9)
    >>> epsilon_of(rho, 1e-9) <= 1.0 < epsilon_of(rho * 1.001, 1e-9)
    True
    """
    low, high = 0.0, max(epsilon, 1.0)
    while epsilon_of(high, delta) <= epsilon:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle, delta) <= epsilon else (low, middle)
    return low
