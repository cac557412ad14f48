"""Publish baskets by every method and run random group-by queries, for the experiment on CAHD."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.release import Release
from discreet.measure import mean_kl_cells
from discreet.publish import Anatomy, Cahd, PermMondrian
from discreet.publish.baskets.grouping import SplitBaskets, split_baskets
from experiments.data_sets import click_stream
from experiments.timing import fastest

CAHD, PERM, ANATOMY = "CAHD", "PermMondrian", "Anatomy"
UNCUT = "PermMondrian, no shortcuts"
LEXICOGRAPHIC, RANDOMIZED = "CAHD, lexicographic", "CAHD, randomized groups"
_QUERIES = {False: 100, True: 25}
HIGHEST = 20
"""The highest degree in the experiment; sensitive items are drawn among those that allow it."""
_SHAPES = {"BMS-WebView-1": "T2.5.I2.D60K.N497.L300", "BMS-WebView-2": "T4.6.I3.D78K.N3340.L1000"}
"""What is generated in the place of a click stream."""
_DRAW = 1
_REPEATS = 3


@dataclass(frozen=True, eq=False)
class Sample:
    """Baskets to experiment on; ``name`` is the paper's set, ``stands_in`` the generated one in its place, if any."""

    name: str
    baskets: Baskets
    n_queries: int
    stands_in: str | None = None

    @property
    def title(self) -> str:
        """What the set is called on the page."""
        return self.name if self.stands_in is None else f"generated, like {self.name}"


@dataclass(frozen=True)
class Point:
    """The mean KL of one method at one setting, for each seed."""

    method: str
    p: int
    m: int
    r: int
    kl: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return float(np.mean(self.kl))

    def above(self, other: Point) -> list[float]:
        """Return how much higher than another method's its KL is, for each seed."""
        return [one - less for one, less in zip(self.kl, other.kl, strict=True)]


def samples(data: Path | None, *, quick: bool) -> list[Sample]:
    """Read the click streams, or generate sets of their shape where they are absent."""
    from discreet.datasets import quest

    found = []
    for name, shape in _SHAPES.items():
        baskets = click_stream(data, name)
        if baskets is not None:
            found.append(Sample(name, baskets, _QUERIES[quick]))
        else:
            made = re.sub(r"D\d+K", "D4K", shape) if quick else shape
            found.append(Sample(name, quest(made, random_state=_DRAW), _QUERIES[quick], made))
    return found


def sensitive_of(baskets: Baskets, m: int, seed: int) -> list[Any]:
    """Draw sensitive items among all that occur and allow the highest degree, without the baskets they leave empty."""
    allowed = np.flatnonzero((baskets.counts > 0) & (baskets.counts * HIGHEST <= len(baskets)))
    rng, is_sensitive = np.random.default_rng(seed), np.zeros(baskets.n_items, np.bool_)
    while True:
        chosen = rng.choice(allowed, m, replace=False)
        is_sensitive[:] = False
        is_sensitive[chosen] = True
        published = baskets.take(np.flatnonzero(baskets.keep(~is_sensitive).lengths))
        if published.counts[chosen].max() * HIGHEST <= len(published):
            return [baskets.names[int(code)].as_py() for code in chosen]


def publisher(method: str, p: int, sensitive: Sequence[Any], seed: int, *, alpha: int = 3) -> Any:
    """Make the publisher of a method."""
    if method == PERM:
        return PermMondrian(p, sensitive=sensitive, random_state=seed)
    if method == ANATOMY:
        return Anatomy(p, sensitive=sensitive, random_state=seed)
    order: Any = "lexicographic" if method == LEXICOGRAPHIC else "rcm"
    return Cahd(
        p,
        sensitive=sensitive,
        alpha=alpha,
        order=order,
        randomize_groups=method == RANDOMIZED,
        random_state=seed,
    )


@lru_cache(maxsize=24)
def released(sample: Sample, method: str, p: int, m: int, seed: int, alpha: int = 3) -> Release:
    """Publish a sample; the last few releases are kept."""
    made = publisher(method, p, sensitive_of(sample.baskets, m, seed), seed, alpha=alpha)
    release: Release = made.release(sample.baskets)
    return release


def point(
    sample: Sample, method: str, seeds: Sequence[int], *, p: int, m: int, r: int, alpha: int = 3
) -> Point:
    """Run the same random queries on a method's releases, for every seed."""
    errors = (
        mean_kl_cells(
            released(sample, method, p, m, seed, alpha), r=r, n_queries=sample.n_queries, random_state=seed
        ).mean
        for seed in seeds
    )
    return Point(method, p, m, r, tuple(errors))


def guessed(sample: Sample, method: str, seeds: Sequence[int], *, p: int, m: int) -> float:
    """Return the share of groups whose holder is found at the place, in the groups' order, where most holders stand.

    Counted are groups of p baskets with one sensitive basket.
    """
    stand = np.zeros(p, np.int64)
    for seed in seeds:
        made = publisher(method, p, sensitive_of(sample.baskets, m, seed), seed)
        parts = split_baskets(made, sample.baskets)
        order = made.ordered(parts.ordinary)
        group = made.groups(parts, np.random.default_rng(seed))[0][order]
        sizes = np.bincount(group)
        places = np.argsort(group, kind="stable")[np.repeat(sizes == p, sizes)].reshape(-1, p)
        holds = (parts.held.lengths[order] > 0)[places]
        stand += holds[holds.sum(axis=1) == 1].sum(axis=0)
    return float(stand.max() / max(stand.sum(), 1))


def seconds(sample: Sample, p: int, m: int) -> dict[str, float]:
    """Return the processor seconds of the band order, of CAHD's groups and of PermMondrian's, ours and the paper's."""
    from discreet.kernels.baskets.cuthill_mckee import band_order
    from discreet.kernels.baskets.item_splits import item_splits

    perm = publisher(PERM, p, sensitive_of(sample.baskets, m, 1), 1)
    parts = split_baskets(perm, sample.baskets)
    return {
        "band order": _least(lambda: band_order(*parts.arrays[0])),
        CAHD: _grouping(parts, p=p, alpha=3),
        PERM: _least(lambda: perm.groups(parts)),
        UNCUT: _least(lambda: item_splits(*parts.arrays, p=p, shortcuts=False)),
    }


def grouping_seconds(sample: Sample, alpha: int, *, p: int, m: int) -> float:
    """Return the processor seconds of CAHD's groups, the band order not counted."""
    made = publisher(CAHD, p, sensitive_of(sample.baskets, m, 1), 1)
    return _grouping(split_baskets(made, sample.baskets), p=p, alpha=alpha)


def _grouping(parts: SplitBaskets, *, p: int, alpha: int) -> float:
    from discreet.kernels.baskets.cahd_groups import cahd_groups
    from discreet.kernels.baskets.cuthill_mckee import band_order

    order = band_order(*parts.arrays[0])
    return _least(lambda: cahd_groups(order, *parts.arrays, p=p, alpha=alpha))


def _least(work: Callable[[], object]) -> float:
    return fastest(work, times=_REPEATS)[1]
