"""Runs of the condensation experiment: accuracy and covariance compatibility at one α, static and dynamic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.measure import covariance_compatibility, neighbor_accuracy
from discreet.mine import GroupNeighborsClassifier, GroupNeighborsRegressor
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
_HAIR = 1e-9
"""Means of whole numbers may be off by rounding."""

Method = Literal["static", "dynamic", "dynamic, the paper's split"]
METHODS: tuple[Method, ...] = ("static", "dynamic", "dynamic, the paper's split")
Rows = tuple[Any, Any]
"""A matrix and its target."""


@dataclass
class Runs:
    """What came out at one α by one method, a number for each seed.

    ``of_more`` is learned from ``TIMES`` pseudo-records for each record, ``of_one`` by a single neighbor, ``groups`` by
    the nearest group itself. Where the target is a number, ``below`` counts predictions less than a year off, the
    others those no more than a year off.
    """

    alpha: int
    method: Method
    accuracy: list[float] = field(default_factory=list)
    accuracy_of_more: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)
    accuracy_of_one: list[float] = field(default_factory=list)
    groups: list[float] = field(default_factory=list)
    baseline_of_one: list[float] = field(default_factory=list)
    mu: list[float] = field(default_factory=list)
    mu_standardized: list[float] = field(default_factory=list)
    accuracy_below: list[float] = field(default_factory=list)
    baseline_below: list[float] = field(default_factory=list)
    accuracy_of_one_below: list[float] = field(default_factory=list)
    groups_below: list[float] = field(default_factory=list)
    baseline_of_one_below: list[float] = field(default_factory=list)


def runs_of(sample: Sample, alpha: int, seeds: Sequence[int]) -> list[Runs]:
    """Condense three quarters of the rows by every method, and test on the rest; the same split for every α."""
    found = {method: Runs(alpha, method) for method in METHODS}
    for seed in seeds:
        train, test = _parts(sample, seed)
        levels = _levels(sample, train, alpha, seed)
        original = (sample.values[train], sample.target[train])
        test_set = (sample.values[test], sample.target[test])
        for method, runs in found.items():
            condense = _static if method == "static" else _dynamic
            (pseudo, more), model = condense(sample, original, levels, seed, method)
            _note_accuracies(runs, sample, original, (pseudo, more), test_set)
            _note_groups(runs, sample, model, test_set)
            _note_covariances(runs, *(_joined(sample, part) for part in (original, pseudo)))
    return list(found.values())


def _note_accuracies(
    runs: Runs, sample: Sample, original: Rows, drawn: tuple[Rows, Rows], test: Rows
) -> None:
    """Note how well pseudo-records teach; a number counts as right within a year, and apart from that below one."""
    pseudo, more = drawn
    for ending, within in _tolerances(sample):
        several, single = (
            neighbor_accuracy(original, pseudo, test, n_neighbors=n_neighbors, within=within)
            for n_neighbors in (NEIGHBORS, 1)
        )
        _note(runs, f"accuracy{ending}", several.pseudo)
        _note(runs, f"baseline{ending}", several.original)
        _note(runs, f"accuracy_of_one{ending}", single.pseudo)
        _note(runs, f"baseline_of_one{ending}", single.original)
        if not ending:
            filled = neighbor_accuracy(original, more, test, n_neighbors=NEIGHBORS, within=within)
            _note(runs, "accuracy_of_more", filled.pseudo)


def _note_groups(runs: Runs, sample: Sample, model: Any, test: Rows) -> None:
    """Note how well the nearest group predicts; a counted target is rounded, as a pseudo-record's is, but for below."""
    predicted = model.predict(test[0])
    for ending, within in _tolerances(sample):
        target = np.rint(predicted) if sample.counts and not ending else predicted
        right = target == test[1] if within is None else np.abs(target - test[1]) <= within
        _note(runs, f"groups{ending}", float(np.mean(right)))


def _note_covariances(runs: Runs, before: FloatArray, after: FloatArray) -> None:
    scale = before.std(axis=0)
    scale[scale == 0] = 1.0
    runs.mu.append(covariance_compatibility(before, after))
    runs.mu_standardized.append(covariance_compatibility(before / scale, after / scale))


def _note(runs: Runs, figure: str, value: float) -> None:
    getattr(runs, figure).append(value)


def _tolerances(sample: Sample) -> list[tuple[str, float | None]]:
    """Return how near a prediction has to come, with the ending of the figures that say so."""
    if sample.within is None:
        return [("", None)]
    return [("", sample.within + _HAIR), ("_below", sample.within - _HAIR)]


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
    sample: Sample, original: Rows, levels: IntArray, seed: int, method: Method
) -> tuple[list[Rows], Any]:
    """Condense all together; the paper's single pseudo-record may leave the range of the data, more may not."""
    del method
    kind: Literal["class", "number"] = "class" if sample.within is None else "number"
    drawn = [
        Condensation(
            levels, segment="nearest", target=kind, alpha=times, bounded=times > 1, random_state=seed
        ).fit_resample(*original)
        for times in (1, TIMES)
    ]
    model: Any = GroupNeighborsClassifier if sample.within is None else GroupNeighborsRegressor
    groups = model(Condensation(segment="nearest", random_state=seed)).fit(*original, k=levels)
    return [_counted(sample, *rows) for rows in drawn], groups


def _dynamic(
    sample: Sample, original: Rows, levels: IntArray, seed: int, method: Method
) -> tuple[list[Rows], Any]:
    """Condense a stream for each class; a number goes along as another column."""
    split: Literal["safe", "paper"] = "safe" if method == "dynamic" else "paper"
    values, target = original
    if sample.within is not None:
        stream = _stream(np.column_stack([values, target]), levels, seed, split)
        drawn = [stream.sample(times * len(values)) for times in (1, TIMES)]
        rows = [_counted(sample, one[:, :-1], one[:, -1]) for one in drawn]
        return rows, GroupNeighborsRegressor().fit_groups(stream)
    each = {int(label): np.flatnonzero(target == label) for label in np.unique(target)}
    streams = {label: _stream(values[some], levels[some], seed, split) for label, some in each.items()}
    rows = [
        (
            np.concatenate([streams[label].sample(times * some.size) for label, some in each.items()]),
            np.repeat(list(each), [times * some.size for some in each.values()]),
        )
        for times in (1, TIMES)
    ]
    return rows, GroupNeighborsClassifier().fit_groups(streams)


def _stream(
    values: FloatArray, levels: IntArray, seed: int, split: Literal["safe", "paper"]
) -> StreamCondensation:
    first = min(max(int(levels.max()), round(_FIRST_SHARE * len(values))), len(values))
    stream = StreamCondensation(init_number=first, segment="nearest", split=split, random_state=seed)
    return stream.fit(values, k=levels)


def _counted(sample: Sample, values: Any, target: Any) -> Rows:
    """Return rows whose target is a whole number where it is counted."""
    return values, np.rint(target) if sample.counts else target


def _joined(sample: Sample, part: Rows) -> FloatArray:
    """Return the columns whose covariances are compared: a number that is the target is one of them."""
    return np.asarray(part[0] if sample.within is None else np.column_stack(part))
