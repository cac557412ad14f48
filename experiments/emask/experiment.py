"""MASK and EMASK: tables 1 to 6 and figures 1 to 3 of Agrawal, Krishnan & Haritsa (DASFAA 2004), made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet.collect import EMask, choose_pq
from discreet.collect.choose_pq import Choice
from discreet.core.baskets.baskets import Baskets
from discreet.measure import itemset_error
from discreet.mine import Itemsets, MaskedItemsets
from experiments.data_sets import CLICK_STREAMS, THANKS, click_stream
from experiments.emask import paper, pictures
from experiments.emask.counting import by_apriori, by_classes
from experiments.emask.runs import Runs, Truth, mined, runs_of, supports, truth_of
from experiments.judging import TEST, UNJUDGED, above, offset
from experiments.page import Cell, Page, spread
from experiments.timing import fastest

_SYNTHETIC = {False: "T10.I4.D1M.N1K", True: "T10.I4.D100K.N1K"}
_DRAW = 1
"""The seed of the generated baskets; the seeds of the distortion are counted from 1."""
_REAL = "BMS-WebView-1"
_TIMES = 10
_TOLERANCE = 0.05
_LEAST = (0.003, 0.005, 0.0075, 0.01)
_MARGINS = (0.0, 1.0, 2.0)
_PAPERS = 500_000
_FEWER = " The paper has ten times as many baskets, and errors about a third of those here."
_CHOSEN = ("p", "q", "BP, %", "error over MASK's", "strictly", "ε of a bit", "entries per true one", "paper")
_VARIANCES = [
    word
    for name in ("σ+", "σ−", "ρ")
    for word in (f"var {name}, weighted", "paper", f"var {name}, unweighted")
]
_FIGURES = ("false_positives", "false_negatives", "support_error")
_MASK, _APRIORI = "MASK, its own counting", "Apriori"
_PRIVATE, _ACCURATE, _WITHIN = 75.0, 10.0, 5.0
_TWO_ORDERS = 100.0


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Make the paper's tables and figures again, on generated baskets and on BMS-WebView-1 where it is present."""
    page.introduce(
        "MASK and EMASK",
        "Customers flip the bits of their own baskets; the miner estimates the true itemsets from the flipped ones. "
        "Least support 0.3 %. Ours stands beside S. Agrawal, V. Krishnan, J. Haritsa: On addressing efficiency "
        "concerns in privacy-preserving mining, DASFAA 2004, whose synthetic data was another draw of the generator.",
    )
    numbers = range(1, seeds + 1)
    _choosing(page)
    page.log(f"generating {_SYNTHETIC[quick]}")
    from discreet.datasets import quest

    synthetic(page, quest(_SYNTHETIC[quick], random_state=_DRAW), _SYNTHETIC[quick], numbers, quick=quick)
    baskets = click_stream(data, _REAL)
    if baskets is None:
        page.section("Real baskets")
        page.note(
            f"Skipped: {_REAL} is not here. Name the folder of the data sets in DISCREET_DATA "
            f"({CLICK_STREAMS[_REAL].as_posix()} under it)."
        )
        page.log(f"skipped: {_REAL} is not here; set DISCREET_DATA to the folder of the data sets")
        return
    real(page, _repeated(baskets, 1 if quick else _TIMES), numbers)


def synthetic(page: Page, baskets: Baskets, name: str, seeds: Sequence[int], *, quick: bool) -> None:
    """Make tables 3, 4 and 5, figure 1, the table of margins, and the claims that the paper makes about them."""
    truth = _truth(page, name, baskets)
    runs = _all_runs(page, truth, paper.TABLE_3, seeds)
    page.section(f"Generated baskets, {name}", _described(truth))
    _summary(page, "table-3", f"Table 3: {name}", truth, runs, paper.TABLE_3)
    _levels(page, "table-4", "Table 4: p = 0.6, q = 0.96, by length", runs[0], paper.TABLE_4)
    _levels(page, "table-5", "Table 5: p = 0.3, q = 0.99, by length", runs[-1], paper.TABLE_5)
    _margins(page, truth, [(row.p, row.q) for row in paper.TABLE_3], seeds)
    claims = [*_table_claims(runs), _run_times(page, truth)]
    page.claims([[*claim[:-1], UNJUDGED] for claim in claims] if quick else claims, note=TEST)


def real(page: Page, baskets: Baskets, seeds: Sequence[int]) -> None:
    """Make table 6."""
    truth = _truth(page, _REAL, baskets)
    runs = _all_runs(page, truth, paper.TABLE_6, seeds)
    page.section(f"Real baskets, {_REAL}", _described(truth))
    _summary(page, "table-6", f"Table 6: {_REAL}", truth, runs, paper.TABLE_6)
    page.note(THANKS)


def _choosing(page: Page) -> None:
    """Make tables 1 and 2, and figures 2 and 3."""
    from discreet.report.pictures import acceptable_points, privacy_plane

    page.section(
        "Choosing p and q",
        "Basic privacy of at least 90 %, an expected error of at most that of MASK with p = q = 0.9, and q above 0.95. "
        "Computed strictly the formulas leave fewer points than the paper lists; with a tolerance of 5 % on the error "
        "all of its points are in the list.",
    )
    page.picture("figure-2", "Figure 2: basic privacy", privacy_plane(0.01))
    for number, letter, support, n, listed in (
        (1, "a", 0.01, 1_000_000, paper.TABLE_1),
        (2, "b", 0.005, 600_000, paper.TABLE_2),
    ):
        choices = choose_pq(support, n, tolerance=_TOLERANCE)
        title = f"Table {number}: average support {support:g}, {n:,} baskets"
        rows = [
            _choice(one, listed=(one.p, one.q) in listed)
            for one in sorted(choices.good, key=lambda one: (one.p, -one.q))
        ]
        page.table(f"table-{number}", title, _CHOSEN, rows)
        page.picture(f"figure-3{letter}", f"Figure 3{letter}", acceptable_points(choices))


def _choice(one: Choice, *, listed: bool) -> list[Cell]:
    return [
        one.p,
        one.q,
        round(one.basic_privacy, 2),
        round(one.error_ratio, 3),
        "yes" if one.error_ratio <= 1 else f"misses by {100 * (one.error_ratio - 1):.1f} %",
        round(one.epsilon, 3),
        round(one.growth, 2),
        "yes" if listed else "",
    ]


def _truth(page: Page, name: str, baskets: Baskets) -> Truth:
    page.log(f"mining the true baskets of {name}")
    return truth_of(name, baskets, paper.MIN_SUPPORT)


def _all_runs(page: Page, truth: Truth, rows: Sequence[paper.Row], seeds: Sequence[int]) -> list[Runs]:
    done = []
    for row in rows:
        page.log(f"{truth.name}: p = {row.p:g}, q = {row.q:g}")
        done.append(runs_of(truth, row.p, row.q, seeds))
    return done


def _described(truth: Truth) -> str:
    lengths = " / ".join(f"{count:,}" for count in np.bincount(truth.found.lengths)[1:])
    return (
        f"{len(truth.baskets):,} baskets of {truth.baskets.lengths.mean():.2f} items on average, "
        f"{truth.baskets.n_items:,} items; {len(truth.found):,} frequent itemsets, by length {lengths}."
        + (_FEWER if len(truth.baskets) < _PAPERS else "")
    )


def _summary(
    page: Page, name: str, title: str, truth: Truth, runs: Sequence[Runs], rows: Sequence[paper.Row]
) -> None:
    columns = ["p", "q"]
    for word in ("BP", "RP", "slowdown", "σ+", "σ−", "ρ"):
        columns += [word, "paper"]
    columns.insert(4, "BP, exact")
    page.table(
        name,
        title,
        columns,
        [_summary_row(run, row) for run, row in zip(runs, rows, strict=True)],
        note="BP: basic privacy from the average support, as in the paper; exact: from every item's own support. RP: "
        "re-interrogated privacy. Slowdown: processor time to mine the distorted over the true baskets, both from bit "
        "columns. σ+, σ−: itemsets found wrongly, and missed, in percent of the true ones. ρ: mean relative error of "
        "the supports of those found rightly. ±: standard deviation over the seeds.",
    )
    page.table(
        f"{name}-variances",
        f"{title}, variances over the lengths",
        ["p", "q", "ρ weighted", "paper", *_VARIANCES],
        [_variances(run, row) for run, row in zip(runs, rows, strict=True)],
        note="Weighted: every length counts by its true frequent itemsets, with an error of 0 where none was found, "
        "which gives the paper's figures from its own tables by length. Unweighted, a few long itemsets weigh as "
        "much as thousands of short ones.",
    )
    for privacy, what in ((True, "privacy"), (False, "errors")):
        drawn = pictures.summary(f"{truth.name}: {what}", runs, rows, privacy=privacy)
        page.picture(f"{name}-{what}", f"{title}, {what}", drawn)


def _summary_row(run: Runs, row: paper.Row) -> list[Cell]:
    cells: list[Cell] = [row.p, row.q, f"{run.basic_privacy:.2f}", row.basic_privacy]
    cells += [f"{run.exact_basic_privacy:.2f}", spread(run.privacy), row.reinterrogated_privacy]
    cells += [f"{run.slowdown:.2f}", row.slowdown]
    for figure in _FIGURES:
        cells += [spread(run.of(figure)), getattr(row, figure)]
    return cells


def _variances(run: Runs, row: paper.Row) -> list[Cell]:
    cells: list[Cell] = [row.p, row.q]
    cells += [spread([mean for mean, _ in run.weighted("support_error")]), row.support_error]
    for figure in _FIGURES:
        weighted = [variance for _, variance in run.weighted(figure)]
        cells += [spread(weighted), getattr(row, f"variance_{figure}"), spread(run.variance(figure))]
    return cells


def _levels(page: Page, name: str, title: str, run: Runs, listed: Mapping[int, paper.Level]) -> None:
    lengths = sorted(set(listed) | {length for level in run.levels for length in level})
    rows: list[list[Cell]] = []
    for length in lengths:
        known = listed.get(length)
        count = next((level[length].n_true for level in run.levels if length in level), 0)
        cells: list[Cell] = [length, count, None if known is None else known.n_true]
        for figure in _FIGURES:
            cells += [
                spread(run.at(length, figure)),
                None if known is None else float(getattr(known, figure)),
            ]
        rows.append(cells)
    columns = ["length", "itemsets", "paper", "σ+", "paper", "σ−", "paper", "ρ", "paper"]
    page.table(name, title, columns, rows)
    page.picture(f"{name}-picture", f"{title}, as a picture", pictures.by_length(title, run, listed))


def _margins(page: Page, truth: Truth, points: Sequence[tuple[float, float]], seeds: Sequence[int]) -> None:
    """Show what it does to the errors to keep sets that may be frequent."""
    page.log("margins")
    rows: list[list[Cell]] = []
    drawn = []
    for p, q in points:
        channel = EMask(p, q)
        found: dict[float, list[tuple[float, float, float, float]]] = {margin: [] for margin in _MARGINS}
        for seed in seeds:
            distorted = channel.perturb(truth.baskets, random_state=seed, as_bits=True)
            for margin in _MARGINS:
                sets = mined(channel, truth, distorted, margin=margin)
                kept = itemset_error(truth.counts, supports(sets))
                sure = itemset_error(truth.counts, supports(sets.keep(sets.frequent)))
                found[margin].append(
                    (kept.false_positives, kept.false_negatives, sure.false_positives, sure.false_negatives)
                )
        for margin, several in found.items():
            columns = list(zip(*several, strict=True))
            rows.append([p, q, margin, *(spread(column) for column in columns)])
            for word, column in zip(("false positives", "false negatives"), columns[:2], strict=True):
                drawn.append(
                    {
                        "where": f"{p:g}, {q:g}",
                        "margin": margin,
                        "what": word,
                        "value": float(np.mean(column)),
                    }
                )
    page.table(
        "margins",
        "What a margin does to σ−",
        ["p", "q", "margin", "σ+", "σ−", "σ+, sure", "σ−, sure"],
        rows,
        note="A set is kept if its estimate plus the margin in standard errors reaches the minimum support. Sure: of "
        "the sets kept, those whose estimate reaches it; the margin still helps them, as their subsets were kept.",
    )
    page.picture("margins-picture", "What a margin does", pictures.margins(drawn))


def _table_claims(runs: Sequence[Runs]) -> list[list[Cell]]:
    """Compare what the paper says of table 3 with the results."""
    by_point = {(run.channel.p, run.channel.q): run for run in runs}
    good, dense, sparse = by_point[0.4, 0.98], by_point[0.6, 0.96], by_point[0.3, 0.99]
    privacy = [min(good.basic_privacy, one) for one in good.privacy]
    worst = [max(errors) for errors in zip(*(good.of(figure) for figure in _FIGURES), strict=True)]
    slowest = max(run.slowdown for run in runs)
    rows: list[list[Cell]] = [
        [
            "(0.4, 0.98): basic and re-interrogated privacy above 75 %",
            f"the lower of the two {spread(privacy)} %",
            above([one - _PRIVATE for one in privacy]),
        ],
        [
            "(0.4, 0.98): every error below 10 %",
            f"the largest of σ+, σ−, ρ {spread(worst)} %",
            above([_ACCURATE - one for one in worst]),
        ],
        [
            "EMASK always within 5 times of Apriori",
            f"slowdown at most {slowest:.2f} at {len(runs)} settings",
            "yes" if slowest <= _WITHIN else "no",
        ],
    ]
    for figure, word in zip(_FIGURES[1:], ("σ−", "ρ"), strict=True):
        apart = [
            wide - narrow
            for (_, wide), (_, narrow) in zip(sparse.weighted(figure), dense.weighted(figure), strict=True)
        ]
        said = f"variance of {word} over the lengths higher at (0.3, 0.99) than at (0.6, 0.96)"
        rows.append([said, f"by {offset(apart)}", above(apart)])
    return rows


def _run_times(page: Page, truth: Truth) -> list[Cell]:
    """Make figure 1: the time to mine true and distorted baskets, from baskets as they are read."""
    page.log("figure 1: run times")
    settings = {"ours, MASK, p = 0.9": EMask(0.9, 0.9), "ours, EMASK, p = 0.5, q = 0.97": EMask(0.5, 0.97)}
    mask = EMask(0.9, 0.9)
    distorted = mask.perturb(truth.baskets, random_state=1)
    _warm(mask)
    seconds: dict[str, list[float]] = {_MASK: [], _APRIORI: []}
    for least in _LEAST:
        page.log(f"figure 1: {100 * least:g} %, basket by basket")
        seconds[_MASK].append(fastest(partial(_every, by_classes, distorted, mask, least), times=1)[1])
        seconds[_APRIORI].append(fastest(partial(_every, by_apriori, truth.baskets, least), times=1)[1])
    seconds["ours, true baskets"] = [_seconds(Itemsets(least), truth.baskets) for least in _LEAST]
    for what, channel in settings.items():
        distorted = channel.perturb(truth.baskets, random_state=1)
        seconds[what] = [_seconds(MaskedItemsets(channel, least), distorted) for least in _LEAST]
    page.table(
        "figure-1",
        "Figure 1: processor seconds to mine, from baskets",
        ["minimum support", *seconds],
        [[f"{100 * least:g} %", *(took[at] for took in seconds.values())] for at, least in enumerate(_LEAST)],
        note="The paper's MASK has n + 1 counters for a candidate of n items, by how many of them a basket has; all "
        "but one of these are counted basket by basket, the one for none of them is what they leave. It and Apriori "
        "with a prefix tree are the same program here, level by level, compiled, one thread. Ours counts whole "
        "itemsets alone, in bit columns, and finds exactly the same sets as the paper's MASK.",
    )
    times = [
        (least, what, one) for what, took in seconds.items() for least, one in zip(_LEAST, took, strict=True)
    ]
    page.picture("figure-1-picture", "Figure 1", pictures.run_times(times))
    ratios = [slow / quick for slow, quick in zip(seconds[_MASK], seconds[_APRIORI], strict=True)]
    shown = ", ".join(
        f"{ratio:.0f} times at {100 * least:g} %" for least, ratio in zip(_LEAST, ratios, strict=True)
    )
    said = "figure 1: MASK takes as much as two to three orders of magnitude more time than Apriori"
    return [said, f"basket by basket: {shown}", "yes" if max(ratios) >= _TWO_ORDERS else "no"]


def _warm(mask: EMask) -> None:
    """Compile what is timed."""
    from discreet.datasets import quest

    few = quest("T5.I2.D200.N30", random_state=1)
    _every(by_apriori, few, 0.02)
    _every(by_classes, few, mask, 0.02)


def _every(mine: Callable[..., Iterator[Any]], *given: Any) -> list[Any]:
    return list(mine(*given))


def _seconds(miner: Itemsets | MaskedItemsets, baskets: Baskets) -> float:
    return fastest(lambda: miner.mine(baskets))[1]


def _repeated(baskets: Baskets, times: int) -> Baskets:
    return baskets if times == 1 else baskets.take(np.tile(np.arange(len(baskets)), times))
