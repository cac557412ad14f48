"""Rules about the sensitive values of a class, judged on dense counts: one row of cells for each class.

A row holds a cell for each value of a sensitive column; cells add up when classes are joined. Where a rule moves earth
through a tree, the nodes of the levels between leaves and top have cells behind the row, filled when a class is judged.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled, compiled_step

KINDS = (
    "distinct",
    "entropy",
    "recursive",
    "largest share",
    "equal",
    "hierarchical",
    "ordered",
    "divergence",
)
"""What a rule compares with its bound; from ``equal`` on distances between the class and the whole table."""
LINE = 16
"""Counts in a line of the processor's cache; a row of cells is as long as some lines."""
_DISTINCT, _ENTROPY, _RECURSIVE, _LARGEST, _EQUAL, _TREE, _ORDERED, _DIVERGENCE = range(8)
_TOLERANCE = 1e-9


class Rules(NamedTuple):
    """The rules, an entry of each array for each.

    ``kind`` is a place in ``KINDS``. The column's values are in the cells from ``first`` to ``last``, the nodes of its
    tree from ``low`` to ``high``, those of lower levels first. A measure passes up to ``passes`` (entropy: from there
    on). ``certain`` is the bound that no part of a class may exceed, whichever rows leave the table; nan where none is
    known. ``rank`` is the l of a recursive rule, the height of a tree. ``above`` is the cell of the node above each
    cell, or one more than there are where that is the top. ``logs`` has n log n for the first n.
    """

    kind: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    rank: NDArray[np.int64]
    passes: NDArray[np.float64]
    certain: NDArray[np.float64]
    above: NDArray[np.int64]
    logs: NDArray[np.float64]
    part: NDArray[np.float64]
    rise: NDArray[np.float64]


# One rule after the other, until one fails; where one does, the others only add to the rows that must. See
# `Guarantee.failing_at_least` for the bounds: each is the tangent of the measure at the class. O(cells).
@compiled_step
def judge_class(cells, size, share, rules):
    """Return whether a class passes, and how many of its rows must fail however it is divided."""
    passes = True
    failing = 0.0
    for rule in range(rules.kind.size):
        kind = rules.kind[rule]
        if kind <= _LARGEST:
            passed, must = _judge_counts(cells, size, rules, rule, kind)
        else:
            passed, must = _judge_distance(cells, size, share, rules, rule, kind)
        passes = passes and passed
        failing = max(failing, must)
    return passes, failing


# One sweep over the cells of the column. The l - 1 most frequent values are found by insertion.
@compiled_step
def _judge_counts(cells, size, rules, rule, kind):
    first, last = rules.first[rule], rules.last[rule]
    bound, certain = rules.passes[rule], rules.certain[rule]
    if kind == _DISTINCT:
        n_values = 0
        for cell in range(first, last):
            n_values += cells[cell] > 0
        return n_values >= bound, 0.0 if n_values >= bound else float(size)
    most = 0
    for cell in range(first, last):
        most = max(most, cells[cell])
    if kind == _ENTROPY:
        summed = 0.0
        for cell in range(first, last):
            count = cells[cell]
            summed += rules.logs[count] if count < rules.logs.size else count * math.log(count)
        entropy = math.log(size) - summed / size
        if entropy >= bound:
            return True, 0.0
        return False, size * _failing_share(-entropy, -certain, math.log(most / size))
    if kind == _LARGEST:
        if most / size <= bound:
            return True, 0.0
        return False, size * _failing_share(most / size, certain, 1.0)
    ranked = rules.rise
    n_ranked = rules.rank[rule] - 1
    for at in range(n_ranked):
        ranked[at] = 0.0
    for cell in range(first, last):
        count = cells[cell]
        if n_ranked and count > ranked[n_ranked - 1]:
            at = n_ranked - 1
            while at > 0 and ranked[at - 1] < count:
                ranked[at] = ranked[at - 1]
                at -= 1
            ranked[at] = count
    tail = float(size)
    for at in range(n_ranked):
        tail -= ranked[at]
    if tail > 0.0 and most / tail < bound:
        return True, 0.0
    return False, max(0.0, most - bound * tail)


# ``rise`` is the potential of a cell, the slope of the distance at the class; its highest value among the
# class's own values, less its mean over the whole, bounds what any part can reach. A node's cell lies
# behind those of its children, so that going backwards adds up the levels of a tree from the top.
@compiled_step
def _judge_distance(cells, size, share, rules, rule, kind):
    first, last = rules.first[rule], rules.last[rule]
    rise = rules.rise
    distance = 0.0
    mean = 0.0
    if kind == _EQUAL:
        for cell in range(first, last):
            extra = cells[cell] / size - share[cell]
            distance += max(extra, 0.0)
        if distance <= rules.passes[rule]:
            return True, 0.0
        for cell in range(first, last):
            rise[cell] = cells[cell] / size > share[cell]
            mean += rise[cell] * share[cell]
    elif kind == _TREE:
        step, part, above = 1.0 / rules.rank[rule], rules.part, rules.above
        low, high = rules.low[rule], rules.high[rule]
        for cell in range(first, last):
            part[cell] = cells[cell] / size
        add_nodes(part, above, first, last, low, high)
        for cell in range(first, last):
            distance += max(part[cell] - share[cell], 0.0)
        for cell in range(low, high):
            distance += max(part[cell] - share[cell], 0.0)
        distance *= step
        if distance <= rules.passes[rule]:
            return True, 0.0
        rise[above.size] = 0.0
        for back in range(high - low + last - first):
            cell = high - 1 - back if back < high - low else last - 1 - (back - high + low)
            own = step if part[cell] > share[cell] else 0.0
            mean += own * share[cell]
            rise[cell] = own + rise[above[cell]]
    elif kind == _DIVERGENCE:
        for cell in range(first, last):
            if cells[cell] > 0:
                rise[cell] = math.log(cells[cell] / size / share[cell])
                distance += cells[cell] / size * rise[cell]
        if distance <= rules.passes[rule]:
            return True, 0.0
    else:
        distance = _line_distance(cells, size, share, first, last)
        return distance <= rules.passes[rule], 0.0
    highest = -math.inf
    for cell in range(first, last):
        if cells[cell] > 0:
            highest = max(highest, rise[cell])
    return False, size * _failing_share(distance, rules.certain[rule], highest - mean)


@compiled_step
def add_nodes(part, above, first, last, low, high):
    """Add up the cells of a column's values in those of its tree."""
    for cell in range(low, high):
        part[cell] = 0.0
    for cell in range(first, last):
        part[above[cell]] += part[cell]
    for cell in range(low, high):
        part[above[cell]] += part[cell]


@compiled
def shares_of(counts, n_rows, rules):
    """Return the shares of cells and of the nodes above them in all rows."""
    shares = np.zeros(rules.part.size)
    for cell in range(counts.size):
        shares[cell] = counts[cell] / n_rows
    for rule in range(rules.kind.size):
        add_nodes(shares, rules.above, rules.first[rule], rules.last[rule], rules.low[rule], rules.high[rule])
    return shares


# The sum of |P - Q| over the cumulative shares at the values that occur in the whole, in steps.
@compiled_step
def _line_distance(cells, size, share, first, last):
    distance = 0.0
    lead = 0.0
    n_values = 0
    for cell in range(first, last):
        if share[cell] > 0.0:
            lead += cells[cell] / size - share[cell]
            distance += abs(lead)
            n_values += 1
    return distance / (n_values - 1) if n_values > 1 else 0.0


@compiled_step
def _failing_share(measure, bound, highest):
    if not (measure > bound and highest - bound > _TOLERANCE):
        return 0.0
    return min(max((measure - bound) / (highest - bound) - _TOLERANCE, 0.0), 1.0)
