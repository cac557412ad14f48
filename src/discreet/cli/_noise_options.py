"""The options that say which noise is meant."""

from __future__ import annotations

import math

import click

from discreet.cli import _parse_options as gather

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


def ends(text: str) -> tuple[float, float]:
    """Read LOW,HIGH."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise gather.mistake("--range takes two numbers, as in 0,100.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise gather.mistake("--range takes a lower and a higher number.")
    return low, high
