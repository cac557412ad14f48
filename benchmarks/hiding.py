"""Hiding rules on mushroom, retail, click streams and generated baskets: what each method loses, and its time."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from measuring import DataMissingError, fresh, shared_data
from rows import Row, skipped, within

CASES = {
    "mushroom 40 %, 3 sets": ("fimi/mushroom.dat.gz", 0.4, 3, 1, 0.3, 0),
    "mushroom 25 %, 3 sets": ("fimi/mushroom.dat.gz", 0.25, 3, 3, 3.0, 0),
    "mushroom 25 %, 5 sets": ("fimi/mushroom.dat.gz", 0.25, 5, 4, 75.0, 278),
    "BMS-WebView-2 0.3 %, 8 sets": ("bms-webview-2/BMS-WebView-2.dat.gz", 0.003, 8, 2, 30.0, 1),
    "retail 0.5 %, 4 sets": ("fimi/retail.dat.gz", 0.005, 4, 1, 5.0, 0),
}
"""The file, the least support, the number of sensitive sets and the seed they are drawn by; the most seconds and the
most itemsets lost."""
LIMITS = {"mushroom 25 %, 5 sets": 60.0, "BMS-WebView-2 0.3 %, 8 sets": 25.0}
HEURISTICS, BORDER = ("maxfia", "minfia"), ("bba", "maxmin1", "maxmin2")
LARGE, SETS, SUPPORT = "T10.I4.D1M.N1K", 10, 0.003
LARGE_SECONDS, INLINE = 10.0, 20.0


def run() -> list[Row]:
    """Compare what the methods lose, the time of the exact one, and the heuristics on a million baskets."""
    rows = []
    for name in CASES:
        try:
            source = shared_data(CASES[name][0].split("/")[0]) / CASES[name][0].split("/")[1]
        except DataMissingError as error:
            rows.append(skipped(name, str(error)))
            continue
        rows += _case(name, source)
    return rows + _large()


def _case(name: str, source: Path) -> list[Row]:
    _, _, _, _, seconds, most = CASES[name]
    found = fresh("hiding", "hidden", str(source), name)
    lost = found["lost"]
    note = ", ".join(f"{method} {lost[method]}" for method in (*HEURISTICS, *BORDER, "exact"))
    best = min(lost[method] for method in (*HEURISTICS, *BORDER))
    border = float(np.mean([lost[method] for method in BORDER]))
    worst = max(lost[method] for method in HEURISTICS)
    return [
        within(
            f"{name}: exact, CPU", found["seconds"], seconds, "s", peer=found["inline"], note=found["state"]
        ),
        within(f"{name}: itemsets lost by exact", lost["exact"], most, "", note=note),
        within(f"{name}: exact beside the best of the others", lost["exact"], best, ""),
        within(f"{name}: border-based, mean, beside the worst heuristic", border, worst, ""),
    ]


def _large() -> list[Row]:
    found = fresh("hiding", "large")
    slowest = max(found, key=lambda method: found[method])
    note = ", ".join(f"{method} {taken:.2f} s" for method, taken in found.items())
    return [
        within(
            f"{LARGE}, {SETS} sets at {SUPPORT:.1%}: mining and the slowest heuristic, CPU",
            found[slowest], LARGE_SECONDS, "s", note=note,
        )
    ]  # fmt: skip


def hidden(source: str, name: str) -> dict[str, Any]:
    """Hide the sets of one case by every method in this process; compiling is not counted."""
    from discreet.engines.baskets.files import read_baskets
    from discreet.guarantees import RulesHidden
    from discreet.output.hiding import compare_methods, hider_of, hiding_quality

    _, share, n_sets, seed, _, _ = CASES[name]
    baskets = read_baskets(source)
    least = round(share * len(baskets))
    guarantee = RulesHidden(_drawn(baskets, least, n_sets, seed), least)
    methods = (*HEURISTICS, *BORDER)
    compare_methods(baskets, guarantee, methods=(*methods, "exact"), time_limit=2.0)
    lost = {
        one.method: one.quality.lost_itemsets for one in compare_methods(baskets, guarantee, methods=methods)
    }
    limit = LIMITS.get(name)
    seconds = np.inf
    for _ in range(3 if limit is None else 1):
        began = time.process_time()
        exact = hider_of("exact", guarantee, time_limit=limit).sanitize(baskets, np.random.default_rng(0))
        seconds = min(seconds, time.process_time() - began)
    details = exact.details
    state = "optimal" if details["optimal"] else f"bound {details['lost_bound']}, gap {details['gap']:.0%}"
    return {
        "lost": lost | {"exact": hiding_quality(baskets, exact.baskets, guarantee).lost_itemsets},
        "seconds": seconds,
        "state": state,
        "inline": _inline(baskets, guarantee, int(details["removals"])),
    }


def _inline(baskets: Any, guarantee: Any, ours: int) -> str:
    """Solve the published program with a variable for each entry, and describe what it came to in its time."""
    from discreet.output.hiding import hider_of, hiding_quality

    began = time.process_time()
    made = hider_of("inline", guarantee, time_limit=INLINE).sanitize(baskets, np.random.default_rng(0))
    taken, details = time.process_time() - began, made.details
    bound = f"at least {details['removals_bound']:,} deletions"
    if not details["solved"]:
        gap = max(ours - int(details["removals_bound"]), 0) / max(ours, 1)
        return f"inline: no solution of its own in {INLINE:.0f} s, {bound}; ours {ours:,}, gap {gap:.0%}"
    removals = int(details["removed_items"])
    gap = max(removals - int(details["removals_bound"]), 0) / max(removals, 1)
    lost = hiding_quality(baskets, made.baskets, guarantee).lost_itemsets
    state = "optimal" if details["optimal"] else f"{bound}, gap {gap:.0%}"
    if details["dropped_border"]:
        state = f"{details['dropped_border']:,} border itemsets given up"
    return f"inline {lost} lost, {removals:,} deletions ({state}), {taken:.2f} s"


def large() -> dict[str, float]:
    """Time the heuristics on a million generated baskets, the first mining included."""
    from discreet.datasets import quest
    from discreet.guarantees import RulesHidden
    from discreet.mine import Itemsets
    from discreet.output.hiding import hider_of

    small = quest("T10.I4.D1K.N1K", random_state=1)
    baskets = quest(LARGE, random_state=1)
    least = round(SUPPORT * len(baskets))
    guarantee = RulesHidden(_drawn(baskets, least, SETS, 1), least)
    warm = RulesHidden(_drawn(small, 3, 2, 1), 3)
    taken = {}
    for method in ("minfia", "maxfia", "iga", "swa", "2.a", "2.b", "2.c", "remove_transactions"):
        hider_of(method, warm).hide(small)
        began = time.process_time()
        Itemsets(least).mine(baskets)
        hider_of(method, guarantee).hide(baskets)
        taken[method] = time.process_time() - began
    return taken


def _drawn(baskets: Any, least: int, n_sets: int, seed: int) -> list[list[Any]]:
    """Draw frequent itemsets of two to four items; one that contains another is left out."""
    from discreet.mine import Itemsets

    every = sorted(sorted(names) for names, _ in Itemsets(least).mine(baskets) if 2 <= len(names) <= 4)
    sets = [frozenset(one) for one in random.Random(seed).sample(every, n_sets)]
    return [sorted(one) for one in sets if not any(other < one for other in sets)]
