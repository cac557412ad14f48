"""Query auditing: the share of denied queries by the number of queries before, for every auditor."""

from __future__ import annotations

from pathlib import Path

from experiments.auditing import pictures
from experiments.auditing.runs import denials
from experiments.page import Page, spread

_SIZES = {True: (40, 40, 10), False: (150, 150, 15)}
"""The records, the queries, and in steps of how many queries denials are counted."""


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Ask every auditor the same kind of random range queries, and count what it denies."""
    del data
    n, n_queries, step = _SIZES[quick]
    page.introduce(
        "Query auditing",
        f"{n} generated records of different ages; each auditor gets {n_queries} sums, maxima or counts over random "
        "ranges of ages, and denies those that with all earlier answers could disclose a value. The share of denied "
        f"queries is counted over the last {step} queries. The private auditor adds noise instead, and has a "
        "budget for half of the queries; a range that it has answered before costs nothing.",
    )
    page.log("asking every auditor")
    rows = denials(n, n_queries, step, range(1, seeds + 1))
    page.section("Denied queries")
    title = "Share of denied queries by the number of queries"
    page.picture("denied-picture", title, pictures.denied_lines(title, rows))
    shares = {(row.auditor, row.n_queries): spread([100 * share for share in row.shares], 1) for row in rows}
    auditors, ends = dict.fromkeys(row.auditor for row in rows), dict.fromkeys(row.n_queries for row in rows)
    page.table(
        "denied",
        "The share of denied queries, %",
        ["queries", *auditors],
        [[end, *(shares[auditor, end] for auditor in auditors)] for end in ends],
        note="Sums over ranges of n records span at most n dimensions, so nearly all further sums follow from earlier "
        "ones or disclose a value; what follows is answered.",
    )
