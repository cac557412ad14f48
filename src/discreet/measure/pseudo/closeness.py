"""Closeness: two attacks on pseudo-data, copies of records and membership inference."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.core.tables.table import Table
from discreet.measure.pseudo.fidelity import side_by_side

_MOST, _FEWEST, _WORK = 10_000, 200, 2e10
"""How many rows are looked at: as many as take a moment only, evenly spread over the table."""


@public
@dataclass(frozen=True)
class Closeness:
    """How near pseudo-records come to records, beside how near records come to one another.

    Attributes
    ----------
    distance
        The median distance of a pseudo-record to the closest record, in standardized columns.
    spacing
        The median distance of a record to the closest other record.
    ratio
        The first as a share of the second: about 1 where pseudo-records keep the distance that people keep, near 0
        where they are copies.
    nearer
        The share of pseudo-records that are nearer to a record than all but a twentieth of the records do; 0.05 is what
        the original has itself.
    copies
        The share of pseudo-records that are exactly a record.
    """

    n_looked_at: int
    distance: float
    spacing: float
    ratio: float
    nearer: float
    copies: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
@dataclass(frozen=True)
class Membership:
    """How well an attacker recognizes members by the distance to the closest pseudo-record.

    ``auc`` is the probability that a member is nearer to the pseudo-data than someone who is not one: 0.5 is a coin, 1
    recognizes all of them.
    """

    n_members: int
    n_others: int
    auc: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def closeness(release: Release) -> Closeness:
    """Measure how near the pseudo-records of a release come to the original's records."""
    require("closeness", "release", release, InstanceOf((Release,), "a Release"))
    return closeness_between(release.original, release.table)


@public
def closeness_between(original: Table, pseudo: Table) -> Closeness:
    """Measure how near one table's rows come to another's.

    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> one = Table(pa.table({"a": [1.0, 2.0, 4.0, 8.0]}), {"a": quasi()})
    >>> closeness_between(one, one).copies
    1.0
    """
    vectors, (n,) = side_by_side(original, pseudo)
    points = vectors.points(first=n)
    return closest_records(points[:n], points[n:])


@public
def closest_records(original: FloatArray, pseudo: FloatArray) -> Closeness:
    """Measure how near pseudo-points come to points."""
    from discreet.kernels.points.neighbors import nearest, spacing

    original, pseudo = np.asarray(original, np.float64), np.asarray(pseudo, np.float64)
    chosen = pseudo[_spread_out(len(pseudo), original)]
    _, apart = nearest(original, chosen)
    spacings = spacing(original, _spread_out(len(original), original))
    middle, usual = float(np.median(apart)), float(np.median(spacings))
    return Closeness(
        n_looked_at=len(chosen),
        distance=middle,
        spacing=usual,
        ratio=middle / usual if 0 < usual < np.inf else float("nan"),
        nearer=float(np.mean(apart < np.quantile(spacings, 0.05, method="lower"))),
        copies=float(np.mean(apart == 0)),
    )


@public
def membership(members: Table, others: Table, pseudo: Table) -> Membership:
    """Attack a release: recognize its members by the nearest pseudo-record.

    Parameters
    ----------
    members
        People whose records the pseudo-data was drawn from.
    others
        People of the same kind whose records it was not drawn from: a holdout, set aside before the release.
    pseudo
        The released table.
    """
    for name, table in (("members", members), ("others", others), ("pseudo", pseudo)):
        require("membership", name, table, InstanceOf((Table,), "a Table"))
    vectors, (start, stop) = side_by_side(pseudo, members, others)
    points = vectors.points(first=start)
    return membership_of_points(points[start:stop], points[stop:], points[:start])


@public
def membership_of_points(members: FloatArray, others: FloatArray, pseudo: FloatArray) -> Membership:
    """Attack pseudo-points: recognize members by the distance to the nearest pseudo-point.

    >>> import numpy as np
    >>> points = np.random.default_rng(0).normal(size=(60, 2))
    >>> membership_of_points(points[:30], points[30:], points[:30]).auc
    1.0
    """
    from discreet.kernels.points.neighbors import nearest

    members, others, pseudo = (np.asarray(points, np.float64) for points in (members, others, pseudo))
    inside = nearest(pseudo, members[_spread_out(len(members), pseudo)])[1]
    outside = nearest(pseudo, others[_spread_out(len(others), pseudo)])[1]
    # The area under the curve by ranks (Mann and Whitney): the pairs in which the member is nearer, ties by
    # half.
    ordered = np.sort(outside)
    nearer = ordered.size - np.searchsorted(ordered, inside, side="right")
    tied = ordered.size - np.searchsorted(ordered, inside, side="left") - nearer
    auc = float((nearer + tied / 2).sum() / (inside.size * outside.size))
    return Membership(inside.size, outside.size, auc)


def _spread_out(n: int, among: FloatArray) -> IntArray:
    """Choose rows to look at, evenly spread, so that the search takes a moment only."""
    most = int(np.clip(_WORK / max(among.size, 1), _FEWEST, _MOST))
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
