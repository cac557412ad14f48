"""Sections of the report on baskets that show pictures, what became of generalized items, and the risk left."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.release import Release
from discreet.measure import Reidentification, basket_risk, reidentification, sensitive_tie
from discreet.report import basket_pictures, sections
from discreet.report.figures import Figures, percent, table
from discreet.report.markup import Markup

KNOWN = (1, 2, 3)
SAMPLES = 5_000
_SEED = 1


def pictures(release: Release, figures: Figures, *, internal: bool) -> list[Markup]:
    """Show how alike neighbors are, and internally how near estimates are; nothing where little is there."""
    data = release.data
    if not isinstance(data, GroupedBaskets):
        return []
    queries = _queries(release, figures) if internal else None
    return [part for part in (_matrix(data.baskets, figures), queries) if part]


def _matrix(baskets: Baskets, figures: Figures) -> Markup | None:
    grids = basket_pictures.page_grids(baskets)
    if grids is None:
        return None
    height, width = grids[0].shape
    quarters = np.linspace(0, height, 5).astype(int)
    rows = []
    for name, grid in zip(("in any order", "in band order"), grids, strict=True):
        fullest = [percent(float(grid[a:b].max())) for a, b in pairwise(quarters)]
        rows.append((name, percent(float((grid == 0).mean())), *fullest))
    head = ("Order", "Empty fields", *(f"Fullest field, quarter {at}" for at in range(1, 5)))
    return sections.section(
        "matrix",
        "The matrix of baskets and items",
        f"A row of the picture stands for about {len(baskets) // height:,} baskets, a column for about "
        f"{max(baskets.n_items // width, 1):,} items; the stronger the color, the more of them are held.",
        figures.figure(
            "How alike neighbors are",
            basket_pictures.matrices(grids),
            "Left, baskets in any order and items by name; right, baskets in band order and items along the band. The "
            "more the color gathers along it, the better groups of neighbors keep what goes with what.",
            head,
            rows,
        ),
    )


def _queries(release: Release, figures: Figures) -> Markup | None:
    curve = basket_pictures.kl_curve_of(release)
    if curve is None:
        return None
    rows = [
        (str(r), f"{mean:.4f}", f"± {error:.4f}", f"{totals:.4f}")
        for r, mean, error, totals in zip(curve.lengths, curve.mean, curve.error, curve.totals, strict=True)
    ]
    return sections.section(
        "queries",
        "How near estimates are",
        "For some random ordinary items and a sensitive one, the baskets with each combination of the items that hold "
        "the sensitive one are estimated from the release and compared with the truth.",
        figures.figure(
            "Divergence of estimates from the truth",
            basket_pictures.kl_curve(curve),
            f"Kullback–Leibler divergence, 0 is best: the mean of {curve.n_queries} random queries for each number of "
            "items, with two standard errors. Totals alone: what it would be had nothing but the number of baskets "
            "with each sensitive item been published.",
            ("Items", "This release", "Standard error", "Totals alone"),
            rows,
        ),
    )


def generalized(release: Release) -> Markup:
    """Show what generalizing did to the items."""
    details: dict[str, Any] = dict(release.evidence.details)
    nodes: dict[int, int] = details.get("nodes", {})
    rows = [
        ("itself" if covered == 1 else f"{covered:,} items", f"{count:,}", f"{covered * count:,}")
        for covered, count in nodes.items()
    ]
    told = (
        f"{percent(details['loss'])} of the items' detail was given up: the mean share of all items that a published "
        "one may stand for, over all entries of the baskets (normalized certainty penalty)."
    )
    content = (
        table(("A published item stands for", "Published items", "Items"), rows, caption="What was published")
        if rows
        else Markup()
    )
    return sections.section("items", "What became of the items", told, content)


def risk(release: Release) -> Markup:
    """Show how likely a basket is found again by a few known items, before and after, and what that gives away."""
    found = basket_risk(release, known=KNOWN, n_samples=SAMPLES, random_state=_SEED)
    after = {one.r: one for one in found.after}
    rows = [
        (str(one.r), _chance(one), _chance(after.get(one.r)), _unique(one), _unique(after.get(one.r)))
        for one in found.before
    ]
    told = "Somebody knows a few items of a basket and looks for it; each basket and each of its items is as likely. "
    if found.tie is not None:
        told += (
            "Ordinary items are published exactly, so baskets are found as before. But a basket that is found "
            f"tells its sensitive items no more: {percent(found.tie.before)} certain before, at most "
            f"{percent(found.tie.highest)} and on average {percent(found.tie.mean)} after."
        )
    else:
        told += "After, the known items are items as they were published."
    head = ("Known items", "Found, before", "Found, after", "Only one fits, before", "Only one fits, after")
    return sections.section(
        "risk", "Being found again", told, table(head, rows, caption="Chance to be found")
    )


def risk_left(release: Release) -> Markup:
    """Show how likely a released basket is found by a few known items, and what its group then gives away."""
    data = release.data
    published = data.baskets if isinstance(data, GroupedBaskets) else data
    longest = int(published.lengths.max(initial=0))
    found = [
        reidentification(published, r, n_samples=SAMPLES, random_state=_SEED) for r in KNOWN if r <= longest
    ]
    tie = sensitive_tie(data)
    words = "Somebody knows a few published items of a basket and looks for it; each basket is as likely."
    if tie is not None:
        words += (
            f" A basket that is found is tied to a sensitive item with a certainty of at most {percent(tie.highest)}, "
            f"on average {percent(tie.mean)}."
        )
    rows = [(str(one.r), _chance(one), _unique(one)) for one in found]
    return sections.section(
        "risk",
        "Risk that is left",
        words,
        table(("Known items", "Found", "Only one fits"), rows, caption="Chance to be found"),
    )


def _chance(found: Reidentification | None) -> str:
    if found is None:
        return "–"
    low, high = found.probability_interval
    return percent(found.probability) if found.exact else f"{percent(low)} to {percent(high)}"


def _unique(found: Reidentification | None) -> str:
    return "–" if found is None else percent(found.unique)
