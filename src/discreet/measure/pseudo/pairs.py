"""Pairs of columns: how far their joint counts in drawn rows are from those of the original."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.measure.pseudo.fidelity import side_by_side

_PARTS = 20
"""Into how many parts of equally many rows of the original numbers and dates are cut."""


@public
@dataclass(frozen=True)
class PairFidelity:
    """How far the joint distributions of two columns are from the original's; 0 is equal, 1 disjoint.

    Attributes
    ----------
    mean, largest
        Half the summed difference of the shares of all combinations, over the pairs of columns. Numbers and dates are
        cut into 20 parts of equally many rows of the original. NaN where there is one column only.
    by_chance
        The mean over the pairs between two halves of the original, drawn at random: what two samples of the same people
        differ by.
    worst
        The pair that came out worst.
    """

    mean: float
    largest: float
    by_chance: float
    worst: tuple[str, str] | None

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def pair_fidelity(release: Release) -> PairFidelity:
    """Compare the joint counts of all pairs of columns of released rows with those of the original.

    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.publish import Condensation
    >>> frame = pa.table({"a": ["x", "y"] * 20, "b": ["p", "q"] * 20})
    >>> fidelity = pair_fidelity(Condensation(1).release(Table(frame, {"a": quasi(), "b": quasi()})))
    >>> fidelity.mean, fidelity.largest
    (0.0, 0.0)
    """
    require("pair_fidelity", "release", release, InstanceOf((Release,), "a Release"))
    vectors, (n,) = side_by_side(release.original, release.table)
    names = [line.name for line in vectors.lines] + [book.name for book in vectors.books]
    cells = [_parts(places, n) for places in vectors.places.T]
    cells += [codes.astype(np.int64) for codes in vectors.codes.T]
    # A fixed seed, so that a release always has the same figures.
    halves = np.random.default_rng(0).permutation(n)
    first, second = halves[: n // 2], halves[n // 2 :]
    apart: dict[tuple[str, str], float] = {}
    by_chance = []
    for one, two in combinations(range(len(names)), 2):
        joint = cells[one] * (cells[two].max() + 1) + cells[two]
        apart[names[one], names[two]] = _distance(joint[:n], joint[n:])
        by_chance.append(_distance(joint[first], joint[second]))
    if not apart:
        return PairFidelity(float("nan"), float("nan"), float("nan"), None)
    worst = max(apart, key=lambda pair: apart[pair])
    distances = list(apart.values())
    return PairFidelity(float(np.mean(distances)), apart[worst], float(np.mean(by_chance)), worst)


def _parts(places: FloatArray, n: int) -> IntArray:
    """Return the part of every number; null is a part of its own."""
    numbers = places[:n][~np.isnan(places[:n])]
    ends = np.unique(np.quantile(numbers, np.arange(1, _PARTS) / _PARTS)) if numbers.size else np.empty(0)
    return np.where(np.isnan(places), len(ends) + 1, np.searchsorted(ends, places, side="right"))


def _distance(first: IntArray, second: IntArray) -> float:
    """Return half the summed difference of the shares of two columns of codes."""
    if not first.size or not second.size:
        return float("nan")
    _, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    n_codes = int(places.max()) + 1
    shares = [
        np.bincount(part, minlength=n_codes) / part.size
        for part in (places[: first.size], places[first.size :])
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)
