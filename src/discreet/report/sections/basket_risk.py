"""Sections on published baskets: the matrix, accuracy of estimates, generalized items, and the risk that is left."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.percentages import percent
from discreet.core.release import Release
from discreet.measure import Reidentification, basket_risk, reidentification, sensitive_tie
from discreet.report import basket_pictures
from discreet.report.blocks import Figure, Section, Table

KNOWN = (1, 2, 3)
SAMPLES = 5_000
_SEED = 1


def pictures(release: Release, *, internal: bool) -> list[Section]:
    """Return how similar neighbors are, and internally how accurate estimates are; nothing for small data."""
    data = release.data
    if not isinstance(data, GroupedBaskets):
        return []
    queries = _estimates(release) if internal else None
    return [part for part in (_matrix(data.baskets), queries) if part]


def _matrix(baskets: Baskets) -> Section | None:
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
    return Section(
        "matrix",
        "The matrix of baskets and items",
        f"A row of the picture stands for about {len(baskets) // height:,} baskets, a column for about "
        f"{max(baskets.n_items // width, 1):,} items; the stronger the color, the more entries there are.",
        [
            Figure(
                "Similarity of neighbors",
                "Left, baskets in any order and items by name; right, baskets in band order and items along the band. "
                "The closer the color to the band, the better groups of neighbors preserve which items occur together.",
                basket_pictures.matrices(grids),
                Table(head, rows),
            )
        ],
    )


def _estimates(release: Release) -> Section | None:
    curve = basket_pictures.kl_curve_of(release)
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
                basket_pictures.kl_curve(curve),
                Table(("Items", "This release", "Standard error", "Totals alone"), rows),
            )
        ],
    )


def generalized(release: Release) -> Section:
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
    return Section("items", "Generalized items", text, [Table(head, rows, "Published items")] if rows else [])


def risk(release: Release) -> Section:
    """Return how likely a few known items identify a basket, before and after, and what that reveals."""
    found = basket_risk(release, known=KNOWN, n_samples=SAMPLES, random_state=_SEED)
    after = {one.r: one for one in found.after}
    rows = [
        (str(one.r), _chance(one), _chance(after.get(one.r)), _unique(one), _unique(after.get(one.r)))
        for one in found.before
    ]
    text = "An attacker knows a few items of a basket and looks for it; all baskets and items are equally likely. "
    if found.tie is not None:
        text += (
            "Ordinary items are published exactly, so baskets are identified as before. But an identified basket is "
            f"linked to its sensitive items with probability {percent(found.tie.before)} before; after, groups and "
            f"counts link it with at most {percent(found.tie.highest)}, on average {percent(found.tie.mean)}."
        )
    else:
        text += "After, the attacker knows published items."
    head = ("Known items", "Identified, before", "Identified, after", "Unique, before", "Unique, after")
    return Section(
        "risk", "Re-identification risk", text, [Table(head, rows, "Probability of identification")]
    )


def risk_left(release: Release) -> Section:
    """Return how likely a few known items identify a released basket, and what its group then reveals."""
    data = release.data
    published = data.baskets if isinstance(data, GroupedBaskets) else data
    longest = int(published.lengths.max(initial=0))
    found = [
        reidentification(published, r, n_samples=SAMPLES, random_state=_SEED) for r in KNOWN if r <= longest
    ]
    tie = sensitive_tie(data)
    text = "An attacker knows a few published items of a basket and looks for it; all baskets are equally likely."
    if tie is not None:
        text += (
            f" Groups and counts link an identified basket to a sensitive item with probability at most "
            f"{percent(tie.highest)}, on average {percent(tie.mean)}."
        )
    rows = [(str(one.r), _chance(one), _unique(one)) for one in found]
    table = Table(("Known items", "Identified", "Unique"), rows, "Probability of identification")
    return Section("risk", "Remaining re-identification risk", text, [table])


def _chance(found: Reidentification | None) -> str:
    if found is None:
        return "–"
    low, high = found.probability_interval
    return percent(found.probability) if found.exact else f"{percent(low)} to {percent(high)}"


def _unique(found: Reidentification | None) -> str:
    return "–" if found is None else percent(found.unique)
