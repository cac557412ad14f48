"""Mining between parties: bytes, rounds and seconds by rows, items and parties; the ring beside masks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.parties import SecureSum
from experiments.page import Cell, Page, spread
from experiments.parties import pictures
from experiments.parties.runs import Cost, horizontal, secure_sum, vertical

_PARTIES = {False: (2, 3, 4, 6, 8, 10), True: (2, 3, 5)}
_BASKETS = {False: (1000, 10_000, 100_000), True: (500, 2000)}
_ITEMS = {False: (50, 200, 800), True: (30, 60)}
_PEOPLE = {False: (1000, 10_000, 100_000), True: (200, 800)}
_USUAL = {False: (10_000, 200), True: (1000, 40)}
_SUPPORT = {False: 0.02, True: 0.08}
_LENGTH = {False: 100_000, True: 2000}
_HEAD = [
    "bytes sent, busiest party",
    "bytes sent, mean",
    "rounds",
    "CPU seconds, busiest party",
    "CPU seconds, mean",
]
_REPORTED: tuple[tuple[str, str, str], ...] = (
    (
        "V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, CCS 2016 (abstract)",
        "intersection of two sets of 2^20 elements, the protocol by which people are matched here; C++",
        "3.8 s",
    ),
    (
        "K. Bonawitz et al., CCS 2017 (abstract)",
        "secure sum of 2^20 values of 16 bits among 2^10 users: what a user sends against the plain vector",
        "1.73 ×",
    ),
    (
        "T. Tassa, IEEE TKDE 2014 (abstract)",
        "rules over horizontal data: fewer rounds, bytes and computation than Kantarcıoğlu & Clifton 2004",
        "no figure in the abstract",
    ),
)

Run = Callable[[Any, int], tuple[Cost, Any]]


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Mine generated data among parties in one process, and show what travels and what it takes."""
    del data
    page.introduce(
        "Mining between parties",
        "Generated data is split between parties, each a thread with its own half, over the same frames as on the "
        "network. Bytes count headers and are those before encryption. CPU seconds are those of one party's thread. A "
        "round ends when a party that has sent waits for a frame. The busiest party is one of the two that keep the "
        "shared counts.",
    )
    numbers = range(1, seeds + 1)
    baskets, items = _USUAL[quick]
    _horizontal(page, numbers, quick=quick, baskets=baskets, items=items)
    _vertical(page, numbers, quick=quick)
    _sums(page, quick=quick)
    page.section("Reported elsewhere")
    page.table(
        "reported",
        "Figures of others for parts of these tasks",
        ["source", "task", "figure"],
        [list(row) for row in _REPORTED],
        note="None of these was measured here: other machines, other languages, partly other tasks. What can be run "
        "beside Discreet on one machine, MPyC and openmined-psi, is in the benchmarks.",
    )


def _horizontal(page: Page, seeds: Sequence[int], *, quick: bool, baskets: int, items: int) -> None:
    support = _SUPPORT[quick]
    page.section(
        "Rules over baskets of several parties",
        f"Support {support:.0%}, a public list of items unless stated otherwise; where nothing else varies, 3 parties, "
        f"{baskets:,} baskets, {items} items.",
    )
    parties = _varied(
        _PARTIES[quick], seeds, lambda n, seed: horizontal(baskets, items, n, seed=seed, support=support)
    )
    _table(page, "parties", "By parties", "parties", parties)
    title = "Bytes and computation of a party by the number of parties"
    page.picture("parties-picture", title, pictures.by_parties(title, parties))
    rows = _varied(
        _BASKETS[quick], seeds, lambda n, seed: horizontal(n, items, 3, seed=seed, support=support)
    )
    _table(page, "baskets", "By baskets", "baskets", rows)
    by_items = _varied(
        _ITEMS[quick], seeds, lambda n, seed: horizontal(baskets, n, 3, seed=seed, support=support)
    )
    _table(page, "items", "By items", "items", by_items)
    ways: dict[str, dict[str, Any]] = {
        "public items, all candidates": {},
        "secret items, all candidates": {"items": (), "max_items": 8 * items},
        "secret items, united candidates": {"items": (), "max_items": 8 * items, "candidates": "union"},
    }
    made = _varied(
        ways, seeds, lambda way, seed: horizontal(baskets, items, 3, seed=seed, support=support, **ways[way])
    )
    _table(page, "ways", "By what is public", "way", made)


def _vertical(page: Page, seeds: Sequence[int], *, quick: bool) -> None:
    people = _PEOPLE[quick]
    page.section(
        "Rules over columns of the same people", "Support 15 %, sets of at most three items, people matched."
    )
    made = _varied(people, seeds, lambda n, seed: vertical(n, 6, 2, seed=seed))
    _table(page, "people", "By people, 2 parties with 6 items each", "people", made)
    by_parties = _varied(_PARTIES[quick][:4], seeds[:1], lambda n, seed: vertical(people[0], 3, n, seed=seed))
    _table(page, "vertical-parties", f"By parties, {people[0]:,} people, 3 items each", "parties", by_parties)


def _sums(page: Page, *, quick: bool) -> None:
    length = _LENGTH[quick]
    rows: list[list[Cell]] = []
    for n in _PARTIES[quick]:
        for method in ("masks", "ring"):
            found, _ = secure_sum(length, n, method)
            withstood = SecureSum(length=length, method=method).withstands(n)
            expansion = found.bytes_mean / (8 * length)
            rows.append(
                [
                    n,
                    method,
                    withstood,
                    found.bytes_busiest,
                    expansion,
                    found.rounds,
                    found.cpu_busiest,
                    found.cpu_mean,
                ]
            )
    page.section("The ring beside masks", f"A secure sum of {length:,} values.")
    page.table(
        "sums",
        "Masks and ring",
        [
            "parties",
            "method",
            "colluding parties withstood",
            "bytes sent, busiest party",
            "bytes sent, mean, against the plain vector",
            "rounds",
            "CPU seconds, busiest party",
            "CPU seconds, mean",
        ],
        rows,
        note="The ring is faster because it hides less: the two neighbors of a party learn its vector if they compare "
        "what they saw, and a party that drops out stops it.",
    )


def _varied(values: Iterable[Any], seeds: Sequence[int], work: Run) -> dict[Any, list[Cost]]:
    return {value: [work(value, seed)[0] for seed in seeds] for value in values}


def _table(page: Page, name: str, title: str, what: str, made: dict[Any, list[Cost]]) -> None:
    rows: list[list[Cell]] = [
        [
            value,
            round(float(np.mean([one.bytes_busiest for one in costs]))),
            round(float(np.mean([one.bytes_mean for one in costs]))),
            round(float(np.mean([one.rounds for one in costs]))),
            spread([one.cpu_busiest for one in costs], 3),
            spread([one.cpu_mean for one in costs], 3),
        ]
        for value, costs in made.items()
    ]
    page.table(name, title, [what, *_HEAD], rows)
