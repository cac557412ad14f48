"""Calibration: how wide records must be spread so that others explain what is published as well (Aggarwal 2008)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.errors import InfeasibleError
from discreet.core.records.uncertain_points import Spread

GRID: FloatArray = np.concatenate(
    [np.array([1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8]) * 10.0**decade for decade in range(-2, 5)]
)
"""The spreads that are published, as shares of a column's unit: ten to a decade, whatever the data."""
_ONE_BLOCK, _BLOCK = 5_000, 1_024
"""Up to how many records all are compared with all; and the most records of a block where they are more."""
_COMPANY = 4
"""How many times its largest level a class must have in records before the others may leave it."""
_STEPS, _SAMPLE = 40, 128
_CLOSE = 1e-9


@dataclass(frozen=True, repr=False)
class Calibrated:
    """The spread of every record, and the expected anonymity that it has by it; never too large."""

    spreads: FloatArray
    anonymity: FloatArray


def chances(points: FloatArray, others: FloatArray, spreads: FloatArray, shape: Spread) -> FloatArray:
    """Return the probability that others explain what is drawn for each point at least as well as itself.

    Gaussian: of two records at a distance d, the other is nearer to the draw with probability P(N(0, 1) ≥ d/2σ).
    Uniform: the other's cube holds the draw with the share of the cubes that overlaps.
    """
    from scipy.spatial.distance import cdist
    from scipy.special import ndtr

    wide = spreads[:, None]
    if shape == "gaussian":
        return np.asarray(ndtr(cdist(points, others) / (-2 * wide)))
    overlap = np.ones((len(points), len(others)))
    for column in range(points.shape[1]):
        apart = np.abs(points[:, column, None] - others[:, column])
        overlap *= np.maximum(1 - apart / wide, 0.0)
    return overlap


def own_spreads(points: FloatArray, levels: IntArray, shape: Spread) -> Calibrated:
    """Return the least spread of every record by itself, as in the paper, by bisection.

    Above 5,000 records only those of a record's block are counted, so that the anonymity is at least what is stated.
    """
    spreads, anonymity = np.empty(levels.size), np.empty(levels.size)
    for block in _blocks(points, levels):
        for rows in np.array_split(block, -(-block.size // _BLOCK)):
            narrow, wide = np.full(rows.size, GRID[0] / 100), np.full(rows.size, GRID[-1])
            reached = _anonymity(points, rows, block, wide, shape)
            if (reached < levels[rows] - _CLOSE).any():
                _refuse(
                    levels[block],
                    _anonymity(points, block, block, np.full(block.size, GRID[-1]), shape),
                    shape,
                )
            # Halvings of the logarithm, to within 1e-10 of the least spread.
            for _ in range(_STEPS):
                middle = np.sqrt(narrow * wide)
                enough = _anonymity(points, rows, block, middle, shape) >= levels[rows]
                wide, narrow = np.where(enough, middle, wide), np.where(enough, narrow, middle)
            spreads[rows], anonymity[rows] = wide, _anonymity(points, rows, block, wide, shape)
    return Calibrated(spreads, anonymity)


def shared_spreads(points: FloatArray, levels: IntArray, shape: Spread) -> Calibrated:
    """Return spreads such that every record has its level of anonymity among those of the same spread alone.

    The spreads of a fixed grid are taken from the narrowest to the widest. At each, records that lack anonymity among
    those that are left drop out until none does (the core that remains is the largest there is); the core gets the
    spread, and the others go on. So whoever works out which records have which spread gains nothing by it. Records
    drop out together with the weakest of the core where they would be too few to hide one another.
    """
    spreads, anonymity = np.empty(levels.size), np.empty(levels.size)
    for block in _blocks(points, levels):
        rest = block
        for spread in GRID[_first(points[block], levels[block], shape) :]:
            core, reached = _core(points[rest], levels[rest], float(spread), shape)
            spreads[rest[core]], anonymity[rest[core]] = spread, reached[core]
            rest = rest[~core]
            if not rest.size:
                break
        else:
            widest = np.full(rest.size, GRID[-1])
            _refuse(levels[rest], _anonymity(points, rest, rest, widest, shape), shape)
    return Calibrated(spreads, anonymity)


def _refuse(levels: IntArray, reached: FloatArray, shape: Spread) -> NoReturn:
    """Refuse levels that no spread reaches."""
    most = "(n + 1)/2" if shape == "gaussian" else "n"
    raise InfeasibleError(
        f"No spread reaches the level {int(levels.max())} among {levels.size:,} records: however wide, {shape} spreads "
        f"stay below {most}. A level of at most {max(int(reached.min() + _CLOSE), 1)} would do."
    )


def _first(points: FloatArray, levels: IntArray, shape: Spread) -> int:
    """Return the place in the grid from which to look for a core: just below where some of a sample reach theirs."""
    rows, everyone = np.arange(0, levels.size, -(-levels.size // _SAMPLE)), np.arange(levels.size)
    low, high = 0, GRID.size - 1
    # Anonymity grows with the spread, so that halving finds the first place.
    while low < high:
        middle = (low + high) // 2
        reached = _anonymity(points, rows, everyone, np.full(rows.size, GRID[middle]), shape)
        low, high = (low, middle) if (reached >= levels[rows] - _CLOSE).any() else (middle + 1, high)
    return max(low - 1, 0)


def _core(points: FloatArray, levels: IntArray, spread: float, shape: Spread) -> tuple[BoolArray, FloatArray]:
    """Return the records that keep their levels among one another with a spread, and the anonymity of each."""
    matrix = chances(points, points, np.full(levels.size, spread), shape)
    np.fill_diagonal(matrix, 1.0)
    core, reached = _peeled(matrix, levels, np.ones(levels.size, np.bool_))
    # Those who drop out need company among themselves at a wider spread.
    lacking = min(_COMPANY * int(levels.max()), levels.size) - int((~core).sum())
    if core.all() or not core.any() or lacking <= 0:
        return core, reached
    members = np.flatnonzero(core)
    core[members[np.argsort(reached[members], kind="stable")[:lacking]]] = False
    return _peeled(matrix, levels, core)


def _peeled(matrix: FloatArray, levels: IntArray, core: BoolArray) -> tuple[BoolArray, FloatArray]:
    """Drop records that lack anonymity among the others of the core until none does."""
    while True:
        reached = np.einsum(
            "ij,j->i", matrix, core
        )  # not by BLAS, whose threads cost more than they save here
        lacking = core & (reached < levels - _CLOSE)
        if not lacking.any():
            return core, reached
        core = core & ~lacking


def _anonymity(
    points: FloatArray, rows: IntArray, among: IntArray, spreads: FloatArray, shape: Spread
) -> FloatArray:
    """Return the expected anonymity of rows among others, which hold them as well: each counts itself as 1."""
    total = np.empty(rows.size)
    for part in np.array_split(np.arange(rows.size), -(-rows.size // _BLOCK)):
        matrix = chances(points[rows[part]], points[among], spreads[part], shape)
        total[part] = matrix.sum(axis=1)
    # A Gaussian at the distance 0 counts itself as 1/2, a cube as 1.
    return total + (0.5 if shape == "gaussian" else 0.0)


def _blocks(points: FloatArray, levels: IntArray) -> Iterator[IntArray]:
    """Divide records into blocks of near ones: halved across the widest column until they are small enough."""
    parts = [np.arange(levels.size)]
    # Half of more than this is still twice the company that the largest level needs.
    most = max(_ONE_BLOCK if levels.size <= _ONE_BLOCK else _BLOCK, 4 * _COMPANY * int(levels.max()))
    while parts:
        rows = parts.pop()
        if rows.size <= most:
            yield rows
            continue
        side = int(points[rows].std(axis=0).argmax())
        order = rows[np.argsort(points[rows, side], kind="stable")]
        parts += [order[: rows.size // 2], order[rows.size // 2 :]]
