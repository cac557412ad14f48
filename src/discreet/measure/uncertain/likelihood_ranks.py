"""Likelihood ranks: how many original records explain a published distribution as well as its own (Aggarwal 2008)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, require
from discreet.core.records.uncertain_points import UncertainPoints
from discreet.core.release import Release
from discreet.core.tables.table import Table

_WORK, _PART = 2e9, 256
_LARGEST_CLASS = 3_000
"""The most records of one spread that are matched jointly: the work grows with the cube of their number."""


@public
@dataclass(frozen=True)
class LikelihoodRanks:
    """At which rank an attacker with all original records finds the true one behind a published record.

    A rank counts the records that fit at least as well as the true one, itself included. Figures that begin with
    ``same_spread`` are those of an attacker who also knows the method, and ranks only the records with the published
    spread and label.

    Attributes
    ----------
    n_looked_at
        The number of published records that were attacked.
    mean, median, first
        The mean and the median rank, and the share of records whose true one comes first, alone.
    same_spread_mean, same_spread_median, same_spread_first
        The same among the records of the published spread.
    """

    n_looked_at: int
    mean: float
    median: float
    first: float
    same_spread_mean: float
    same_spread_median: float
    same_spread_first: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def likelihood_ranks(release: Release, original: Table | None = None) -> LikelihoodRanks:
    """Attack a release of uncertain records with all of the original's records.

    Parameters
    ----------
    release
        The release, with its evidence: which record is which is not published.
    original
        The records that came in; by default those that the release remembers. Of very many, some published records
        are attacked, evenly spread.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.publish import UncertainRecords
    >>> points = np.random.default_rng(0).normal(size=(100, 2))
    >>> table = Table(pa.table({"x": points[:, 0], "y": points[:, 1]}), {"x": quasi(), "y": quasi()})
    >>> paper = likelihood_ranks(UncertainRecords(5, attacker="naive", random_state=0).release(table))
    >>> round(paper.mean), paper.same_spread_first  # 5 is the mean over many draws
    (6, 1.0)
    >>> likelihood_ranks(UncertainRecords(5, random_state=0).release(table)).same_spread_mean > 5
    True
    """
    published, points, classes = _sides(release, original)
    rows = _some(len(published), points.size)
    ranks, same = np.empty(rows.size), np.empty(rows.size)
    for part in np.array_split(np.arange(rows.size), -(-rows.size // _PART)):
        records = rows[part]
        fits = _fits(published, records, points)
        better = fits >= fits[np.arange(records.size), release.order[records], None]
        ranks[part] = better.sum(axis=1)
        same[part] = (better & (classes == classes[release.order[records], None])).sum(axis=1)
    figures = [(float(r.mean()), float(np.median(r)), float((r == 1).mean())) for r in (ranks, same)]
    return LikelihoodRanks(rows.size, *figures[0], *figures[1])


@public
def joint_matching(release: Release, original: Table | None = None) -> float:
    """Return the share of records found by the likeliest assignment of all records of a spread at once.

    Ranks are about one published record at a time. Whoever has all of them can use that each original record is behind
    exactly one. Classes of more than 3,000 records are left out, and NaN is returned where all are.
    """
    from scipy.optimize import linear_sum_assignment

    published, points, classes = _sides(release, original)
    right = looked_at = 0
    for number in np.unique(classes):
        records = np.flatnonzero(classes[release.order] == number)
        if records.size > _LARGEST_CLASS:
            continue
        candidates = np.sort(release.order[records])  # in no order that ties could be broken by
        # Finite, so that there always is an assignment.
        fits = np.maximum(_fits(published, records, points[candidates]), -1e12)
        _, chosen = linear_sum_assignment(-fits)
        right += int((candidates[chosen] == release.order[records]).sum())
        looked_at += records.size
    return right / looked_at if looked_at else float("nan")


def _sides(release: Release, original: Table | None) -> tuple[UncertainPoints, FloatArray, IntArray]:
    """Return what is published, the original points, and the number of each one's spread and label."""
    require("likelihood_ranks", "release", release, InstanceOf((Release,), "a Release"))
    table = release.original if original is None else original
    require("likelihood_ranks", "original", table, InstanceOf((Table,), "a Table"))
    published = UncertainPoints.of(release)
    columns = table.source.columns(published.names)
    points = np.column_stack([np.asarray(columns[name].to_numpy(), np.float64) for name in published.names])
    if len(points) != len(published):
        raise InputError("The original must hold the records that were published, in the order they came in.")
    classes = np.empty(len(points), np.int64)
    classes[release.order] = published.classes
    return published, points, classes


def _fits(published: UncertainPoints, records: IntArray, points: FloatArray) -> FloatArray:
    """Return how well points explain published records: the log-likelihood, but for what all of a row share."""
    total = np.zeros((records.size, len(points)))
    for column in range(points.shape[1]):
        away = published.centers[records, column, None] - points[:, column]
        away /= published.spreads[records, column, None]
        if published.spread == "gaussian":
            total -= np.square(away, out=away) / 2
        else:
            total[np.abs(away) > 0.5 + 1e-3] = -np.inf  # centers are rounded to a thousandth of the spread
    return total


def _some(n: int, size: int) -> IntArray:
    """Choose records to attack, evenly spread, so that it takes a moment only."""
    most = int(np.clip(_WORK / max(size, 1), 200, 10_000))
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
