"""Runs of the experiment on uncertain records: range counts, accuracy and attacks at one k, by each method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from discreet import Release, Table, UncertainPoints, other, quasi
from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import InfeasibleError
from discreet.guarantees import KAnonymity
from discreet.measure import joint_matching, likelihood_ranks, neighbor_accuracy
from discreet.mine import KernelVote, expected_range_counts
from discreet.publish import Condensation, Mondrian, UncertainRecords
from experiments.condensation.data import Sample

METHODS = ("uncertain", "uncertain, uniform", "uncertain, own spreads", "condensation", "Mondrian, means")
"""Everything that is compared; the spreads of the third are the paper's, each record's own."""
_OPTIONS: dict[str, dict[str, Any]] = {
    "uncertain": {},
    "uncertain, uniform": {"spread": "uniform"},
    "uncertain, own spreads": {"attacker": "naive"},
}
N_BOXES, WIDTH = 100, (0.3, 0.7)
_TEST_SHARE = 0.25
_MOST_MATCHED = 1_000
_OLD = (8, 10)
"""Shells of up to 8 and up to 10 rings: abalone's target as three classes."""


@dataclass
class Runs:
    """What came out at one k by one method, a number for each seed; a method that cannot reach k has none."""

    k: int
    method: str
    error: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    vote: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)
    rank: list[float] = field(default_factory=list)
    rank_in_class: list[float] = field(default_factory=list)
    first_in_class: list[float] = field(default_factory=list)
    matched: list[float] = field(default_factory=list)


def runs_of(sample: Sample, k: int, seeds: Sequence[int]) -> list[Runs]:
    """Publish three quarters of the rows by every method, and mine them; the same splits and boxes for every k."""
    results = {method: Runs(k, method) for method in METHODS}
    target = _classes(sample)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(target))
        cut = round(len(order) * _TEST_SHARE)
        train, test = order[cut:], order[:cut]
        values = sample.values[:, np.ptp(sample.values[train], axis=0) > 0]
        boxes = _boxes(values[train], np.random.default_rng([seed, 1]))
        for runs in results.values():
            try:
                _note_counts(runs, values[train], k, boxes, seed)
            except InfeasibleError:
                continue
            _note_accuracy(runs, (values[train], target[train]), (values[test], target[test]), k, seed)
    return list(results.values())


def _classes(sample: Sample) -> IntArray:
    """Return the class of each row; years are divided into three."""
    if sample.within is None:
        return np.asarray(sample.target, np.int64)
    cuts = _OLD if sample.name == "abalone" else np.quantile(sample.target, [1 / 3, 2 / 3])
    return np.asarray(np.searchsorted(np.asarray(cuts), sample.target), np.int64)


def _boxes(values: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw boxes: up to three columns restricted, each to a random 30 to 70 % of its quantiles."""
    d = values.shape[1]
    low, high = np.full((N_BOXES, d), -np.inf), np.full((N_BOXES, d), np.inf)
    for box in range(N_BOXES):
        for column in rng.choice(d, min(3, d), replace=False):
            share = rng.uniform(*WIDTH)
            start = rng.uniform(0, 1 - share)
            low[box, column], high[box, column] = np.quantile(values[:, column], [start, start + share])
    return low, high


def _note_counts(
    runs: Runs, values: FloatArray, k: int, boxes: tuple[FloatArray, FloatArray], seed: int
) -> None:
    """Note the mean relative error of range counts, and what an attack on the release finds."""
    truth = _counted(values, *boxes)
    if runs.method in _OPTIONS:
        release = _uncertain(runs.method, values, None, k, seed)
        published = UncertainPoints.of(release)
        counts = expected_range_counts(published, *boxes)
        runs.spread.append(float(np.median(published.spreads[:, 0]) / values[:, 0].std()))
        ranks = likelihood_ranks(release)
        runs.rank.append(ranks.mean)
        runs.rank_in_class.append(ranks.same_spread_mean)
        runs.first_in_class.append(ranks.same_spread_first)
        runs.matched.append(joint_matching(release) if len(values) <= _MOST_MATCHED else float("nan"))
    else:
        counts = _counted(_published(runs.method, values, None, k, seed)[0], *boxes)
    least = max(0.01 * len(values), 1.0)
    runs.error.append(float(np.mean(np.abs(counts - truth) / np.maximum(truth, least))))


def _note_accuracy(
    runs: Runs, train: tuple[FloatArray, IntArray], test: tuple[FloatArray, IntArray], k: int, seed: int
) -> None:
    """Note the accuracy of one neighbor, and of the kernel vote where there are distributions."""
    if runs.method in _OPTIONS:
        release = _uncertain(runs.method, *train, k, seed)
        published = UncertainPoints.of(release)
        learned = (published.centers, train[1][release.order])
        runs.vote.append(float(KernelVote().fit(published, learned[1]).score(*test)))
    else:
        learned = _published(runs.method, *train, k, seed)
    result = neighbor_accuracy(train, learned, test)
    runs.accuracy.append(result.pseudo)
    runs.baseline.append(result.original)


def _uncertain(method: str, values: FloatArray, target: IntArray | None, k: int, seed: int) -> Release:
    """Publish distributions, classes apart where there are any; in a small class the level is a quarter of it."""
    levels = np.full(len(values), k)
    columns: dict[str, Any] = {f"x{column}": values[:, column] for column in range(values.shape[1])}
    label = None
    if target is not None:
        label = "class"
        columns[label] = target
        levels = np.minimum(levels, np.maximum(np.bincount(target)[target] // 4, 1))
    table = Table(pa.table(columns), {name: quasi() for name in columns})
    return UncertainRecords(levels, label=label, random_state=seed, **_OPTIONS[method]).release(table)


def _published(
    method: str, values: FloatArray, target: IntArray | None, k: int, seed: int
) -> tuple[FloatArray, Any]:
    """Return pseudo-records, or the means of Mondrian's classes, and the class of each."""
    if method == "condensation":
        if target is None:
            return Condensation(k, random_state=seed).fit_resample(values), None
        levels = np.minimum(k, np.bincount(target)[target])
        condensation = Condensation(levels, target="class", random_state=seed)
        pseudo, classes = condensation.fit_resample(values, target)
        return pseudo, classes
    names = [f"x{column}" for column in range(values.shape[1])]
    classes = np.zeros(len(values), np.int64) if target is None else target
    table = Table(
        pa.table({**dict(zip(names, values.T, strict=True)), "class": classes}),
        {**dict.fromkeys(names, quasi()), "class": other(allow_unique=True)},
    )
    frame = Mondrian(KAnonymity(k), summary="mean", random_state=seed).release(table).frame
    return np.column_stack([frame[name].to_numpy().astype(np.float64) for name in names]), frame[
        "class"
    ].to_numpy()


def _counted(values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    inside = (values[None] >= low[:, None]) & (values[None] <= high[:, None])
    return np.asarray(inside.all(axis=2).sum(axis=1), np.float64)
