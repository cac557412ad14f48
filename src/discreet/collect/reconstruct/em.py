"""Expectation maximization: the step that Bayes' rule and EM share, repeated until convergence, for many counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray

Stop = Literal["change", "chi2", "likelihood"]
TOLERANCES: dict[str, float] = {"change": 1e-3, "chi2": 1e-3, "likelihood": 1e-6}
"""The default tolerance of each rule: what came nearest to the truth on plateaus and triangles."""
TINY = 1e-300
_SURE = 0.95


@dataclass(frozen=True)
class Rule:
    """When to stop: the rule, its tolerance, and the most steps allowed."""

    stop: Stop
    tolerance: float
    max_steps: int

    def settled(self, old: FloatArray, new: FloatArray, gains: FloatArray, n: FloatArray) -> BoolArray:
        """Return for every row of shares whether the last step was small enough."""
        if self.stop == "change":
            return np.asarray(np.abs(new - old).sum(axis=1) < self.tolerance)
        if self.stop == "likelihood":
            return np.asarray(gains < self.tolerance * n)
        from scipy.special import chdtri

        positive = old > TINY
        moved = np.where(positive, (new - old) ** 2 / np.where(positive, old, 1.0), 0.0).sum(axis=1)
        freedom = np.maximum(positive.sum(axis=1) - 1, 1)
        return np.asarray(n * moved < self.tolerance * chdtri(freedom, 1 - _SURE))


@dataclass(frozen=True)
class EMResult:
    """The result of EM runs: shares, steps, whether they converged; and the likelihoods of the first run."""

    shares: FloatArray
    steps: IntArray
    converged: BoolArray
    trace: FloatArray


def run_em(counts: FloatArray, chances: Sequence[FloatArray], rule: Rule) -> EMResult:
    """Run EM from even shares, for every row of counts.

    ``counts`` has a first axis for the runs and then an axis of bins for each matrix of ``chances``, which leads from
    the cells of that axis to its bins; several matrices are applied axis by axis, as their product would be.
    """
    cells = [matrix.shape[1] for matrix in chances]
    shares = np.full((len(counts), *cells), 1 / np.prod(cells))
    steps = np.zeros(len(counts), np.int64)
    converged = np.zeros(len(counts), np.bool_)
    n = counts.reshape(len(counts), -1).sum(axis=1)
    back = [np.ascontiguousarray(matrix.T) for matrix in chances]
    active = np.arange(len(counts))
    expected = np.maximum(_along(shares, chances), TINY)
    watched = slice(None) if rule.stop == "likelihood" else slice(0, 1)
    before = np.zeros(len(counts))
    before[watched] = _likelihoods(counts[watched], expected[watched])
    trace: list[float] = []
    for _ in range(rule.max_steps):
        here, whole = counts[active], n[active]
        fresh = shares[active] * _along(here / expected, back)
        fresh /= fresh.reshape(active.size, -1).sum(axis=1).reshape(-1, *[1] * len(cells))
        expected = np.maximum(_along(fresh, chances), TINY)
        reached = np.zeros(active.size)
        if rule.stop == "likelihood" or active[0] == 0:
            reached[watched] = _likelihoods(here[watched], expected[watched])
        if active[0] == 0:
            trace.append(float(reached[0]))
        old, new = (array.reshape(active.size, -1) for array in (shares[active], fresh))
        done = rule.settled(old, new, reached - before, whole)
        shares[active] = fresh
        steps[active] += 1
        converged[active] = done
        active, expected, before = active[~done], expected[~done], reached[~done]
        if not active.size:
            break
    return EMResult(shares, steps, converged, np.array(trace))


def _along(array: FloatArray, matrices: Sequence[FloatArray]) -> FloatArray:
    """Apply a matrix to each axis after the first; every product moves its axis to the end."""
    for matrix in matrices:
        array = np.tensordot(array, matrix, axes=(1, 1))
    return array


def _likelihoods(counts: FloatArray, expected: FloatArray) -> FloatArray:
    return np.asarray((counts * np.log(expected)).reshape(len(counts), -1).sum(axis=1))
