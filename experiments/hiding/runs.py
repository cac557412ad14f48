"""Hide drawn itemsets by every method, for the experiment on hiding rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.engines.baskets.files import read_baskets
from discreet.guarantees import RulesHidden
from discreet.mine import Itemsets, rules
from discreet.output.hiding import HidingAttack, compare_methods, hider_of, hiding_attack
from experiments.data_sets import CLICK_STREAMS, present

METHODS = (
    "remove_transactions", "2.a", "2.b", "2.c", "minfia", "maxfia", "iga", "swa", "bba", "maxmin1", "maxmin2", "menon",
    "inline", "hybrid", "exact",
)  # fmt: skip
BY_CONFIDENCE = ("1.a", "1.b", "wsda", "2.a", "2.b", "minfia", "blocking", "maxmin2", "exact")
"""The methods that rules are hidden by; the other programs hide a rule by its support alone, as minfia does."""
_QUICK = ("2.b", "minfia", "maxfia", "swa", "bba", "maxmin2", "menon", "exact")
_SETS = {False: (3, 5), True: (3,)}
_LIMIT = {False: 20.0, True: 3.0}
_FILES = {
    "mushroom": ("mushroom", Path("fimi") / "mushroom.dat.gz", (0.4, 0.3)),
    "chess": ("chess", Path("fimi") / "chess.dat.gz", (0.9, 0.85)),
    "retail": ("retail", Path("fimi") / "retail.dat.gz", (0.01, 0.005)),
    "bms1": ("BMS-WebView-1", CLICK_STREAMS["BMS-WebView-1"], (0.003, 0.002)),
    "bms2": ("BMS-WebView-2", CLICK_STREAMS["BMS-WebView-2"], (0.005, 0.003)),
}
_GENERATED = {False: ("T10.I4.D100K.N1K", (0.01, 0.005)), True: ("T10.I4.D2K.N200", (0.03,))}


@dataclass(frozen=True, eq=False)
class Sample:
    """Baskets, the thresholds they are mined at, and what is said about them."""

    name: str
    title: str
    baskets: Baskets
    supports: tuple[float, ...]
    note: str = ""
    thanks: bool = False


@dataclass(frozen=True)
class Point:
    """What one method costs at one threshold and number of sets, for every draw."""

    method: str
    support: float
    n_sets: int
    lost: tuple[float, ...]
    ghosts: tuple[float, ...]
    dissimilarity: tuple[float, ...]
    seconds: tuple[float, ...]
    lost_rules: tuple[float, ...] = ()
    ghost_rules: tuple[float, ...] = ()
    n_draws: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the method had a solution for every draw; means over some of them are not comparable."""
        return len(self.lost) == self.n_draws

    @property
    def name(self) -> str:
        """The method, and for how many of the draws it had a solution, where not for all."""
        return self.method if self.is_whole else f"{self.method} ({len(self.lost)} of {self.n_draws} draws)"


def samples(data: Path | None, *, quick: bool) -> list[Sample]:
    """Return the public sets that are there, and generated baskets."""
    from discreet.datasets import quest

    found = []
    for name, (title, place, supports) in _FILES.items():
        path = present(data, place)
        if path is None or (quick and name != "mushroom"):
            continue
        used = supports[:1] if quick else supports
        found.append(Sample(name, title, read_baskets(path), used, thanks=name.startswith("bms")))
    shape, levels = _GENERATED[quick]
    made = quest(shape, random_state=1)
    found.append(Sample("quest", f"Quest {shape}", made.keep(made.counts > 0), levels, note="Generated."))
    return found


def drawn(sample: Sample, support: float, n_sets: int, seed: int) -> list[list[Any]]:
    """Draw sensitive itemsets of two to four items."""
    found = [list(names) for names, _ in Itemsets(support).mine(sample.baskets) if 2 <= len(names) <= 4]
    chosen = np.random.default_rng(seed).choice(len(found), min(n_sets, len(found)), replace=False)
    return [found[at] for at in sorted(chosen.tolist())]


def points(sample: Sample, seeds: Sequence[int], *, quick: bool) -> list[Point]:
    """Hide the drawn sets by every method, at every threshold and number of sets."""
    methods = _QUICK if quick else METHODS
    made = []
    for support in sample.supports:
        for n_sets in _SETS[quick]:
            results = [
                compare_methods(
                    sample.baskets,
                    RulesHidden(drawn(sample, support, n_sets, seed), support),
                    methods=methods,
                    time_limit=_LIMIT[quick],
                )
                for seed in seeds
            ]
            made += [
                _point(method, support, n_sets, [run[at] for run in results])
                for at, method in enumerate(methods)
            ]
    return made


def rule_points(sample: Sample, seeds: Sequence[int], *, quick: bool) -> list[Point]:
    """Hide drawn rules, by their confidence where a method can, at the first threshold."""
    support = sample.supports[0]
    results = [
        compare_methods(
            sample.baskets,
            drawn_rules(sample, support, 3, seed),
            methods=BY_CONFIDENCE,
            time_limit=_LIMIT[quick],
        )
        for seed in seeds
    ]
    return [
        _point(method, support, 3, [run[at] for run in results]) for at, method in enumerate(BY_CONFIDENCE)
    ]


def drawn_rules(sample: Sample, support: float, n_rules: int, seed: int) -> RulesHidden:
    """Draw sensitive rules of two or three items; the least confidence is the median of all rules."""
    found = rules(Itemsets(support).mine(sample.baskets), metric="confidence", min_threshold=0.0)
    confidence = found["confidence"].to_numpy()
    least = float(np.floor(100 * np.median(confidence)) / 100)
    pairs = zip(found["antecedents"].to_pylist(), found["consequents"].to_pylist(), confidence, strict=True)
    short = [
        (tuple(left), tuple(right))
        for left, right, one in pairs
        if len(left) + len(right) <= 3 and one >= least
    ]
    chosen = np.random.default_rng(seed).choice(len(short), min(n_rules, len(short)), replace=False)
    return RulesHidden([short[at] for at in sorted(chosen.tolist())], support, max(least, 0.01))


def _point(method: str, support: float, n_sets: int, runs: Sequence[Any]) -> Point:
    done = [(one.quality, one.seconds) for one in runs if one.quality is not None and one.solved]
    return Point(
        method,
        support,
        n_sets,
        tuple(float(quality.lost_itemsets) for quality, _ in done),
        tuple(float(quality.ghost_itemsets) for quality, _ in done),
        tuple(quality.dissimilarity for quality, _ in done),
        tuple(seconds for _, seconds in done),
        tuple(float(quality.lost_rules) for quality, _ in done),
        tuple(float(quality.ghost_rules) for quality, _ in done),
        len(runs),
    )


def suspicion(sample: Sample, seed: int, margin: float) -> HidingAttack:
    """Hide three drawn sets with a margin, and look for them below the threshold."""
    support = sample.supports[0]
    guarantee = RulesHidden(drawn(sample, support, 3, seed), support, margin=margin)
    release = hider_of("maxmin2", guarantee, random_state=seed).hide(sample.baskets)
    return hiding_attack(release, guarantee)
