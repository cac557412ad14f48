"""Blocks: what a page shows, as plain data; the report turns each kind into HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


class Block:
    """Part of a page."""

    @property
    def kind(self) -> str:
        """The name of the macro that shows it."""
        return type(self).__name__.lower()


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
class Table(Block):
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
    table: Table | None = None
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
class Verdict(Block):
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
