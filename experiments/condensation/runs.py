"""Runs of the condensation experiment: accuracy and covariance compatibility at one α, static and dynamic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.measure import covariance_compatibility, neighbor_accuracy
from discreet.publish import Condensation, StreamCondensation
from experiments.condensation.data import Sample

BETA = 4
"""Levels are drawn from the whole numbers of [α − β, α]."""
NEIGHBORS = 5
"""How many neighbors decide; a single one is reported beside it."""
TIMES = 20
"""How many pseudo-records are drawn for each record where more than the paper's single one are."""
_TEST_SHARE = 0.25
_FIRST_SHARE = 0.25
"""The share of a class's records that a stream condenses together at first."""

Method = Literal["static", "dynamic"]
METHODS: tuple[Method, ...] = ("static", "dynamic")


@dataclass
class Runs:
    """What came out at one α by one method, a number for each seed.

    ``of_more`` is learned from ``TIMES`` pseudo-records for each record, ``of_one`` by a single neighbor.
    """

    alpha: int
    method: Method
    accuracy: list[float] = field(default_factory=list)
    accuracy_of_more: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)
    accuracy_of_one: list[float] = field(default_factory=list)
    baseline_of_one: list[float] = field(default_factory=list)
    mu: list[float] = field(default_factory=list)
    mu_standardized: list[float] = field(default_factory=list)


def runs_of(sample: Sample, alpha: int, seeds: Sequence[int]) -> list[Runs]:
    """Condense three quarters of the rows by both methods, and test on the rest; the same split for every α."""
    found = {method: Runs(alpha, method) for method in METHODS}
    for seed in seeds:
        train, test = _parts(sample, seed)
        levels = _levels(sample, train, alpha, seed)
        original = (sample.values[train], sample.target[train])
        test_set = (sample.values[test], sample.target[test])
        for method, runs in found.items():
            make = _static if method == "static" else _dynamic
            pseudo, more = (
                (values, np.rint(target) if sample.counts else target)
                for values, target in (make(sample, original, levels, seed, times) for times in (1, TIMES))
            )
            result = neighbor_accuracy(
                original, pseudo, test_set, n_neighbors=NEIGHBORS, within=sample.within
            )
            runs.accuracy.append(result.pseudo)
            runs.baseline.append(result.original)
            result = neighbor_accuracy(original, more, test_set, n_neighbors=NEIGHBORS, within=sample.within)
            runs.accuracy_of_more.append(result.pseudo)
            result = neighbor_accuracy(original, pseudo, test_set, n_neighbors=1, within=sample.within)
            runs.accuracy_of_one.append(result.pseudo)
            runs.baseline_of_one.append(result.original)
            _note_covariances(runs, *(_joined(sample, part) for part in (original, pseudo)))
    return list(found.values())


def _note_covariances(runs: Runs, before: FloatArray, after: FloatArray) -> None:
    scale = before.std(axis=0)
    scale[scale == 0] = 1.0
    runs.mu.append(covariance_compatibility(before, after))
    runs.mu_standardized.append(covariance_compatibility(before / scale, after / scale))


def _parts(sample: Sample, seed: int) -> tuple[IntArray, IntArray]:
    order = np.random.default_rng(seed).permutation(len(sample.values))
    cut = round(len(order) * _TEST_SHARE)
    return order[cut:], order[:cut]


def _levels(sample: Sample, train: IntArray, alpha: int, seed: int) -> IntArray:
    """Draw levels; no level is above the number of records of the class."""
    drawn = np.random.default_rng([seed, alpha]).integers(max(alpha - BETA, 1), alpha + 1, train.size)
    if sample.within is not None:
        return drawn
    sizes = np.bincount(sample.target[train])
    return np.asarray(np.minimum(drawn, sizes[sample.target[train]]))


def _static(
    sample: Sample, original: tuple[Any, Any], levels: IntArray, seed: int, times: int
) -> tuple[Any, Any]:
    """Condense all together; the paper's single pseudo-record may leave the range of the data, more may not."""
    kind: Literal["class", "number"] = "class" if sample.within is None else "number"
    made = Condensation(
        levels, segment="nearest", target=kind, alpha=times, bounded=times > 1, random_state=seed
    )
    values, target = made.fit_resample(*original)
    return values, target


def _dynamic(
    sample: Sample, original: tuple[Any, Any], levels: IntArray, seed: int, times: int
) -> tuple[Any, Any]:
    """Condense a stream for each class; a number goes along as another column."""
    values, target = original
    if sample.within is not None:
        drawn = _stream(np.column_stack([values, target]), levels, seed, times)
        return drawn[:, :-1], drawn[:, -1]
    found, classes = [], []
    for label in np.unique(target):
        rows = np.flatnonzero(target == label)
        found.append(_stream(values[rows], levels[rows], seed, times))
        classes.append(np.full(rows.size * times, label))
    return np.concatenate(found), np.concatenate(classes)


def _stream(values: FloatArray, levels: IntArray, seed: int, times: int) -> FloatArray:
    first = max(int(levels.max()), round(_FIRST_SHARE * len(values)))
    stream = StreamCondensation(init_number=min(first, len(values)), segment="nearest", random_state=seed)
    return stream.fit(values, k=levels).sample(times * len(values))


def _joined(sample: Sample, part: tuple[Any, Any]) -> FloatArray:
    """Return the columns whose covariances are compared: a number that is the target is one of them."""
    return np.asarray(part[0] if sample.within is None else np.column_stack(part))
