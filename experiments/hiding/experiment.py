"""Hiding rules: what every method loses on public and generated baskets, by threshold and number of sensitive sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.data_sets import THANKS
from experiments.hiding import pictures as pictures
from experiments.hiding.runs import (
    Point,
    Sample,
    points,
    rule_points,
    samples,
    suspicion,
)
from experiments.page import Cell, Page, spread

_MARGINS = (0.0, 0.1, 0.2, 0.4)


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Hide drawn itemsets in every data set by every method, and show what that costs."""
    page.introduce(
        "Hiding sensitive itemsets",
        "Frequent itemsets of two to four items are drawn as sensitive, others for every seed, and hidden by every "
        "method. Lost itemsets are other frequent ones that are no longer found; ghosts are found that were not. "
        "Exact is the aggregated program with a time limit; inline and Menon are the published programs beside it. "
        "A method that had a solution for some of the draws only is marked: its means are not comparable.",
    )
    numbers = range(1, seeds + 1)
    found = samples(data, quick=quick)
    for sample in found:
        page.log(f"{sample.title}: hiding by every method")
        made = points(sample, numbers, quick=quick)
        _section(page, sample, made)
    _rules(page, [found[0], found[-1]], numbers, quick=quick)
    _margins(page, found[0], numbers)
    if any(sample.thanks for sample in found):
        page.note(THANKS)


def _section(page: Page, sample: Sample, made: Sequence[Point]) -> None:
    about = f"{len(sample.baskets):,} baskets, {sample.baskets.n_items:,} items. {sample.note}".strip()
    page.section(sample.title, about)
    rows: list[list[Cell]] = [
        [
            f"{one.support:.3g}",
            one.n_sets,
            one.name,
            spread(one.lost, 1) if one.lost else "could not",
            spread(one.ghosts, 1) if one.lost else "–",
            spread([100 * value for value in one.dissimilarity], 3) if one.lost else "–",
            spread(one.seconds, 2) if one.lost else "–",
        ]
        for one in made
    ]
    head = [
        "minimum support",
        "sensitive sets",
        "method",
        "lost itemsets",
        "ghosts",
        "dissimilarity, %",
        "CPU seconds",
    ]
    page.table(sample.name, f"What hiding costs, {sample.title}", head, rows)
    title = f"Itemsets lost, {sample.title}"
    page.picture(f"{sample.name}-picture", title, pictures.lost_bars(title, made))


def _rules(page: Page, found: Sequence[Sample], seeds: Sequence[int], *, quick: bool) -> None:
    """Show what hiding rules by their confidence costs, where a method can do that."""
    page.section(
        "Rules",
        "Three rules of two or three items are hidden in each draw; the least confidence is the median of all rules. "
        "Strategy 1.a adds items, and so makes ghosts; blocking is judged by what is certain.",
    )
    rows: list[list[Cell]] = []
    for sample in dict.fromkeys(found):
        page.log(f"{sample.title}: hiding rules")
        rows += [
            [
                sample.title,
                one.name,
                *(
                    [spread(each, 1) for each in (one.lost_rules, one.ghost_rules, one.lost, one.ghosts)]
                    if one.lost
                    else ["could not", "–", "–", "–"]
                ),
                spread([100 * value for value in one.dissimilarity], 3) if one.lost else "–",
                spread(one.seconds, 2) if one.lost else "–",
            ]
            for one in rule_points(sample, seeds, quick=quick)
        ]
    head = ["data", "method", "lost rules", "ghost rules", "lost itemsets", "ghost itemsets"]
    page.table("rules", "What hiding rules costs", [*head, "dissimilarity, %", "CPU seconds"], rows)


def _margins(page: Page, sample: Sample, seeds: Sequence[int]) -> None:
    """Show how a margin moves the hidden sets down the list of whoever looks below the threshold."""
    page.log(f"{sample.title}: guessing what was hidden")
    rows: list[list[Cell]] = []
    for margin in _MARGINS:
        guesses = [suspicion(sample, seed, margin) for seed in seeds]
        known = [one.best for one in guesses if one.best is not None]
        rows.append(
            [
                margin,
                float(np.mean([one.n_itemsets for one in guesses])),
                float(np.mean(known)) if known else "none",
                float(np.mean([one.chance for one in guesses])),
            ]
        )
    page.section("Guessing what was hidden", f"{sample.title}, border-based hiding, three sensitive sets.")
    page.table(
        "margins",
        "The place of the hidden sets among the itemsets just below the threshold",
        ["margin", "candidates", "place of the first one found", "mean of 1 / place"],
        rows,
        note="Somebody who knows the threshold and the method looks for itemsets just below it. A margin hides the "
        "sensitive ones among the others; it costs more deletions.",
    )
