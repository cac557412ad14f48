"""Sections on data in which rules were hidden: the public report without the rules, the internal one with them.

The public report says that rules were hidden and how. It names no rule, no threshold and no support, and nothing that
was computed from the original. The internal one is the owner's and has all of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet import __version__
from discreet.core.baskets.baskets import Baskets
from discreet.core.release import Release
from discreet.core.verdict import Verdict
from discreet.kinds.blocks import Block, Section, TableBlock, Tiles
from discreet.kinds.hidden_rules import RuleCounts
from discreet.kinds.sections.provenance import value_text
from discreet.kinds.sections.risk import guarantee as verdict_of
from discreet.kinds.wording import number, percent
from discreet.output.hiding import HidingQuality

_TO_OTHERS = "whoever does not know them cannot recompute it, and has the owner's word."


def verdict(release: Release, shown: Verdict, baskets: Baskets) -> Block:
    """Return the verdict, and what was checked."""
    checked = (
        f"{len(baskets):,} baskets or rows were checked by the rules, which the owner keeps: {_TO_OTHERS}"
    )
    return verdict_of(release.guarantee, shown, checked=checked)


def private(release: Release) -> list[Block]:
    """Return the rules, what hiding them cost, and what the method reports: for the owner alone."""
    figures = release.figures.private
    return [_rules(release, figures.rules), _cost(figures.quality), _effort(figures.details)]


def hiding_summary(after: Baskets) -> Tiles:
    """Return the sizes of the release."""
    tiles = (
        ("Baskets or rows released", f"{len(after):,}", "in random order"),
        ("Items released", f"{after.n_items:,}", "some occur less often than before"),
    )
    return Tiles(tiles)


def _rules(release: Release, rules: Sequence[RuleCounts]) -> Section:
    """Return the rules with their support and confidence before and after."""
    guarantee: Any = release.guarantee
    rows = []
    for counted in rules:
        confidence = [
            percent(both / left) if counted.rule.is_rule and left else "–"
            for both, left in (counted.before, counted.after)
        ]
        rows.append((str(counted.rule), f"{counted.before[0]:,}", f"{counted.after[0]:,}", *confidence))
    n_released = len(release.figures.public.baskets)
    least = guarantee.least_confidence
    hidden = f"fewer than {guarantee.least_support(n_released):,} baskets" + (
        "" if least is None else f", or a confidence below {percent(float(least))}"
    )
    head = ("Rule", "Support before", "Support after", "Confidence before", "Confidence after")
    return Section(
        "rules",
        "Hidden rules",
        f"For the owner only. A rule is hidden by a support of {hidden}.",
        [TableBlock(head, rows, "Sensitive rules")],
    )


def _cost(quality: HidingQuality) -> Section:
    rows = [
        ("Hiding failure", percent(quality.hiding_failure)),
        ("Other itemsets lost", f"{quality.lost_itemsets:,} of {quality.n_itemsets:,}"),
        ("Ghost itemsets", f"{quality.ghost_itemsets:,}"),
        ("Other rules lost", f"{quality.lost_rules:,} of {quality.n_rules:,}"),
        ("Ghost rules", f"{quality.ghost_rules:,}"),
        ("Dissimilarity", percent(quality.dissimilarity)),
        ("Mean relative error of surviving supports", percent(quality.support_error)),
        ("Baskets changed", _shown(quality.changed_baskets)),
        ("Entries changed", _shown(quality.changed_cells)),
    ]
    return Section(
        "cost",
        "Side effects",
        "Itemsets and rules mined from the original and from the released data at the thresholds, compared.",
        [TableBlock(("Measure", "Value"), rows, "Side effects")],
    )


def _effort(details: dict[str, Any]) -> Section:
    rows = [(name.replace("_", " "), _shown(value)) for name, value in details.items()]
    return Section(
        "effort",
        "Changes and run time",
        "As recorded by the method.",
        [TableBlock(("Measure", "Value"), rows, "Evidence")],
    )


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool | str):
        return {None: "–", True: "yes", False: "no"}.get(value, str(value))  # type: ignore[arg-type]
    return f"{value:,}" if isinstance(value, int) else number(float(str(value)))


def hiding_method(release: Release, *, internal: bool) -> Section:
    """Return how the release was made; neither rules nor thresholds are in it."""
    recipe = release.recipe
    parameters: dict[str, object] = dict(recipe.get("parameters", {}))
    rows = [
        ("Method", str(recipe.get("method", "–"))),
        *((f"Parameter {name}", value_text(value)) for name, value in parameters.items()),
        ("Order", "shuffled"),
        ("This page", "for the owner only" if internal else "may be published"),
        ("Discreet", __version__),
    ]
    text = "The rules, their thresholds and the changes are known to the owner only."
    if internal:
        text = f"Rules to hide: {len(release.guarantee.rules)}."  # type: ignore[attr-defined]
    return Section("method", "How it was made", text, [TableBlock(("Property", "Value"), rows, "Method")])
