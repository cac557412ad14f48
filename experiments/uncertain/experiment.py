"""Uncertain records: range counts, accuracy and attacks by k, beside condensation and Mondrian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from experiments.condensation.data import Sample, samples
from experiments.page import Cell, Page, spread
from experiments.uncertain import pictures
from experiments.uncertain.runs import N_BOXES, Runs, runs_of

_K = {False: (2, 5, 10, 20, 50), True: (5, 20)}
_COLUMNS = {
    "error of counts": ("error", 3),
    "accuracy, 1-NN": ("accuracy", 3),
    "accuracy, kernel vote": ("vote", 3),
    "baseline": ("baseline", 3),
    "median spread": ("spread", 2),
    "rank": ("rank", 1),
    "rank in its class": ("rank_in_class", 1),
    "first in its class": ("first_in_class", 3),
    "matched": ("matched", 3),
}
"""The figure that each column of a table holds, and its digits."""
_SMALL = 1000
"""A quick run takes sets of no more rows than this."""
_OURS, _PAPER = "uncertain", "uncertain, own spreads"


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Publish and mine the four sets, or scikit-learn's in their place, by every method."""
    page.introduce(
        "Records as probability distributions",
        "Every record is published as a center and a spread, so that k original records explain it on average. Three "
        f"quarters of the rows are published. {N_BOXES} random boxes are counted in them, each restricting up to three "
        "columns to 30 to 70 % of their quantiles; the error is relative to the true count, or to 1 % of the rows "
        "where that is more. The rest is classified by one neighbor among the centers, and by the kernel vote. For "
        "that, classes are published apart, and in a small class the level is a quarter of it (its size for "
        "condensation). Abalone's years are three classes. Uncertain: spreads that records share, so that an attacker "
        "who works them out gains nothing. Own spreads: the form of C. Aggarwal: On unifying privacy and uncertain "
        "data models, ICDE 2008, each record with its own. Mondrian publishes the means of its classes; it and "
        "condensation keep other promises, so equal k is not equal protection.",
    )
    results: list[tuple[Sample, list[Runs]]] = []
    for sample in (one for one in samples(data) if not quick or len(one.values) <= _SMALL):
        if sample.substitute:
            page.log(
                f"{sample.name} stands in for a set that is not here; set DISCREET_DATA to the data sets' folder"
            )
        runs = []
        for k in _K[quick]:
            page.log(f"{sample.name}: k = {k}")
            runs += runs_of(sample, k, range(1, seeds + 1))
        results.append((sample, runs))
    _claims(page, results)
    for sample, runs in results:
        _figures(page, sample, runs)


def _claims(page: Page, results: Sequence[tuple[Sample, list[Runs]]]) -> None:
    """Compare what the two forms promise with what an attack finds, and their use with the others'."""
    every = [run for _, runs in results for run in runs if run.rank]
    paper, ours = ([run for run in every if run.method == name] for name in (_PAPER, _OURS))
    rows: list[list[Cell]] = [
        _counted(
            "own spreads: the true record has rank k among all", paper, lambda run: _near(run.rank, run.k)
        ),
        _counted(
            "own spreads: who works them out finds every record",
            paper,
            lambda run: _mean(run.first_in_class) > 0.95,
        ),
        _counted(
            "shared spreads: rank k or more in its class, within the noise of few draws",
            ours,
            lambda run: _mean(run.rank_in_class) > 0.9 * run.k,
        ),
    ]
    for figure, word in (
        ("error", "range counts no worse"),
        ("best", "kernel vote no worse, beside one neighbor,"),
    ):
        rows += [_beside(results, figure, word, method) for method in ("condensation", "Mondrian, means")]
    page.section("What was compared, and what came out")
    page.table(
        "claims",
        "Promises and use",
        ("what", "outcome", "holds"),
        rows,
        note="The first three are arithmetic; the others compare means, at the same k.",
    )


def _counted(word: str, runs: Sequence[Runs], holds: Callable[[Runs], bool]) -> list[Cell]:
    n = sum(map(holds, runs))
    return [word, f"{n} of {len(runs)} cases", "yes" if n == len(runs) else "in part" if n else "no"]


def _beside(results: Sequence[tuple[Sample, list[Runs]]], figure: str, word: str, method: str) -> list[Cell]:
    """Compare shared spreads with another method at the same k."""
    wins = cases = 0
    for _, runs in results:
        of = {(run.k, run.method): run for run in runs if run.error}
        for (k, name), mine in of.items():
            if name == _OURS and (k, method) in of:
                yours = of[k, method]
                cases += 1
                better = (
                    _mean(mine.error) <= _mean(yours.error)
                    if figure == "error"
                    else _mean(mine.vote) >= _mean(yours.accuracy)
                )
                wins += better
    outcome = f"{wins} of {cases} cases"
    return [
        f"{word} than {method} at the same k",
        outcome,
        "yes" if wins == cases else "in part" if wins else "no",
    ]


def _figures(page: Page, sample: Sample, runs: Sequence[Runs]) -> None:
    page.section(
        sample.name, f"{sample.name}: {len(sample.values):,} rows, {sample.values.shape[1]} columns."
    )
    title = f"{sample.name}: range counts and accuracy by k"
    page.picture(f"uncertain-{sample.name}", title, pictures.errors_and_accuracy(title, runs))
    rows: list[list[Cell]] = [
        [run.k, run.method, *(spread(getattr(run, figure), digits) for figure, digits in _COLUMNS.values())]
        for run in runs
    ]
    page.table(
        sample.name,
        f"{sample.name}: all numbers",
        ["k", "method", *_COLUMNS],
        rows,
        note="Spreads are in standard deviations; the side of a cube where they are uniform. Rank: of the true record "
        "among all original ones by likelihood; in its class: among those of the same published spread. First: "
        "the share of records whose true one comes first there, alone. Matched: the share found by the likeliest "
        "assignment of all records of a spread at once. An empty row could not reach k. ± is the standard deviation "
        "over the seeds.",
    )


def _near(values: Sequence[float], k: int) -> bool:
    return abs(_mean(values) - k) <= 0.1 * k


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
