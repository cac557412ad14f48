"""Loss: what a release costs its reader, in the measures of ARX, so that figures can be laid side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import FloatIn, InstanceOf, OneOf, require
from discreet.core.release import Cells, Release
from discreet.core.tables.table import Table
from discreet.measure.tables.read_back import at_level, kept_sizes, label_tree, read_back


@public
@dataclass(frozen=True)
class Entropy:
    """Non-uniform entropy: the bits lost per column and in all, and as shares of what the columns held.

    ``total`` sums the bits; ``total_normalized`` is the weighted mean of the columns' shares.
    """

    bits: dict[str, float]
    normalized: dict[str, float]
    total: float
    total_normalized: float


@public
@dataclass(frozen=True)
class Loss:
    """What a release costs; 0 is nothing and, where a measure is a share, 1 is everything.

    Attributes
    ----------
    n_rows, suppressed
        The rows that came in, and those left out.
    columns
        The generalized loss of each quasi-identifier: the mean over rows of (leaves under the cell − 1)/(leaves − 1),
        or of width over range where numbers and dates have no hierarchy (NCP). A suppressed row counts 1.
    weights
        The columns' weights, divided by the largest.
    granularity
        1 less the loss over all columns, the shares of leaves averaged before they are scaled.
    discernibility
        The sum of squared class sizes, each suppressed row counting as much as the whole table.
    discernibility_monotone
        The same as if no row had been suppressed; None where that is not known.
    average_class_size
        Rows per class, all suppressed rows being one class.
    entropy, entropy_monotone
        Non-uniform entropy with and without the suppressed rows' own loss. Where the levels are not known a suppressed
        cell stands for anything, and the second is None.
    precision, precision_monotone, height
        The mean of level over height, with suppressed rows counting 1 and without, and the sum of levels; None where
        a release does not generalize whole columns.
    """

    n_rows: int
    suppressed: int
    columns: dict[str, float]
    weights: dict[str, float]
    granularity: float
    discernibility: int
    discernibility_monotone: int | None
    average_class_size: float
    entropy: Entropy
    entropy_monotone: Entropy | None
    precision: float | None
    precision_monotone: float | None
    height: int | None
    costs: Mapping[str, ColumnCost] = field(repr=False, compare=False)

    @property
    def suppressed_share(self) -> float:
        """The share of rows left out."""
        return self.suppressed / self.n_rows

    @property
    def total(self) -> float:
        """The mean loss of the columns, weighted."""
        return aggregate(self.columns, self.weights)

    @property
    def maximum(self) -> float:
        """The largest weighted loss of a column."""
        return aggregate(self.columns, self.weights, how="maximum")

    @property
    def geometric(self) -> float:
        """The geometric mean of the columns' weighted loss."""
        return aggregate(self.columns, self.weights, how="geometric")

    def generalized(self, g: float = 0.5) -> dict[str, float]:
        """Return the loss per column under a suppression factor.

        At 0 suppressed rows cost what their generalized cells would, at 0.5 they cost 1, at 1 only they cost.
        Below 0.5 a suppressed row whose levels are not known counts as ``*``.
        """
        require("generalized", "g", g, FloatIn(0, 1))
        return {name: cost.generalized(g, self.n_rows) for name, cost in self.costs.items()}

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        fields = asdict(self)
        del fields["costs"]
        derived = ("suppressed_share", "total", "maximum", "geometric")
        return fields | {name: getattr(self, name) for name in derived}


@dataclass(frozen=True)
class ColumnCost:
    """The sums over rows that the measures of one column are made of.

    ``kept`` sums the loss of kept rows, ``kept_bits`` the log2 of the rows their cells cover, ``own_bits`` the log2 of
    the rows with the same original value, over all rows. The last three are sums over suppressed rows: the loss and
    the bits their generalized cells would have had, and the bits lost from those cells to nothing.
    """

    n_leaves: int
    suppressed: int
    kept: float
    kept_bits: float
    own_bits: float
    left: float
    left_bits: float
    left_spread: float

    def generalized(self, g: float, n_rows: int) -> float:
        """Return the loss under a suppression factor."""
        s_factor, g_factor = min(1.0, 2 * g), min(1.0, 2 - 2 * g)
        least = n_rows / self.n_leaves
        # A column of one value has no detail to lose: only suppression costs.
        if g_factor * least == n_rows:
            return (self.kept + self.suppressed) / n_rows
        published = self._leaf_share(self.kept, n_rows - self.suppressed)
        left = self._leaf_share(self.left, self.suppressed)
        spent = g_factor * published + left + s_factor * (self.suppressed - left)
        return (spent - g_factor * least) / (n_rows - g_factor * least)

    def _leaf_share(self, loss: float, n_rows: int) -> float:
        """Turn a sum of losses over rows into the sum of leaves under the cells / all leaves."""
        return n_rows / self.n_leaves + loss * (1 - 1 / self.n_leaves)


@public
def loss(release: Release) -> Loss:
    """Measure what a release costs, from the evidence its publisher kept.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, intervals, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Generalization
    >>> table = Table(pa.table({"age": [21, 22, 25, 28, 34]}), {"age": quasi(intervals(10))})
    >>> release = Generalization(KAnonymity(2), levels={"age": 1}, max_suppressed=0.2).release(table)
    >>> lost = loss(release)
    >>> lost.columns, lost.suppressed, lost.discernibility
    ({'age': 0.8}, 1, 21)
    """
    require("loss", "release", release, InstanceOf((Release,), "a Release"))
    evidence = release.evidence
    return _measured(
        release.original,
        evidence.sizes,
        evidence.cells,
        release.groups().sizes,
        evidence.suppressed,
        evidence.levels,
    )


@public
def loss_between(
    original: Table,
    released: Table,
    *,
    suppressed: int | None = None,
    levels: Mapping[str, int] | None = None,
) -> Loss:
    """Measure what a release of a table costs, whoever made it, by reading its cells back.

    Parameters
    ----------
    original
        The table that was protected, with the hierarchies that its release uses.
    released
        The released table, with the same quasi-identifiers.
    suppressed
        The suppressed rows: those left out, and those that stayed with every quasi-identifier starred. By default only
        rows left out; fully starred rows cost 1 per column all the same.
    levels
        The level of each quasi-identifier, where whole columns were generalized.
    """
    require("loss_between", "original", original, InstanceOf((Table,), "a Table"))
    require("loss_between", "released", released, InstanceOf((Table,), "a Table"))
    names = original.schema.quasi
    for name in names:
        if name not in released.schema.quasi:
            raise SchemaError(f"The released table has no quasi-identifier '{name}'.")
    for name in levels or {}:
        if name not in names:
            raise SchemaError(f"A level is given for '{name}', which is no quasi-identifier.")
    sizes, n_out = kept_sizes(original, released, suppressed)
    if levels is None:
        cells = {name: read_back(original, released, name) for name in names}
    else:
        cells = {name: at_level(original, released, name, levels.get(name, 0), sizes) for name in names}
    return _measured(original, sizes, cells, sizes[sizes > 0], n_out, levels)


@public
def aggregate(
    columns: Mapping[str, float],
    weights: Mapping[str, float],
    *,
    how: Literal["mean", "maximum", "geometric"] = "mean",
) -> float:
    """Bring the columns' losses together; the weights are divided by the largest.

    Examples
    --------
    >>> losses, weights = {"age": 0.5, "zip": 0.2}, {"age": 1, "zip": 2}
    >>> [round(aggregate(losses, weights, how=how), 4) for how in ("mean", "maximum", "geometric")]
    [0.225, 0.25, 0.2247]
    """
    require("aggregate", "how", how, OneOf(("mean", "maximum", "geometric")))
    largest = max(weights.values())
    weighted = [value * weights[name] / largest for name, value in columns.items()]
    if how == "maximum":
        return max(weighted)
    if how == "geometric":
        return math.prod(value + 1 for value in weighted) ** (1 / len(weighted)) - 1
    return sum(weighted) / len(weighted)


def _measured(
    original: Table,
    sizes: IntArray,
    cells: Mapping[str, Cells],
    class_sizes: IntArray,
    suppressed: int,
    levels: Mapping[str, int] | None,
) -> Loss:
    """Work the measures out of the rows and the cells of each group, and the sizes of the released classes."""
    n_rows = original.n_rows
    costs_known = levels is not None or suppressed == 0
    costs = {
        name: _cost(original, name, sizes, cells[name], suppressed, known=costs_known)
        for name in original.schema.quasi
    }
    columns = {name: (cost.kept + suppressed) / n_rows for name, cost in costs.items()}
    largest = max(original.schema[name].weight for name in columns)
    weights = {name: original.schema[name].weight / largest for name in columns}
    squared = int((class_sizes**2).sum())
    n_classes = class_sizes.size + (suppressed > 0)
    return Loss(
        n_rows=n_rows,
        suppressed=suppressed,
        columns=columns,
        weights=weights,
        granularity=_granularity(columns, costs),
        discernibility=squared + n_rows * suppressed,
        discernibility_monotone=_squared_classes(original, levels) if suppressed else squared,
        average_class_size=n_rows / n_classes,
        entropy=_entropy(costs, weights, n_rows, spread=True),
        entropy_monotone=_entropy(costs, weights, n_rows, spread=False) if costs_known else None,
        **_precision(original, levels, suppressed),
        costs=costs,
    )


def _cost(
    original: Table, name: str, sizes: IntArray, cells: Cells, suppressed: int, *, known: bool
) -> ColumnCost:
    counts = original.overall(name)
    left = left_bits = left_spread = 0.0
    if suppressed and known:
        # By node, the rows that it covers and that were not published: the suppressed ones.
        out = cells.covered - np.bincount(cells.index, weights=sizes, minlength=cells.covered.size)
        left, left_bits = float(out @ cells.loss), float(out @ _log2(cells.covered))
        left_spread = float(out @ (math.log2(suppressed) - _log2(out)))
    elif suppressed:
        left, left_bits = float(suppressed), suppressed * math.log2(original.n_rows)
    return ColumnCost(
        n_leaves=max(len(original.encoded[name].values), 1),
        suppressed=suppressed,
        kept=float(sizes @ cells.loss[cells.index]),
        kept_bits=float(sizes @ _log2(cells.covered)[cells.index]),
        own_bits=float(counts @ _log2(counts)),
        left=left,
        left_bits=left_bits,
        left_spread=left_spread,
    )


def _log2(counts: IntArray | FloatArray) -> FloatArray:
    """Return the logarithm of counts, 0 for what does not occur."""
    return np.asarray(np.log2(np.maximum(counts, 1)), dtype=np.float64)


def _granularity(columns: Mapping[str, float], costs: Mapping[str, ColumnCost]) -> float:
    spans = {name: 1 - 1 / cost.n_leaves for name, cost in costs.items()}
    total = sum(spans.values())
    if total == 0:
        return 1 - sum(columns.values()) / len(columns)
    return 1 - sum(columns[name] * span for name, span in spans.items()) / total


def _entropy(
    costs: Mapping[str, ColumnCost], weights: Mapping[str, float], n_rows: int, *, spread: bool
) -> Entropy:
    bits, normalized = {}, {}
    for name, cost in costs.items():
        lost = cost.kept_bits + cost.left_bits - cost.own_bits + (cost.left_spread if spread else 0.0)
        available = n_rows * math.log2(n_rows) - cost.own_bits
        bits[name] = max(lost, 0.0)
        normalized[name] = bits[name] / available if available > 0 else 0.0
    return Entropy(bits, normalized, sum(bits.values()), aggregate(normalized, weights))


def _squared_classes(original: Table, levels: Mapping[str, int] | None) -> int | None:
    """Sum the squared sizes of the classes as they were before suppression."""
    from discreet.kernels.tables.grouping import distinct, pack

    if levels is None:
        return None
    chosen = {name: (label_tree(original, name), levels.get(name, 0)) for name in original.schema.quasi}
    nodes = (tree.levels[level][original.codes(name)] for name, (tree, level) in chosen.items())
    cards = [len(tree.labels[level]) for tree, level in chosen.values()]
    _, _, sizes = distinct(pack(nodes, cards), original.tuples.counts)
    return int((sizes**2).sum())


def _precision(original: Table, levels: Mapping[str, int] | None, suppressed: int) -> dict[str, Any]:
    """Return the precision with and without suppression, and the sum of levels."""
    if levels is None:
        return {"precision": None, "precision_monotone": None, "height": None}
    names = original.schema.quasi
    precision = sum(levels.get(name, 0) / label_tree(original, name).height for name in names) / len(names)
    share = suppressed / original.n_rows
    return {
        "precision": (1 - share) * precision + share,
        "precision_monotone": precision,
        "height": sum(levels.get(name, 0) for name in names),
    }
