"""Channels: several columns of a frame, each distorted by a channel of its own; and channels from plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, get_args

import narwhals as nw
import numpy as np
import pyarrow as pa

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.category_estimates import Shares, codes_of
from discreet.collect.frames import frame_of, released_frame, require_columns, require_hidden
from discreet.collect.multiplicative_noise import MultiplicativeNoise
from discreet.collect.noise import NOISES, Laplace, noise_from_dict
from discreet.collect.randomized_response import RandomizedResponse
from discreet.collect.reconstruct.density import Density
from discreet.collect.secure_random import Chance
from discreet.collect.unary_response import UnaryResponse
from discreet.core.boundary import is_on_cluster, public, reads, takes_clusters
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.params import Constraints, InstanceOf, MappingOf, check_parameters
from discreet.core.rng import RandomState

NoiseChannel: TypeAlias = AdditiveNoise | MultiplicativeNoise
Channel: TypeAlias = NoiseChannel | RandomizedResponse | UnaryResponse

_DERIVED = ("privacy", "epsilon", "redraw", "unchanged", "highest_belief")
"""Entries that follow from the others; they may be there and are ignored."""
_NUMBERS, _MATRIX, _BITS = (
    {*keys, *_DERIVED}
    for keys in (
        ("noise", "spread", "low", "high", "multiplicative"),
        ("categories", "matrix"),
        ("categories", "p", "q"),
    )
)


@public
class Channels:
    """Distort columns of a frame where they arise, and recover the distribution of each.

    Parameters
    ----------
    channels
        The channel of each column: ``AdditiveNoise``, ``MultiplicativeNoise``, ``RandomizedResponse`` or
        ``UnaryResponse``. A column reported in unary becomes a column of bits for each category, called
        ``column=category``.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Laplace, RandomizedResponse
    >>> channels = Channels({
    ...     "age": AdditiveNoise(Laplace.for_epsilon(1, low=0, high=100), low=0, high=100),
    ...     "sex": RandomizedResponse.k_ary(["f", "m"], epsilon=1),
    ... })
    >>> round(channels.epsilon, 3)
    2.0
    >>> people = pa.table({"age": [31, 44] * 500, "sex": ["f", "m"] * 500, "town": ["A"] * 1000})
    >>> noisy = channels.perturb(people, random_state=1)
    >>> noisy.column_names
    ['age', 'sex', 'town']
    >>> channels.reconstruct(noisy)
    {'age': Density(50 intervals, from 1000 noisy values), 'sex': Shares(2 categories, from 1000 reports)}
    """

    constraints: ClassVar[Constraints] = {
        "channels": MappingOf(
            InstanceOf(get_args(Channel), "a channel such as AdditiveNoise"),
            "a mapping from columns to channels such as AdditiveNoise",
        )
    }

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self.channels = dict(channels) if isinstance(channels, Mapping) else channels
        check_parameters(self)
        if not self.channels:
            raise SchemaError("Name the columns to be hidden.")

    @property
    def epsilon(self) -> float:
        """The local differential privacy of a whole record: the losses of its columns add up."""
        return float(sum(channel.epsilon for channel in self.channels.values()))

    @takes_clusters
    def perturb(self, frame: Any, *, random_state: RandomState = None) -> Any:
        """Distort the columns of a pandas, Polars or Arrow frame; the others stay, and the same kind comes back.

        Columns of numbers of a Spark frame are distorted by its workers; the rows come in random order.
        """
        if is_on_cluster(frame):
            from discreet.collect.clusters import perturbed_on_cluster

            return perturbed_on_cluster(self, frame, random_state)
        wrapped = frame_of(frame)
        require_hidden(wrapped, list(self.channels))
        chance = Chance(random_state, owner=self)
        distorted: dict[str, list[nw.Series[Any]]] = {
            name: self._distorted(wrapped.get_column(name), channel, name, chance)
            for name, channel in self.channels.items()
        }
        order = [
            column
            for name in wrapped.columns
            for column in ([new.name for new in distorted[name]] if name in distorted else [name])
        ]
        if len(set(order)) < len(order):
            raise SchemaError(
                "The bits of a column reported in unary have the names of columns that are there."
            )
        fresh = [new for several in distorted.values() for new in several]
        return released_frame(wrapped.with_columns(*fresh).select(order))

    def reconstruct(self, noisy: Any, **options: Mapping[str, Any]) -> dict[str, Density | Shares]:
        """Recover the distribution of each column; options are passed by column, as in ``age={"intervals": 20}``."""
        wrapped = frame_of(noisy)
        idle = [name for name in options if name not in self.channels]
        if idle:
            raise SchemaError(f"There are options for '{idle[0]}', which none of the channels hides.")
        estimates: dict[str, Density | Shares] = {}
        for name, channel in self.channels.items():
            own_options = dict(options.get(name, {}))
            if isinstance(channel, UnaryResponse):
                bits = [f"{name}={category}" for category in channel.categories]
                require_columns(wrapped, bits)
                estimates[name] = channel.reconstruct(wrapped.select(bits).to_numpy(), **own_options)
                continue
            require_columns(wrapped, [name])
            values = wrapped.get_column(name)
            reports = values.to_numpy() if isinstance(channel, NoiseChannel) else values
            estimates[name] = channel.reconstruct(reports, **own_options)
        return estimates

    def to_dict(self) -> dict[str, Any]:
        """Return the channels as plain data: what is public about them."""
        return {name: channel.to_dict() for name, channel in self.channels.items()}

    def _distorted(
        self, values: nw.Series[Any], channel: Channel, name: str, chance: Chance
    ) -> list[nw.Series[Any]]:
        if values.null_count():
            raise InputError(f"{values.null_count()} values of '{name}' are null; drop or fill them first.")
        if isinstance(channel, NoiseChannel):
            numbers = values.cast(nw.Float64) if values.dtype == nw.Decimal else values
            noisy = channel.add(numbers.to_numpy(), chance, column=name)
            return [nw.new_series(name, noisy, nw.Float64, backend=values.implementation)]
        codes = codes_of(values, channel.categories, column=name)
        if isinstance(channel, UnaryResponse):
            bits = channel.report(codes, chance)
            return [
                nw.new_series(
                    f"{name}={category}", np.ascontiguousarray(column), backend=values.implementation
                )
                for category, column in zip(channel.categories, bits.T, strict=True)
            ]
        return [_labels(channel, values, name)[channel.report(codes, chance)]]

    def __repr__(self) -> str:
        return f"Channels({', '.join(self.channels)})"


def _labels(channel: RandomizedResponse, values: nw.Series[Any], name: str) -> nw.Series[Any]:
    """Return the categories as a column of the values' own type, which must hold them all, reported or not."""
    listed = pa.table({name: pa.array(list(channel.categories))})
    distorted = nw.from_arrow(listed, backend=values.implementation).get_column(name)
    if values.dtype in (distorted.dtype, nw.Unknown):
        return distorted
    if isinstance(values.dtype, nw.Enum) and not set(channel.categories) <= set(values.dtype.categories):
        raise SchemaError(f"The type of column '{name}' lacks some of the channel's categories.")
    return distorted.cast(values.dtype)


@reads("The channel")
def channel_from_dict(record: Mapping[str, Any], *, column: str = "channel") -> Channel:
    """Read what ``to_dict`` of a channel returns; errors name the column.

    Examples
    --------
    >>> channel_from_dict({"noise": "gaussian", "spread": 5.0, "low": 0, "high": 100})
    AdditiveNoise(Gaussian(sd=5.0), low=0, high=100)
    """
    keys = set(record) if isinstance(record, Mapping) else set()
    if "noise" in keys and "spread" in keys and keys <= _NUMBERS:
        if record["noise"] not in list(NOISES):
            raise ParameterError(f"The noise of '{column}' must be one of {', '.join(NOISES)}.")
        factor = record.get("multiplicative", False)
        if not isinstance(factor, bool):
            raise ParameterError(
                f"The entry 'multiplicative' of the channel of '{column}' must be true or false."
            )
        kind = MultiplicativeNoise if factor else AdditiveNoise
        return kind(noise_from_dict(dict(record)), low=record.get("low"), high=record.get("high"))
    by_matrix = {"categories", "matrix"} <= keys <= _MATRIX
    if not by_matrix and not {"categories", "p", "q"} <= keys <= _BITS:
        raise InputError(
            f"The channel of '{column}' must hold 'noise' and 'spread' (also 'low' and 'high'), or 'categories' and "
            "'matrix', or 'categories', 'p' and 'q'."
        )
    if not isinstance(record["categories"], list | tuple):
        raise ParameterError(f"The categories of '{column}' must be a list.")
    if by_matrix:
        return RandomizedResponse(record["categories"], record["matrix"])
    return UnaryResponse(record["categories"], p=record["p"], q=record["q"])


def noise_channel(
    noise: str,
    *,
    spread: float | None = None,
    privacy: float | None = None,
    epsilon: float | None = None,
    low: float | None = None,
    high: float | None = None,
    multiplicative: bool = False,
    column: str,
) -> NoiseChannel:
    """Return the channel of a named noise, whose width is stated in one of three ways; errors name the column.

    >>> noise_channel("laplace", epsilon=1, low=0, high=100, column="age")
    AdditiveNoise(Laplace(scale=100.00152739245131), low=0, high=100)
    """
    if sum(width is not None for width in (spread, privacy, epsilon)) != 1:
        raise ParameterError("Say in one way how wide the noise is.", fix={"privacy": 1.0})
    if multiplicative and any(end is not None and end <= 0 for end in (low, high)):
        raise ParameterError(f"The range of '{column}' must be above 0, where values are hidden by a factor.")
    kind = MultiplicativeNoise if multiplicative else AdditiveNoise
    if spread is not None:
        return kind(NOISES[noise](spread), low=low, high=high)  # type: ignore[call-arg]
    if low is None or high is None:
        raise ParameterError(
            f"The range of '{column}' is not known, and taking it from the data would reveal some of them.",
            fix={"range": f"{column}={'1' if multiplicative else '0'},100"},
        )
    ends = {"low": math.log(low), "high": math.log(high)} if multiplicative else {"low": low, "high": high}
    if privacy is not None:
        chosen = NOISES[noise].for_privacy(privacy, **ends)
    elif noise != "laplace":
        raise ParameterError("Only laplace noise has an epsilon.", fix={"noise": "laplace"})
    else:
        chosen = Laplace.for_epsilon(epsilon or 0.0, **ends)
    return kind(chosen, low=low, high=high)


@reads("The list of channels")
def channels_from_dict(record: Mapping[str, Any]) -> Channels:
    """Read channels by column: what ``Channels.to_dict`` returns, or what a command that perturbs prints as JSON."""
    listed = record.get("columns", record) if isinstance(record.get("command"), str) else record
    if not isinstance(listed, Mapping) or not listed:
        raise InputError("There must be a channel for each hidden column, under the column's name.")
    return Channels({name: channel_from_dict(channel, column=name) for name, channel in listed.items()})
