"""What the randomization experiment computes: reconstructed shapes, accuracies of classifiers, losses as n grows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from discreet.collect import AdditiveNoise, Density, Gaussian, Histogram, Noise, NotConvergedWarning, Uniform
from discreet.core.arrays import FloatArray
from discreet.datasets.agrawal import RANGES, agrawal

NOISES: dict[str, type[Noise]] = {"uniform": Uniform, "Gaussian": Gaussian}
FUNCTIONS = {
    "P1": "Function 1",
    "P2": "Function 2",
    "P3": "Function 3",
    "P4": "Function 4",
    "P5": "Function 5",
}
STRATEGIES = {"global": "Global", "by_class": "ByClass", "local": "Local"}
ORIGINAL, RANDOMIZED = "Original", "Randomized"
BAYES_ORIGINAL, BAYES = "naive Bayes, original", "naive Bayes"
N_TEST = 5_000
_FINE = 800
_TEST_SEED = 1_000_000
"""Seeds of test records are far from those of training records."""


def _shape(height: Callable[[FloatArray], FloatArray]) -> Density:
    edges = np.linspace(0, 1, _FINE + 1)
    shares = height((edges[1:] + edges[:-1]) / 2)
    return Density(edges, shares / shares.sum())


SHAPES = {
    "plateau": _shape(lambda at: np.where((at >= 0.25) & (at <= 0.75), 1.0, 0.0)),
    "triangles": _shape(lambda at: 0.25 - np.abs((at % 0.5) - 0.25)),
}
"""True distributions on [0, 1]: even over the middle half; and two triangles side by side."""


@dataclass(frozen=True)
class Pictured:
    """One shape through one noise: the truth on the intervals, the noisy values, and what was reconstructed."""

    noise: str
    privacy: float
    truth: Density
    noisy: Histogram
    found: Density

    @property
    def noisy_loss(self) -> float:
        """Half the L1 distance of the noisy values from the truth."""
        seen = Density(self.noisy.edges, self.noisy.counts / self.noisy.n)
        return self.truth.distance(seen)


@dataclass
class Accuracies:
    """The accuracies of one function under one noise at one privacy: a figure for each seed."""

    function: str
    noise: str
    privacy: float
    of: dict[str, list[float]] = field(default_factory=dict)

    def add(self, what: str, accuracy: float) -> None:
        """Keep the accuracy of one seed."""
        self.of.setdefault(what, []).append(100 * accuracy)

    def mean(self, what: str) -> float:
        """Return the mean over the seeds."""
        return float(np.mean(self.of[what]))


@dataclass
class Losses:
    """The information losses of one method on one shape at one n: a figure for each seed."""

    shape: str
    noise: str
    intervals: int
    method: str
    n: int
    values: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)


def pictured(shape: str, noise: str, privacy: float, *, n: int, intervals: int, seed: int = 1) -> Pictured:
    """Draw values of a shape, hide them, and reconstruct."""
    channel = _channel(noise, privacy, 0.0, 1.0)
    rng = np.random.default_rng(seed)
    noisy = channel.perturb(SHAPES[shape].sample(n, random_state=rng), random_state=rng)
    found = _reconstructed(channel, noisy, intervals=intervals, method="em")
    return Pictured(
        noise, privacy, truth_on(shape, found.edges), Histogram.of(noisy, width=1 / intervals), found
    )


def truth_on(shape: str, edges: FloatArray) -> Density:
    """Return a shape's true shares of intervals."""
    return Density(edges, np.diff(SHAPES[shape].cdf(edges)))


def losses(
    shape: str, noise: str, privacy: float, *, n: int, intervals: Sequence[int], seeds: Sequence[int]
) -> list[Losses]:
    """Reconstruct by EM and by Bayes, on few and on many intervals, for every seed."""
    channel = _channel(noise, privacy, 0.0, 1.0)
    made = {(k, method): Losses(shape, noise, k, method, n) for k in intervals for method in ("bayes", "em")}
    for seed in seeds:
        rng = np.random.default_rng([seed, n])
        noisy = channel.perturb(SHAPES[shape].sample(n, random_state=rng), random_state=rng)
        for (k, method), kept in made.items():
            found = _reconstructed(channel, noisy, intervals=k, method=method)  # type: ignore[arg-type]
            kept.values.append(truth_on(shape, found.edges).distance(found))
            kept.steps.append(found.iterations)
    return list(made.values())


def accuracies(
    function: str, privacies: Sequence[float], *, n: int, seeds: Sequence[int], log: Callable[[str], None]
) -> list[Accuracies]:
    """Learn from original, randomized and reconstructed values of one function; test on true values."""
    made = [Accuracies(function, noise, privacy) for noise in NOISES for privacy in privacies]
    for seed in seeds:
        log(f"{FUNCTIONS[function]}, seed {seed}")
        rows, labels = _people(function, n, seed)
        test = _people(function, N_TEST, _TEST_SEED + seed)
        baselines = _baselines(rows, labels, test)
        for one in made:
            for what, accuracy in baselines.items():
                one.add(what, accuracy)
            _learn(one, rows, labels, test, seed)
    return made


def _learn(one: Accuracies, rows: FloatArray, labels: Any, test: tuple[FloatArray, Any], seed: int) -> None:
    from discreet.mine import ReconstructedNaiveBayes, ReconstructedTree

    channels = [_channel(one.noise, one.privacy, low, high) for low, high in RANGES.values()]
    rng = np.random.default_rng([seed, list(NOISES).index(one.noise), round(1000 * one.privacy)])
    noisy = np.column_stack([
        channel.perturb(column, random_state=rng) for channel, column in zip(channels, rows.T, strict=True)
    ])  # fmt: skip
    one.add(RANDOMIZED, ReconstructedTree().fit(noisy, labels).score(*test))
    for strategy, name in STRATEGIES.items():
        tree = ReconstructedTree(channels, strategy=strategy)  # type: ignore[arg-type]
        one.add(name, tree.fit(noisy, labels).score(*test))
    one.add(BAYES, ReconstructedNaiveBayes(channels).fit(noisy, labels).score(*test))


def _baselines(rows: FloatArray, labels: Any, test: tuple[FloatArray, Any]) -> dict[str, float]:
    from discreet.mine import ReconstructedNaiveBayes, ReconstructedTree

    models: dict[str, Any] = {ORIGINAL: ReconstructedTree(), BAYES_ORIGINAL: ReconstructedNaiveBayes()}
    return {what: float(model.fit(rows, labels).score(*test)) for what, model in models.items()}


def _people(function: str, n: int, seed: int) -> tuple[FloatArray, Any]:
    people = agrawal(function, n=n, random_state=seed)
    rows = np.column_stack([people[name].to_numpy().astype(np.float64) for name in RANGES])
    return rows, people["class"].to_numpy()


def _channel(noise: str, privacy: float, low: float, high: float) -> AdditiveNoise:
    return AdditiveNoise(NOISES[noise].for_privacy(privacy, low=low, high=high), low=low, high=high)


def _reconstructed(
    channel: AdditiveNoise, noisy: FloatArray, *, intervals: int, method: Literal["em", "bayes"]
) -> Density:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return channel.reconstruct(noisy, intervals=intervals, method=method)
