"""Sections on published baskets: the matrix, accuracy of estimates, generalized items, and the risk that is left."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.release import Release
from discreet.kinds.baskets import PublicBasketFigures
from discreet.kinds.blocks import Figure, Matrices, Section, TableBlock
from discreet.kinds.sections.basket_estimates import kl_curve_of
from discreet.kinds.wording import counted, percent
from discreet.measure import BasketRisk, Reidentification


def pictures(release: Release, *, internal: bool) -> list[Section]:
    """Return how similar neighbors are, and internally how accurate estimates are; nothing for small data."""
    public = release.figures.public
    queries = _estimates(release) if internal else None
    return [part for part in (_matrix(public.baskets, public.grids), queries) if part]


def _matrix(baskets: Baskets, grids: tuple[FloatArray, FloatArray] | None) -> Section | None:
    if grids is None:
        return None
    height, width = grids[0].shape
    quarters = np.linspace(0, height, 5).astype(int)
    rows = []
    for name, grid in zip(("in any order", "in band order"), grids, strict=True):
        fullest = [percent(float(grid[a:b].max())) for a, b in pairwise(quarters)]
        rows.append((name, percent(float((grid == 0).mean())), *fullest))
    head = ("Order", "Empty fields", *(f"Fullest field, quarter {at}" for at in range(1, 5)))
    return Section(
        "matrix",
        "The matrix of baskets and items",
        f"A row of the picture stands for about {counted(len(baskets) // height, 'basket')}, a column for about "
        f"{counted(max(baskets.n_items // width, 1), 'item')}; the stronger the color, the more entries there are.",
        [
            Figure(
                "Similarity of neighbors",
                "Left, baskets in any order and items by name; right, baskets in band order and items along the band. "
                "The closer the color to the band, the better groups of neighbors preserve which items occur together.",
                chart=Matrices(grids),
                table=TableBlock(head, rows),
            )
        ],
    )


def _estimates(release: Release) -> Section | None:
    curve = kl_curve_of(release)
    if curve is None:
        return None
    rows = [
        (str(r), f"{mean:.4f}", f"± {error:.4f}", f"{totals:.4f}")
        for r, mean, error, totals in zip(curve.lengths, curve.mean, curve.error, curve.totals, strict=True)
    ]
    return Section(
        "estimates",
        "Accuracy of estimates",
        "For random ordinary items and a sensitive one, the number of baskets with the sensitive item and each "
        "combination of the others is estimated from the release and compared with the truth.",
        [
            Figure(
                "Divergence of estimates from the truth",
                f"Kullback–Leibler divergence, 0 is best: the mean of {curve.n_queries} random queries for each number "
                "of items, with two standard errors. Totals alone: if only the number of baskets with each sensitive "
                "item had been published.",
                chart=curve,
                table=TableBlock(("Items", "This release", "Standard error", "Totals alone"), rows),
            )
        ],
    )


def generalized_items(release: Release) -> Section:
    """Return how far the items were generalized."""
    details: dict[str, Any] = dict(release.evidence.details)
    nodes: dict[int, int] = details.get("nodes", {})
    rows = [
        ("itself" if covered == 1 else f"{covered:,} items", f"{count:,}", f"{covered * count:,}")
        for covered, count in nodes.items()
    ]
    text = (
        f"{percent(details['loss'])} of the detail was lost: the mean share of all items that a published item covers, "
        "over all entries of the baskets (normalized certainty penalty)."
    )
    head = ("A published item covers", "Published items", "Items")
    return Section(
        "items", "Generalized items", text, [TableBlock(head, rows, "Published items")] if rows else []
    )


def risk_section(risks: BasketRisk) -> Section:
    """Return how likely a few known items identify a basket, before and after, and what that reveals."""
    after = {released.r: released for released in risks.after}
    rows = [
        (str(was.r), _chance(was), _chance(after.get(was.r)), _unique(was), _unique(after.get(was.r)))
        for was in risks.before
    ]
    text = "An attacker knows a few items of a basket and looks for it; all baskets and items are equally likely. "
    if risks.tie is not None:
        text += (
            "Ordinary items are published exactly, so baskets are identified as before. But an identified basket is "
            f"linked to its sensitive items with probability {percent(risks.tie.before)} before; after, groups and "
            f"counts link it with at most {percent(risks.tie.highest)}, on average {percent(risks.tie.mean)}."
        )
    else:
        text += "After, the attacker knows published items."
    head = ("Known items", "Identified, before", "Identified, after", "Unique, before", "Unique, after")
    return Section(
        "risk", "Re-identification risk", text, [TableBlock(head, rows, "Probability of identification")]
    )


def risk_left(figures: PublicBasketFigures) -> Section:
    """Return how likely a few known items identify a released basket, and what its group then reveals."""
    tie = figures.tie
    text = "An attacker knows a few published items of a basket and looks for it; all baskets are equally likely."
    if tie is not None:
        text += (
            f" Groups and counts link an identified basket to a sensitive item with probability at most "
            f"{percent(tie.highest)}, on average {percent(tie.mean)}."
        )
    rows = [(str(released.r), _chance(released), _unique(released)) for released in figures.risk]
    table = TableBlock(("Known items", "Identified", "Unique"), rows, "Probability of identification")
    return Section("risk", "Remaining re-identification risk", text, [table])


def _chance(risk: Reidentification | None) -> str:
    if risk is None:
        return "–"
    low, high = risk.probability_interval
    return percent(risk.probability) if risk.exact else f"{percent(low)} to {percent(high)}"


def _unique(risk: Reidentification | None) -> str:
    return "–" if risk is None else percent(risk.unique)
