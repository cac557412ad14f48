"""A decision tree from 1M × 9 noisy values, by each strategy, and naive Bayes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from measuring import fresh
from rows import Row, within

ROWS, FUNCTION, PRIVACY = 1_000_000, "P2", 1.0
STRATEGIES = ("global", "by_class", "local")
LIMIT = 20.0


def run() -> list[Row]:
    """Time the fit of each strategy in a process of its own; and the accuracy on true rows beside it."""
    rows = []
    for strategy in STRATEGIES:
        found = fresh("noisy_tree", "fitted", strategy)
        note = f"{found['leaves']} leaves, {found['accuracy']:.1%} of 5,000 true rows classified correctly"
        rows.append(within(f"tree, {strategy}: 1M × 9, CPU", found["seconds"], LIMIT, "s", note=note))
    found = fresh("noisy_tree", "fitted", "naive_bayes")
    note = f"{found['accuracy']:.1%} of 5,000 true rows classified correctly"
    return [*rows, Row("naive Bayes: 1M × 9, CPU", found["seconds"], "s", note=note)]


def fitted(what: str) -> dict[str, Any]:
    """Time one fit after warming up on few rows; uniform noise on all nine columns."""
    from discreet.mine import ReconstructedNaiveBayes, ReconstructedTree

    channels = _channels()
    noisy, labels = _noisy(ROWS, channels)

    def model() -> Any:
        if what == "naive_bayes":
            return ReconstructedNaiveBayes(channels)
        return ReconstructedTree(channels, strategy=what)  # type: ignore[arg-type]

    model().fit(noisy[:5_000], labels[:5_000])
    taken = []
    for _ in range(2):
        began = time.process_time()
        learned = model().fit(noisy, labels)
        taken.append(time.process_time() - began)
    accuracy = float(learned.score(*_people(5_000, 2)))
    return {"seconds": min(taken), "leaves": getattr(learned, "n_leaves_", 0), "accuracy": accuracy}


def _channels() -> list[Any]:
    from discreet.collect import AdditiveNoise, Uniform
    from discreet.datasets.agrawal import RANGES

    return [
        AdditiveNoise(Uniform.for_privacy(PRIVACY, low=low, high=high), low=low, high=high)
        for low, high in RANGES.values()
    ]


def _people(n: int, seed: int) -> tuple[Any, Any]:
    from discreet.datasets.agrawal import RANGES, agrawal

    people = agrawal(FUNCTION, n=n, random_state=seed)
    return np.column_stack([people[name].to_numpy() for name in RANGES]), people["class"].to_numpy()


def _noisy(n: int, channels: list[Any]) -> tuple[Any, Any]:
    rows, labels = _people(n, 1)
    rng = np.random.default_rng(3)
    noisy = [
        channel.perturb(column, random_state=rng) for channel, column in zip(channels, rows.T, strict=True)
    ]
    return np.column_stack(noisy), labels
