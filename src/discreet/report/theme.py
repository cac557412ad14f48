"""The theme of all pages and charts: colors for screen, dark mode and paper, fonts and sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

LIGHT = {
    "paper": "#faf9f6",
    "panel": "#ffffff",
    "ink": "#1e2328",
    "soft": "#5a626a",
    "line": "#e2dfd7",
    "accent": "#0c6b5e",
    "accent-wash": "#e7f2ee",
    "alarm": "#a8321f",
    "alarm-wash": "#fbebe7",
    "before": "#938c7d",
    "after": "#1b8575",
    "mark": "#b4530b",
    "mark-wash": "#fbf0e3",
    "shadow": "0 1px 2px rgb(30 35 40 / 5%), 0 8px 28px rgb(30 35 40 / 5%)",
}
DARK = {
    "paper": "#14171a",
    "panel": "#1b1f23",
    "ink": "#e9e7e1",
    "soft": "#a3abb2",
    "line": "#31373d",
    "accent": "#6fd0bb",
    "accent-wash": "#17302c",
    "alarm": "#ff9c89",
    "alarm-wash": "#3a1f1a",
    "before": "#6d737a",
    "after": "#4db8a3",
    "mark": "#f0a35e",
    "mark-wash": "#35271a",
    "shadow": "none",
}
PRINT = LIGHT | {"paper": "#ffffff", "ink": "#000000", "soft": "#4a4f55", "line": "#d5d2ca", "shadow": "none"}
PAGE = {name: f"var(--{name}, {color})" for name, color in LIGHT.items()}
"""Colors of charts in a page, which follow its light, dark and printed view."""

INK, SOFT, LINE = LIGHT["ink"], LIGHT["soft"], LIGHT["line"]
TEAL, OCHRE, STONE, BLUE = LIGHT["after"], LIGHT["mark"], LIGHT["before"], "#3b6ea8"
COLORS = (TEAL, OCHRE, BLUE, STONE, "#7a4b94", "#2f3b45")
"""Colors of the series of a picture, in their order."""
SHADES = ("#f6efe0", "#e8cf9f", "#b9d3bd", "#6fb3a3", "#2b8576", "#0d4a42")
"""Colors of ordered bands, from low to high."""
WASH = "#cfe6df"

_PAGE_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_PICTURE_FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"


def altair_chart(rows: list[dict[str, Any]]) -> Any:
    """Return a chart over rows of plain data.

    Altair copies and checks the data again with each step of a chart, row by row; as text they pass untouched.
    """
    import altair as alt

    return alt.Chart(alt.InlineData(values=json.dumps(rows)))


_TYPES = {"Q": "quantitative", "N": "nominal"}


def encoded_by(name: str, **settings: Any) -> dict[str, Any]:
    """Return how a channel of a chart shows a field, named with the letter of its type.

    >>> encoded_by("share:Q", title="share")
    {'field': 'share', 'type': 'quantitative', 'title': 'share'}
    """
    field, _, letter = name.partition(":")
    return {"field": field, "type": _TYPES[letter], **settings}


def page_chart(
    spec: Mapping[str, Any], rows: Sequence[Any] | None, *, height: int, description: str
) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart as wide as its container in a page, in the page's colors.

    Charts of pages are plain data: a report is written without importing a chart library.
    """
    data = {} if rows is None else {"data": {"values": rows}}
    size = {"width": "container", "height": height, "description": description}
    return {**data, **spec, **size, "config": {"background": "transparent", **_config(PAGE, _PAGE_FONT)}}


def page_config() -> dict[str, Any]:
    """Return the configuration of a chart in a page."""
    return {"config": {"background": "transparent", **_config(PAGE, _PAGE_FONT)}}


_IN_PAGE = {color: PAGE[name] for name, color in LIGHT.items() if name not in ("paper", "panel", "shadow")}


def in_page_colors(spec: Any) -> Any:
    """Return plain data of a chart with the colors of a page, which are dark at night, in place of those on white.

    >>> in_page_colors({"mark": {"color": "#1e2328"}})
    {'mark': {'color': 'var(--ink, #1e2328)'}}
    """
    if isinstance(spec, Mapping):
        return {key: in_page_colors(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [in_page_colors(value) for value in spec]
    return _IN_PAGE.get(spec, spec) if isinstance(spec, str) else spec


def picture(
    chart: Any,
    *,
    title: str,
    subtitle: str = "",
    description: str,
    width: int | None = None,
    height: int | None = None,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart that stands alone, on white.

    Without ``width`` the panels of the chart have their own sizes.
    """
    import altair as alt

    head = alt.TitleParams(title, subtitle=subtitle) if subtitle else alt.TitleParams(title)
    sized = chart if width is None else chart.properties(width=width, height=height)
    spec = specification(sized.properties(title=head, description=description))
    return spec | {"config": {"background": "#ffffff", "padding": 16, **_config(LIGHT, _PICTURE_FONT)}}


def specification(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, unchecked: the tests check every chart they draw."""
    import altair as alt

    with alt.theme.enable("none"):
        spec: dict[str, Any] = chart.to_dict(validate=False)
    rows = {name: json.loads(text) for name, text in spec.pop("datasets", {}).items()}
    return spec | {"datasets": rows}


def _config(color: Mapping[str, str], font: str) -> dict[str, Any]:
    ink, soft, line = color["ink"], color["soft"], color["line"]
    return {
        "font": font,
        "view": {"stroke": None},
        "range": {"category": list(COLORS)},
        "title": {
            "anchor": "start",
            "color": ink,
            "fontSize": 15,
            "fontWeight": 600,
            "subtitleColor": soft,
            "subtitleFontSize": 12,
            "subtitlePadding": 5,
            "offset": 14,
        },
        "axis": {
            "labelColor": soft,
            "titleColor": soft,
            "domainColor": line,
            "tickColor": line,
            "gridColor": line,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelPadding": 6,
            "titlePadding": 10,
            "ticks": False,
        },
        "axisQuantitative": {"labelOverlap": "parity", "labelSeparation": 10},
        "axisX": {"grid": False},
        "axisY": {"domain": False},
        "header": {"labelColor": ink, "labelFontSize": 12, "titleColor": soft},
        "legend": {
            "labelColor": soft,
            "titleColor": soft,
            "labelFontSize": 12,
            "titleFontWeight": "normal",
            "symbolOpacity": 1,
        },
        "text": {"fontSize": 12, "color": ink},
        "scale": {
            "bandPaddingInner": 0.25,
            "bandPaddingOuter": 0.1,
            "bandWithNestedOffsetPaddingInner": 0.28,
        },
    }
