"""Expectation maximization over one or several axes: a matrix of the noise for each, and the step of Bayes and EM."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.collect.noise import Noise
from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.errors import InputError

Stop = Literal["change", "chi2", "likelihood"]
TOLERANCES: dict[str, float] = {"change": 1e-3, "chi2": 1e-3, "likelihood": 1e-6}
"""The default tolerance of each rule: what came nearest to the truth on plateaus and triangles."""
TINY = 1e-300
_CONFIDENCE = 0.95
_CHUNK = 4096
_UNLIKELY = 1e-9
"""How seldom the noise may carry any of all values so far that they are refused."""


class NotConvergedWarning(UserWarning):
    """A reconstruction stopped at the number of steps allowed; the best result so far is returned."""


def warn_not_converged(max_steps: int) -> None:
    """Warn the caller of a method that its reconstruction stopped too early."""
    warnings.warn(
        f"The reconstruction did not settle within {max_steps} steps; the best result so far is returned.",
        NotConvergedWarning,
        stacklevel=3,
    )


@dataclass(frozen=True)
class Rule:
    """When to stop: the rule, its tolerance, and the most steps allowed."""

    stop: Stop
    tolerance: float
    max_steps: int

    @classmethod
    def of(cls, stop: Stop, tolerance: float | None, max_steps: int) -> Rule:
        """Return a rule; without a tolerance it has its own."""
        return cls(stop, TOLERANCES[stop] if tolerance is None else tolerance, max_steps)

    def settled(self, old: FloatArray, new: FloatArray, gains: FloatArray, n: FloatArray) -> BoolArray:
        """Return for every row of shares whether the last step was small enough."""
        if self.stop == "change":
            return np.asarray(np.abs(new - old).sum(axis=1) < self.tolerance)
        if self.stop == "likelihood":
            return np.asarray(gains < self.tolerance * n)
        from scipy.special import chdtri

        positive = old > TINY
        moved = np.where(positive, (new - old) ** 2 / np.where(positive, old, 1.0), 0.0).sum(axis=1)
        # Shares add up to 1, hence one degree of freedom less.
        freedom = np.maximum(positive.sum(axis=1) - 1, 1)
        return np.asarray(n * moved < self.tolerance * chdtri(freedom, 1 - _CONFIDENCE))


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
    the cells of that axis to its bins; several matrices are applied axis by axis, as their product would be. A step
    costs the product of bins and cells of each axis, times the size of the others. The likelihood never falls.
    """
    counts, chances = _filled(counts, chances)
    cells = [matrix.shape[1] for matrix in chances]
    shares = np.full((len(counts), *cells), 1 / np.prod(cells))
    steps = np.zeros(len(counts), np.int64)
    converged = np.zeros(len(counts), np.bool_)
    n = counts.reshape(len(counts), -1).sum(axis=1)
    back = [np.ascontiguousarray(matrix.T) for matrix in chances]
    active = np.arange(len(counts))
    expected = np.maximum(_along(shares, chances), TINY)
    # Without this rule likelihoods serve the trace alone, which is that of the first run.
    watched = slice(None) if rule.stop == "likelihood" else slice(0, 1)
    before = np.zeros(len(counts))
    before[watched] = _likelihoods(counts[watched], expected[watched])
    trace: list[float] = []
    for _ in range(rule.max_steps):
        here, totals = counts[active], n[active]
        # The step of Bayes and of EM: each count is divided among the cells by their posterior probabilities.
        fresh = shares[active] * _along(here / expected, back)
        fresh /= fresh.reshape(active.size, -1).sum(axis=1).reshape(-1, *[1] * len(cells))
        expected = np.maximum(_along(fresh, chances), TINY)
        reached = np.zeros(active.size)
        if rule.stop == "likelihood" or active[0] == 0:
            reached[watched] = _likelihoods(here[watched], expected[watched])
        # ``active`` stays ascending, so the first run is among those that go on exactly if it comes first.
        if active[0] == 0:
            trace.append(float(reached[0]))
        old, new = (array.reshape(active.size, -1) for array in (shares[active], fresh))
        done = rule.settled(old, new, reached - before, totals)
        shares[active] = fresh
        steps[active] += 1
        converged[active] = done
        active, expected, before = active[~done], expected[~done], reached[~done]
        if not active.size:
            break
    return EMResult(shares, steps, converged, np.array(trace))


def _filled(counts: FloatArray, chances: Sequence[FloatArray]) -> tuple[FloatArray, list[FloatArray]]:
    """Leave out the bins of each axis that no run has a value in: they add nothing to the likelihood."""
    matrices = []
    for axis, matrix in enumerate(chances, start=1):
        others = tuple(other for other in range(counts.ndim) if other != axis)
        filled = counts.any(axis=others)
        counts = counts.compress(filled, axis=axis)
        matrices.append(matrix[filled])
    return counts, matrices


def _along(array: FloatArray, matrices: Sequence[FloatArray]) -> FloatArray:
    """Apply a matrix to each axis after the first; every product moves its axis to the end."""
    for matrix in matrices:
        array = np.tensordot(array, matrix, axes=(1, 1))
    return array


def _likelihoods(counts: FloatArray, expected: FloatArray) -> FloatArray:
    return np.asarray((counts * np.log(expected)).reshape(len(counts), -1).sum(axis=1))


def likelihood(noise: Noise, bins: FloatArray, edges: FloatArray, *, exact: bool = True) -> FloatArray:
    """Return a row for every bin and a column for every interval, both described by their edges.

    Exactly, the noise is averaged over the interval and summed over the bin. The integral of its ``cdf`` up to d is
    max(d, 0) and a tail that is the same on both sides; taking the two apart keeps far chances from being lost in
    rounding. Otherwise, as in the first paper, it is the density between their middles; but bins that bounded noise
    reaches from no middle get the exact probabilities.
    """
    chances = np.empty((bins.size - 1, edges.size - 1))
    for start in range(0, bins.size - 1, _CHUNK):
        ends = bins[start : start + _CHUNK + 1]
        tails = noise.area(-np.abs(ends[:, None] - edges[None, :]))
        # A difference over the ends of a bin and one over those of an
        # interval; what the two-sided integral adds is the overlap.
        corners = tails[1:, :-1] - tails[:-1, :-1] - tails[1:, 1:] + tails[:-1, 1:] + _shared(ends, edges)
        chances[start : start + _CHUNK] = np.maximum(corners / np.diff(edges), 0.0)
    if exact:
        return chances
    widths, middles = np.diff(bins), (bins[1:] + bins[:-1]) / 2
    between = noise.pdf(middles[:, None] - (edges[1:] + edges[:-1]) / 2) * widths[:, None]
    unreached = between.sum(axis=1) <= 0
    between[unreached] = chances[unreached]
    return between


def reached(noise: Noise, bins: FloatArray, edges: FloatArray, chances: FloatArray, n: int) -> BoolArray:
    """Return for every bin whether the noise could have carried a value of the intervals there.

    A bin so far out that no value of n would be found there but once in a thousand million times is not reached.
    """
    away = np.maximum(np.maximum(edges[0] - bins[1:], bins[:-1] - edges[-1]), 0.0)
    return np.asarray((chances.sum(axis=1) > TINY) & (noise.cdf(-away) * n > _UNLIKELY))


def within_reach(
    counts: FloatArray, inside: BoolArray, n: int, *, axis: int = 0, column: str | None = None
) -> FloatArray:
    """Return counts along an axis; those that rounding took just beyond the reached bins go to the last of these.

    Counts farther out are refused: the noise or the range is not the one that was used.
    """
    moved = np.moveaxis(counts, axis, 0).copy()
    bins = np.flatnonzero(inside)
    if bins.size:
        first, last = bins[0], bins[-1]
        # One bin only: rounding moves a value by less than the width of a bin.
        for end, beyond in ((first, first - 1), (last, last + 1)):
            if 0 <= beyond < len(moved):
                moved[end] += moved[beyond]
                moved[beyond] = 0
    lost = int(moved[~inside].sum())
    if lost:
        values = f"{lost} of {n} noisy values" if column is None else f"{lost} noisy values of '{column}'"
        raise InputError(
            f"{values} lie where no value of the stated range could have been carried by the noise: the range or the "
            "noise is not the one that was used."
        )
    return np.moveaxis(moved, 0, axis)


def _shared(bins: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the share of every interval that is in each bin."""
    upper = np.minimum(bins[1:, None], edges[None, 1:])
    return np.asarray(np.maximum(upper - np.maximum(bins[:-1, None], edges[None, :-1]), 0.0))
