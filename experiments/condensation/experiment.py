"""Condensation: figures 8 to 15 of Aggarwal & Yu (SDM 2005), made again: accuracy and μ by the privacy level."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.condensation import pictures
from experiments.condensation.data import Sample, samples
from experiments.condensation.runs import METHODS, NEIGHBORS, TIMES, Runs, runs_of
from experiments.judging import TEST, above, offset, over_points
from experiments.page import Cell, Page, spread

_ALPHAS = {False: (5, 10, 15, 20, 25, 30, 35, 40, 45, 50), True: (5, 15, 30)}
_HIGH, _HIGHEST = 0.95, 0.99
_NEAR = 0.05
"""How far below the baseline an accuracy counts as near."""
_MANY = 0.25
"""The share of cases that counts as many."""
_WAYS = {
    "one pseudo-record each": ("accuracy", "baseline"),
    f"{TIMES} each": ("accuracy_of_more", "baseline"),
    "one pseudo-record each, one neighbor": ("accuracy_of_one", "baseline_of_one"),
    "the groups themselves": ("groups", "baseline_of_one"),
}
"""How a rule was learned: the figure, and the baseline with as many neighbors."""
_WORDS = {figure: word for word, (figure, _) in _WAYS.items()}
_COLUMNS = {
    "accuracy": ("accuracy", 3),
    f"accuracy, {TIMES} times as many": ("accuracy_of_more", 3),
    "baseline": ("baseline", 3),
    "accuracy, 1-NN": ("accuracy_of_one", 3),
    "groups, 1-NN": ("groups", 3),
    "baseline, 1-NN": ("baseline_of_one", 3),
    "μ": ("mu", 4),
    "μ, standardized": ("mu_standardized", 4),
}
"""The figure that each column of a table holds, and its digits."""
_BELOW = {
    "accuracy": "accuracy_below",
    "baseline": "baseline_below",
    "accuracy, 1-NN": "accuracy_of_one_below",
    "groups, 1-NN": "groups_below",
    "baseline, 1-NN": "baseline_of_one_below",
}
_LARGER = 30
"""From this α on groups count as the larger ones."""
_ANOTHER = "not judged: another set"


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Make the paper's figures again, on its four sets or on scikit-learn's in their place."""
    page.introduce(
        "Condensation with a privacy level for every record",
        "Records are condensed into groups as large as their privacy levels require, and pseudo-records are drawn from "
        "the groups' statistics. Levels are uniform on the whole numbers of [α − 4, α]. Three quarters of the rows are "
        f"condensed, classes apart; a rule of {NEIGHBORS} neighbors learned from the pseudo-records is tested on the "
        "rest. Dynamic: the first quarter of a class is condensed together, the rest comes as a stream. By the paper's "
        "split a group is divided as soon as n ≥ 2·Ps/n, and a half can be smaller than a level in it; the other "
        "dynamic form waits until each half has as many records as the largest level. The paper's introduction names "
        "a second use, the groups themselves: the nearest group mean decides, by one neighbor. It does not say which "
        "of the two its figures show, so both are drawn. Beside "
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
    rows = [*_compatible(found), *_above(found)]
    for sample, runs in found:
        judged = [
            *(_near(sample, runs, way) for way in _WAYS),
            *(_beside(sample, runs, way) for way in _WAYS.values()),
            *(_beside(sample, runs, (figure, "")) for figure in ("mu", "mu_standardized")),
        ]
        rows += [[*claim[:-1], _ANOTHER] for claim in judged] if sample.substitute else judged
    alphas = ", ".join(str(alpha) for alpha in sorted({one.alpha for _, runs in found for one in runs}))
    page.claims(
        rows,
        note=f"A case is a set at one α ({alphas}) by one method, its figure the mean over the seeds. Near: no "
        f"farther than {_NEAR:g} below the baseline, over all α and methods. Many: at least {_MANY:.0%} of the cases. "
        f"Static stands beside dynamic with the paper's split; larger groups: from α = {_LARGER} on. These "
        f"bounds are ours, the paper names none. {TEST}",
    )
    if any(sample.substitute for sample, _ in found):
        page.note(
            "Sets that are not here are replaced by scikit-learn's own: the claims are about the paper's sets, and "
            "are not judged on others."
        )


def _compatible(found: Sequence[tuple[Sample, list[Runs]]]) -> list[list[Cell]]:
    """Count the cases in which covariances are alike."""
    every = [one for _, runs in found for one in runs]
    other = any(sample.substitute for sample, _ in found)
    rows: list[list[Cell]] = []
    for figure, word in (("mu", "own units"), ("mu_standardized", "standardized")):
        high = sum(_mean(getattr(one, figure)) > _HIGH for one in every)
        verdict = _ANOTHER if other else _kept(high > len(every) / 2)
        rows.append([f"μ above {_HIGH} in most cases ({word})", f"{high} of {len(every)} cases", verdict])
        for sample, runs in found:
            if sample.name == "abalone":
                least = min(_mean(getattr(one, figure)) for one in runs)
                outcome = f"at least {least:.4f} in all {len(runs)} cases"
                rows.append([f"abalone: μ above {_HIGHEST} ({word})", outcome, _kept(least > _HIGHEST)])
    return rows


def _above(found: Sequence[tuple[Sample, list[Runs]]]) -> list[list[Cell]]:
    """Count the cases in which condensing improves the accuracy."""
    every = [one for _, runs in found for one in runs]
    other = any(sample.substitute for sample, _ in found)
    rows: list[list[Cell]] = []
    for word, (figure, baseline) in _WAYS.items():
        better = sum(_mean(getattr(one, figure)) > _mean(getattr(one, baseline)) for one in every)
        verdict = _ANOTHER if other else _kept(better >= _MANY * len(every))
        outcome = f"{better} of {len(every)} cases"
        rows.append([f"accuracy above the baseline in many cases ({word})", outcome, verdict])
    return rows


def _near(sample: Sample, runs: Sequence[Runs], way: str) -> list[Cell]:
    """Compare the accuracy with the baseline, over all α and methods."""
    figure, baseline = _WAYS[way]
    gaps = [_differences(getattr(one, figure), getattr(one, baseline)) for one in runs]
    means = over_points(gaps)
    worst = min(_mean(gap) for gap in gaps)
    outcome = f"{offset(means)} over {len(runs)} cases, {worst:+.3f} in the worst"
    said = f"{sample.name}: accuracy near the baseline ({way})"
    return [said, outcome, above([mean + _NEAR for mean in means])]


def _beside(sample: Sample, runs: Sequence[Runs], way: tuple[str, str]) -> list[Cell]:
    """Compare static with the paper's dynamic; the paper names one exception for each kind of figure."""
    figure = way[0]
    word = {"mu": "μ", "mu_standardized": "μ, standardized"}.get(figure) or f"accuracy ({_WORDS[figure]})"
    static, dynamic = (
        {one.alpha: getattr(one, figure) for one in runs if one.method == method}
        for method in (METHODS[0], METHODS[2])
    )
    turned = (sample.name, figure.startswith("mu")) in {("pima", False), ("ionosphere", True)}
    alphas = [alpha for alpha in static if not (turned and sample.name == "pima") or alpha >= _LARGER]
    apart = [_differences(static[alpha], dynamic[alpha]) for alpha in alphas]
    wins = sum(_mean(one) > 0 for one in apart)
    means = over_points(apart)
    outcome = f"static better at {wins} of {len(apart)} α, by {offset(means)} over these"
    if not turned:
        return [f"{sample.name}: {word}, static better", outcome, above(means)]
    where = "dynamic better for larger groups" if sample.name == "pima" else "dynamic slightly better"
    return [f"{sample.name}: {word}, {where}", outcome, above([-mean for mean in means])]


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
        for one in sorted(runs, key=lambda one: (METHODS.index(one.method), one.alpha))
    ]
    _less_than_a_year(page, sample, runs)
    page.table(
        sample.name,
        f"{sample.name}: all numbers",
        ["α", "method", *_COLUMNS],
        rows,
        note="μ: the correlation between the entries of the two covariance matrices, in the columns' own units as in "
        "the paper; standardized: with every column divided by its standard deviation, so that no column outweighs the "
        "others. Groups: the nearest group mean decides. ± is the standard deviation over the seeds.",
    )


def _less_than_a_year(page: Page, sample: Sample, runs: Sequence[Runs]) -> None:
    """Show the paper's words beside the figures: an age is predicted when it is less than a year off."""
    if sample.within is None:
        return
    page.table(
        f"{sample.name}-below",
        f"{sample.name}: share predicted less than {sample.within:g} off",
        ["α", "method", *_BELOW],
        [
            [one.alpha, one.method, *(spread(getattr(one, figure), 3) for figure in _BELOW.values())]
            for one in sorted(runs, key=lambda one: (METHODS.index(one.method), one.alpha))
        ],
        note=f"The paper's words are less than one year: |error| < {sample.within:g}. The figures above count |error| "
        f"≤ {sample.within:g}, whose height is that of the paper's curves: ages are whole, so that a single neighbor "
        "less than a year off is exactly right. Group means are rounded above, as pseudo-records are, and not here.",
    )


def _differences(first: Sequence[float], second: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(first, second, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _kept(kept: bool) -> str:
    return "yes" if kept else "no"
