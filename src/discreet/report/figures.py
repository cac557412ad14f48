"""Figures: a chart, what it says in words, and the numbers behind it as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from discreet.core.percentages import percent as percent
from discreet.report.markup import Markup, joined, tag

_MANY = 9
"""From so many columns on they have an index."""
_RELATIONS = {">=": "at least", "<=": "at most", "<": "below", ">": "above"}


class Figures:
    """The charts of a page by their place in it."""

    def __init__(self) -> None:
        self.specs: dict[str, dict[str, Any]] = {}

    def figure(
        self, title: str, spec: dict[str, Any], says: str, head: Sequence[str], rows: Iterable[Sequence[str]]
    ) -> Markup:
        """Set a chart with its title, what it says, and the table behind it."""
        place = f"chart-{len(self.specs) + 1}"
        self.specs[place] = spec
        return tag(
            "figure",
            tag("figcaption", tag("h3", title, id=f"{place}-title"), tag("p", says) if says else ""),
            tag("div", id=place, class_="chart", role="img", aria_labelledby=f"{place}-title"),
            tag(
                "details",
                tag("summary", "The numbers", tag("span", f" of {title}", class_="unseen")),
                table(head, rows),
            ),
        )


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", numbers: bool = False
) -> Markup:
    """Write a table whose first column names the row; ``numbers`` says that all other cells are numbers."""
    names = list(head)
    columns = joined(tag("th", name, scope="col") for name in names)
    lines = (
        tag(
            "tr",
            tag("th", row[0], scope="row", data_name=names[0]),
            *(tag("td", cell, data_name=name) for cell, name in zip(row[1:], names[1:], strict=True)),
        )
        for row in rows
    )
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption else "",
            tag("thead", tag("tr", columns)),
            tag("tbody", *lines),
            class_="numbers" if numbers else None,
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=caption or "Table",
    )


def index(figures: Figures, titles: Sequence[str], first: int) -> Markup:
    """List the charts of many columns, with links to them; nothing where there are few."""
    if len(titles) < _MANY:
        return Markup()
    links = (tag("a", title, href=f"#chart-{first + at}-title") for at, title in enumerate(titles))
    return tag("nav", *links, class_="index", aria_label="Columns")


def legend(*entries: tuple[str, str]) -> Markup:
    """Name the colors of the charts that follow."""
    items = (tag("span", tag("i", class_=color), name) for color, name in entries)
    return tag("p", *items, class_="legend")


def number(value: float) -> str:
    """Write a number for reading.

    >>> number(20000), number(2.51234), number(float("nan"))
    ('20,000', '2.512', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def asked(relation: str, bound: float) -> str:
    """Write what was asked of a measure.

    >>> asked(">=", 5)
    'at least 5'
    """
    return f"{_RELATIONS.get(relation, relation)} {number(bound)}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun.

    >>> counted(1, "row"), counted(2000, "class", "classes")
    ('1 row', '2,000 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
