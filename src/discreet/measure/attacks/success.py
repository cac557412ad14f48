"""How often an attack is right, beside people who are not in the data and beside guessing; with intervals."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from discreet.core.boundary import public

_Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95 %."""


@public
@dataclass(frozen=True)
class Rate:
    """How many of some attempts were right, with the interval of Wilson that holds the true rate with 95 %.

    Examples
    --------
    >>> rate = Rate.of(8, 10)
    >>> round(rate.share, 2), round(rate.low, 2), round(rate.high, 2)
    (0.8, 0.49, 0.94)
    """

    n_right: int
    n_attempts: int
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, n_right: int, n_attempts: int) -> Rate:
        """Return the rate; without attempts nothing is known, and the interval is all there is."""
        if n_attempts == 0:
            return cls(0, 0, 0.0, 0.0, 1.0)
        share = n_right / n_attempts
        spread = _Z**2 / n_attempts
        middle = (share + spread / 2) / (1 + spread)
        half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
        return cls(n_right, n_attempts, share, max(middle - half, 0.0), min(middle + half, 1.0))

    def to_dict(self) -> dict[str, object]:
        """Return the rate as plain data for JSON."""
        return asdict(self)


@public
@dataclass(frozen=True)
class AttackSuccess:
    """How often an attack is right, and how much of that is due to people being in the data.

    Attributes
    ----------
    name
        The attack.
    rate
        How often it is right about people who are in the data.
    control
        How often it is right about people who are not, where there is a control group: what it learns of anybody.
    baseline
        How often guessing without the release is right.
    risk, low, high
        What the release adds for those in it: (rate - c) / (1 - c), where c is the rate of the control group, or the
        baseline without one; never below 0. The interval holds it with 95 %.
    """

    name: str
    rate: Rate
    control: Rate | None
    baseline: float
    risk: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, rate: Rate, control: Rate | None, baseline: float) -> AttackSuccess:
        """Compare an attack with its control group, or with guessing.

        The errors of the two rates propagate as if they were independent, which they are: no person is in both.

        >>> AttackSuccess.of("inference", Rate.of(75, 100), Rate.of(50, 100), 0.4).risk
        0.5
        """
        usual = baseline if control is None else control.share
        if usual >= 1:
            return cls(name, rate, control, baseline, 0.0, 0.0, 1.0)
        risk = (rate.share - usual) / (1 - usual)
        # The derivative of (rate - c) / (1 - c) in c, by size.
        slope = (1 - rate.share) / (1 - usual) ** 2
        above, below = (rate.high - rate.share) / (1 - usual), (rate.share - rate.low) / (1 - usual)
        if control is not None:
            above = math.hypot(above, slope * (control.share - control.low))
            below = math.hypot(below, slope * (control.high - control.share))
        return cls(name, rate, control, baseline, _within(risk), _within(risk - below), _within(risk + above))

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)
