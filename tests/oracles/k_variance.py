"""Slow definitions of exact neighbors and of k-variance, in plain loops over dense rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[float]
NEAR = 1e-9


def dot(x: Row, y: Row) -> float:
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def cosine_order(query: Row, rows: Sequence[Row], leave_out: int | None) -> list[int]:
    """Order rows of whole numbers by their cosine with a query, exactly; equal ones by their number."""

    def key(place: int) -> Fraction:
        product = Fraction(round(dot(query, rows[place])))
        square = Fraction(round(dot(rows[place], rows[place])))
        return product * abs(product) / square if square else Fraction(0)

    places = [place for place in range(len(rows)) if place != leave_out]
    return sorted(places, key=lambda place: (-key(place), place))


def paper_variance(x: Row, y: Row) -> float:
    return dot(x, x) * dot(y, y) - dot(x, y) ** 2


def exact_variance(x: Row, y: Row) -> float:
    """Sum E[(s t)²] − E[s t]² over all signs of the items, one component; slow and obvious."""
    products = [dot(x, signs) * dot(y, signs) for signs in itertools.product((-1, 1), repeat=len(x))]
    mean = math.fsum(products) / len(products)
    return math.fsum((one - mean) ** 2 for one in products) / len(products)


def gap(x: Row, y: Row) -> float:
    return math.sqrt(dot(x, x)) * math.sqrt(dot(y, y)) - abs(dot(x, y))


def admissible(x: Row, y: Row, shared: int, *, reach: str = "whole") -> bool:
    """Return whether the deviation of the estimate from so many common components reaches the gap, or its root.

    By distances: whether the variance of the estimated squared distance reaches that distance.
    """
    if reach == "distance":
        return shared == 0 or distance_variance(x, y) / shared >= squared_distance(x, y) * (1 - NEAR)
    if shared == 0 or gap(x, y) <= 1e-12 * math.sqrt(dot(x, x) * dot(y, y)):
        return True
    wanted = math.sqrt(gap(x, y)) if reach == "root" else gap(x, y)
    return math.sqrt(max(pair_variance(x, y), 0.0) / shared) >= wanted * (1 - NEAR)


def squared_distance(x: Row, y: Row) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def distance_variance(x: Row, y: Row) -> float:
    """Sum E[(s − t)⁴] − E[(s − t)²]² over all signs of the items, one component."""
    squares = [(dot(x, signs) - dot(y, signs)) ** 2 for signs in itertools.product((-1, 1), repeat=len(x))]
    mean = math.fsum(squares) / len(squares)
    return math.fsum((square - mean) ** 2 for square in squares) / len(squares)


def pair_variance(x: Row, y: Row) -> float:
    """Return the variance lengths are chosen by: the paper's without negative values, else the exact one."""
    return exact_variance(x, y) if min(*x, *y) < 0 else paper_variance(x, y)


def keeps(
    rows: Sequence[Row],
    neighbors: Sequence[Sequence[int]],
    lengths: Sequence[int],
    *,
    reach: str = "whole",
) -> bool:
    """Judge every pair of neighbors."""
    return all(
        admissible(rows[i], rows[j], min(lengths[i], lengths[j]), reach=reach)
        for i, near in enumerate(neighbors)
        for j in near
    )


def can_be_raised(
    rows: Sequence[Row],
    neighbors: Sequence[Sequence[int]],
    lengths: Sequence[int],
    most: Sequence[int],
    *,
    reach: str = "whole",
) -> bool:
    """Return whether a single length could be larger, all others as they are; each has a most of its own."""
    for place, length in enumerate(lengths):
        for longer in range(length + 1, most[place] + 1):
            if keeps(rows, neighbors, [*lengths[:place], longer, *lengths[place + 1 :]], reach=reach):
                return True
    return False
