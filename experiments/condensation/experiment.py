"""Condensation: figures 8 to 15 of Aggarwal & Yu (SDM 2005), made again: accuracy and μ by the privacy level."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.condensation import pictures
from experiments.condensation.data import Sample, samples
from experiments.condensation.runs import NEIGHBORS, TIMES, Runs, runs_of
from experiments.page import Cell, Page, spread

_ALPHAS = {False: (5, 10, 15, 20, 25, 30, 35, 40, 45, 50), True: (5, 15, 30)}
_HIGH, _HIGHEST = 0.95, 0.99
_NEAR = 0.05
"""How far below the baseline an accuracy counts as near."""
_DRAWN = {"accuracy": "one pseudo-record each", "accuracy_of_more": f"{TIMES} each"}
_COLUMNS = {
    "accuracy": ("accuracy", 3),
    f"accuracy, {TIMES} times as many": ("accuracy_of_more", 3),
    "baseline": ("baseline", 3),
    "accuracy, 1-NN": ("accuracy_of_one", 3),
    "baseline, 1-NN": ("baseline_of_one", 3),
    "μ": ("mu", 4),
    "μ, standardized": ("mu_standardized", 4),
}
"""The figure that each column of a table holds, and its digits."""
_OTHERWISE = {
    ("pima", "accuracy"): "dynamic better for large groups",
    ("ionosphere", "mu"): "dynamic slightly better",
}
"""Where the paper says that static condensation is not the better one."""


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Make the paper's figures again, on its four sets or on scikit-learn's in their place."""
    page.introduce(
        "Condensation with a privacy level for every record",
        "Records are condensed into groups as large as their privacy levels require, and pseudo-records are drawn from "
        "the groups' statistics. Levels are uniform on the whole numbers of [α − 4, α]. Three quarters of the rows are "
        f"condensed, classes apart; a rule of {NEIGHBORS} neighbors learned from the pseudo-records is tested on the "
        "rest. Dynamic: the first quarter of a class is condensed together, the rest comes as a stream. Beside "
        "C. Aggarwal, P. Yu: On variable constraints in privacy preserving data mining, SDM 2005, which prints curves "
        "without numbers, and says neither how it split the data nor how many neighbors it took. In a class with "
        "fewer records than a level, the level is the size of the class. A counted target, such as years, is drawn as "
        f"a whole number. Beside the paper's one pseudo-record for each record, {TIMES} are drawn inside the range of "
        "the data: the groups' statistics, and so what they reveal, are the same, and a thin class is filled.",
    )
    found: list[tuple[Sample, list[Runs]]] = []
    for sample in samples(data):
        if sample.substitute:
            page.log(
                f"{sample.name} stands in for a set that is not here; set DISCREET_DATA to the data sets' folder"
            )
        runs = []
        for alpha in _ALPHAS[quick]:
            page.log(f"{sample.name}: α = {alpha}")
            runs += runs_of(sample, alpha, range(1, seeds + 1))
        found.append((sample, runs))
    _claims(page, found)
    for sample, runs in found:
        _figures(page, sample, runs)


def _claims(page: Page, found: Sequence[tuple[Sample, list[Runs]]]) -> None:
    """Compare the claims of the paper with the results."""
    every = [one for _, runs in found for one in runs]
    rows: list[list[Cell]] = []
    for figure, word in (("mu", "own units"), ("mu_standardized", "standardized")):
        high = sum(_mean(getattr(one, figure)) > _HIGH for one in every)
        outcome = f"{high} of {len(every)} cases"
        rows.append([f"μ above {_HIGH} in most cases ({word})", outcome, _kept(high > len(every) / 2)])
        for sample, runs in found:
            if sample.name == "abalone":
                least = min(_mean(getattr(one, figure)) for one in runs)
                outcome = f"at least {least:.4f}"
                rows.append([f"abalone: μ above {_HIGHEST} ({word})", outcome, _kept(least > _HIGHEST)])
    for figure, word in _DRAWN.items():
        above = sum(_mean(getattr(one, figure)) > _mean(one.baseline) for one in every)
        outcome = f"{above} of {len(every)} cases"
        rows.append([f"accuracy at times above the baseline ({word})", outcome, _kept(above > 0)])
    for sample, runs in found:
        rows += [_near(sample, runs, figure, word) for figure, word in _DRAWN.items()]
        rows.append(_beside(sample, runs, "accuracy", _OTHERWISE.get((sample.name, "accuracy"))))
        rows.append(_beside(sample, runs, "mu_standardized", _OTHERWISE.get((sample.name, "mu"))))
    page.claims(
        rows,
        note=f"Near: no farther than {_NEAR:g} below the baseline, on average over α and both methods. Static and "
        "dynamic are compared by their means; most of these differences are smaller than the spread over the seeds.",
    )
    if any(sample.substitute for sample, _ in found):
        page.note(
            "Sets that are not here are replaced by scikit-learn's own: the claims are about the paper's sets."
        )


def _near(sample: Sample, runs: Sequence[Runs], figure: str, word: str) -> list[Cell]:
    """Compare the accuracy with the baseline."""
    gaps = [_mean(getattr(one, figure)) - _mean(one.baseline) for one in runs]
    outcome = f"{np.mean(gaps):+.3f} on average, {min(gaps):+.3f} at worst"
    said = f"{sample.name}: accuracy near the baseline ({word})"
    return [said, outcome, _kept(float(np.mean(gaps)) >= -_NEAR)]


def _beside(sample: Sample, runs: Sequence[Runs], figure: str, otherwise: str | None) -> list[Cell]:
    """Compare static with dynamic; the paper names one exception for each figure."""
    word = "accuracy" if figure == "accuracy" else "μ"
    means = {
        method: {one.alpha: _mean(getattr(one, figure)) for one in runs if one.method == method}
        for method in ("static", "dynamic")
    }
    apart = [means["static"][alpha] - means["dynamic"][alpha] for alpha in means["static"]]
    wins = sum(one > 0 for one in apart)
    outcome = f"static better in {wins} of {len(apart)}, by {np.mean(apart):+.4f} on average"
    if otherwise is None:
        return [f"{sample.name}: {word}, static better", outcome, _kept(float(np.mean(apart)) >= 0)]
    upper = apart[len(apart) // 2 :] if figure == "accuracy" else apart
    return [f"{sample.name}: {word}, {otherwise}", outcome, _kept(float(np.mean(upper)) < 0)]


def _figures(page: Page, sample: Sample, runs: Sequence[Runs]) -> None:
    number = sample.accuracy_figure
    page.section(sample.name, sample.described + ".")
    what = "accuracy" if sample.within is None else f"share predicted within {sample.within:g}"
    instead = ", on another set" if sample.substitute else ""
    title = f"Figure {number}{instead}: {sample.name}, accuracy"
    page.picture(f"figure-{number}", title, pictures.accuracy(title, runs, what=what))
    title = f"Figure {number + 1}{instead}: {sample.name}, covariance compatibility"
    page.picture(f"figure-{number + 1}", title, pictures.compatibility(title, runs))
    rows: list[list[Cell]] = [
        [
            one.alpha,
            one.method,
            *(spread(getattr(one, figure), digits) for figure, digits in _COLUMNS.values()),
        ]
        for one in sorted(runs, key=lambda one: (one.method != "static", one.alpha))
    ]
    page.table(
        sample.name,
        f"{sample.name}: all numbers",
        ["α", "method", *_COLUMNS],
        rows,
        note="μ: the correlation between the entries of the two covariance matrices, in the columns' own units as in "
        "the paper; standardized: with every column divided by its standard deviation, so that no column outweighs the "
        "others. ± is the standard deviation over the seeds.",
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _kept(kept: bool) -> str:
    return "yes" if kept else "no"
