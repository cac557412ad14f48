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


# --- loss of a full-domain generalization -----------------------------------------------------------
#
# ``path[value]`` names the nodes of a value from itself to the root; null has nodes of its own below the root. A row is
# generalized to ``path[value][level]``; ``kept`` tells of each row whether it was published.

Path = Mapping[Any, Sequence[Any]]


def leaf_share(path: Path, value: Any, level: int) -> Fraction:
    """Leaves under the value's node at a level / all leaves; null below the root is a leaf's worth."""
    leaves = [leaf for leaf in path if leaf is not None]
    under = sum(path[leaf][level] == path[value][level] for leaf in leaves)
    return Fraction(max(under, 1), len(leaves))


def column_loss(values: Values, path: Path, level: int, kept: Sequence[bool], g: float = 0.5) -> float:
    """x = sum over kept of gF a + sum over suppressed of (a + sF (1 - a)), scaled between gF n / D and n."""
    g_factor, s_factor = Fraction(min(1.0, 2 - 2 * g)), Fraction(min(1.0, 2 * g))
    spent = Fraction(0)
    for value, stays in zip(values, kept, strict=True):
        share = leaf_share(path, value, level)
        spent += g_factor * share if stays else share + s_factor * (1 - share)
    n, n_leaves = len(values), sum(leaf is not None for leaf in path)
    least = g_factor * Fraction(n, n_leaves)
    return float((spent - least) / (n - least))


def entropy_bits(values: Values, path: Path, level: int, kept: Sequence[bool], *, monotone: bool) -> float:
    nodes = [path[value][level] for value in values]
    bits = sum(-math.log2(values.count(v) / nodes.count(node)) for v, node in zip(values, nodes, strict=True))
    out = [node for node, stays in zip(nodes, kept, strict=True) if not stays]
    return bits if monotone else bits + sum(-math.log2(out.count(node) / len(out)) for node in out)


def most_bits(values: Values) -> float:
    return sum(-math.log2(values.count(value) / len(values)) for value in values)


def discernibility(classes: Sequence[int], suppressed: int, n: int) -> int:
    """Each kept row pays its class's size, each suppressed row the whole table."""
    return sum(size * size for size in classes) + n * suppressed


# --- linkage ----------------------------------------------------------------------------------------


def fitting_people(record: Row, people: Sequence[Row], fits: Any) -> list[int]:
    """The numbers of the people whose values a record's cells may stand for, column by column."""
    return [i for i, person in enumerate(people) if all(fits(record[name], person[name]) for name in person)]


def is_delta_present(
    cells: Values, ages: Values, meaning: Mapping[Any, Any], low: float, high: float
) -> bool:
    """Whether everybody of a population is in a release of one column with a probability between the bounds.

    That of somebody who fits no class is 0, of one who fits one class its rows over its people. Where people fit
    several classes anything is possible for those classes' people. Rows that fit nobody break every bound.
    """
    fitting = {cell: [meaning[cell] is None or age in meaning[cell] for age in ages] for cell in set(cells)}
    several = [sum(fits[person] for fits in fitting.values()) > 1 for person in range(len(ages))]
    if not all(any(fits) for fits in fitting.values()):
        return False
    for person in range(len(ages)):
        theirs = [cell for cell, fits in fitting.items() if fits[person]]
        if not theirs and low > 0:
            return False
        for cell in theirs:
            share = Fraction(list(cells).count(cell), sum(fitting[cell]))
            mixed = any(fits and twice for fits, twice in zip(fitting[cell], several, strict=True))
            if (
                share > Fraction(high)
                or (mixed and high < 1)
                or (share < Fraction(low))
                or (mixed and low > 0)
            ):
                return False
    return True


def beliefs(people: Sequence[tuple[Any, Any, Any]], prior: Mapping[Any, Mapping[Any, Fraction]]) -> list[Any]:
    """Prior and posterior of every person and value; people are (class, quasi-identifiers, value) each."""
    learned = []
    for group, quasi, _ in people:
        same = [person for person in people if person[0] == group]
        terms = {}
        for value, before in prior[quasi].items():
            mean = sum(prior[other].get(value, Fraction(0)) for _, other, _ in same) / len(same)
            terms[value] = (
                sum(theirs == value for _, _, theirs in same) * before / mean if mean else Fraction(0)
            )
        total = sum(terms.values())
        learned.append(
            {value: (prior[quasi][value], terms[value] / total) for value in terms} if total else None
        )
    return learned


def joint_certainty(
    person: int, records: Sequence[Row], people: Sequence[Row], fits: Any, of: str
) -> Fraction:
    """The likeliest value's certainty: over the records with it that fit, 1 / max(people that fit, records alike)."""
    known, certainty = list(people[0]), Counter[Any]()
    for record in records:
        candidates = fitting_people(record, people, fits)
        if person in candidates:
            alike = sum(all(other[name] == record[name] for name in known) for other in records)
            certainty[record[of]] += Fraction(1, max(len(candidates), alike))  # type: ignore[assignment]
    return min(max(certainty.values(), default=Fraction(0)), Fraction(1))  # type: ignore[type-var]


def link_certainty(person: int, records: Sequence[Row], people: Sequence[Row], fits: Any) -> Fraction:
    """The best of 1 / max(people that fit a record, records alike) over the records that fit the person."""
    known, best = list(people[0]), Fraction(0)
    for record in records:
        candidates = fitting_people(record, people, fits)
        if person in candidates:
            alike = sum(all(other[name] == record[name] for name in known) for other in records)
            best = max(best, Fraction(1, max(len(candidates), alike)))
    return best
