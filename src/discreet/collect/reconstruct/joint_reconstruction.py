"""Joint reconstruction: two or three columns at once, each with a noise of its own, so that correlations survive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.category_estimates import codes_of
from discreet.collect.frames import frame_of
from discreet.collect.randomized_response import RandomizedResponse
from discreet.collect.reconstruct.density import Axis, JointDensity
from discreet.collect.reconstruct.em import (
    TOLERANCES,
    Rule,
    Stop,
    likelihood,
    reached,
    run_em,
    warn_not_converged,
    within_reach,
)
from discreet.collect.reconstruct.histogram import FARTHEST, JointHistogram
from discreet.collect.reconstruct.reconstruction import Edges
from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.params import (
    NONE,
    Constraints,
    FloatIn,
    InstanceOf,
    IntIn,
    MappingOf,
    OneOf,
    check_parameters,
    require,
)
from discreet.core.validation import array_of, finite

_MOST_INTERVALS = 200
_BINS_PER_INTERVAL = {1: 10, 2: 4, 3: 2}
_BINS_PER_SPREAD = {1: 20, 2: 8, 3: 5}


@public
@dataclass(repr=False, eq=False)
class JointReconstruction:
    """Recover the distribution of up to three columns together by EM.

    The noise of a row is drawn column by column, so the probabilities of a cell are products, and a step applies each
    column's matrix along its own axis.

    Parameters
    ----------
    channels
        The channel of each column: ``AdditiveNoise`` with its range, or ``RandomizedResponse``.
    intervals
        How many intervals each column of numbers has, or a mapping from columns to numbers or edges.
    stop, tolerance, max_steps
        As in :class:`Reconstruction`.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Gaussian
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 80, 50_000)
    >>> pay = (age + rng.normal(0, 10, age.size)).clip(0, 100)
    >>> channels = {"age": AdditiveNoise(Gaussian(15.0), low=20, high=80),
    ...             "pay": AdditiveNoise(Gaussian(15.0), low=0, high=100)}
    >>> noisy = {name: channels[name].perturb(true, random_state=seed)
    ...          for seed, (name, true) in enumerate([("age", age), ("pay", pay)])}
    >>> found = JointReconstruction(channels, intervals=12).reconstruct(noisy)
    >>> bool(abs(found.correlation("age", "pay") - np.corrcoef(age, pay)[0, 1]) < 0.05)
    True
    """

    channels: Mapping[str, AdditiveNoise | RandomizedResponse]
    _: KW_ONLY
    intervals: int | Mapping[str, int | Sequence[float]] = 20
    stop: Stop = "chi2"
    tolerance: float | None = None
    max_steps: int = 2_000

    constraints: ClassVar[Constraints] = {
        "channels": MappingOf(
            InstanceOf((AdditiveNoise, RandomizedResponse), ""),
            "a mapping from columns to AdditiveNoise or RandomizedResponse",
        ),
        "intervals": (
            IntIn(2, _MOST_INTERVALS),
            InstanceOf((Mapping,), "a mapping from columns to intervals"),
        ),
        "stop": OneOf(tuple(TOLERANCES)),
        "tolerance": (FloatIn(0, 1, closed="neither"), NONE),
        "max_steps": IntIn(1),
    }

    def histogram(self, noisy: Any) -> JointHistogram:
        """Count noisy rows (a frame, or a mapping from columns to arrays); such histograms add up."""
        axes = self._axes()
        widths = self._widths(axes)
        columns = _columns(noisy, [axis.name for axis in axes])
        places = []
        for axis, width in zip(axes, widths, strict=True):
            channel = self.channels[axis.name]
            if isinstance(channel, RandomizedResponse):
                places.append(codes_of(columns[axis.name], channel.categories, column=axis.name))
            else:
                places.append(_placed(columns[axis.name], width, axis.name))
        if len({bins.size for bins in places}) > 1:
            raise InputError("The columns are not of the same length.")
        return JointHistogram.of(tuple(axis.name for axis in axes), widths, places)

    def reconstruct(self, noisy: Any) -> JointDensity:
        """Recover the joint distribution from noisy rows or from their histogram."""
        axes = self._axes()
        counted = noisy if isinstance(noisy, JointHistogram) else self.histogram(noisy)
        if counted.names != tuple(axis.name for axis in axes) or counted.widths != self._widths(axes):
            raise InputError("The histogram was counted for other columns or intervals.")
        cells = int(np.prod([axis.size for axis in axes]))
        # Fewer rows than cells leave the distribution undetermined, whatever the noise.
        if counted.n < cells:
            raise InputError(f"{counted.n} noisy rows cannot distinguish {cells} cells; use fewer intervals.")
        counts = counted.counts.astype(np.float64)
        chances = []
        for index, axis in enumerate(axes):
            matrix, inside = self._chances(axis, counted, index)
            counts = within_reach(counts, inside, counted.n, axis=index, column=axis.name)
            chances.append(matrix)
        result = run_em(counts[None], chances, Rule.of(self.stop, self.tolerance, self.max_steps))
        converged = bool(result.converged[0])
        if not converged:
            warn_not_converged(self.max_steps)
        return JointDensity(axes, result.shares[0], counted.n, int(result.steps[0]), converged, result.trace)

    def _axes(self) -> tuple[Axis, ...]:
        self._check()
        axes = []
        for name, channel in self.channels.items():
            if isinstance(channel, RandomizedResponse):
                axes.append(Axis(name, categories=channel.categories))
                continue
            intervals = (
                self.intervals.get(name, 20) if isinstance(self.intervals, Mapping) else self.intervals
            )
            require(self, "intervals", intervals, IntIn(2, _MOST_INTERVALS), Edges())
            if not isinstance(intervals, int | np.integer):
                axes.append(Axis(name, np.asarray(intervals, np.float64)))
            elif channel.low is None or channel.high is None:
                raise ParameterError(
                    f"Set 'low' and 'high' of the channel of '{name}', or pass its intervals as edges."
                )
            else:
                axes.append(Axis(name, np.linspace(channel.low, channel.high, int(intervals) + 1)))
        return tuple(axes)

    def _widths(self, axes: tuple[Axis, ...]) -> tuple[float, ...]:
        widths = []
        for axis in axes:
            channel = self.channels[axis.name]
            if axis.edges is None or isinstance(channel, RandomizedResponse):
                widths.append(1.0)
                continue
            interval = float(np.diff(axis.edges).min()) / _BINS_PER_INTERVAL[len(axes)]
            widths.append(min(interval, channel.noise.spread / _BINS_PER_SPREAD[len(axes)]))
        return tuple(widths)

    def _chances(self, axis: Axis, counted: JointHistogram, index: int) -> tuple[FloatArray, BoolArray]:
        """Return the probabilities from the cells of an axis to its bins, and which bins can be reached at all."""
        channel, size, first = self.channels[axis.name], counted.counts.shape[index], counted.first[index]
        if axis.edges is None or isinstance(channel, RandomizedResponse):
            matrix: FloatArray = np.asarray(channel.matrix).T  # type: ignore[union-attr]
            # The histogram begins at the first category that was reported.
            return matrix[first : first + size], np.ones(size, np.bool_)
        bins = (first + np.arange(size + 1)) * counted.widths[index]
        chances = likelihood(channel.noise, bins, axis.edges)
        return chances, reached(channel.noise, bins, axis.edges, chances, counted.n)

    def _check(self) -> None:
        check_parameters(self)
        if not 1 <= len(self.channels) <= 3:
            raise ParameterError(
                "The 'channels' parameter of JointReconstruction must name one to three columns."
            )


def _columns(noisy: Any, names: list[str]) -> dict[str, Any]:
    """Return the named columns of a mapping or a frame."""
    if isinstance(noisy, Mapping):
        columns, present = dict(noisy), list(noisy)
    else:
        frame = frame_of(noisy)
        present = frame.columns
        columns = {name: frame.get_column(name) for name in names if name in present}
    missing = [name for name in names if name not in present]
    if missing:
        raise SchemaError(f"The rows have no column {', '.join(repr(name) for name in missing)}.")
    return columns


def _placed(values: Any, width: float, name: str) -> IntArray:
    present = array_of(values, shown=name)
    if present.ndim != 1 or present.dtype.kind not in "iuf":
        raise InputError(f"The noisy values of '{name}' must be numbers.")
    numbers = finite(present, f"noisy values of '{name}'", then="drop the rows first")
    if numbers.size and float(np.abs(numbers).max()) / width >= FARTHEST:
        raise InputError(f"The noisy values of '{name}' lie too far out; look for outliers.")
    return np.floor(numbers / width).astype(np.int64)
