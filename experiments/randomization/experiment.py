"""Randomization: reconstruction and trees from noisy values (Agrawal & Srikant 2000; Agrawal & Aggarwal 2001)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from experiments.judging import TEST, UNJUDGED, above
from experiments.page import Cell, Page, spread
from experiments.randomization import clusters, kernel, linkage, pictures, ratings, runs
from experiments.randomization.runs import BAYES, BAYES_ORIGINAL, ORIGINAL, RANDOMIZED, STRATEGIES

_RECORDS = {False: 100_000, True: 10_000}
_PRIVACIES = {False: (0.25, 0.5, 1.0, 1.5, 2.0), True: (0.5, 1.0)}
_SIZES = {False: (1_000, 10_000, 100_000, 1_000_000), True: (1_000, 10_000)}
_PICTURED = (0.5, 1.0)
_INTERVALS = 40
_COMPARED = (20, 100)
_WHOLE = 1.0
_ORDER = "Original, then Local and ByClass, then Global, then Randomized"
_TREES = (ORIGINAL, RANDOMIZED, *STRATEGIES.values())


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Make the pictures and tables again; all data but the ratings is generated."""
    page.introduce(
        "Learning from randomized numbers",
        "People add public noise to their own numbers; the collector recovers distributions, and trees from them. "
        "After R. Agrawal, R. Srikant: Privacy-preserving data mining, SIGMOD 2000, and D. Agrawal, C. Aggarwal: On "
        "the design and quantification of privacy preserving data mining algorithms, PODS 2001. A privacy of 100 % "
        "means that the interval which holds a value with 95 % confidence is as wide as the whole range. Kernel "
        "densities, clusters, recommendations and the curse of dimensionality are after C. Aggarwal: Data mining, the "
        "textbook, Springer 2015, sections 20.2 and 20.3.4.",
    )
    numbers = range(1, seeds + 1)
    reconstruction(page, n=_RECORDS[quick])
    accuracy(page, n=_RECORDS[quick], privacies=_PRIVACIES[quick], seeds=numbers, quick=quick)
    information_loss(page, sizes=_SIZES[quick], seeds=numbers)
    claims = [kernel.section(page, quick=quick)]
    clusters.section(page, quick=quick, seeds=numbers)
    ratings.section(page, data=data, seeds=numbers)
    claims.append(linkage.section(page, quick=quick, seeds=numbers))
    page.claims(claims)


def reconstruction(page: Page, *, n: int) -> None:
    """Draw the plateau and the triangles: original, randomized, reconstructed."""
    page.section(
        "Reconstruction",
        f"{n:,} values of two shapes behind noise, a plateau and triangles as in the first paper. Gaussian noise blurs "
        "edges more than uniform noise of the same privacy, and reconstruction recovers less of them.",
    )
    rows: list[list[Cell]] = []
    for shape in runs.SHAPES:
        found = [
            runs.pictured(shape, noise, privacy, n=n, intervals=_INTERVALS)
            for noise, privacy in product(runs.NOISES, _PICTURED)
        ]
        page.picture(f"shape-{shape}", shape.capitalize(), pictures.shapes(shape, found))
        for one in found:
            loss = one.truth.distance(one.found)
            cells: list[Cell] = [shape, one.noise, f"{100 * one.privacy:.0f} %"]
            rows.append([*cells, f"{one.noisy_loss:.3f}", f"{loss:.3f}", one.found.iterations])
    page.table(
        "shapes",
        "Information loss of the pictures",
        ["shape", "noise", "privacy", "randomized", "reconstructed", "steps"],
        rows,
        note="Half the L1 distance from the true distribution: 0 is the truth, 1 has nothing in common with it.",
    )


def accuracy(
    page: Page, *, n: int, privacies: Sequence[float], seeds: Sequence[int], quick: bool = False
) -> None:
    """Make the accuracy of the strategies against privacy, for the five functions and both kinds of noise."""
    page.section(
        "Classification",
        f"{n:,} training records with noise on all nine attributes, {runs.N_TEST:,} test records without. Original: a "
        "tree from the true values. Randomized: a tree from the noisy values as if they were true. Global, ByClass and "
        "Local: from reconstructed distributions. The paper's claim is that its classifiers come to an "
        "accuracy comparable to that of classifiers built with the original data.",
    )
    every = [
        one
        for function in runs.FUNCTIONS
        for one in runs.accuracies(function, privacies, n=n, seeds=seeds, log=page.log)
    ]
    for noise in runs.NOISES:
        here = [one for one in every if one.noise == noise]
        columns = ["function", "privacy", *_TREES, BAYES_ORIGINAL, BAYES]
        rows = [_accuracy_row(one) for one in here]
        page.table(
            f"accuracy-{noise.lower()}",
            f"Accuracy in percent, {noise} noise",
            columns,
            rows,
            note="Mean ± standard deviation over the seeds, which draw records and noise anew.",
        )
        page.picture(
            f"accuracy-{noise.lower()}-picture",
            f"Accuracy against privacy, {noise} noise",
            pictures.accuracy(noise, here),
        )
    whole = [one for one in every if one.privacy == _WHOLE]
    page.table(
        "points-lost",
        "Points lost to Original at 100 % privacy",
        ["function", "noise", RANDOMIZED, *STRATEGIES.values()],
        [_lost_row(one) for one in whole],
        note=f"The expected order is {_ORDER}: {UNJUDGED}." if quick else _exceptions(whole),
    )


def information_loss(page: Page, *, sizes: Sequence[int], seeds: Sequence[int]) -> None:
    """Compare Bayes with EM as the number of values grows."""
    page.section(
        "Bayes and EM",
        "The first paper's iterated Bayes step takes the noise's density between the middles of intervals; EM "
        "integrates it over them. The second paper proves that EM converges to the most likely distribution, and "
        "claims that it loses less information. 100 % privacy; both stop by the same χ² rule, before converging.",
    )
    found = []
    for shape, noise, n in product(runs.SHAPES, runs.NOISES, sizes):
        page.log(f"{shape}, {noise} noise, {n:,} values")
        found += runs.losses(shape, noise, _WHOLE, n=n, intervals=_COMPARED, seeds=seeds)
    rows: list[list[Cell]] = []
    for bayes, em in zip(found[::2], found[1::2], strict=True):
        cells: list[Cell] = [em.shape, em.noise, em.intervals, em.n]
        cells += [spread(bayes.values, 3), spread(em.values, 3)]
        rows.append([*cells, round(float(np.mean(bayes.steps))), round(float(np.mean(em.steps)))])
    page.table(
        "information-loss",
        "Information loss as n grows",
        ["shape", "noise", "intervals", "values", "Bayes", "EM", "steps, Bayes", "steps, EM"],
        rows,
        note="Half the L1 distance from the true shares of the intervals; mean ± standard deviation over the seeds.",
    )
    for intervals in _COMPARED:
        here = [one for one in found if one.intervals == intervals]
        page.picture(
            f"information-loss-{intervals}",
            f"Information loss on {intervals} intervals",
            pictures.information_loss(intervals, here),
        )


def _exceptions(whole: Sequence[runs.Accuracies]) -> str:
    """Return where the expected order is turned round, each pair of neighbors in it judged over the seeds."""
    pairs = [
        *product([ORIGINAL], ("ByClass", "Local")),
        *product(("ByClass", "Local"), ("Global",)),
        ("Global", RANDOMIZED),
    ]
    turned, undecided = [], 0
    for one, (better, worse) in product(whole, pairs):
        verdict = above([high - low for high, low in zip(one.of[better], one.of[worse], strict=True)])
        undecided += verdict not in {"yes", "no"}
        if verdict == "no":
            turned.append(
                f"{better} is below {worse} on {runs.FUNCTIONS[one.function]} under {one.noise} noise"
            )
    total = len(whole) * len(pairs)
    return (
        f"The expected order is {_ORDER}. Of {total} pairs that stand next to each other in it, {undecided} are "
        f"undecided, and {len(turned)} turned round{': ' if turned else ''}{'; '.join(turned)}. {TEST}"
    )


def _accuracy_row(one: runs.Accuracies) -> list[Cell]:
    kinds = (*_TREES, BAYES_ORIGINAL, BAYES)
    return [
        runs.FUNCTIONS[one.function],
        f"{100 * one.privacy:.0f} %",
        *(spread(one.of[what], 1) for what in kinds),
    ]


def _lost_row(one: runs.Accuracies) -> list[Cell]:
    lost = (f"{one.mean(ORIGINAL) - one.mean(what):.1f}" for what in (RANDOMIZED, *STRATEGIES.values()))
    return [runs.FUNCTIONS[one.function], one.noise, *lost]
