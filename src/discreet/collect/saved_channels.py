"""Channels from plain data, as ``to_dict`` returns and files store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.channels import Channel, Channels
from discreet.collect.noise import NOISES, noise_from_dict
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


@reads("The list of channels")
def channels_from_dict(plain: Mapping[str, Any]) -> Channels:
    """Read channels by column: what ``Channels.to_dict`` returns, or what ``discreet perturb --json`` prints."""
    listed = plain.get("columns", plain) if plain.get("command") == "perturb" else plain
    if not isinstance(listed, Mapping) or not listed:
        raise InputError("There must be a channel for each hidden column, under the column's name.")
    return Channels({name: channel_from_dict(one, shown=name) for name, one in listed.items()})
