"""One person's step, as it would run on a phone: plain Python, nothing but the standard library.

This file can be copied as it is. The draws come from the operating system, which is what a person's privacy should
rest on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from secrets import SystemRandom

_GRID_BITS = 16
_MOST_STEPS = 2.0**52
_chance = SystemRandom()


def add_noise(
    value: float, noise: str, spread: float, *, low: float | None = None, high: float | None = None
) -> float:
    """Hide one number behind noise before it leaves.

    Parameters
    ----------
    value
        The true number.
    noise, spread
        "uniform" with its half width, "gaussian" with its standard deviation, or "laplace" with its scale: what the
        collector has made public.
    low, high
        The public range of true numbers; a number outside it is moved to its nearest end, since its noise could not
        hide it.

    Examples
    --------
    >>> abs(add_noise(40.0, "uniform", 5.0) - 40) <= 5.001
    True
    """
    value = _finite(value)
    if not 1e-150 <= spread <= 1e150:
        raise ValueError("The spread must be a positive number, between 1e-150 and 1e150.")
    if any(end is not None and math.isnan(end) for end in (low, high)):
        raise ValueError("The ends of the range must be numbers.")
    if low is not None and high is not None and not low < high:
        raise ValueError("The low end of the range must lie below the high end.")
    if low is not None:
        value = max(value, low)
    if high is not None:
        value = min(value, high)
    grid = math.ldexp(1.0, math.floor(math.log2(spread)) - _GRID_BITS)
    if abs(value) / grid >= _MOST_STEPS:
        raise ValueError("The value is so large beside the noise that it would be lost in rounding.")
    return (round(value / grid) + _steps(noise, spread / grid)) * grid


def report_category(category: str, categories: Sequence[str], matrix: Sequence[Sequence[float]]) -> str:
    """Report one's own category, or another one, by the public probabilities in its row of the matrix.

    Examples
    --------
    >>> report_category("no", ["no", "yes"], [[1.0, 0.0], [0.0, 1.0]])
    'no'
    """
    if category not in categories:
        raise ValueError("The category is not one of the known categories.")
    _require_once(categories)
    chances = matrix[categories.index(category)] if len(matrix) == len(categories) else ()
    right = len(chances) == len(categories) and all(0 <= chance <= 1 for chance in chances)
    if not right or abs(math.fsum(chances) - 1) > 1e-9:
        raise ValueError("A row of the matrix must hold a probability for every category, which add up to 1.")
    # The last category that is possible takes what rounding leaves
    # of the sum, so that none of probability 0 is reported.
    last = max(index for index, chance in enumerate(chances) if chance > 0)
    drawn, reached = _open(), 0.0
    for index in range(last):
        reached += chances[index]
        if drawn < reached:
            return categories[index]
    return categories[last]


def report_unary(category: str, categories: Sequence[str], p: float, q: float) -> Mapping[str, bool]:
    """Answer yes or no for every category: the own yes stays with probability p, every no with probability q.

    Examples
    --------
    >>> report_unary("tea", ["tea", "milk"], 1.0, 1.0)
    {'tea': True, 'milk': False}
    """
    if category not in categories:
        raise ValueError("The category is not one of the known categories.")
    _require_once(categories)
    if not (0 <= p <= 1 and 0 <= q <= 1) or abs(p + q - 1) < 1e-12:
        raise ValueError("p and q must lie in [0, 1], and p + q must not be 1.")
    return {other: _open() < p if other == category else _open() >= q for other in categories}


def report_ratings(
    ratings: Mapping[str, float],
    items: Sequence[str],
    noise: str,
    spread: float,
    *,
    limit: float | None = None,
) -> list[float]:
    """Report a score with noise for every item, rated or not, so that what was rated is hidden as well.

    A score is how far a rating is above the person's own mean, in standard deviations; 0 for an item that she did not
    rate, and for all if her ratings are all alike.

    Parameters
    ----------
    ratings
        The person's ratings by item.
    items
        All items, in the public order.
    noise, spread
        As in :func:`add_noise`.
    limit
        The public limit of scores; one beyond is moved to it.

    Examples
    --------
    >>> [round(score) for score in report_ratings({"A": 2, "C": 4}, ["A", "B", "C"], "uniform", 1e-6)]
    [-1, 0, 1]
    """
    if not isinstance(ratings, Mapping):
        raise ValueError("The ratings must be a mapping from items to numbers.")
    _require_once(items)
    if not set(ratings) <= set(items):
        raise ValueError("Some rated items are not among the known items.")
    scores = _scores(ratings)
    ends = {} if limit is None else {"low": -limit, "high": limit}
    return [add_noise(scores.get(item, 0.0), noise, spread, **ends) for item in items]


def _scores(ratings: Mapping[str, float]) -> dict[str, float]:
    values = [_finite(rating) for rating in ratings.values()]
    mean = math.fsum(values) / max(len(values), 1)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / max(len(values), 1))
    alike = not values or max(values) == min(values)
    return {item: 0.0 if alike else (value - mean) / sd for item, value in zip(ratings, values, strict=True)}


def _finite(value: float) -> float:
    try:
        if math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise ValueError("The value must be a finite number.")


def _require_once(categories: Sequence[str]) -> None:
    if len(set(categories)) < len(categories):
        raise ValueError("Each category or item must be named once.")


def _steps(noise: str, spread: float) -> int:
    """Draw noise as a whole number of grid steps."""
    if noise == "uniform":
        return round((2 * _open() - 1) * spread)
    if noise == "gaussian":
        return round(spread * math.sqrt(2 * _waiting()) * math.cos(2 * math.pi * _open()))
    if noise == "laplace":
        return math.floor(_waiting() * spread) - math.floor(_waiting() * spread)
    raise ValueError("The noise must be 'uniform', 'gaussian' or 'laplace'.")


def _open() -> float:
    """Draw a number strictly between 0 and 1."""
    return (_chance.getrandbits(52) + 0.5) * 2.0**-52


def _waiting() -> float:
    """Draw an exponential waiting time of mean 1, fine in the far tail too."""
    halves = 0
    # Coin by coin the exponent of a uniform number, so that its logarithm has no coarse steps near zero.
    while not _chance.getrandbits(1):
        halves += 1
    return halves * math.log(2.0) - math.log(0.5 + 0.5 * _open())
