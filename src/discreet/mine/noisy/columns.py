"""Noisy columns: how a classifier learns from a column without seeing a true value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.channels import Channels, channel_from_dict
from discreet.collect.multiplicative_noise import MultiplicativeNoise
from discreet.collect.randomized_response import RandomizedResponse
from discreet.collect.reconstruct.em import Rule, likelihood, reached, run_em
from discreet.collect.reconstruct.histogram import FARTHEST
from discreet.collect.reconstruct.reconstruction import Edges
from discreet.collect.unary_response import UnaryResponse
from discreet.core.arrays import BoolArray, CodeArray, FloatArray
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.params import FloatIn, InstanceOf, IntIn, require

Values = np.ndarray[Any, Any]
Channel = AdditiveNoise | RandomizedResponse | None

_RULE = Rule("chi2", 0.005, 500)
"""When reconstruction stops. The tolerance is the one of 0.2, 0.075, 0.02 and 0.005 with which trees predicted most
classes correctly on a few draws of Agrawal's people."""
_BINS_PER_SPREAD = 10
_BINS_PER_INTERVAL = 4
_MOST_BINS = 20_000
_CHANNEL = InstanceOf(
    (AdditiveNoise, RandomizedResponse, type(None)),
    "AdditiveNoise, RandomizedResponse or None for each column",
)


@dataclass(frozen=True, repr=False, eq=False)
class NoisyColumn:
    """One column: its intervals (or categories), the bins of what was reported, and the probabilities between them.

    ``chances[b, a]`` is the probability that a true value of interval a is reported in bin b. A column without a
    channel is exact: it has no chances, and its bins are its intervals.
    """

    name: str
    edges: FloatArray | None
    categories: tuple[Any, ...] = ()
    channel: Channel = None
    chances: FloatArray | None = None
    width: float = 0.0
    first: int = 0

    @property
    def n_places(self) -> int:
        """The number of intervals or categories."""
        return len(self.categories) if self.edges is None else self.edges.size - 1

    @property
    def n_bins(self) -> int:
        """The number of bins of reports."""
        return self.n_places if self.chances is None else int(self.chances.shape[0])

    @property
    def exact(self) -> bool:
        """Whether the column was reported as it is."""
        return self.chances is None

    def bins(self, reported: Values) -> CodeArray:
        """Return the bin of every reported value; what is beyond the bins is in the last."""
        if self.width == 0:
            places = self.places(reported)
            unknown = int((places >= self.n_places).sum())
            if unknown:
                raise InputError(f"{unknown} values of column '{self.name}' are none of its categories.")
            return places
        bins = np.floor(self._numbers(reported) / self.width) - self.first
        return np.asarray(np.clip(bins, 0, self.n_bins - 1), np.int32)

    def places(self, true: Values) -> CodeArray:
        """Return the interval of every true value (the nearest, outside the range), or the number of its category.

        An unknown category is numbered after all others.
        """
        if self.edges is None:
            numbers = {category: number for number, category in enumerate(self.categories)}
            return np.array([numbers.get(value, len(numbers)) for value in true.tolist()], np.int32)
        places = np.searchsorted(self.edges[1:-1], self._numbers(true), side="right")
        return places.astype(np.int32)

    def shares(self, counts: FloatArray) -> FloatArray:
        """Recover the shares of the intervals from counts per bin, one column of counts for each class."""
        if self.chances is None:
            return np.asarray(counts / np.maximum(counts.sum(axis=0), 1.0))
        shares = np.full((self.n_places, counts.shape[1]), 1 / self.n_places)
        filled = np.flatnonzero(counts.any(axis=0))
        observed = counts.any(axis=1)
        if filled.size:
            shares[:, filled] = run_em(
                counts[observed][:, filled].T, [self.chances[observed]], _RULE
            ).shares.T
        return shares

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain data; ``from_dict`` reads it."""
        record: dict[str, Any] = {"name": self.name}
        if self.channel is not None:
            record["channel"] = self.channel.to_dict()
        if self.edges is None:
            return record | {"categories": list(self.categories)}
        if self.channel is None:
            return record | {"cuts": self.edges[1:-1].tolist()}
        return record | {"edges": self.edges.tolist(), "bins": [self.width, self.first, self.n_bins]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> NoisyColumn:
        """Read what ``to_dict`` returns."""
        name, saved = record["name"], record.get("channel")
        channel = None if saved is None else channel_from_dict(saved, column=name)
        if isinstance(channel, AdditiveNoise):
            edges, (width, first, n_bins) = np.array(record["edges"], np.float64), record["bins"]
            require(cls.__name__, "edges", edges, Edges())
            require(cls.__name__, "width", width, FloatIn(1e-200, 1e200))
            require(cls.__name__, "first", first, IntIn(-FARTHEST, FARTHEST))
            require(cls.__name__, "n_bins", n_bins, IntIn(1, _MOST_BINS + 2))
            chances = likelihood(channel.noise, _bins(width, first, n_bins), edges)
            return cls(name, edges, (), channel, chances, width, first)
        if isinstance(channel, UnaryResponse | MultiplicativeNoise):
            how = "in unary" if isinstance(channel, UnaryResponse) else "by a factor"
            raise InputError(
                f"Column '{name}' of the saved model was reported {how}, which none learns from."
            )
        if channel is not None:
            return cls(name, None, channel.categories, channel, channel.matrix.T)
        if "categories" in record:
            return cls(name, None, tuple(record["categories"]))
        return cls(name, np.array([-np.inf, *record["cuts"], np.inf]))

    def _numbers(self, values: Values) -> Values:
        if values.dtype.kind not in "iufb":
            raise InputError(f"Column '{self.name}' must hold numbers.")
        return values


def noisy_columns(
    owner: object, values: Sequence[Values], names: Sequence[str], *, intervals: int, finest: int = 0
) -> list[NoisyColumn]:
    """Return every column with its channel; numbers that were not hidden are cut into ``finest`` intervals, if more."""
    channels = by_column(owner, names)
    return [
        _column(column, name, channel, intervals, max(intervals, finest))
        for column, name, channel in zip(values, names, channels, strict=True)
    ]


def by_column(owner: object, names: Sequence[str]) -> list[Channel]:
    """Arrange the channels beside the columns: a mapping by name or number, a sequence, or None."""
    channels: Any = getattr(owner, "channels", None)
    if channels is None:
        return [None] * len(names)
    channels = channels.channels if isinstance(channels, Channels) else channels
    require(
        owner, "channels", channels, InstanceOf((Mapping, Sequence), "a mapping or a sequence of channels")
    )
    if isinstance(channels, Mapping):
        strange = [key for key in channels if key not in names and key not in range(len(names))]
        if strange:
            raise SchemaError(f"'channels' names {strange[0]!r}, a column that the data does not have.")
        by_position = [channels.get(name, channels.get(number)) for number, name in enumerate(names)]
    else:
        by_position = list(channels)
        if len(by_position) != len(names):
            raise ParameterError(
                f"The 'channels' parameter of {type(owner).__name__} must have one channel, or None, for each of the "
                f"{len(names)} columns. Got {len(by_position)} instead."
            )
    for channel, name in zip(by_position, names, strict=True):
        if isinstance(channel, MultiplicativeNoise):
            raise ParameterError(
                f"Column '{name}' is hidden by a factor: {type(owner).__name__} learns from its logarithms, with the "
                "additive noise of the same spread as its channel."
            )
        require(owner, "channels", channel, _CHANNEL)
    return by_position


def _column(values: Values, name: str, channel: Channel, intervals: int, finest: int) -> NoisyColumn:
    if isinstance(channel, RandomizedResponse):
        return NoisyColumn(name, None, channel.categories, channel, channel.matrix.T)
    if values.dtype.kind not in "iufb":
        if channel is not None:
            raise InputError(f"Column '{name}' holds no numbers, so no noise was added to it.")
        return NoisyColumn(name, None, tuple(sorted(set(values.tolist()), key=str)))
    if channel is None:
        return NoisyColumn(name, _quantiles(values, finest))
    return _hidden(values, name, channel, intervals)


def _hidden(values: Values, name: str, channel: AdditiveNoise, intervals: int) -> NoisyColumn:
    """Return a column of noisy numbers; without a stated range it ends where the noise could have begun."""
    noise = channel.reconstruction(intervals).noise  # refuses a channel whose parameters are wrong
    lowest, highest = float(values.min()), float(values.max())
    reach, middle = noise.width(0.999) / 2, (lowest + highest) / 2
    # The extremes of noisy values lie about a reach of the noise beyond those of the true ones.
    low = channel.low if channel.low is not None else min(lowest + reach, middle - noise.spread / 2)
    high = channel.high if channel.high is not None else max(highest - reach, middle + noise.spread / 2)
    edges = np.linspace(low, max(high, low + noise.spread), intervals + 1)
    fine = min(noise.spread / _BINS_PER_SPREAD, (edges[1] - edges[0]) / _BINS_PER_INTERVAL)
    width = max(fine, (highest - lowest) / _MOST_BINS)
    first, last = (int(np.floor(end / width)) for end in (lowest, highest))
    bins = _bins(width, first, last - first + 1)
    chances = likelihood(noise, bins, edges)
    column = NoisyColumn(name, edges, (), channel, chances, width, first)
    _require_possible(column, reached(noise, bins, edges, chances, values.size), values)
    return column


def _bins(width: float, first: int, n_bins: int) -> FloatArray:
    return np.arange(first, first + n_bins + 1, dtype=np.float64) * width


def _require_possible(column: NoisyColumn, inside: BoolArray, values: Values) -> None:
    """Refuse reports that the noise could not have made; next to its reach they may be rounding."""
    # A report in the next bin can be one that rounding took there.
    near = inside | np.append(inside[1:], False) | np.append(False, inside[:-1])
    lost = int((~near)[column.bins(values)].sum())
    if lost:
        raise InputError(
            f"{lost} of {values.size} values of column '{column.name}' lie where the noise could have carried no value "
            "of the stated range: the range or the noise is not the one that was used."
        )


def _quantiles(values: Values, intervals: int) -> FloatArray:
    """Cut exact numbers into intervals of about the same number of rows; equal numbers stay together."""
    kinds = np.unique(values.astype(np.float64))
    if kinds.size <= intervals:
        # Halved before they are added, as the sum of two large numbers could overflow.
        inner = kinds[1:] / 2 + kinds[:-1] / 2
    else:
        inner = np.unique(np.quantile(values, np.linspace(0, 1, intervals + 1)[1:-1]))
    return np.concatenate([[-np.inf], inner, [np.inf]])
