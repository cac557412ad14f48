"""Noisy counts and private choices under a budget: discrete noise by OpenDP, charged as OpenDP measures it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import InputError, InternalError

# The square root of two, rounded up: a charge may be too high and never too low.
_APART = math.nextafter(math.sqrt(2), 2)
"""How far counts of all combinations of some columns move where one record differs: one cell loses, another gains."""
_SCORE_STEPS = 16
"""Into how many steps a row is cut in scores, which are compared as whole numbers."""
_MOVED = 2 * _SCORE_STEPS + 1
"""How far a score moves where one record differs: a summed difference by two rows, and rounding by a step."""
_SLACK = 1 + 1e-9


@dataclass
class Budget:
    """A zero-concentrated budget, and what each measurement took from it."""

    rho: float
    costs: list[float] = field(default_factory=list)

    @property
    def left(self) -> float:
        """What is left."""
        return self.rho - math.fsum(self.costs)

    def count(self, counts: IntArray, sigma: float) -> FloatArray:
        """Return counts of disjoint cells with discrete Gaussian noise."""
        mechanism = _gaussian(sigma)
        self._charge(mechanism.map(_APART))
        return np.asarray(mechanism(counts.ravel().tolist()), np.float64).reshape(counts.shape)

    def choose(self, scores: Sequence[float] | FloatArray, rho: float) -> int:
        """Return the number of a score that is about the largest; no score moves by more than two rows."""
        dp = opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        measure = dp.zero_concentrated_divergence()

        def mechanism(scale: float) -> Any:
            return dp.m.make_noisy_max(*space, measure, scale=scale)

        # The cost falls with the square of the scale; the loop puts right what rounding makes too dear.
        scale = math.sqrt(mechanism(1.0).map(_MOVED) / rho)
        while mechanism(scale).map(_MOVED) > rho:
            scale *= _SLACK
        chosen = mechanism(scale)
        self._charge(chosen.map(_MOVED))
        return int(chosen([round(float(score) * _SCORE_STEPS) for score in scores]))

    def _charge(self, cost: float) -> None:
        """Take a cost before anything is drawn; more than is left, but for rounding, is a bug."""
        if cost > self.left + 1e-9 * self.rho:
            raise InternalError("A measurement would cost more than is left of the privacy budget.")
        self.costs.append(float(cost))

    @cached_property
    def per_count(self) -> float:
        """What counts with a standard deviation of 1 cost."""
        return float(_gaussian(1.0).map(_APART))

    def sigma_of(self, rho: float) -> float:
        """Return the least standard deviation of counts that cost no more than this."""
        # The cost falls with the square of the deviation, as above.
        sigma = math.sqrt(self.per_count / rho)
        while _gaussian(sigma).map(_APART) > rho:
            sigma *= _SLACK
        return sigma


def _gaussian(sigma: float) -> Any:
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=sigma)


def opendp() -> Any:
    """Return OpenDP; where it is missing, an error that says how to install it."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InputError(
            "Differentially private tables take their noise from OpenDP: pip install discreet[synthetic]"
        ) from None
    dp.enable_features("contrib")
    return dp
