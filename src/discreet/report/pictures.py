"""Pictures that stand alone: charts in fixed colors, written as SVG, PNG or a page that works offline."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from discreet.core.errors import OutputError
from discreet.engines.atomic import atomic_file

INK, SOFT, LINE, PAPER = "#1e2328", "#5a626a", "#e2dfd7", "#ffffff"
TEAL, OCHRE, STONE, BLUE = "#1b8575", "#b4530b", "#938c7d", "#3b6ea8"
COLORS = (TEAL, OCHRE, BLUE, STONE, "#7a4b94", "#2f3b45")
_FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
KINDS = (".svg", ".png", ".html", ".json")


def standing(rows: list[dict[str, Any]]) -> Any:
    """Begin a chart over rows of plain data."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=rows))


def finished(
    chart: Any,
    *,
    title: str,
    subtitle: str = "",
    told: str,
    width: int | None = None,
    height: int | None = None,
) -> dict[str, Any]:
    """Return a chart its title, description and looks, and its size unless its panels have theirs.

    The result is a Vega-Lite specification.
    """
    import altair as alt

    head = alt.TitleParams(title, subtitle=subtitle) if subtitle else alt.TitleParams(title)
    sized = chart if width is None else chart.properties(width=width, height=height)
    with alt.theme.enable("none"):
        spec: dict[str, Any] = sized.properties(title=head, description=told).to_dict()
    return spec | {"config": _looks()}


def _looks() -> dict[str, Any]:
    return {
        "background": PAPER,
        "font": _FONT,
        "padding": 16,
        "view": {"stroke": None},
        "range": {"category": list(COLORS)},
        "title": {
            "anchor": "start",
            "color": INK,
            "fontSize": 15,
            "fontWeight": 600,
            "subtitleColor": SOFT,
            "subtitleFontSize": 12,
            "subtitlePadding": 5,
            "offset": 14,
        },
        "axis": {
            "labelColor": SOFT,
            "titleColor": SOFT,
            "domainColor": LINE,
            "tickColor": LINE,
            "gridColor": LINE,
            "labelFontSize": 11.5,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 9,
            "labelPadding": 5,
            "ticks": False,
        },
        "axisY": {"domain": False},
        "header": {"labelColor": INK, "labelFontSize": 12, "titleColor": SOFT},
        "legend": {"labelColor": SOFT, "titleColor": SOFT, "labelFontSize": 12, "titleFontWeight": "normal"},
    }


def write_picture(spec: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a picture, all or nothing; the ending of the name says whether as SVG, PNG, HTML or JSON."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in KINDS:
        raise OutputError(f"A picture's name must end in {', '.join(KINDS)}.")
    with atomic_file(target) as temporary:
        temporary.write_bytes(_drawn(spec, kind))
    return target


def _drawn(spec: dict[str, Any], kind: str) -> bytes:
    if kind == ".json":
        return json.dumps(spec, indent=1, ensure_ascii=False).encode()
    import vl_convert

    if kind == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=2))
    if kind == ".svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    return str(vl_convert.vegalite_to_html(spec, bundle=True)).encode()
