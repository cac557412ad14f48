"""Judging claims: one stated test over the seeds, and no judgment where the data cannot bear one."""

from __future__ import annotations

import math
from collections.abc import Sequence

UNJUDGED = "not judged in quick form"
"""Small data, or few points of it, decide nothing about a curve."""
ONE_SEED = "not judged: one seed"
UNDECIDED = "undecided"
ERRORS = 2.0
TEST = (
    "A difference is judged by its mean over all points that the claim names, one number for each seed: yes and no if "
    f"these are above or below 0 by at least {ERRORS:g} standard errors over the seeds, undecided in between. With "
    "two or three seeds that is a lenient test."
)
"""How a difference is judged, for the note under the claims."""


def above(differences: Sequence[float]) -> str:
    """Judge whether differences, one for each seed, are above 0.

    >>> above([0.2, 0.3, 0.25]), above([-0.2, -0.3, -0.25]), above([0.1, -0.1, 0.05]), above([0.2])
    ('yes', 'no', 'undecided', 'not judged: one seed')
    """
    n = len(differences)
    if n < 2:
        return ONE_SEED
    mean = math.fsum(differences) / n
    error = math.sqrt(math.fsum((one - mean) ** 2 for one in differences) / (n - 1) / n)
    if abs(mean) < ERRORS * error or mean == 0:
        return UNDECIDED
    return "yes" if mean > 0 else "no"


def over_points(differences: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean over the points for each seed, from a list of differences by seed at every point.

    >>> over_points([[1.0, 2.0], [3.0, 6.0]])
    [2.0, 4.0]
    """
    return [math.fsum(several) / len(several) for several in zip(*differences, strict=True)]


def offset(differences: Sequence[float]) -> str:
    """Write the mean of differences with its standard error over the seeds.

    >>> offset([0.2, 0.3, 0.25]), offset([0.2])
    ('+0.2500 ± 0.0289', '+0.2000')
    """
    n = len(differences)
    mean = math.fsum(differences) / n
    if n < 2:
        return f"{mean:+.4f}"
    error = math.sqrt(math.fsum((one - mean) ** 2 for one in differences) / (n - 1) / n)
    return f"{mean:+.4f} ± {error:.4f}"
