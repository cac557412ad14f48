"""CAHD: table II and figures 6 and 9 to 13 of Ghinita, Tao & Kalnis (ICDE 2008), made again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.kinds.basket_estimates import density, error_band, spread_of
from discreet.measure import reidentification
from experiments.cahd import pictures
from experiments.cahd.runs import (
    ANATOMY,
    CAHD,
    LEXICOGRAPHIC,
    PERM,
    RANDOMIZED,
    Point,
    Sample,
    grouping_seconds,
    guessed,
    point,
    samples,
    seconds,
)
from experiments.data_sets import THANKS
from experiments.page import Cell, Page, spread

TABLE_II = {"BMS-WebView-1": (0.3, 9.5, 24.3, 50.0), "BMS-WebView-2": (0.8, 18.8, 41.6, 91.1)}
"""The paper's chance, in percent, to find a basket again with one to four known items."""
_PAPER_SECONDS = {
    "BMS-WebView-1": ("158", "≤ 5", "about 300"),
    "BMS-WebView-2": ("457", "≤ 15", "about 1500"),
}
_CORRELATIONS = (0.1, 0.5, 0.9)
_DEGREES = {False: (4, 8, 12, 16, 20), True: (4, 20)}
_SENSITIVE = {False: (5, 10, 15, 20), True: (5, 10)}
_LENGTHS = {False: (2, 3, 4, 5, 6, 7, 8), True: (2, 4, 8)}
_ALPHAS = (1, 2, 3, 4, 5)
_M, _R = 10, 4
_TIMED, _GUESSED = 20, 10


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Make the paper's table and figures again, on its click streams or on generated sets of their shape."""
    found = samples(data, quick=quick)
    page.introduce(
        "CAHD beside PermMondrian and Anatomy",
        "Ordinary items are published exactly, sensitive ones as counts per group, and group-by queries are estimated "
        "from that. Sensitive items are drawn at random among those that allow p = 20; every seed draws others, and "
        f"{found[0].n_queries} random queries, the same for all methods. Beside G. Ghinita, Y. Tao, P. Kalnis: On the "
        "anonymization of sparse high-dimensional data, ICDE 2008, which prints curves without numbers.",
    )
    numbers = range(1, seeds + 1)
    for sample in found:
        if sample.stands_in is not None:
            page.log(f"{sample.title}: generated; for the real set name the data folder in DISCREET_DATA")
    side = 300 if quick else 1000
    spreads = _spreads(numbers, side)
    claims = _narrower(spreads)
    points = {sample.name: _queried(page, sample, numbers, quick=quick) for sample in found}
    for sample in found:
        claims += _claims(sample, points[sample.name])
    page.claims(claims)
    _matrices(page, spreads, side)
    _found_again(page, found)
    _holders(page, found, numbers)
    for sample in found:
        _figures(page, sample, points[sample.name])
        _times(page, sample, numbers, quick=quick)
    if any(sample.stands_in is None for sample in found):
        page.note(THANKS)


def _queried(page: Page, sample: Sample, seeds: Sequence[int], *, quick: bool) -> dict[str, list[Point]]:
    """Run all queries of figures 9, 10 and 11."""
    every = (CAHD, RANDOMIZED, LEXICOGRAPHIC, PERM, ANATOMY)
    both = (CAHD, PERM)
    page.log(f"{sample.title}: KL by r")
    lengths = [
        point(sample, method, seeds, p=p, m=_M, r=r)
        for p in (10, 20)
        for method in both
        for r in _LENGTHS[quick]
    ]
    page.log(f"{sample.title}: KL by m")
    sensitive = [
        point(sample, method, seeds, p=p, m=m, r=_R)
        for m in _SENSITIVE[quick]
        for p in (10, 20)
        for method in both
    ]
    page.log(f"{sample.title}: KL by p")
    degrees = [point(sample, method, seeds, p=p, m=_M, r=_R) for p in _DEGREES[quick] for method in every]
    return {"p": degrees, "m": sensitive, "r": lengths}


def _holders(page: Page, found: Sequence[Sample], seeds: Sequence[int]) -> None:
    """Show how often an attacker who repeats the ordering guesses for which basket a group was made."""
    rows: list[list[Cell]] = [
        [sample.title, method, guessed(sample, method, seeds, p=_GUESSED, m=_M)]
        for sample in found
        for method in (CAHD, LEXICOGRAPHIC, RANDOMIZED)
    ]
    page.section("For which basket a group was made")
    page.table(
        "holders",
        f"The best guess by the place in the order, p = {_GUESSED}",
        ["set", "method", "share guessed right"],
        rows,
        note=f"The order is made of published items. By 1/p it would be {1 / _GUESSED:g}. Groups with one sensitive "
        "basket.",
    )


def _claims(sample: Sample, points: dict[str, list[Point]]) -> list[list[Cell]]:
    """Compare the claims of the paper with the results."""
    rows: list[list[Cell]] = []
    for by, figure in (("p", 9), ("m", 10), ("r", 11)):
        pairs = _paired(points[by])
        lower = sum(ours.mean < theirs.mean for ours, theirs in pairs)
        ratios = [theirs.mean / ours.mean for ours, theirs in pairs if ours.mean > 0]
        times = f"{min(ratios):.2f} to {max(ratios):.2f}"
        outcome = f"at {lower} of {len(pairs)} points; PermMondrian's KL is {times} times CAHD's"
        rows.append(
            [sample.title, f"figure {figure}: CAHD below PermMondrian", outcome, _kept(lower, len(pairs))]
        )
    for by, figure in (("m", 10), ("r", 11)):
        strict = [one for one in points[by] if one.method == CAHD and one.p == 20]
        loose = {getattr(one, by): one for one in points[by] if one.method == PERM and one.p == 10}
        compared = [one for one in strict if by == "m" or one.r >= 3]
        lower = sum(one.mean < loose[getattr(one, by)].mean for one in compared)
        where = "" if by == "m" else ", from r = 3 on"
        rows.append(
            [
                sample.title,
                f"figure {figure}: CAHD at p = 20 below PermMondrian at p = 10{where}",
                f"at {lower} of {len(compared)} points",
                _kept(lower, len(compared)),
            ]
        )
    leads = [theirs.mean - ours.mean for ours, theirs in _paired(points["r"]) if ours.p == 10]
    rows.append(
        [
            sample.title,
            "figure 11: the longer the query, the larger the lead",
            f"p = 10: lead {leads[0]:.4f} at the shortest, {leads[-1]:.4f} at the longest",
            "yes" if leads[-1] > leads[0] else "no",
        ]
    )
    return rows


def _paired(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    theirs = {(one.p, one.m, one.r): one for one in points if one.method == PERM}
    return [(one, theirs[one.p, one.m, one.r]) for one in points if one.method == CAHD]


def _kept(holds: int, total: int) -> str:
    return "yes" if holds == total else "no" if holds == 0 else "in part"


def _generated(correlation: float, seed: int, side: int) -> Baskets:
    """Generate a square matrix with 20 items to a basket; items that do not occur are left out."""
    from discreet.datasets import quest

    made = quest(n_baskets=side, n_items=side, length=20, correlation=correlation, random_state=seed)
    return made.keep(made.counts > 0)


def _spreads(seeds: Sequence[int], side: int) -> dict[float, tuple[float, float]]:
    """Measure the distance of entries from the diagonal, before and after, as a mean over the draws."""
    found = {}
    for correlation in _CORRELATIONS:
        several = [_generated(correlation, seed, side) for seed in seeds]
        plain = [spread_of(one, np.arange(len(one)), np.arange(one.n_items)) for one in several]
        band = [spread_of(one, *error_band(one)) for one in several]
        found[correlation] = float(np.mean(plain)), float(np.mean(band))
    return found


def _narrower(spreads: dict[float, tuple[float, float]]) -> list[list[Cell]]:
    after = [band for _, band in spreads.values()]
    outcome = ", ".join(f"{one:.3f}" for one in after)
    falls = all(later < earlier for earlier, later in pairwise(after))
    smaller = all(band < plain for plain, band in spreads.values())
    words = "mean distance of an entry from the diagonal"
    return [
        [
            "generated",
            "figure 6: ordering narrows the matrix",
            f"{words} below a third",
            "yes" if smaller else "no",
        ],
        [
            "generated",
            "figure 6: the higher the correlation, the narrower the band",
            f"{words} at correlations .1, .5, .9: {outcome}",
            "yes" if falls else "no",
        ],
    ]


def _matrices(page: Page, spreads: dict[float, tuple[float, float]], side: int) -> None:
    """Make figure 6: matrices before and after."""
    page.log("figure 6: matrices")
    pairs = []
    for correlation in _CORRELATIONS:
        baskets = _generated(correlation, 1, side)
        plain = (np.arange(len(baskets)), np.arange(baskets.n_items))
        grids = [density(baskets, *order, height=100, width=100) for order in (plain, error_band(baskets))]
        pairs.append((f"correlation {correlation:g}", grids[0], grids[1]))
    page.section(
        "The band matrix", f"Generated matrices of {side:,} baskets and {side:,} items, 20 items to a basket."
    )
    page.picture(
        "figure-6", "Figure 6: matrices before and after band ordering", pictures.matrix_pairs(pairs)
    )
    page.table(
        "figure-6-spread",
        "Mean distance of entries from the diagonal, as a share of the matrix",
        ["correlation", "as generated", "band order"],
        [[correlation, *two] for correlation, two in spreads.items()],
        note="A third where everything is mixed.",
    )


def _found_again(page: Page, found: Sequence[Sample]) -> None:
    """Make table II in both forms."""
    rows: list[list[Cell]] = []
    for sample in found:
        page.log(f"{sample.title}: table II")
        for r in range(1, 5):
            one = reidentification(sample.baskets, r, random_state=1)
            off = 100 * (one.probability_interval[1] - one.probability_interval[0]) / 2
            rows.append(
                [
                    sample.title,
                    r,
                    f"{100 * one.probability:.2f}" + ("" if one.exact else f" ± {off:.2f}"),
                    f"{100 * one.unique:.2f}",
                    "exact" if one.exact else f"{one.n_samples:,} drawn",
                    TABLE_II[sample.name][r - 1],
                ]
            )
    page.section("Being found again")
    page.table(
        "table-2",
        "Table II: baskets found again by known items, in percent",
        ["set", "known items", "mean of 1/matches", "share unique", "how", "paper"],
        rows,
        note="A basket is drawn evenly among those with at least that many items, and so are its known ones. The paper "
        "does not say how it drew; no natural choice reproduces its table.",
    )


def _figures(page: Page, sample: Sample, points: dict[str, list[Point]]) -> None:
    made = "" if sample.stands_in is None else f" Quest {sample.stands_in}."
    page.section(sample.title, f"{len(sample.baskets):,} baskets, {sample.baskets.n_items:,} items.{made}")
    short = sample.name[-1]
    for number, by, across in (
        (9, "p", "p, the privacy degree"),
        (10, "m", "m, the number of sensitive items"),
        (11, "r", "r, the items of a query"),
    ):
        title = f"Figure {number}: KL by {by}, {sample.title}"
        rows: list[list[Cell]] = [[one.method, one.p, one.m, one.r, spread(one.kl, 4)] for one in points[by]]
        name = f"figure-{number}-{short}"
        page.table(name, title, ["method", "p", "m", "r", "mean KL, nats"], rows)
        page.picture(f"{name}-picture", title, pictures.kl_lines(title, points[by], by=by, across=across))


def _beside_perm(taken: Iterable[dict[str, float]]) -> str:
    """Return how long CAHD takes beside PermMondrian, over all p."""
    ratios = [(row["band order"] + row[CAHD]) / row[PERM] for row in taken]
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


def _times(page: Page, sample: Sample, seeds: Sequence[int], *, quick: bool) -> None:
    """Make figures 12 and 13."""
    page.log(f"{sample.title}: times")
    short, paper = sample.name[-1], _PAPER_SECONDS[sample.name]
    m = min(_TIMED, max(_SENSITIVE[quick]))
    taken = {p: seconds(sample, p, m) for p in _DEGREES[quick]}
    drawn = [{"p": p, "what": what, "seconds": one} for p, row in taken.items() for what, one in row.items()]
    rows: list[list[Cell]] = [[p, *row.values()] for p, row in taken.items()]
    title = f"Figure 12: processor seconds by p, m = {m}, {sample.title}"
    page.table(
        f"figure-12-{short}", title, ["p", *taken[_DEGREES[quick][0]]], [*rows, ["paper, 2008", *paper]],
        note="The band order is made once for all p. Order and groups together take "
        f"{_beside_perm(taken.values())} times as long as PermMondrian; in the paper it was the slower one by a "
        "factor of two to three. Ours is compiled as well.",
    )  # fmt: skip
    page.picture(f"figure-12-{short}-picture", title, pictures.times(title, drawn))
    page.log(f"{sample.title}: α")
    found = [
        {
            "alpha": alpha,
            "kl": point(sample, CAHD, seeds, p=10, m=_M, r=_R, alpha=alpha).mean,
            "seconds": grouping_seconds(sample, alpha, p=10, m=_M),
        }
        for alpha in _ALPHAS
    ]
    title = f"Figure 13: KL and time by α, {sample.title}"
    page.table(
        f"figure-13-{short}",
        title,
        ["α", "mean KL, nats", "processor seconds"],
        [[one["alpha"], one["kl"], one["seconds"]] for one in found],
        note="The paper says: KL falls slightly, and time grows linearly.",
    )
    page.picture(f"figure-13-{short}-picture", title, pictures.by_alpha(title, found))
