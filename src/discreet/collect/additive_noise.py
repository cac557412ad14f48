"""Additive noise: people add public noise to their own numbers (Agrawal & Srikant 2000; Agrawal & Aggarwal 2001)."""

from __future__ import annotations

import math
from abc import ABCMeta
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from discreet.collect.frames import frame_of
from discreet.collect.noise import MOST_STEPS, Noise
from discreet.collect.reconstruct.density import Density
from discreet.collect.reconstruct.em import likelihood
from discreet.collect.reconstruct.reconstruction import Reconstruction
from discreet.collect.secure_random import Chance
from discreet.core.arrays import FloatArray
from discreet.core.boundary import is_on_cluster, public, takes_clusters
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.params import NONE, Constraints, FloatIn, InstanceOf, check_parameters, require
from discreet.core.rng import RandomState
from discreet.core.validation import array_of, finite

Kind = TypeVar("Kind", bound=Noise)

_POINTS = 4_000
_AROUND = 120
_MOST_CELLS = 30_000
_CHUNK = 4_096
_HALVINGS = 60
_CLOSE = 1e-9
_NEAREST = 1e-4
"""How near a privacy may be to the largest possible; nearer, the entropies are not computed precisely enough."""


@public
class AdditiveNoise:
    """Hide numbers behind noise of a public kind, and recover their distribution, never a number.

    Parameters
    ----------
    noise
        ``Uniform``, ``Gaussian`` or ``Laplace``, wide enough for the privacy wanted (``Gaussian.for_privacy``,
        ``Laplace.for_epsilon``).
    low, high
        The public range of the true values. Privacy is a share of it, Laplace noise needs it for its ε, and
        helps reconstruction; a value outside it is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.collect import AdditiveNoise, Uniform
    >>> channel = AdditiveNoise(Uniform.for_privacy(0.5, low=20, high=80), low=20, high=80)
    >>> round(channel.privacy(), 3)
    0.5
    >>> ages = np.random.default_rng(0).normal(50, 8, 10_000).clip(20, 80)
    >>> noisy = channel.perturb(ages, random_state=3)
    >>> bool(abs(channel.reconstruct(noisy, intervals=12).mean - ages.mean()) < 0.5)
    True

    References
    ----------
    R. Agrawal, R. Srikant: Privacy-preserving data mining. SIGMOD 2000.
    """

    constraints: ClassVar[Constraints] = {
        "noise": InstanceOf((Noise,), "a noise such as Gaussian(sd)"),
        "low": (FloatIn(), NONE),
        "high": (FloatIn(), NONE),
    }

    def __init__(self, noise: Noise, *, low: float | None = None, high: float | None = None) -> None:
        self.noise = noise
        self.low = low
        self.high = high

    @takes_clusters
    def perturb(self, data: Any, *, columns: Sequence[str] = (), random_state: RandomState = None) -> Any:
        """Add noise to an array of numbers, or to columns of a frame; return the same kind.

        Parameters
        ----------
        data
            An array, or a pandas, Polars, Arrow or Spark frame. Integers become numbers with a fraction.
        columns
            The frame's columns to hide; the others stay as they are. :class:`Channels` hides each by a channel of its
            own.
        random_state
            None for real use. Anyone who knows the seed can remove the noise.
        """
        self._check()
        if isinstance(data, np.ndarray | list | tuple):
            return self.add(array_of(data), Chance(random_state, owner=self))
        if not is_on_cluster(data):
            frame_of(data)
        from discreet.collect.channels import Channels

        return Channels(dict.fromkeys(columns, self)).perturb(data, random_state=random_state)

    def add(self, values: np.ndarray[Any, Any], chance: Chance, *, column: str = "data") -> FloatArray:
        """Add noise drawn from ``chance`` to an array that errors call by a name."""
        self._check()
        if values.dtype.kind not in "iuf":
            raise InputError(f"'{column}' must hold numbers to be hidden behind noise.")
        numbers = finite(values, f"values of '{column}'")
        low, high = (
            end if end is not None else far for end, far in ((self.low, -math.inf), (self.high, math.inf))
        )
        outside = int(((numbers < low) | (numbers > high)).sum())
        if outside:
            raise InputError(
                f"{outside} values of '{column}' lie outside the stated range, so noise could not hide them."
            )
        grid = self.noise.grid
        if numbers.size and float(np.abs(numbers).max()) >= MOST_STEPS * grid:
            raise InputError(
                f"'{column}' holds numbers so large beside the noise that the noise would be lost in rounding; "
                "count from a nearer origin."
            )
        drawn = self.noise.draw(numbers.size, chance).reshape(numbers.shape)
        # Values are rounded to the grid of the noise, so that no low bit of the sum holds one.
        return np.asarray(np.rint(numbers / grid) * grid + drawn)

    def reconstruct(
        self,
        noisy: Any,
        *,
        intervals: int | Sequence[float] = 50,
        method: Literal["em", "bayes", "kernel"] = "em",
        band: float | None = None,
        random_state: RandomState = None,
        **options: Any,
    ) -> Density:
        """Recover the distribution of the true values; :class:`Reconstruction` says what the options mean."""
        how = self.reconstruction(intervals, method=method, **options)
        return how.reconstruct(noisy, band=band, random_state=random_state)

    def reconstruction(self, intervals: int | Sequence[float] = 50, **options: Any) -> Reconstruction:
        """Return the reconstruction that undoes this noise, for counting batches and reconstructing later."""
        self._check()
        if isinstance(intervals, int | np.integer):
            options |= {"low": self.low, "high": self.high}
        return Reconstruction(self.noise, intervals, **options)

    def privacy(self, confidence: float = 0.95) -> float:
        """Return the width of the confidence interval of the true value, as a share of the range."""
        self._check()
        require(self, "confidence", confidence, FloatIn(0, 1, closed="neither"))
        return self.noise.width(confidence) / self._span()

    def conditional_privacy(self, truth: Density) -> float:
        """Return ``2^h(X|Z)``: the width of a uniform distribution as uncertain as a true value given its noisy one.

        It takes the whole distribution into account, so it is never more than the width of the true
        values' own spread (Agrawal & Aggarwal 2001).
        """
        self._check()
        require(self, "truth", truth, InstanceOf((Density,), "a Density"))
        return conditional_privacy(self.noise, truth)

    def privacy_loss(self, truth: Density) -> float:
        """Return the share of privacy that a noisy value takes away: ``1 − 2^h(X|Z) / 2^h(X)``."""
        return float(1 - self.conditional_privacy(truth) / 2**truth.entropy)

    @property
    def epsilon(self) -> float:
        """The local differential privacy of one value; infinite for noise that has none, or without a range."""
        self._check()
        return math.inf if self.low is None or self.high is None else self.noise.epsilon(self._span())

    def to_dict(self) -> dict[str, Any]:
        """Return the channel as plain data: what is public about it."""
        return {**self.noise.to_dict(), "low": self.low, "high": self.high}

    def _span(self) -> float:
        if self.low is None or self.high is None:
            raise InputError("Privacy is a share of the values' range; pass 'low' and 'high'.")
        return self.high - self.low

    def _check(self) -> None:
        check_parameters(self)
        if self.low is not None and self.high is not None:
            require(self, "high", self.high, FloatIn(self.low, closed="neither"))

    def __repr__(self) -> str:
        ends = "" if self.low is None and self.high is None else f", low={self.low}, high={self.high}"
        return f"AdditiveNoise({self.noise!r}{ends})"


def conditional_privacy(noise: Noise, truth: Density) -> float:
    """Return ``2^h(X|Z)`` for true values X that are spread like ``truth`` and noisy values Z.

    ``h(X|Z) = h(X) + h(Y) - h(Z)``, since the noise Y does not depend on X.

    Examples
    --------
    >>> from discreet.collect.noise import Uniform
    >>> even = Density(np.array([0.0, 1.0]), np.array([1.0]))
    >>> round(conditional_privacy(Uniform(0.5), even), 4)
    0.6065
    """
    return float(2 ** (truth.entropy + noise.entropy - _noisy_entropy(noise, truth)))


@public
def noise_for_conditional_privacy(kind: type[Kind], privacy: float, *, truth: Density) -> Kind:
    """Choose the noise of a kind that leaves the wanted ``2^h(X|Z)``; all leave less than ``2^h(X)``."""
    require(
        "noise_for_conditional_privacy",
        "kind",
        kind,
        InstanceOf((ABCMeta,), "a kind of noise such as Gaussian"),
    )
    require("noise_for_conditional_privacy", "truth", truth, InstanceOf((Density,), "a Density"))
    require("noise_for_conditional_privacy", "privacy", privacy, FloatIn(0, closed="neither"))
    most = 2**truth.entropy
    if privacy > most * (1 - _NEAREST):
        raise InfeasibleError(
            f"Noise leaves less than the conditional privacy {most:.6g} of the values themselves, and more noise adds "
            f"next to nothing; use {most * (1 - 2 * _NEAREST):.6g} or less."
        )
    low, high = privacy / 1e3, privacy
    # The privacy left grows with the spread, toward that of the
    # values themselves; the check above keeps this from running on.
    while conditional_privacy(kind(high), truth) < privacy:  # type: ignore[call-arg]
        low, high = high, 4 * high
    for _ in range(_HALVINGS):
        # The geometric mean, as the bracket spans powers of ten.
        middle = (low * high) ** 0.5
        enough = conditional_privacy(kind(middle), truth) >= privacy  # type: ignore[call-arg]
        low, high = (low, middle) if enough else (middle, high)
        if high / low < 1 + _CLOSE:
            break
    return kind(high)  # type: ignore[call-arg]


def _noisy_entropy(noise: Noise, truth: Density) -> float:
    """Work out the entropy of noisy values in cells that are fine wherever their density bends."""
    cells = _cells(noise, truth)
    shares = np.concatenate(
        [
            likelihood(noise, cells[start : start + _CHUNK + 1], truth.edges) @ truth.shares
            for start in range(0, cells.size - 1, _CHUNK)
        ]
    )
    positive = shares > 0
    return float(-(shares[positive] * np.log2(shares[positive] / np.diff(cells)[positive])).sum())


def _cells(noise: Noise, truth: Density) -> FloatArray:
    steps = np.linspace(-1, 1, 2 * min(_AROUND, max(4, _MOST_CELLS // (4 * truth.edges.size))) + 1)
    far = np.unique(np.concatenate([noise.spread * steps, noise.reach * steps]))
    # The density of noisy values bends where an edge of an interval, carried by the noise, comes to lie.
    near = (truth.edges[:, None] + far[None, :]).ravel()
    even = np.linspace(truth.edges[0] - noise.reach, truth.edges[-1] + noise.reach, _POINTS)
    cells = np.unique(np.concatenate([near, even]))
    apart = np.concatenate([[True], np.diff(cells) > (cells[-1] - cells[0]) * 1e-12])
    return np.asarray(cells[apart])
