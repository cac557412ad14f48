"""Distort, mine, compare: one setting of p and q on one set of baskets, for several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from discreet.collect import EMask
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.measure import ItemsetError, itemset_error, itemset_error_by_length, reinterrogated_privacy
from discreet.mine import FoundItemsets, Itemsets, MaskedItemsets
from experiments.timing import fastest


@dataclass(frozen=True)
class Truth:
    """True baskets, what is frequent in them, and how long it took to find out, the faster way."""

    name: str
    baskets: Baskets
    min_support: float
    found: FoundItemsets
    counts: dict[tuple[int, ...], float]
    seconds: float

    @property
    def support(self) -> float:
        """The average support of an item."""
        return float(self.baskets.counts.mean() / len(self.baskets))


@dataclass(frozen=True)
class Runs:
    """What one p and q came to: a figure for each seed, and the errors by length."""

    channel: EMask
    basic_privacy: float
    exact_basic_privacy: float
    slowdown: float
    privacy: list[float] = field(default_factory=list)
    errors: list[ItemsetError] = field(default_factory=list)
    levels: list[dict[int, ItemsetError]] = field(default_factory=list)

    def of(self, name: str) -> list[float]:
        """Return one figure of the errors for every seed."""
        return [float(getattr(error, name)) for error in self.errors]

    def at(self, length: int, name: str) -> list[float]:
        """Return one figure of the errors at one length, for every seed that has it."""
        return [float(getattr(level[length], name)) for level in self.levels if length in level]

    def variance(self, name: str) -> list[float]:
        """Return the variance of a figure over the lengths, for every seed."""
        several = ([float(getattr(one, name)) for one in level.values()] for level in self.levels)
        finite = ([value for value in values if np.isfinite(value)] for values in several)
        return [float(np.var(values)) for values in finite if values]

    def weighted(self, name: str) -> list[tuple[float, float]]:
        """Return mean and variance of a figure over the lengths, as the paper weights them, for every seed."""
        return [weighted_over_lengths(level, name) for level in self.levels]


def weighted_over_lengths(levels: Mapping[int, Any], name: str) -> tuple[float, float]:
    """Return mean and variance over the lengths, each weighted by its true frequent itemsets.

    The error of supports counts as 0 where no set was found, as the paper prints it.
    """
    weights = np.array([level.n_true for level in levels.values()], np.float64)
    values = np.nan_to_num([float(getattr(level, name)) for level in levels.values()], nan=0.0)
    mean = float(np.average(values, weights=weights))
    return mean, float(np.average((values - mean) ** 2, weights=weights))


def truth_of(name: str, baskets: Baskets, min_support: float) -> Truth:
    """Mine the true baskets, from their bit columns, by plain mining and by the estimator with p = q = 1."""
    bits = baskets.bits()
    found, plainly = fastest(lambda: Itemsets(min_support).mine(bits))
    _, estimated = fastest(lambda: MaskedItemsets(EMask(1, 1), min_support).mine(bits))
    return Truth(name, baskets, min_support, found, supports(found), min(plainly, estimated))


def runs_of(truth: Truth, p: float, q: float, seeds: Sequence[int]) -> Runs:
    """Distort the baskets with every seed, mine them, and measure."""
    channel = EMask(p, q)
    privacy, errors, levels, seconds = [], [], [], []
    basic = channel.average_basic_privacy(truth.baskets)
    frequent = itemsets(truth.found)
    for seed in seeds:
        distorted = channel.perturb(truth.baskets, random_state=seed, as_bits=True)
        found, took = fastest(partial(mined, channel, truth, distorted))
        estimated = supports(found)
        seconds.append(took)
        errors.append(itemset_error(truth.counts, estimated))
        levels.append(itemset_error_by_length(truth.counts, estimated))
        privacy.append(reinterrogated_privacy(truth.baskets, distorted, frequent, basic=basic))
    return Runs(
        channel=channel,
        basic_privacy=basic,
        exact_basic_privacy=channel.basic_privacy(truth.baskets),
        slowdown=min(seconds) / truth.seconds,
        privacy=privacy,
        errors=errors,
        levels=levels,
    )


def mined(channel: EMask, truth: Truth, distorted: Baskets | ItemBits, *, margin: float = 0.0) -> Any:
    """Mine distorted baskets."""
    return MaskedItemsets(channel, truth.min_support, margin=margin).mine(distorted)


def itemsets(found: FoundItemsets) -> list[Any]:
    """Return the found sets as arrays of codes."""
    return np.split(found.codes, found.indptr[1:-1])


def supports(found: Any) -> dict[tuple[int, ...], float]:
    """Return the support of every found set, by its codes."""
    keys = (tuple(one.tolist()) for one in itemsets(found))
    return dict(zip(keys, found.supports.tolist(), strict=True))
