"""Sections on published baskets: the groups, the sensitive items, and what is estimated."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.release import Release
from discreet.kinds.baskets import PublicBasketFigures
from discreet.kinds.blocks import Block, Code, Section, TableBlock, Tiles, class_size_bins, class_size_labels
from discreet.kinds.sections import basket_risk
from discreet.kinds.wording import counted, number, percent, span

_MOST_ITEMS = 50
_DEGREES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)


def checked(figures: PublicBasketFigures) -> str:
    """Return what was checked."""
    if figures.grouped is not None:
        n_groups = counted(figures.grouped.n_groups, "group")
        return f"{figures.n_released:,} baskets in {n_groups} were checked."
    return f"Every combination of items in {figures.n_released:,} baskets was checked."


def grouped_sections(release: Release, *, internal: bool) -> list[Block]:
    """Return the sections on groups, or (internally) on generalized items."""
    data = release.figures.public.grouped
    if data is None:
        return [basket_risk.generalized_items(release)] if internal else []
    pictures = basket_risk.pictures(release, internal=internal)
    return [groups(data), sensitive_items(data), precision(data), *pictures]


def basket_summary(release: Release, *, internal: bool) -> Tiles:
    """Return the most important figures."""
    data, verdict = release.data, release.verdict
    public = release.figures.public
    counts = public.counts
    left_out = counted(counts.suppressed, "basket")
    why = (
        "" if public.left_out is None else f"; left out: {left_out}{public.left_out.removeprefix('baskets')}"
    )
    tiles = [("Baskets released", f"{counts.n_out:,}", f"of {counts.n_in:,}{why}")]
    if public.grouped is not None:
        smallest, largest = int(data.sizes.min()), int(data.sizes.max())
        tiles += [
            ("Groups", f"{data.n_groups:,}", f"of {span(smallest, largest)} baskets"),
            ("Least privacy degree", number(verdict.worst), f"required: {number(verdict.bound)}"),
            (
                "Items published exactly",
                f"{data.baskets.n_items:,}",
                f"{len(data.sensitive_names):,} sensitive ones as counts per group",
            ),
        ]
    else:
        tiles += [
            (
                "Baskets with the rarest combination",
                number(verdict.worst),
                f"required: {number(verdict.bound)}",
            ),
            ("Items published", f"{data.n_items:,}", "each stands for one item or several"),
        ]
        if internal:
            loss = percent(float(release.figures.private.loss))
            tiles.append(("Loss of detail", loss, f"of {release.figures.private.n_items:,} items"))
    return Tiles(tiles)


def groups(data: GroupedBaskets) -> Section:
    """Return how large the groups are, and their privacy degrees."""
    starts = class_size_bins(int(data.sizes.min()), int(data.sizes.max()))
    labels = class_size_labels(starts)
    bins = np.searchsorted(starts, data.sizes, side="right") - 1
    n_groups = np.bincount(bins, minlength=starts.size)
    baskets = np.bincount(bins, weights=data.sizes, minlength=starts.size)
    rows = [
        (label, f"{n_in_bin:,}", f"{int(two):,}", percent(two / len(data)))
        for label, n_in_bin, two in zip(labels, n_groups.tolist(), baskets, strict=True)
        if n_in_bin
    ]
    return Section(
        "groups",
        "The groups",
        "Baskets of a group keep their ordinary items; which of them holds a sensitive item is not published. The "
        "largest group usually contains the baskets that were not needed to hide a sensitive one.",
        [
            TableBlock(("Baskets in the group", "Groups", "Baskets", "Share"), rows, "Sizes of groups"),
            TableBlock(("Privacy degree", "Groups", "Baskets"), _degree_rows(data), "Degrees of groups"),
        ],
    )


def _degree_rows(data: GroupedBaskets) -> list[tuple[str, str, str]]:
    degree = _degrees(data)
    ends = (*_DEGREES[1:], np.inf)
    rows = []
    for low, high in zip(_DEGREES, ends, strict=True):
        inside = (degree >= low) & (degree < high) & np.isfinite(degree)
        if inside.any():
            label = f"{low:,} or more" if high == np.inf else f"{low:,} to below {high:,.0f}"
            rows.append((label, f"{inside.sum():,}", f"{data.sizes[inside].sum():,}"))
    free = np.isinf(degree)
    if free.any():
        rows.append(("nothing sensitive", f"{free.sum():,}", f"{data.sizes[free].sum():,}"))
    return rows


def _degrees(data: GroupedBaskets) -> FloatArray:
    share = np.zeros(data.n_groups)
    counts = data.sensitive
    np.maximum.at(share, counts.group, counts.counts / data.effective_sizes[counts.group])
    # A group without sensitive items has an infinite degree.
    with np.errstate(divide="ignore"):
        return np.asarray(1 / share)


def sensitive_items(data: GroupedBaskets) -> Section:
    """Return the sensitive items: in how many baskets and groups they are, and their largest share in a group."""
    counts = data.sensitive
    share = counts.counts / data.effective_sizes[counts.group]
    highest = np.zeros(counts.overall.size)
    np.maximum.at(highest, counts.values, share)
    in_groups = np.bincount(counts.values, minlength=counts.overall.size)
    order = np.argsort(-counts.overall, kind="stable")
    rows = [
        (
            str(data.sensitive_names[int(code)].as_py()),
            f"{counts.overall[code]:,}",
            percent(counts.overall[code] / len(data)),
            f"{in_groups[code]:,}",
            percent(highest[code]),
        )
        for code in order[:_MOST_ITEMS]
    ]
    more = f" The {_MOST_ITEMS} most common of {order.size:,} are shown." if order.size > _MOST_ITEMS else ""
    return Section(
        "sensitive",
        "Sensitive items",
        "How often each occurs in published baskets is published exactly. The last column is the highest probability "
        f"with which anyone can be linked to it from the published groups and counts.{more}",
        [TableBlock(("Item", "Baskets", "Share", "Groups", "Highest probability"), rows, "Sensitive items")],
    )


def precision(data: GroupedBaskets) -> Section:
    """Return what is exact and what is estimated: ordinary items are exact, the sensitive ones are not."""
    counts = data.sensitive
    occurrences = int(counts.counts.sum())
    certain = int(counts.counts[counts.counts == data.effective_sizes[counts.group]].sum())
    mean = (
        float((counts.counts * counts.counts / data.effective_sizes[counts.group]).sum() / occurrences)
        if occurrences
        else 1.0
    )
    rows = [
        ("Counts of ordinary items", "exact"),
        ("Totals of sensitive items in released baskets", "exact"),
        ("Sensitive items with ordinary ones", "estimated: Σ a·b/|G| over the groups"),
        ("Occurrences of sensitive items", f"{occurrences:,}"),
        ("Of these, linked to their baskets with certainty by groups and counts", f"{certain:,}"),
        (
            "Mean probability that an occurrence is linked to its own basket by groups and counts",
            percent(mean),
        ),
    ]
    return Section(
        "precision",
        "What is exact, and what is estimated",
        "Patterns of ordinary items are exact. A pattern with a sensitive item is estimated; the more similar the "
        "baskets of a group, the better the estimate.",
        [TableBlock(("Figure", "Precision"), rows, "What is exact and what is estimated")],
    )


def how_to_count() -> Section:
    """Return how to estimate counts from the files."""
    again = (
        "from discreet import read_published\n\n"
        'published = read_published("release")\n'
        'published.count("sensitive item", with_items=["ordinary item"], without_items=[])\n'
    )
    return Section("count", "Count in it", "In Python, from the folder of this report:", [Code(again)])
