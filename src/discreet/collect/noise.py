"""Noise: public distributions that hide a number, each with what reconstruction needs to undo it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from discreet.collect.secure_random import Chance
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public, reads
from discreet.core.params import POSITIVE, Constraints, FloatIn, OneOf, check_parameters, require

GRID_BITS = 16
"""How many bits finer than the noise's spread perturbed values are; finer ones would leak the true value."""
MOST_STEPS = 2.0**52
"""How many steps of the grid a number may be from zero, so that a sum with noise is never rounded."""
_FEWEST_STEPS = 2.0**GRID_BITS
_DRAWN = 2.0**-26
"""What the rounding of floating-point draws can add to an ε: each chance is right to one part in 2^28."""

Kind = TypeVar("Kind", bound="Noise")

_SPREAD = FloatIn(1e-150, 1e150)


@public
class Noise(ABC):
    """A public distribution around zero.

    Drawn noise is a multiple of ``grid``, a power of two far below the spread: the low bits of a floating-point sum
    would otherwise reveal which numbers were added.
    """

    name: ClassVar[str]
    constraints: ClassVar[Constraints] = {}
    unit_precision: ClassVar[float]
    """One over the variance of the noise of spread 1."""
    unit_volume: ClassVar[float]
    """Two to the entropy of the noise of spread 1; entropy grows by the logarithm of the spread."""

    def __post_init__(self) -> None:
        """Check the parameters, and keep them as plain numbers."""
        check_parameters(self)
        for name in self.constraints:
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def spread(self) -> float:
        """The one number that determines the width of the noise: its half width, standard deviation or scale."""
        width: float = getattr(self, next(iter(self.constraints)))
        return width

    @property
    def variance(self) -> float:
        """The variance."""
        return self.spread**2 / self.unit_precision

    @property
    def entropy(self) -> float:
        """The differential entropy, in bits."""
        return math.log2(self.unit_volume * self.spread)

    @abstractmethod
    def pdf(self, at: FloatArray) -> FloatArray:
        """Return the density."""

    @abstractmethod
    def cdf(self, at: FloatArray) -> FloatArray:
        """Return the probability of a value up to ``at``."""

    @abstractmethod
    def area(self, at: FloatArray) -> FloatArray:
        """Return the integral of ``cdf`` from minus infinity, which is what averages over an interval need."""

    @abstractmethod
    def characteristic(self, at: FloatArray) -> FloatArray:
        """Return the characteristic function: what the noise leaves of a wave of each frequency."""

    @abstractmethod
    def log_density(self, away: FloatArray) -> FloatArray:
        """Return the logarithm of the density, up to a constant; rounding to the grid counts as reached."""

    @abstractmethod
    def width(self, confidence: float = 0.95) -> float:
        """Return the width of the shortest confidence interval of the true value around a noisy one."""

    @abstractmethod
    def draw(self, size: int, chance: Chance) -> FloatArray:
        """Draw noise, in multiples of the grid."""

    @property
    def grid(self) -> float:
        """The power of two that all noise is a multiple of."""
        return math.ldexp(1.0, math.floor(math.log2(self.spread)) - GRID_BITS)

    def epsilon(self, span: float) -> float:
        """Return the local differential privacy of a value that lies within ``span``; infinite where there is none."""
        del span
        return math.inf

    @property
    def reach(self) -> float:
        """How far the noise carries a value, all but one in a thousand million."""
        return self.width(1 - 1e-9) / 2

    @classmethod
    def for_privacy(
        cls: type[Kind], privacy: float, *, low: float, high: float, confidence: float = 0.95
    ) -> Kind:
        """Choose the noise whose confidence interval is ``privacy`` times as wide as the range of the values.

        Examples
        --------
        >>> Uniform.for_privacy(1.0, low=0, high=95)
        Uniform(half_width=50.0)
        """
        require(cls.__name__, "privacy", privacy, POSITIVE)
        require(cls.__name__, "low", low, FloatIn())
        require(cls.__name__, "high", high, FloatIn(low, closed="neither"))
        require(cls.__name__, "confidence", confidence, FloatIn(0, 1, closed="neither"))
        return cls(privacy * (high - low) / cls(1.0).width(confidence))  # type: ignore[call-arg]

    def to_dict(self) -> dict[str, Any]:
        """Return the noise as plain data; ``noise_from_dict`` reads it."""
        return {"noise": self.name, "spread": self.spread}

    def _on_grid(self, drawn: FloatArray) -> FloatArray:
        return np.rint(drawn / self.grid) * self.grid


@public
@dataclass(frozen=True)
class Uniform(Noise):
    """Noise spread evenly over [−half_width, half_width].

    It bounds what a noisy value reveals, but values near the ends of the range may be distinguished for sure, so it has
    no finite ε.
    """

    half_width: float

    constraints: ClassVar[Constraints] = {"half_width": _SPREAD}
    name: ClassVar[str] = "uniform"
    unit_precision: ClassVar[float] = 3
    unit_volume: ClassVar[float] = 2

    def pdf(self, at: FloatArray) -> FloatArray:
        """Return the density."""
        return np.where(np.abs(at) <= self.half_width, 0.5 / self.half_width, 0.0)

    def cdf(self, at: FloatArray) -> FloatArray:
        """Return the probability of a value up to ``at``."""
        return np.clip((at + self.half_width) / (2 * self.half_width), 0.0, 1.0)

    def area(self, at: FloatArray) -> FloatArray:
        """Return the integral of ``cdf``."""
        inside = np.clip(at + self.half_width, 0.0, 2 * self.half_width)
        return np.asarray(inside**2 / (4 * self.half_width) + np.maximum(at - self.half_width, 0.0))

    def characteristic(self, at: FloatArray) -> FloatArray:
        """Return the characteristic function."""
        return np.sinc(at * self.half_width / np.pi)

    def log_density(self, away: FloatArray) -> FloatArray:
        """Return 0 within the half width, and minus infinity beyond."""
        return np.where(np.abs(away) <= self.half_width + self.grid, 0.0, -np.inf)

    def width(self, confidence: float = 0.95) -> float:
        """Return the width of the confidence interval."""
        return 2 * self.half_width * confidence

    def draw(self, size: int, chance: Chance) -> FloatArray:
        """Draw noise, in multiples of the grid."""
        return self._on_grid((2 * chance.uniform(size) - 1) * self.half_width)


@public
@dataclass(frozen=True)
class Gaussian(Noise):
    """Normal noise with standard deviation ``sd``; it has no finite ε, since far tails reveal too much."""

    sd: float

    constraints: ClassVar[Constraints] = {"sd": _SPREAD}
    name: ClassVar[str] = "gaussian"
    unit_precision: ClassVar[float] = 1
    unit_volume: ClassVar[float] = math.sqrt(2 * math.pi * math.e)

    def pdf(self, at: FloatArray) -> FloatArray:
        """Return the density."""
        return np.asarray(np.exp(-0.5 * (at / self.sd) ** 2) / (self.sd * math.sqrt(2 * math.pi)))

    def cdf(self, at: FloatArray) -> FloatArray:
        """Return the probability of a value up to ``at``."""
        from scipy.special import ndtr

        return np.asarray(ndtr(at / self.sd))

    def area(self, at: FloatArray) -> FloatArray:
        """Return the integral of ``cdf``."""
        return at * self.cdf(at) + self.sd**2 * self.pdf(at)

    def characteristic(self, at: FloatArray) -> FloatArray:
        """Return the characteristic function."""
        return np.asarray(np.exp(-0.5 * (self.sd * at) ** 2))

    def log_density(self, away: FloatArray) -> FloatArray:
        """Return the logarithm of the density, up to a constant."""
        return np.asarray(-0.5 * (away / self.sd) ** 2)

    def width(self, confidence: float = 0.95) -> float:
        """Return the width of the confidence interval."""
        from scipy.special import ndtri

        return float(2 * self.sd * ndtri(0.5 + confidence / 2))

    def draw(self, size: int, chance: Chance) -> FloatArray:
        """Draw noise, in multiples of the grid."""
        return self._on_grid(self.sd * chance.normal(size))


@public
@dataclass(frozen=True)
class Laplace(Noise):
    """Noise that falls off exponentially on both sides; the one with an ε.

    It is drawn as the difference of two geometric numbers of grid steps, so that what is published has the
    probabilities that the ε is computed from, far into the tails: beyond 44 scales, where less than one in 2^63 values
    would come, there is nothing.
    """

    scale: float

    constraints: ClassVar[Constraints] = {"scale": _SPREAD}
    name: ClassVar[str] = "laplace"
    unit_precision: ClassVar[float] = 0.5
    unit_volume: ClassVar[float] = 2 * math.e

    def pdf(self, at: FloatArray) -> FloatArray:
        """Return the density."""
        return np.asarray(np.exp(-np.abs(at) / self.scale) / (2 * self.scale))

    def cdf(self, at: FloatArray) -> FloatArray:
        """Return the probability of a value up to ``at``."""
        tail = 0.5 * np.exp(-np.abs(at) / self.scale)
        return np.where(at < 0, tail, 1 - tail)

    def area(self, at: FloatArray) -> FloatArray:
        """Return the integral of ``cdf``."""
        return np.asarray(np.maximum(at, 0.0) + 0.5 * self.scale * np.exp(-np.abs(at) / self.scale))

    def characteristic(self, at: FloatArray) -> FloatArray:
        """Return the characteristic function."""
        return np.asarray(1 / (1 + (self.scale * at) ** 2))

    def log_density(self, away: FloatArray) -> FloatArray:
        """Return the logarithm of the density, up to a constant."""
        return np.asarray(-np.abs(away) / self.scale)

    def width(self, confidence: float = 0.95) -> float:
        """Return the width of the confidence interval."""
        return -2 * self.scale * math.log1p(-confidence)

    def draw(self, size: int, chance: Chance) -> FloatArray:
        """Draw noise, in multiples of the grid."""
        steps = self.scale / self.grid
        # The whole part of an exponential number is geometric, so
        # the difference is a discrete Laplace number of grid steps.
        ups, downs = (np.floor(chance.exponential(size) * steps) for _ in range(2))
        return np.asarray((ups - downs) * self.grid)

    def epsilon(self, span: float) -> float:
        """Return the local differential privacy of a value within ``span``, all rounding counted."""
        require(self, "span", span, FloatIn(0))
        # Rounding to the grid can put two values one step farther apart than they are.
        return (span + self.grid) / self.scale + _DRAWN

    @classmethod
    def for_epsilon(cls, epsilon: float, *, low: float, high: float) -> Laplace:
        """Choose the noise that makes values between ``low`` and ``high`` locally differentially private.

        Examples
        --------
        >>> chosen = Laplace.for_epsilon(0.5, low=0, high=100)
        >>> round(chosen.scale, 2), chosen.epsilon(100) <= 0.5
        (200.01, True)
        """
        # What rounding adds to ε at the most, since the grid is at most 2^−16 of the scale.
        lost = 1 / _FEWEST_STEPS + _DRAWN
        require(cls.__name__, "epsilon", epsilon, FloatIn(2 * lost))
        require(cls.__name__, "low", low, FloatIn())
        require(cls.__name__, "high", high, FloatIn(low, closed="neither"))
        return cls((high - low) / (epsilon - lost) * (1 + 1e-12))


NOISES: dict[str, type[Noise]] = {kind.name: kind for kind in (Uniform, Gaussian, Laplace)}


@public
@reads("The noise")
def noise_from_dict(record: dict[str, Any]) -> Noise:
    """Read what ``Noise.to_dict`` returns."""
    require("noise_from_dict", "noise", record.get("noise"), OneOf(tuple(NOISES)))
    return NOISES[record["noise"]](record.get("spread"))  # type: ignore[call-arg]
