"""The report of published baskets: the promise, the groups, the sensitive items, what is lost, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet import __version__
from discreet.core.arrays import FloatArray
from discreet.core.basket_release import BasketRelease
from discreet.core.grouped_baskets import GroupedBaskets
from discreet.core.params import InstanceOf, require
from discreet.guarantees import RulesHidden
from discreet.report import basket_sections, charts, sections
from discreet.report.figures import Figures, counted, number, percent, table
from discreet.report.markup import Markup, tag
from discreet.report.page import whole_page
from discreet.report.provenance import code, seed_text, value_text

_PLACES = (
    ("promise", "Promise"),
    ("groups", "Groups"),
    ("sensitive", "Sensitive items"),
    ("losses", "Losses"),
    *basket_sections.PLACES,
    ("method", "Method"),
)
_MOST_ITEMS = 50
_DEGREES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)


def render_baskets(release: BasketRelease) -> str:
    """Write the report of published baskets as one self-contained HTML page; it holds aggregates, and no basket."""
    require("render_baskets", "release", release, InstanceOf((BasketRelease,), "a BasketRelease"))
    if isinstance(release.guarantee, RulesHidden):
        from discreet.report.hiding import render_hiding

        return render_hiding(release)
    figures = Figures()
    main = tag(
        "main",
        sections.promise(release.guarantee, release.verdict, seen=_seen(release)),
        summary(release),
        *grouped_sections(release, figures),
        basket_sections.risk(release),
        method(release),
        id="main",
    )
    return whole_page(main, figures, _PLACES, ok=release.verdict.ok)


def _seen(release: BasketRelease) -> str:
    data = release.data
    if isinstance(data, GroupedBaskets):
        return f"{len(data):,} baskets in {counted(data.n_groups, 'group')} were judged."
    return f"Every combination of items in {len(data):,} baskets was judged."


def grouped_sections(release: BasketRelease, figures: Figures) -> tuple[Markup, ...]:
    """Give the sections on groups, or on what became of generalised items."""
    data = release.data
    if not isinstance(data, GroupedBaskets):
        return (basket_sections.generalised(release),)
    return groups(data), sensitive_items(data), losses(data), *basket_sections.pictures(release, figures)


def summary(release: BasketRelease) -> Markup:
    """Give the figures a reader asks for first."""
    data, verdict = release.data, release.verdict
    tiles = [("Baskets released", f"{len(data):,}", f"of {release.evidence.n_rows:,}")]
    if isinstance(data, GroupedBaskets):
        smallest, largest = int(data.sizes.min()), int(data.sizes.max())
        tiles += [
            ("Groups", f"{data.n_groups:,}", f"of {smallest:,} to {largest:,} baskets"),
            ("Least privacy degree", number(verdict.worst), f"asked: {number(verdict.bound)}"),
            (
                "Items published exactly",
                f"{data.baskets.n_items:,}",
                f"{len(data.sensitive_names):,} sensitive ones as counts per group",
            ),
        ]
    else:
        tiles += [
            ("Baskets with the rarest combination", number(verdict.worst), f"asked: {number(verdict.bound)}"),
            ("Items published", f"{data.n_items:,}", f"of {release.original.n_items:,}"),
            ("Loss of detail", percent(float(str(release.evidence.details["loss"]))), "of the items"),
        ]
    return tag("dl", *(sections.tile(*one) for one in tiles), class_="tiles")


def groups(data: GroupedBaskets) -> Markup:
    """Show how large the groups are, and what degree they have."""
    starts = charts.class_size_bins(int(data.sizes.min()), int(data.sizes.max()))
    labels = charts.class_size_labels(starts)
    bins = np.searchsorted(starts, data.sizes, side="right") - 1
    n_groups = np.bincount(bins, minlength=starts.size)
    baskets = np.bincount(bins, weights=data.sizes, minlength=starts.size)
    rows = [
        (label, f"{one:,}", f"{int(two):,}", percent(two / len(data)))
        for label, one, two in zip(labels, n_groups.tolist(), baskets, strict=True)
        if one
    ]
    return sections.section(
        "groups",
        "The groups",
        "Baskets of a group keep their ordinary items; which of them holds a sensitive item is not told. The largest "
        "group usually takes in the baskets that no sensitive basket was put with.",
        table(("Baskets in the group", "Groups", "Baskets", "Share"), rows, caption="Sizes of groups"),
        table(("Privacy degree", "Groups", "Baskets"), _degree_rows(data), caption="Degrees of groups"),
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
    held = data.sensitive
    np.maximum.at(share, held.group, held.counts / data.sizes[held.group])
    with np.errstate(divide="ignore"):
        return np.asarray(1 / share)


def sensitive_items(data: GroupedBaskets) -> Markup:
    """List the sensitive items: in how many baskets and groups they are, and their largest share in a group."""
    held = data.sensitive
    share = held.counts / data.sizes[held.group]
    highest = np.zeros(held.overall.size)
    np.maximum.at(highest, held.values, share)
    in_groups = np.bincount(held.values, minlength=held.overall.size)
    order = np.argsort(-held.overall, kind="stable")
    rows = [
        (
            str(data.sensitive_names[int(code)].as_py()),
            f"{held.overall[code]:,}",
            percent(held.overall[code] / len(data)),
            f"{in_groups[code]:,}",
            percent(highest[code]),
        )
        for code in order[:_MOST_ITEMS]
    ]
    more = f" The {_MOST_ITEMS} most common of {order.size:,} are shown." if order.size > _MOST_ITEMS else ""
    return sections.section(
        "sensitive",
        "Sensitive items",
        "How often each occurs is published exactly. Its largest share in a group is the most that anybody can be tied "
        f"to it.{more}",
        table(("Item", "Baskets", "Share", "Groups", "Largest share"), rows, caption="Sensitive items"),
    )


def losses(data: GroupedBaskets) -> Markup:
    """Say what an analyst loses: nothing about ordinary items, and certainty about the sensitive ones."""
    held = data.sensitive
    occurrences = int(held.counts.sum())
    certain = int(held.counts[held.counts == data.sizes[held.group]].sum())
    mean = (
        float((held.counts * held.counts / data.sizes[held.group]).sum() / occurrences)
        if occurrences
        else 1.0
    )
    rows = [
        ("Counts of ordinary items", "exact"),
        ("Totals of sensitive items", "exact"),
        ("Sensitive items with ordinary ones", "estimated: Σ a·b/|G| over the groups"),
        ("Occurrences of sensitive items", f"{occurrences:,}"),
        ("Of these, tied to their baskets for certain", f"{certain:,}"),
        ("Mean share of an occurrence that is put on its own basket", percent(mean)),
    ]
    return sections.section(
        "losses",
        "What it cost",
        "Patterns of ordinary items are as they were. A pattern with a sensitive item is estimated, the better the "
        "more alike the baskets of a group are.",
        table(("What", "How"), rows, caption="What is exact and what is estimated"),
    )


def method(release: BasketRelease) -> Markup:
    """Say what was done, and how to do it again."""
    recipe = release.recipe
    given: Mapping[str, object] = dict(recipe.get("parameters", {}))
    rows = [
        ("Method", str(recipe.get("method", "–"))),
        ("Promise", repr(release.guarantee)),
        *((f"Parameter {name}", value_text(value)) for name, value in given.items()),
        ("Baskets in", f"{release.evidence.n_rows:,}"),
        ("Baskets out", f"{len(release.data):,}"),
        ("Order of groups and baskets", "shuffled"),
        ("Seed", seed_text(recipe.get("seed"), kept=True)),
        ("Discreet", __version__),
    ]
    again = (
        "from discreet.core.grouped_baskets import GroupedBaskets\n\n"
        'published = GroupedBaskets.read("release")\n'
        "published.count(sensitive, with_items=[...], without_items=[...])\n"
    )
    return tag(
        "section",
        tag("h2", "How it was made", id="method-title"),
        table(("What", "How"), rows, caption="What was done"),
        *((tag("h3", "Count in it"), code(again)) if isinstance(release.data, GroupedBaskets) else ()),
        id="method",
        aria_labelledby="method-title",
    )
