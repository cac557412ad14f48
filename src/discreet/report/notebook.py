"""Notebooks: a release, a verdict, a table or figures as a small page of their own, with charts as pictures.

Only the public half is shown: a notebook is handed on with what it shows.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import singledispatch
from html import escape
from typing import Any

from discreet.core.errors import InternalError
from discreet.core.figures import Figures
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict
from discreet.kinds.blocks import Block, Bullets, Figure, Section, TableBlock
from discreet.kinds.kind import kind_of
from discreet.kinds.sections.risk import cautions, verdict_alone
from discreet.report.page import page

_COLOR = re.compile(r"var\(--[\w-]+, ([^()]+)\)")
_WIDTH = 620
_HEIGHTS = {"Verdict": 300, "Table": 340, "Figures": 560, "Release": 640}
_FIRST = 4
"""How many blocks of a report are shown after its verdict and cautions: figures, and the first sections."""


def notebook_page(subject: Release | Verdict | Table | Figures[Any, Any]) -> str:
    """Return HTML that a notebook shows, apart from the styles of the notebook itself."""
    content = page(_blocks(subject), title=type(subject).__name__, footer="Only public figures are shown.")
    height = _HEIGHTS[type(subject).__name__]
    frame = f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" srcdoc="'
    return frame + escape(content) + '"></iframe>'


@singledispatch
def _blocks(subject: object) -> Iterator[Block | None]:
    raise InternalError(f"No picture of {type(subject).__name__}.")


@_blocks.register
def _(verdict: Verdict) -> Iterator[Block | None]:
    yield verdict_alone(verdict)


@_blocks.register
def _(table: Table) -> Iterator[Block | None]:
    rows = [(name, column.role.value) for name, column in table.schema.items()]
    sensitive = len(table.schema.named(Role.SENSITIVE))
    text = f"{table.n_rows:,} rows; {len(table.schema.quasi):,} quasi-identifiers, {sensitive:,} sensitive columns."
    yield Section("table", "Table", text, [TableBlock(("Column", "Role"), rows)])


@_blocks.register(Figures)
def _(figures: Figures[Any, Any]) -> Iterator[Block | None]:
    release = figures.public.release
    _, *content = kind_of(release).blocks(release, internal=False)
    yield from _drawn(content[:_FIRST])
    texts = [caution.text for caution in figures.cautions if caution.public]
    yield Section("cautions", "Before you hand it on", "", [Bullets(texts)]) if texts else None


@_blocks.register
def _(release: Release) -> Iterator[Block | None]:
    verdict, *content = kind_of(release).blocks(release, internal=False)
    yield verdict
    yield cautions(release, internal=False)
    yield from _drawn(content[:_FIRST])


def _drawn(blocks: Iterable[Block | None]) -> Iterator[Block | None]:
    """Return blocks with their charts as pictures, which need no script."""
    for block in blocks:
        if isinstance(block, Figure) and block.chart is not None:
            image = _image(block.chart)
            yield replace(block, chart=None, table=None, image=image, description=block.title)
        elif block is not None and hasattr(block, "content"):
            yield replace(block, content=[inner for inner in _drawn(block.content) if inner])  # type: ignore[type-var]
        else:
            yield block


def _image(chart: object) -> str:
    """Return a chart of a page as an SVG image, in the colors of its light view."""
    import vl_convert

    from discreet.report.charts import chart_spec

    spec = json.loads(_COLOR.sub(r"\1", json.dumps(chart_spec(chart))))
    picture_ = vl_convert.vegalite_to_svg({**spec, "width": _WIDTH})
    return f"data:image/svg+xml;base64,{base64.b64encode(picture_.encode()).decode()}"
