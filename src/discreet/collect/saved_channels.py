"""Channels from plain data, as ``to_dict`` returns and files store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.channels import Channel, Channels
from discreet.collect.noise import NOISES, Laplace, noise_from_dict
from discreet.collect.randomized_response import RandomizedResponse
from discreet.collect.unary_response import UnaryResponse
from discreet.core.boundary import reads
from discreet.core.errors import InputError, ParameterError

_DERIVED = ("privacy", "epsilon")
"""Entries that follow from the others; they may be there and are ignored."""
_NUMBERS, _MATRIX, _BITS = (
    {*keys, *_DERIVED}
    for keys in (("noise", "spread", "low", "high"), ("categories", "matrix"), ("categories", "p", "q"))
)


@reads("The channel")
def channel_from_dict(plain: Mapping[str, Any], *, shown: str = "channel") -> Channel:
    """Read what ``to_dict`` of a channel returns; errors mention it by ``shown``.

    Examples
    --------
    >>> channel_from_dict({"noise": "gaussian", "spread": 5.0, "low": 0, "high": 100})
    AdditiveNoise(Gaussian(sd=5.0), low=0, high=100)
    """
    keys = set(plain) if isinstance(plain, Mapping) else set()
    if "noise" in keys and "spread" in keys and keys <= _NUMBERS:
        if plain["noise"] not in list(NOISES):
            raise ParameterError(f"The noise of '{shown}' must be one of {', '.join(NOISES)}.")
        return AdditiveNoise(noise_from_dict(dict(plain)), low=plain.get("low"), high=plain.get("high"))
    by_matrix = {"categories", "matrix"} <= keys <= _MATRIX
    if not by_matrix and not {"categories", "p", "q"} <= keys <= _BITS:
        raise InputError(
            f"The channel of '{shown}' must hold 'noise' and 'spread' (also 'low' and 'high'), or 'categories' and "
            "'matrix', or 'categories', 'p' and 'q'."
        )
    if not isinstance(plain["categories"], list | tuple):
        raise ParameterError(f"The categories of '{shown}' must be a list.")
    if by_matrix:
        return RandomizedResponse(plain["categories"], plain["matrix"])
    return UnaryResponse(plain["categories"], p=plain["p"], q=plain["q"])


def noise_channel(
    noise: str,
    *,
    spread: float | None = None,
    privacy: float | None = None,
    epsilon: float | None = None,
    low: float | None = None,
    high: float | None = None,
    shown: str,
) -> AdditiveNoise:
    """Return the channel of a named noise, whose width is stated in one of three ways; errors name the column.

    >>> noise_channel("laplace", epsilon=1, low=0, high=100, shown="age")
    AdditiveNoise(Laplace(scale=100.00152739245131), low=0, high=100)
    """
    if sum(width is not None for width in (spread, privacy, epsilon)) != 1:
        raise ParameterError("Say in one way how wide the noise is.", fix={"privacy": 1.0})
    if spread is not None:
        return AdditiveNoise(NOISES[noise](spread), low=low, high=high)  # type: ignore[call-arg]
    if low is None or high is None:
        raise ParameterError(
            f"The range of '{shown}' is not known, and taking it from the data would reveal some of them.",
            fix={"range": f"{shown}=0,100"},
        )
    if privacy is not None:
        chosen = NOISES[noise].for_privacy(privacy, low=low, high=high)
    elif noise != "laplace":
        raise ParameterError("Only laplace noise has an epsilon.", fix={"noise": "laplace"})
    else:
        chosen = Laplace.for_epsilon(epsilon or 0.0, low=low, high=high)
    return AdditiveNoise(chosen, low=low, high=high)


@reads("The list of channels")
def channels_from_dict(plain: Mapping[str, Any]) -> Channels:
    """Read channels by column: what ``Channels.to_dict`` returns, or what a command that perturbs prints as JSON."""
    listed = plain.get("columns", plain) if isinstance(plain.get("command"), str) else plain
    if not isinstance(listed, Mapping) or not listed:
        raise InputError("There must be a channel for each hidden column, under the column's name.")
    return Channels({name: channel_from_dict(one, shown=name) for name, one in listed.items()})
