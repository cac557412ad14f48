"""Blocks and charts: what a page shows, as plain data; the report turns each kind into HTML and draws it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.core.tables.groups import Groups
    from discreet.kinds.distributions import Bars
    from discreet.kinds.sections.nodes import Nodes


class Block:
    """Part of a page."""

    @property
    def kind(self) -> str:
        """The name of the macro that shows it."""
        return type(self).__name__.removesuffix("Block").lower()


@dataclass(frozen=True, repr=False)
class Section(Block):
    """Blocks under a heading; ``name`` is the anchor, and ``link``, or the name, the link at the top of the page."""

    name: str
    title: str
    text: str
    content: Sequence[Block] = ()
    link: str = ""


@dataclass(frozen=True, repr=False)
class Subsection(Block):
    """Blocks under a smaller heading."""

    title: str
    content: Sequence[Block]
    text: str = ""


@dataclass(frozen=True, repr=False)
class Paragraph(Block):
    """Text; ``look`` is the CSS class."""

    text: str
    look: str = ""


@dataclass(frozen=True, repr=False)
class Bullets(Block):
    """A list of short texts."""

    entries: Sequence[str]


@dataclass(frozen=True, repr=False)
class Code(Block):
    """Source code or commands."""

    text: str


@dataclass(frozen=True, repr=False)
class TableBlock(Block):
    """A table whose first column names the row; ``numbers``: whether all other cells are numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    numbers: bool = False


@dataclass(frozen=True, repr=False)
class Definitions(Block):
    """Names and their texts; ``look`` is the CSS class."""

    entries: Iterable[tuple[str, str]]
    look: str


@dataclass(frozen=True, repr=False)
class Tiles(Block):
    """Figures in a row: name, figure and note of each."""

    entries: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, repr=False)
class Cards(Block):
    """Figures before and after: name, note, before and after of each."""

    entries: Sequence[tuple[str, str, str, str]]


@dataclass(frozen=True, repr=False)
class Legend(Block):
    """The colors of the charts that follow: CSS class and name of each."""

    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True, repr=False)
class Figure(Block):
    """A chart or an image with its title, a caption, the numbers behind it, and links to files.

    A chart is plain data that the report draws (``chart``), or a Vega-Lite specification that is drawn already
    (``spec``).
    """

    title: str
    text: str = ""
    spec: dict[str, Any] | None = None
    table: TableBlock | None = None
    image: str = ""
    description: str = ""
    files: Sequence[str] = ()
    chart: object | None = None


@dataclass(frozen=True, repr=False)
class Grid(Block):
    """Figures in two columns, with an index where there are many; ``name`` is the prefix of their anchors."""

    name: str
    content: Sequence[Figure]


@dataclass(frozen=True, repr=False)
class VerdictBlock(Block):
    """The verdict in a word: the guarantee in a sentence, the measures of each part, and what was judged.

    ``look``, and the first of each part, is the CSS class of the word.
    """

    name = "guarantee"
    word: str
    look: str
    text: str
    parts: Sequence[tuple[str, Sequence[tuple[str, str, str]]]]
    basis: str


@dataclass(frozen=True, repr=False)
class Messages(Block):
    """Arrows between parties, as ``templates/messages.svg`` draws them."""

    names: Sequence[tuple[str, int]]
    arrows: Sequence[tuple[int, int, int, int, str]]
    width: int
    height: int


def has_charts(blocks: Iterable[Block]) -> bool:
    """Return whether any block, or a block inside it, is a chart."""
    return any(
        isinstance(block, Figure) and (block.spec or block.chart) is not None for block in _all(blocks)
    )


def _all(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        yield from _all(getattr(block, "content", ()))


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


def shares_by_class_size(groups: Groups, starts: IntArray) -> FloatArray:
    """Return the share of rows or people in classes of each bin of sizes."""
    bin_ = np.searchsorted(starts, groups.sizes, side="right") - 1
    bin_counts = np.bincount(bin_, weights=groups.rows, minlength=starts.size)
    return np.asarray(bin_counts / max(bin_counts.sum(), 1))


def class_size_labels(starts: IntArray) -> tuple[str, ...]:
    """Return the bins of class sizes as text."""
    inner = [f"{low:,}" if high - low == 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(starts)]
    return (*inner, f"{starts[-1]:,} or more")
