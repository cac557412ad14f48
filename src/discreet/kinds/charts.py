"""Charts as plain data: what a chart shows; the report draws it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.percentages import percent
from discreet.kinds.blocks import Figure, TableBlock

if TYPE_CHECKING:
    from discreet.kinds.distributions import Bars
    from discreet.kinds.sections.nodes import Nodes


@dataclass(frozen=True, repr=False)
class ShareBars:
    """One bar for each label, from 0 to 100%; ``name`` is what labels are, ``unit`` what shares are of."""

    title: str
    name: str
    unit: str
    labels: Sequence[str]
    shares: Sequence[float] | FloatArray


@dataclass(frozen=True, repr=False)
class ClassSizeBars:
    """How many rows or people are in classes of each size, before and after."""

    labels: Sequence[str]
    before: FloatArray
    after: FloatArray
    unit: str


@dataclass(frozen=True, repr=False)
class Distribution:
    """The distribution of a column before and after."""

    bars: Bars


@dataclass(frozen=True, repr=False)
class SensitiveShares:
    """Each value's share in the whole release, and its highest share in any class."""

    bars: Bars


@dataclass(frozen=True, repr=False)
class LatticeNodes:
    """The nodes of a lattice by risk and cost."""

    nodes: Nodes
    measure: str


@dataclass(frozen=True, repr=False)
class Matrices:
    """The density of the matrix of baskets and items, in any order and in band order."""

    grids: tuple[FloatArray, FloatArray]


def share_figure(
    title: str,
    head: tuple[str, str],
    labels: Sequence[str],
    shares: Sequence[float] | FloatArray,
    *,
    text: str = "",
) -> Figure:
    """Return one bar for each label with the table behind it; ``head`` names labels and shares."""
    table = TableBlock(head, share_rows(labels, shares))
    return Figure(title, text, chart=ShareBars(title, *head, labels, shares), table=table)


def share_rows(labels: Iterable[str], *shares: Iterable[float]) -> list[tuple[str, ...]]:
    """Return rows of labels with their shares in percent.

    >>> share_rows(["a", "b"], [0.5, 0.25])
    [('a', '50%'), ('b', '25%')]
    """
    return list(zip(labels, *(map(percent, column) for column in shares), strict=True))


def class_size_bins(k: int, largest: int) -> IntArray:
    """Return where the bins of class sizes start: unique, below k, and from k on in growing steps."""
    starts = {1, 2, k}
    step = max(k, 2)
    for factor in (2, 5, 10, 20, 50, 100, 1000):
        if step * factor <= largest:
            starts.add(step * factor)
    return np.array(sorted(starts))


def shares_by_class_size(sizes: IntArray, starts: IntArray) -> FloatArray:
    """Return the share of rows or people in classes of each bin of sizes."""
    bin_ = np.searchsorted(starts, sizes, side="right") - 1
    bin_counts = np.bincount(bin_, weights=sizes, minlength=starts.size)
    return np.asarray(bin_counts / max(bin_counts.sum(), 1))


def class_size_labels(starts: IntArray) -> tuple[str, ...]:
    """Return the bins of class sizes as text."""
    inner = [f"{low:,}" if high - low == 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(starts)]
    return (*inner, f"{starts[-1]:,} or more")
