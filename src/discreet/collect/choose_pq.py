"""Choosing p and q: the points of a grid that protect well, estimate well and mine fast (EMASK, section 4.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from discreet.collect.mask import EMask
from discreet.core.boundary import public
from discreet.core.params import Constraint, FloatIn, IntIn, require

_REFERENCE = 0.9
"""The p = q of MASK whose error is the yardstick."""


@public
@dataclass(frozen=True)
class Choice:
    """One point of the grid, what it is worth, and which conditions it meets.

    ``basic_privacy`` is the average-support form, in percent. ``error`` is the expected relative error of an item's
    estimated support, ``error_ratio`` that over MASK's with p = q = 0.9. ``epsilon`` is the local differential privacy
    of one bit. ``growth`` is the number of entries of a distorted basket for each true one.
    """

    p: float
    q: float
    basic_privacy: float
    error: float
    error_ratio: float
    epsilon: float
    growth: float
    private: bool
    accurate: bool
    fast: bool

    @property
    def good(self) -> bool:
        """Whether the point meets every condition."""
        return self.private and self.accurate and self.fast

    def channel(self) -> EMask:
        """Return the channel of this point."""
        return EMask(self.p, self.q)


@public
@dataclass(frozen=True)
class Choices:
    """Every point of the grid, and the requirements."""

    points: tuple[Choice, ...]
    support: float
    n_baskets: int
    at_least: float
    tolerance: float
    above_q: float

    @property
    def good(self) -> tuple[Choice, ...]:
        """The points that meet every condition, the most private first."""
        return tuple(
            sorted((point for point in self.points if point.good), key=lambda point: -point.basic_privacy)
        )

    def table(self, *, every: bool = False) -> pa.Table:
        """Return the good points as an Arrow table, or every point."""
        points = self.points if every else self.good
        names = [field for field in Choice.__dataclass_fields__ if every or field not in _CONDITIONS]
        return pa.table({name: [getattr(point, name) for point in points] for name in names})


_CONDITIONS = ("private", "accurate", "fast")
_CONSTRAINTS: dict[str, Constraint] = {
    "support": FloatIn(0, 1, closed="neither"),
    "n_baskets": IntIn(1),
    "at_least": FloatIn(0, 100),
    "tolerance": FloatIn(0),
    "above_q": FloatIn(0, 1),
    "p_step": FloatIn(0.001, 0.5),
    "q_step": FloatIn(0.001, 0.5),
}


@public
def choose_pq(
    support: float,
    n_baskets: int,
    *,
    at_least: float = 90.0,
    tolerance: float = 0.0,
    above_q: float = 0.95,
    p_step: float = 0.1,
    q_step: float = 0.01,
) -> Choices:
    """Find the p and q that protect well, estimate well and keep the distorted baskets short.

    Parameters
    ----------
    support
        The average support of an item: the mean share of baskets that hold it, from a sample.
    n_baskets
        The number of baskets that will be collected.
    at_least
        The least basic privacy in percent, in its average-support form.
    tolerance
        By how much the expected error may exceed that of MASK with p = q = 0.9, as a share of it. The paper's own
        shortlists need 0.05.
    above_q
        q must be larger than this: false items make baskets long and mining slow.
    p_step, q_step
        The steps of the grid.

    Examples
    --------
    >>> [(one.p, one.q) for one in choose_pq(0.01, 1_000_000).good]
    [(0.6, 0.96)]
    >>> [(one.p, one.q) for one in choose_pq(0.01, 1_000_000, tolerance=0.05).good]
    [(0.4, 0.98), (0.5, 0.97), (0.3, 0.99), (0.6, 0.96)]
    """
    required = (support, n_baskets, at_least, tolerance, above_q, p_step, q_step)
    for (name, constraint), value in zip(_CONSTRAINTS.items(), required, strict=True):
        require("choose_pq", name, value, constraint)
    choices = Choices((), support, n_baskets, at_least, tolerance, above_q)
    points = tuple(
        point_of(p, q, choices)
        for p in _steps(p_step)
        for q in _steps(q_step)
        if not math.isclose(p + q, 1, abs_tol=1e-9)
    )
    return replace(choices, points=points)


def point_of(p: float, q: float, required: Choices) -> Choice:
    """Return what p and q are worth, and which of the requirements they meet."""
    channel = EMask(p, q)
    s = required.support
    privacy = channel.average_basic_privacy(s)
    error = channel.expected_error(s, required.n_baskets)
    ratio = error / EMask(_REFERENCE, _REFERENCE).expected_error(s, required.n_baskets)
    return Choice(
        p=p,
        q=q,
        basic_privacy=privacy,
        error=error,
        error_ratio=ratio,
        epsilon=channel.epsilon,
        # For each true entry there are (1 − s) / s missing ones, of which 1 − q are reported.
        growth=p + (1 - s) / s * (1 - q),
        private=privacy >= required.at_least,
        accurate=ratio <= 1 + required.tolerance,
        fast=q > required.above_q + 1e-9,
    )


def _steps(step: float) -> list[float]:
    """Return the multiples of a step between 0 and 1, without the ends."""
    inner = np.arange(1, round(1 / step + 1e-9) + 1) * step
    return [round(float(step_end), 10) for step_end in inner if step_end < 1 - 1e-9]
