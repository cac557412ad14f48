"""Distributions: the first rows, each column before and after, and the sensitive values over the classes."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.release import Release
from discreet.kinds.blocks import (
    Distribution,
    Figure,
    Grid,
    Legend,
    Section,
    SensitiveShares,
    TableBlock,
    share_figure,
    share_rows,
)
from discreet.kinds.distributions import Bars, compared_bars, first_rows, released_shares, sensitive_bars
from discreet.kinds.sections.risk import BEFORE_AND_AFTER, min_people
from discreet.kinds.wording import percent

_EXAMPLES = 3
_WIDE = 9
"""The examples of a table with more columns than this are shown column by column."""


def examples(release: Release) -> Section | None:
    """Return the first rows of the release, which are in random order."""
    rows = first_rows(release, _EXAMPLES)
    if not rows:
        return None
    names = list(rows[0])
    cells = [tuple("" if row[name] is None else str(row[name]) for name in names) for row in rows]
    if len(names) > _WIDE:
        cells = list(zip(names, *cells, strict=True))
        names = ["Column", *(f"Row {at}" for at in range(1, len(rows) + 1))]
    text = f"The first {len(rows)} rows of the released data, which are in random order."
    return Section("examples", "Example rows", text, [TableBlock(names, cells, "Examples")])


def released_section(release: Release) -> Section:
    """Return the distribution of each released quasi-identifier."""
    least = min_people(release)
    figures = [
        share_figure(name, ("Released value", "Share of rows"), *released_shares(release, name, least))
        for name in release.schema.quasi
    ]
    text = (
        f"The released values of each quasi-identifier and their share of rows. Values of fewer than {least} rows are "
        "combined, or not shown where they are few."
    )
    return Section("distributions", "Distributions", text, [Grid("distribution", figures)])


def compared_section(release: Release, names: Sequence[str], least: int) -> Section:
    """Return the distributions of columns before and after; each bar stands for at least ``least`` people."""
    figures = [_compared(compared_bars(release, name, least), name) for name in names]
    text = (
        "Shares of rows. A generalized value is spread evenly over the values it covers. Values of fewer than "
        f"{least} rows are combined, so that no single person is shown."
    )
    content = [BEFORE_AND_AFTER, Grid("distribution", figures)]
    return Section("distributions", "Distributions before and after", text, content)


def _compared(bars: Bars | None, name: str) -> Figure:
    if bars is None:
        return Figure(name, "Too few rows to be shown.")
    return Figure(
        name,
        f"The two distributions overlap by {percent(bars.overlap)}.{_omitted(bars)}",
        chart=Distribution(bars),
        table=TableBlock(("Value", "Before", "After"), share_rows(bars.labels, bars.before, bars.after)),
    )


def _omitted(bars: Bars) -> str:
    return " A few rows of rarer values are not shown." if bars.undrawn else ""


def sensitive_columns(release: Release) -> Section | None:
    """Return how the sensitive values are spread over the classes."""
    if not release.schema.sensitive:
        return None
    figures = []
    for name in release.schema.sensitive:
        bars = sensitive_bars(release, name, min_people(release))
        if bars is None:
            figures.append(_compared(None, name))
            continue
        rows = share_rows(bars.labels, bars.before, bars.after)
        table = TableBlock(("Value", "In the release", "Highest in a class"), rows)
        figures.append(Figure(name, _omitted(bars).strip(), chart=SensitiveShares(bars), table=table))
    return Section(
        "sensitive",
        "Sensitive values",
        "Each value's share in the whole release, and its highest share in any class: the farther the mark from the "
        "bar, the more an attacker learns from knowing a person's class. A mark at 100% is a class in which everyone "
        "has the value.",
        [Legend([("after", "in the release"), ("mark", "highest in a class")]), Grid("sensitive", figures)],
    )
