"""Multiplicative noise: people multiply their own positive numbers by public noise, hidden to within a factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.frames import frame_of
from discreet.collect.noise import Noise
from discreet.collect.reconstruct.density import Density
from discreet.collect.reconstruct.reconstruction import Reconstruction
from discreet.collect.secure_random import Chance
from discreet.core.arrays import FloatArray
from discreet.core.boundary import is_on_cluster, public, takes_clusters
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import NONE, Constraints, FloatIn, check_parameters, require
from discreet.core.rng import RandomState
from discreet.core.validation import array_of, finite

LEAST_POSITIVE, LARGEST, _WIDEST = 1e-130, 1e130, 8.0
"""The values that are taken, and the widest noise: no product of the two is lost to the range of floats."""


@public
class MultiplicativeNoise:
    """Hide positive numbers behind a random factor, and recover their distribution, never a number.

    A value x is reported as ``z = x·e^y`` with public noise y: noise is added to its logarithm. So a small value is
    hidden as well as a large one, in proportion. Reports are made of rounded logarithms, whose low bits hold nothing
    of the value.

    Parameters
    ----------
    noise
        The noise y of the logarithms: ``Uniform``, ``Gaussian`` or ``Laplace``, of a spread of 8 at most.
    low, high
        The public range of the true values, above 0. Privacy is a share of its logarithms, and Laplace noise needs it
        for its ε; a value outside it is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.collect import Laplace, MultiplicativeNoise
    >>> noise = Laplace.for_epsilon(2, low=np.log(500), high=np.log(50_000))
    >>> channel = MultiplicativeNoise(noise, low=500, high=50_000)
    >>> round(channel.epsilon, 3), round(channel.factor(0.5), 2)
    (2.0, 4.93)
    >>> pay = np.random.default_rng(0).lognormal(8, 0.5, 20_000).clip(500, 50_000)
    >>> density = channel.reconstruct(channel.perturb(pay, random_state=1), intervals=20)
    >>> bool(abs(density.ppf(0.5) / np.median(pay) - 1) < 0.1)
    True
    """

    constraints: ClassVar[Constraints] = {
        "noise": AdditiveNoise.constraints["noise"],
        "low": (FloatIn(LEAST_POSITIVE, LARGEST), NONE),
        "high": (FloatIn(LEAST_POSITIVE, LARGEST), NONE),
    }

    def __init__(self, noise: Noise, *, low: float | None = None, high: float | None = None) -> None:
        self.noise = noise
        self.low = low
        self.high = high

    @property
    def additive(self) -> AdditiveNoise:
        """The additive noise on logarithms: what learns from the logarithms of reports is passed this channel."""
        check_parameters(self)
        if self.noise.spread > _WIDEST:
            raise ParameterError(
                f"The 'noise' parameter of MultiplicativeNoise must have a spread of {_WIDEST:g} or less, since it is "
                "that of logarithms."
            )
        if self.low is not None and self.high is not None:
            require(self, "high", self.high, FloatIn(self.low, LARGEST, closed="right"))
        low, high = (None if end is None else float(np.log(end)) for end in (self.low, self.high))
        return AdditiveNoise(self.noise, low=low, high=high)

    @takes_clusters
    def perturb(self, data: Any, *, columns: Sequence[str] = (), random_state: RandomState = None) -> Any:
        """Multiply an array of positive numbers, or columns of a frame, by noise; return the same kind.

        Parameters
        ----------
        data
            An array, or a pandas, Polars, Arrow or Spark frame.
        columns
            The frame's columns to hide; the others stay as they are.
        random_state
            None for real use. Anyone who knows the seed can remove the noise.
        """
        if isinstance(data, np.ndarray | list | tuple):
            return self.add(array_of(data), Chance(random_state, owner=self))
        if not is_on_cluster(data):
            frame_of(data)
        from discreet.collect.channels import Channels

        return Channels(dict.fromkeys(columns, self)).perturb(data, random_state=random_state)

    def add(self, values: np.ndarray[Any, Any], chance: Chance, *, column: str = "data") -> FloatArray:
        """Add noise drawn from ``chance`` to the logarithms of an array that errors call by a name."""
        return np.exp(self.additive.add(logarithms(values, column=column), chance, column=column))

    def reconstruct(self, noisy: Any, *, intervals: int | Sequence[float] = 50, **options: Any) -> Density:
        """Recover the distribution of the true values, on intervals whose logarithms are of one width.

        ``intervals`` may also be edges. The other options are those of ``AdditiveNoise.reconstruct``.
        """
        if not isinstance(intervals, int | np.integer):
            intervals = [
                float(edge) for edge in logarithms(array_of(intervals, shown="intervals"), column="intervals")
            ]
        reports = logarithms(array_of(noisy, shown="noisy"), column="noisy")
        return self.from_logarithms(self.additive.reconstruct(reports, intervals=intervals, **options))

    def reconstruction(self, intervals: int | Sequence[float] = 50, **options: Any) -> Reconstruction:
        """Return the reconstruction of logarithms from those of reports; :meth:`from_logarithms` maps it back."""
        return self.additive.reconstruction(intervals, **options)

    def from_logarithms(self, density: Density) -> Density:
        """Return the distribution of values from that of logarithms: shares stay, and the intervals are mapped."""
        edges = np.exp(density.edges)
        for end, stated, log in ((0, self.low, density.edges[0]), (-1, self.high, density.edges[-1])):
            # The exponential of a rounded logarithm may miss the stated end by its last bit.
            if stated is not None and log == np.log(stated):
                edges[end] = stated
        return replace(density, edges=edges)

    def factor(self, confidence: float = 0.95) -> float:
        """Return the factor within which the true value is of its report, up or down, with that confidence."""
        require(self, "confidence", confidence, FloatIn(0, 1, closed="neither"))
        return math.exp(self.additive.noise.width(confidence) / 2)

    def privacy(self, confidence: float = 0.95) -> float:
        """Return the width of the confidence interval of the true value's logarithm, as a share of its range."""
        return self.additive.privacy(confidence)

    @property
    def epsilon(self) -> float:
        """The local differential privacy of one value; infinite for noise that has none, or without a range."""
        return self.additive.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return the channel as plain data: what is public about it."""
        return {**self.noise.to_dict(), "low": self.low, "high": self.high, "multiplicative": True}

    def __repr__(self) -> str:
        ends = "" if self.low is None and self.high is None else f", low={self.low}, high={self.high}"
        return f"MultiplicativeNoise({self.noise!r}{ends})"


def logarithms(values: np.ndarray[Any, Any], *, column: str) -> FloatArray:
    """Return the logarithms of positive numbers; others are refused by their count."""
    if values.dtype.kind not in "iuf":
        raise InputError(f"'{column}' must hold numbers above 0.")
    numbers = finite(values, f"values of '{column}'")
    outside = int(((numbers < LEAST_POSITIVE) | (numbers > LARGEST)).sum())
    if outside:
        raise InputError(
            f"{outside} values of '{column}' are 0, negative or beyond {LARGEST:g}; a factor hides numbers above 0."
        )
    return np.asarray(np.log(numbers))
