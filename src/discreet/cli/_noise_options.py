"""The options that say which noise is meant, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.collect import AdditiveNoise

NOISE = click.option(
    "--noise", type=click.Choice(["uniform", "gaussian", "laplace"]), required=True, help="The kind of noise."
)
SPREAD = click.option(
    "--spread",
    type=float,
    help="Its half width (uniform), standard deviation (gaussian) or scale (laplace).",
)
PRIVACY = click.option(
    "--privacy",
    type=float,
    help="In place of it, the width of the 95 % interval as a share of the range; 1.0 is the whole range.",
)
EPSILON = click.option(
    "--epsilon", type=float, help="In place of it, the local differential privacy; laplace only."
)


def channel(
    noise: str,
    *,
    spread: float | None,
    privacy: float | None,
    epsilon: float | None,
    ends: tuple[float, float] | None,
    column: str,
) -> AdditiveNoise:
    """Make the channel of a column from the one option that says how wide the noise is."""
    from discreet.collect import AdditiveNoise, Laplace
    from discreet.collect.noise import NOISES

    if sum(one is not None for one in (spread, privacy, epsilon)) != 1:
        raise gather.mistake("Say in one way how wide the noise is.", "--privacy 1.0")
    low, high = ends if ends is not None else (None, None)
    if spread is not None:
        return AdditiveNoise(NOISES[noise](spread), low=low, high=high)  # type: ignore[call-arg]
    if low is None or high is None:
        raise gather.mistake(
            f"The range of '{column}' is not known, and taking it from the data would reveal some of them.",
            f"--range {column}=0,100",
        )
    if privacy is not None:
        return AdditiveNoise(NOISES[noise].for_privacy(privacy, low=low, high=high), low=low, high=high)
    if noise != "laplace" or epsilon is None:
        raise gather.mistake("Only laplace noise has an epsilon.", "--noise laplace")
    return AdditiveNoise(Laplace.for_epsilon(epsilon, low=low, high=high), low=low, high=high)


def ranges(given: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Read COLUMN=LOW,HIGH options."""
    return {name: ends(value) for name, value in gather.pairs("--range", given, last=True).items()}


def ends(text: str) -> tuple[float, float]:
    """Read LOW,HIGH."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise gather.mistake("--range takes two numbers, as in 0,100.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise gather.mistake("--range takes a lower and a higher number.")
    return low, high
