"""Lattices of tables with 1 and 10 million rows and 8 quasi-identifiers (6,480 nodes, k = 5): seconds and memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from adult_tables import ARX, coded, independent, many_rows
from lattice_adult import search
from measuring import fresh, peak
from rows import Row, within

K = 5
SEARCHED, VISITED = 1_000_000, 10_000_000
HALVES = {0.0: 3.4 / 2, 0.05: 11.1 / 2}
"""Half of ARX's seconds on 1 million rows, by the share of rows that may be suppressed."""
SECONDS, MEMORY = 6.0, 200e6
SUPPRESSED = 0.05


def run() -> list[Row]:
    """Search the smaller table, and visit every node of the larger one, each in a process of its own."""
    rows = []
    for share, half in HALVES.items():
        found = fresh("lattice_large", "searched", SEARCHED, share)
        what = f"search, 1M × 8, up to {share:.0%} suppressed"
        peer = f"{2 * half:.1f} s"
        note = (
            f"loss {found['loss']:.4f}, {found['tuples']:,} distinct tuples, {found['origin']}; peer: {ARX}"
        )
        both = found["seconds"] + found["coding"]
        rows += [
            within(what, found["seconds"], half, "s", peer=peer, note=note),
            within(f"{what}, coding included", both, half, "s", peer=peer, note="the limit is half of ARX's"),
        ]
    drawn, hard = (fresh("lattice_large", "visited", VISITED, way) for way in (False, True))
    what, beside = _all_nodes(drawn)
    hardest, besides = _all_nodes(hard)
    return [
        *rows,
        within(what, drawn["seconds"], SECONDS, "s", note=beside[0]),
        within(f"{what}, memory", drawn["added"], MEMORY, "B", note=beside[1]),
        within(f"{hardest}, columns independent", hard["seconds"], SECONDS, "s", note=besides[0]),
        within(f"{hardest}, columns independent, memory", hard["added"], MEMORY, "B", note=besides[1]),
    ]


def _all_nodes(found: dict[str, Any]) -> tuple[str, tuple[str, str]]:
    """Describe what was visited, and what to print beside its seconds and its memory."""
    clock = f"{found['wall']:.1f} s by the clock, coding {found['coding']:.1f} s of CPU"
    whole = (
        f"added by the visit; {found['highest'] / 1e6:,.0f} MB in all, {found['before'] / 1e6:,.0f} before"
    )
    facts = f"{found['tuples']:,} distinct tuples, {found['origin']}; {clock}"
    return f"all {found['nodes']:,} nodes, 10M × 8", (facts, whole)


def searched(n_rows: int, share: float) -> dict[str, Any]:
    """Search a coded table, the kernels being warm; gives CPU seconds, of coding too."""
    from discreet.guarantees import KAnonymity

    search(_table(20_000)[0], KAnonymity(K), share)
    table, facts = _table(n_rows)
    began = time.process_time()
    best = search(table, KAnonymity(K), share)
    return facts | {"seconds": time.process_time() - began, "loss": best.cost}


def visited(n_rows: int, hard: bool) -> dict[str, Any]:
    """Visit every node of a coded table, the kernels being warm; gives CPU seconds and memory."""
    from discreet.publish.lattice.lattice import Lattice
    from discreet.publish.lattice.search import visit_all

    def visit(table: Any) -> None:
        lattice = Lattice(table)
        visit_all(lattice, np.ones(len(lattice.names)), K, int(SUPPRESSED * table.n_rows))

    visit(_table(20_000, hard)[0])
    table, facts = _table(n_rows, hard)
    began = time.perf_counter()
    cost = peak(lambda: visit(table))
    facts |= {"wall": time.perf_counter() - began, "nodes": Lattice(table).n_nodes}
    facts |= {"before": cost.highest - cost.added, "highest": cost.highest}
    return facts | {"seconds": cost.seconds, "added": cost.added}


def _table(n_rows: int, hard: bool = False) -> tuple[Any, dict[str, Any]]:
    """Return a table, coded, and facts about it."""
    from discreet import Table, quasi

    frame, hierarchies, origin = (*independent(n_rows), "generated") if hard else many_rows(n_rows)
    began = time.process_time()
    table = coded(Table(frame, {name: quasi(hierarchy) for name, hierarchy in hierarchies.items()}))
    coding = time.process_time() - began
    return table, {"coding": coding, "tuples": int(table.tuples.counts.size), "origin": origin}
