"""Earth mover's distances between the value counts of every group and the whole, from CSR arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


def ordered(indptr: Ints, values: Codes, counts: Ints, overall: Ints) -> Floats:
    """Move earth along a line of equidistant values: the ones that occur in the whole, in code order.

    The distance is the sum of |P_i - Q_i| over the cumulative shares, divided by the number of steps. P is
    constant between two values of a group and Q grows, so a binary search finds where their difference
    changes sign, and prefix sums of Q do the rest.
    """
    present = np.flatnonzero(overall)
    if present.size < 2:
        return np.zeros(indptr.size - 1)
    start = indptr[:-1]
    group = np.repeat(np.arange(start.size), np.diff(indptr))
    overall_share = np.cumsum(overall[present]) / overall.sum()
    prefix = np.concatenate(([0.0], np.cumsum(overall_share)))
    rank = (np.cumsum(overall > 0) - 1)[values]
    last = indptr[1:] - 1
    running = np.cumsum(counts)
    before = running[start] - counts[start]
    after = running - before[group]
    share = after / after[last][group]
    until = np.append(rank[1:], present.size)
    until[last] = present.size
    cross = until.copy()
    # The last share of a group is 1, at least as high as any of the whole: it never crosses, whatever
    # rounding says.
    inner = np.flatnonzero(after < after[last][group])
    cross[inner] = np.minimum(
        np.maximum(np.searchsorted(overall_share, share[inner]), rank[inner]), until[inner]
    )
    above = share * (cross - rank) - (prefix[cross] - prefix[rank])
    below = (prefix[until] - prefix[cross]) - share * (until - cross)
    first = prefix[rank[start]]
    return np.asarray((first + np.add.reduceat(above + below, start)) / (present.size - 1))


def hierarchical(
    indptr: Ints, values: Codes, counts: Ints, overall: Ints, levels: Sequence[NDArray[Any]]
) -> tuple[Floats, Floats]:
    """Move earth through a tree; a unit that turns at a node of level h costs h / height.

    ``levels[h][code]`` is the node of a leaf at level h, not falling within a group; the top is one node. Return the
    distances, and for each group the highest value that its optimal potential has over its own values, less the
    potential's mean over the whole.
    """
    total = overall.sum()
    wholes = [np.bincount(level, weights=overall) / max(total, 1) for level in levels]
    starts = np.cumsum([0, *[shares.size for shares in wholes[:-1]]])
    moved: tuple[Floats, Floats] = _hierarchical(
        indptr, values, counts, np.stack(levels), np.concatenate(wholes), starts
    )
    return moved


def transported(indptr: Ints, values: Codes, counts: Ints, overall: Ints, ground: Floats) -> Floats:
    """Move earth over any ground distance, from a group's values to the whole's, by a linear program each.

    Groups with the same shares are solved once.
    """
    solved: dict[tuple[bytes, bytes], float] = {}
    cost = np.zeros(indptr.size - 1)
    present = np.flatnonzero(overall)
    overall_share = overall[present] / overall.sum()
    for number, (begin, end) in enumerate(zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)):
        group_values, weight = values[begin:end], counts[begin:end] // np.gcd.reduce(counts[begin:end])
        key = (group_values.tobytes(), weight.tobytes())
        if key not in solved:
            solved[key] = _cheapest(
                weight / weight.sum(), overall_share, ground[np.ix_(group_values, present)]
            )
        cost[number] = solved[key]
    return cost


def _cheapest(supply: Floats, demand: Floats, ground: Floats) -> float:
    """Solve one transport problem: the least cost of turning one distribution into another."""
    from scipy.optimize import linprog

    solution = linprog(
        ground.ravel(),
        A_eq=_sums(*ground.shape),
        b_eq=np.concatenate([supply, demand]),
        bounds=(0.0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.status != 0 or solution.fun is None:
        raise ArithmeticError("the linear program of a transport problem was not solved")
    return float(solution.fun)


@lru_cache(maxsize=16)
def _sums(rows: int, columns: int) -> Any:
    """Return the sparse matrix that sums a flattened plan by row, then by column."""
    from scipy.sparse import csr_array

    cell = np.arange(rows * columns)
    by_column = cell.reshape(rows, columns).T.ravel()
    ends = np.concatenate([np.arange(rows) * columns, cell.size + np.arange(columns + 1) * rows])
    return csr_array((np.ones(2 * cell.size), np.concatenate([cell, by_column]), ends))


# The earth mover's distance in a tree whose edges all have the same length is the mean, over the levels
# below the top, of what the group has more of than the whole at the level's nodes: what a node has too
# much of, and nothing else, must leave it. The optimal potential of a leaf is the share of the levels at
# which its node has too much, so that two leaves that meet at level h differ by h / height at most. Values
# of a node are neighbors, as nodes do not fall within a group. O(values x height), not O(tree).
@compiled
def _hierarchical(indptr, values, counts, levels, wholes, starts):
    height = levels.shape[0] - 1
    cost = np.zeros(indptr.size - 1)
    highest = np.zeros(indptr.size - 1)
    longest = np.int64(0)
    for group in range(cost.size):
        longest = max(longest, indptr[group + 1] - indptr[group])
    rise = np.empty(longest, np.int64)
    for group in range(cost.size):
        begin = indptr[group]
        n_values = indptr[group + 1] - begin
        size = np.int64(0)
        for position in range(n_values):
            size += counts[begin + position]
            rise[position] = 0
        surplus = 0.0
        mean = 0.0
        for level in range(height):
            position = np.int64(0)
            while position < n_values:
                first = position
                node = levels[level, values[begin + first]]
                rows = np.int64(0)
                while position < n_values and levels[level, values[begin + position]] == node:
                    rows += counts[begin + position]
                    position += 1
                whole = wholes[starts[level] + node]
                extra = rows / size - whole
                if extra > 0.0:
                    surplus += extra
                    mean += whole
                    for inside in range(first, position):
                        rise[inside] += 1
        top = np.int64(0)
        for position in range(n_values):
            top = max(top, rise[position])
        cost[group] = surplus / height
        highest[group] = (top - mean) / height
    return cost, highest
