"""Slow, obvious definitions in plain Python over lists of rows; what the fast code is held against.

A row is a dict of column to value; None is null, a value like any other.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Values = Sequence[Any]

# --- classes --------------------------------------------------------------------------------------


def equivalence_classes(rows: Sequence[Row], quasi: Sequence[str]) -> list[list[Row]]:
    """Rows that agree in every quasi-identifier, in the order of their first row."""
    classes: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        classes[tuple(row[name] for name in quasi)].append(row)
    return list(classes.values())


def column(rows: Sequence[Row], name: str) -> list[Any]:
    return [row[name] for row in rows]


def shares(values: Values) -> dict[Any, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


# --- diversity of one class -----------------------------------------------------------------------


def distinct_values(values: Values) -> int:
    return len(set(values))


def effective_values(values: Values) -> float:
    """exp of the natural entropy, as the product of p^-p."""
    return math.prod(float(share) ** -float(share) for share in shares(values).values())


def is_recursively_diverse(values: Values, c: float, l: int) -> bool:  # noqa: E741
    """r_1 < c (r_l + ... + r_m), counts in descending order."""
    counts = sorted(Counter(values).values(), reverse=True)
    return counts[0] < Fraction(c) * sum(counts[l - 1 :])


def recursive_ratio(values: Values, l: int) -> float:  # noqa: E741
    counts = sorted(Counter(values).values(), reverse=True)
    tail = sum(counts[l - 1 :])
    return counts[0] / tail if tail else math.inf


# --- a class against everyone ---------------------------------------------------------------------


def variational_distance(values: Values, everyone: Values) -> float:
    p, q = shares(values), shares(everyone)
    return float(sum(abs(p.get(value, 0) - q[value]) for value in q) / 2)


def kl_divergence(values: Values, everyone: Values) -> float:
    p, q = shares(values), shares(everyone)
    return sum(float(p[value]) * math.log(p[value] / q[value]) for value in p)


def ordered_distance(values: Values, everyone: Values) -> float:
    """Earth mover's distance on a line of the values that occur, null first."""
    p, q = shares(values), shares(everyone)
    line = sorted(q, key=lambda value: (value is not None, value))
    carried = list(itertools.accumulate(p.get(value, 0) - q[value] for value in line))
    return float(sum(abs(load) for load in carried) / (len(line) - 1)) if len(line) > 1 else 0.0


def hierarchical_distance(values: Values, everyone: Values, path: Mapping[Any, Sequence[Any]]) -> float:
    """Earth mover's distance in a tree, node by node, as the t-closeness paper defines it.

    ``path[value]`` names the nodes above a value, the root last. Null needs no path: it hangs under the root.
    """
    p, q = shares(values), shares(everyone)
    height = len(next(iter(path.values())))
    root = next(iter(path.values()))[-1]
    extra: dict[Any, Fraction] = defaultdict(Fraction)
    children: dict[Any, set[Any]] = defaultdict(set)
    for value in q:
        own = p.get(value, Fraction(0)) - q[value]
        chain = [(0, value)]
        if value is not None:
            chain += [(level, node) for level, node in enumerate(path[value][:-1], start=1)]
        chain.append((height, root))
        for below, above in itertools.pairwise(chain):
            children[above].add(below)
        for node in chain:
            extra[node] += own
    cost = Fraction(0)
    for node, under in children.items():
        surplus = sum(max(extra[child], Fraction(0)) for child in under)
        lack = sum(max(-extra[child], Fraction(0)) for child in under)
        cost += Fraction(node[0], height) * min(surplus, lack)
    return float(cost)


def transport_distance(values: Values, everyone: Values, ground: Mapping[tuple[Any, Any], float]) -> float:
    """Earth mover's distance for any ground distance: the best pairing of equal crumbs of both sides."""
    from scipy.optimize import linear_sum_assignment

    crumbs = math.lcm(len(values), len(everyone))
    left = [value for value in values for _ in range(crumbs // len(values))]
    right = [value for value in everyone for _ in range(crumbs // len(everyone))]
    cost = [[ground[a, b] for b in right] for a in left]
    pairs = zip(*linear_sum_assignment(cost), strict=True)
    return sum(cost[i][j] for i, j in pairs) / crumbs


def largest_share(values: Values) -> float:
    return float(max(shares(values).values()))


def relative_gain(values: Values, everyone: Values) -> float:
    p, q = shares(values), shares(everyone)
    return float(max([(p[value] - q[value]) / q[value] for value in p if p[value] > q[value]], default=0))


def is_enhanced_beta_like(values: Values, everyone: Values, beta: float) -> bool:
    p, q = shares(values), shares(everyone)
    return all(
        float((p[value] - q[value]) / q[value]) <= min(beta, -math.log(q[value]))
        for value in p
        if p[value] > q[value]
    )


def log2_ratio(values: Values, everyone: Values) -> float:
    p, q = shares(values), shares(everyone)
    return max(abs(math.log2(p[value] / q[value])) for value in p)
