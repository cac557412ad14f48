"""Slow definitions of what synthetic tables rest on: the joint table of all columns, and exact privacy losses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def joint(
    shape: Sequence[int], n_rows: int, cliques: Sequence[tuple[int, ...]], potentials: Sequence[Array]
) -> Array:
    """Multiply the exponentials of all potentials out over every combination of all columns."""
    product = np.zeros(tuple(shape))
    for cell in np.ndindex(*shape):
        for clique, potential in zip(cliques, potentials, strict=True):
            product[cell] += potential[tuple(cell[column] for column in clique)]
    weights = np.exp(product - product.max())
    return n_rows * weights / weights.sum()


def marginal(table: Array, columns: tuple[int, ...]) -> Array:
    """Sum the table over all other columns."""
    return table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in columns))


def counted(rows: Array, shape: Sequence[int], columns: tuple[int, ...]) -> Array:
    """Count row by row."""
    counts = np.zeros(tuple(shape[column] for column in columns))
    for row in rows:
        counts[tuple(int(row[column]) for column in columns)] += 1
    return counts


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Return the exact delta of a Gaussian mechanism of cost rho (Balle and Wang 2018, theorem 8)."""
    spread = math.sqrt(2 * rho)

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(spread / 2 - epsilon / spread) - math.exp(epsilon) * below(-spread / 2 - epsilon / spread)


def runs_together(
    cliques: Sequence[tuple[int, ...]], parents: Sequence[int], separators: Sequence[tuple[int, ...]]
) -> bool:
    """Whether what a clique shares with all cliques before it lies in its parent, and is its separator."""
    for at in range(1, len(cliques)):
        before = set().union(*map(set, cliques[:at])) & set(cliques[at])
        if before != set(separators[at]) or not before <= set(cliques[parents[at]]):
            return False
    return True
