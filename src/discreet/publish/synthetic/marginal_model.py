"""A graphical model that fits noisy marginals (McKenna, Sheldon & Miklau 2019): mirror descent, marginals, drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.publish.synthetic.junction_tree import Clique, JunctionTree

_HALVINGS = 25
_LOOKED_BACK = 50
_NEGLIGIBLE = 1e-3
"""The share of the error below which what the last steps gained together is none."""


@dataclass(frozen=True, repr=False)
class Measurement:
    """Noisy counts of all combinations of some columns, and the standard deviation of the noise of all or of each."""

    columns: Clique
    counts: FloatArray
    sigma: float | FloatArray


@dataclass(repr=False)
class MarginalModel:
    """A distribution over all columns: the product of a potential for each clique of a junction tree.

    ``potentials`` are logarithms. The beliefs of the cliques are the exact marginals of the product, in rows.
    """

    shape: Sequence[int]
    n_rows: int
    tree: JunctionTree
    potentials: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.potentials:
            self.potentials = [np.zeros(self._shape(clique)) for clique in self.tree.cliques]

    @classmethod
    def fitted(
        cls,
        shape: Sequence[int],
        n_rows: int,
        measurements: Sequence[Measurement],
        *,
        start: MarginalModel | None = None,
        n_steps: int = 500,
    ) -> MarginalModel:
        """Fit noisy counts by least squares, weighted by their noise; among the best fits, that of most entropy.

        ``start`` is an earlier fit to begin with.
        """
        model = cls(shape, n_rows, JunctionTree.of([noisy.columns for noisy in measurements], shape))
        if start is not None:
            model._begin_with(start)
        _mirror_descent(model, measurements, n_steps)
        return model

    def marginal(self, columns: Clique) -> FloatArray:
        """Return the expected counts of all combinations of some columns, which need not be in one clique."""
        home = self.tree.home(columns)
        if home is not None:
            return summed(self.beliefs[home], self.tree.cliques[home], columns)
        _, factor = self._collected(0, {*columns}, ())
        return np.asarray(factor)

    def draw(self, rng: np.random.Generator) -> CodeArray:
        """Draw as many rows as were counted, in random order.

        Clique by clique, rows that agree so far get the values of the next columns as evenly as their probabilities
        allow (systematic sampling), which follows the marginals more closely than independent draws.
        """
        rows = np.zeros((self.n_rows, len(self.shape)), np.int32)
        for clique, separator, belief in zip(
            self.tree.cliques, self.tree.separators, self.beliefs, strict=True
        ):
            new = tuple(column for column in clique if column not in separator)
            axes = [clique.index(column) for column in (*separator, *new)]
            weights = np.transpose(belief, axes).reshape(_size(self._shape(separator)), -1)
            strata = (
                np.ravel_multi_index(tuple(rows[:, separator].T), self._shape(separator))
                if separator
                else np.zeros(self.n_rows, np.int64)
            )
            drawn = _systematic(weights, np.asarray(strata), rng)
            rows[:, new] = np.stack(np.unravel_index(drawn, self._shape(new)), axis=1)
        return np.asarray(rows[rng.permutation(self.n_rows)])

    @cached_property
    def beliefs(self) -> list[FloatArray]:
        """The expected counts of each clique."""
        return self.propagated(self.potentials)

    def propagated(self, potentials: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the marginals of potentials, by messages from the leaves to the root and back.

        Two passes over the tree: each clique hands on the logarithm of what it sums to over the columns it shares. The
        cost is that of a few passes over the cells of all cliques.
        """
        tree = self.tree
        collected = [potential.copy() for potential in potentials]
        upward: list[FloatArray] = [np.zeros(())] * len(collected)
        for at in range(len(collected) - 1, 0, -1):
            parent = tree.parents[at]
            upward[at] = log_summed(collected[at], tree.cliques[at], tree.separators[at])
            collected[parent] += spread(upward[at], tree.separators[at], tree.cliques[parent])
        for at in range(1, len(collected)):
            parent = tree.parents[at]
            whole = log_summed(collected[parent], tree.cliques[parent], tree.separators[at])
            collected[at] += spread(whole - upward[at], tree.separators[at], tree.cliques[at])
        return [self.n_rows * _normalized(logarithms) for logarithms in collected]

    def _collected(self, at: int, wanted: set[int], above: Clique) -> tuple[Clique, FloatArray]:
        """Return the probabilities of the wanted columns at a clique and below it, given those shared above.

        At the root that is the marginal, with columns ascending, times the number of rows.
        """
        tree = self.tree
        clique, belief = tree.cliques[at], self.beliefs[at]
        shared = spread(summed(belief, clique, above), above, clique)
        # Below the root probabilities are conditional on what is shared above, so that products are joint
        # ones. Where that has none, nothing below has any.
        factor = belief / np.where(shared > 0, shared, 1.0) if at else belief
        below = wanted - {*clique}
        children = [
            child
            for child in range(at + 1, len(tree.cliques))
            if tree.parents[child] == at and below & self._columns_under[child]
        ]
        # What neither the result nor a child needs is summed out first, which keeps factors small.
        needed = {*above}.union(wanted, *(tree.separators[child] for child in children))
        inside = tuple(column for column in clique if column in needed)
        factor, clique = summed(factor, clique, inside), inside
        for child in children:
            columns, further = self._collected(child, below, tree.separators[child])
            union = tuple(sorted({*clique} | {*columns}))
            factor = spread(factor, clique, union) * spread(further, columns, union)
            clique = union
        left = tuple(column for column in clique if column in wanted or column in above)
        return left, summed(factor, clique, left)

    @cached_property
    def _columns_under(self) -> list[set[int]]:
        """The columns in each clique and in those below it."""
        under = [{*clique} for clique in self.tree.cliques]
        for at in range(len(under) - 1, 0, -1):
            under[self.tree.parents[at]] |= under[at]
        return under

    def _begin_with(self, earlier: MarginalModel) -> None:
        """Put the potentials of an earlier model onto the cliques that hold theirs, where there are such."""
        for clique, potential in zip(earlier.tree.cliques, earlier.potentials, strict=True):
            home = self.tree.home(clique)
            if home is not None:
                self.potentials[home] = self.potentials[home] + spread(
                    potential, clique, self.tree.cliques[home]
                )

    def _shape(self, columns: Clique) -> tuple[int, ...]:
        return tuple(self.shape[column] for column in columns)


def _mirror_descent(model: MarginalModel, measurements: Sequence[Measurement], n_steps: int) -> None:
    """Move potentials against the gradient of the squared error, as far as the error falls enough (Armijo's rule)."""
    # Every set has a home, since the tree was made of them.
    homes = [model.tree.home(noisy.columns) or 0 for noisy in measurements]

    def error(beliefs: list[FloatArray]) -> tuple[float, list[FloatArray]]:
        total, gradient = 0.0, [np.zeros_like(belief) for belief in beliefs]
        for noisy, home in zip(measurements, homes, strict=True):
            clique = model.tree.cliques[home]
            # The gradient in the marginal; times sigma it is the difference in standard deviations.
            apart = (summed(beliefs[home], clique, noisy.columns) - noisy.counts) / noisy.sigma**2
            total += float(np.square(apart * noisy.sigma).sum()) / 2
            gradient[home] += spread(apart, noisy.columns, clique)
        return total, gradient

    beliefs = model.propagated(model.potentials)
    loss, gradient = error(beliefs)
    step = 1 / max(model.n_rows, 1) ** 2
    losses = [loss]
    for _ in range(n_steps):
        before = loss
        for _ in range(_HALVINGS):
            potentials = [
                potential - step * slope for potential, slope in zip(model.potentials, gradient, strict=True)
            ]
            moved = model.propagated(potentials)
            loss, slopes = error(moved)
            gain = sum(
                float((slope * (old - new)).sum())
                for slope, old, new in zip(gradient, beliefs, moved, strict=True)
            )
            if before - loss >= gain / 2:
                break
            step /= 2
        else:
            break
        # Each step that holds doubles the next, so that a small first one costs little.
        model.potentials, beliefs, gradient, step = potentials, moved, slopes, step * 2
        losses.append(loss)
        if len(losses) > _LOOKED_BACK and losses[-_LOOKED_BACK] - loss <= _NEGLIGIBLE * loss:
            break
    # In place of the cached property, which would work them out once more.
    model.beliefs = beliefs


def spread(array: FloatArray, columns: Clique, onto: Clique) -> FloatArray:
    """Return an array over some columns with an axis of length 1 for every other column of a clique."""
    sizes = iter(array.shape)
    return array.reshape([next(sizes) if column in columns else 1 for column in onto])


def summed(array: FloatArray, columns: Clique, onto: Clique) -> FloatArray:
    """Sum an array over all columns but some."""
    axes = tuple(axis for axis, column in enumerate(columns) if column not in onto)
    return np.asarray(array.sum(axis=axes)) if axes else array


def log_summed(array: FloatArray, columns: Clique, onto: Clique) -> FloatArray:
    """Return the logarithms of sums of exponentials over all columns but some, the largest taken off first."""
    axes = tuple(axis for axis, column in enumerate(columns) if column not in onto)
    if not axes:
        return array
    largest = array.max(axis=axes, keepdims=True)
    return np.asarray(np.log(np.exp(array - largest).sum(axis=axes)) + largest.squeeze(axes))


def _normalized(logarithms: FloatArray) -> FloatArray:
    weights = np.exp(logarithms - logarithms.max())
    return np.asarray(weights / weights.sum())


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _systematic(weights: FloatArray, strata: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw a value for each row by the weights of its stratum: at even distances from a random start, rows at random.

    Each row has the probabilities of its stratum, and the count of a value is off its expectation by less than one.
    """
    n_strata, n_values = weights.shape
    totals = weights.sum(axis=1, keepdims=True)
    weights = np.where(totals > 0, weights, 1.0)
    ends = np.cumsum(weights, axis=1)
    ends /= ends[:, -1:]
    order = rng.permutation(strata.size)
    order = order[np.argsort(strata[order], kind="stable")]
    sizes = np.bincount(strata, minlength=n_strata)
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    lowest = np.repeat(rng.random(n_strata), sizes)
    tickets = (np.arange(strata.size) - firsts + lowest) / np.repeat(sizes, sizes)
    # One search for all strata: the ends of each lie one number behind those of the stratum before.
    sought = np.searchsorted(
        (ends + np.arange(n_strata)[:, None]).ravel(), tickets + strata[order], side="right"
    )
    drawn = np.empty(strata.size, np.int64)
    # A ticket of 1 by rounding belongs to the last value.
    drawn[order] = np.clip(sought - strata[order] * n_values, 0, n_values - 1)
    return drawn
