"""Risk of baskets: the probability of re-identification by a few known items, and of a link to a sensitive one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.boundary import public
from discreet.core.errors import InputError, InternalError
from discreet.core.params import FloatIn, InstanceOf, IntIn, OneOf, require
from discreet.core.release import Release
from discreet.core.rng import RandomState, generator
from discreet.kernels import ragged

_AFFORDABLE = 3e7
"""The sets of known items up to which more than two are counted out."""

Interval = tuple[float, float]


@public
@dataclass(frozen=True)
class Reidentification:
    """How likely a basket is found again by r of its items.

    Attributes
    ----------
    probability
        The mean of 1/(baskets that hold the known items).
    unique
        The share for which there is only one such basket.
    exact
        Whether all sets of r items were looked at; otherwise ``n_samples`` were drawn.
    probability_interval, unique_interval
        Confidence intervals; both ends are the figure itself where it is exact.
    n_baskets
        The baskets with at least r items; each is as likely to be the one looked for, and so is each set of its items.
    """

    r: int
    probability: float
    unique: float
    exact: bool
    probability_interval: Interval
    unique_interval: Interval
    n_baskets: int
    n_samples: int

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
@dataclass(frozen=True)
class SensitiveTie:
    """How surely a basket that was found is tied to a sensitive item it holds.

    ``before`` is the certainty with the original baskets: they show their items. ``highest`` and ``mean`` are those of
    the release, over all occurrences of sensitive items: the share of an item in its group, or more where baskets that
    are published empty stand out in the group. Reasoning about how the groups were formed may add to them.
    """

    before: float
    highest: float
    mean: float


@public
@dataclass(frozen=True)
class BasketRisk:
    """The risk of baskets before and after a release, for several numbers of known items."""

    before: tuple[Reidentification, ...]
    after: tuple[Reidentification, ...]
    tie: SensitiveTie | None

    def up_to(self, known: int) -> BasketRisk:
        """Return the risk for at most this number of known items."""
        before, after = (
            tuple(risk for risk in risks if risk.r <= known) for risks in (self.before, self.after)
        )
        return BasketRisk(before, after, self.tie)

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def reidentification(
    subject: Baskets | GroupedBaskets | Release,
    r: int,
    *,
    method: Literal["auto", "exact", "sampled"] = "auto",
    n_samples: int = 20_000,
    confidence: float = 0.95,
    random_state: RandomState = None,
) -> Reidentification:
    """Measure the probability that a basket is re-identified by somebody who knows r of its items.

    The basket is drawn evenly among those with at least r items, and so are the items known of it. Of a release the
    published items are meant: those of its baskets, ordinary or generalized.

    Parameters
    ----------
    subject
        Baskets, published baskets or a release of baskets.
    r
        How many items are known.
    method
        ``"exact"`` counts all sets of r items out, ``"sampled"`` draws some; ``"auto"`` is exact for r up to 2, and
        beyond where the sets are few.
    n_samples
        How many sets are drawn.
    confidence
        The confidence of the intervals of sampled figures.
    random_state
        Seeds what is drawn.

    Examples
    --------
    >>> bought = Baskets.from_lists([["wine", "meat"], ["wine", "meat"], ["wine", "fish"]])
    >>> found = reidentification(bought, 1)
    >>> round(found.probability, 3), round(found.unique, 3)
    (0.5, 0.167)
    """
    owner = "reidentification"
    kinds = InstanceOf((Baskets, GroupedBaskets, Release), "baskets or a release of them")
    require(owner, "subject", subject, kinds)
    require(owner, "r", r, IntIn(1))
    require(owner, "method", method, OneOf(("auto", "exact", "sampled")))
    require(owner, "n_samples", n_samples, IntIn(2))
    require(owner, "confidence", confidence, FloatIn(0, 1, closed="neither"))
    rng = generator(random_state, owner=owner)
    baskets = (subject.data if isinstance(subject, Release) else subject).ordinary
    eligible = np.flatnonzero(baskets.lengths >= r)
    if eligible.size == 0:
        raise InputError(f"No basket holds {r} or more items, so nobody can know that many.")
    n_sets = sum(int(many) * math.comb(n, r) for n, many in enumerate(np.bincount(baskets.lengths[eligible])))
    if method == "exact" or (method == "auto" and (r <= 2 or n_sets <= _AFFORDABLE)):
        return _exact(baskets, r, eligible)
    return _sampled(baskets, r, eligible, n_samples, confidence, rng)


@public
def basket_risk(
    release: Release,
    *,
    known: Iterable[int] = (1, 2, 3, 4),
    n_samples: int = 20_000,
    random_state: RandomState = None,
) -> BasketRisk:
    """Measure the risk before and after; numbers of known items that no basket reaches are left out."""
    require("basket_risk", "release", release, InstanceOf((Release,), "a Release"))
    rng = generator(random_state, owner="basket_risk")
    numbers = list(known)
    risks: list[tuple[Reidentification, ...]] = []
    for data in (release.original, release.data):
        baskets = data.ordinary
        longest = int(baskets.lengths.max(initial=0))
        risks.append(
            tuple(
                reidentification(baskets, r, n_samples=n_samples, random_state=rng)
                for r in numbers
                if r <= longest
            )
        )
    return BasketRisk(risks[0], risks[1], sensitive_tie(release.data))


@public
def sensitive_tie(data: GroupedBaskets | Baskets) -> SensitiveTie | None:
    """Measure how surely found baskets are tied to sensitive items; None where none are published as counts."""
    if not isinstance(data, GroupedBaskets) or data.sensitive.counts.size == 0:
        return None
    groups = data.groups()
    items, sizes = groups.items, groups.effective_sizes
    if items is None or sizes is None:
        raise InternalError("Groups of baskets without their sensitive items.")
    share = items.counts / sizes[items.group]
    return SensitiveTie(1.0, float(share.max()), float((share * items.counts).sum() / items.counts.sum()))


def _exact(baskets: Baskets, r: int, eligible: IntArray) -> Reidentification:
    from discreet.kernels.itemsets.combinations import laid_out
    from discreet.kernels.itemsets.known_items import match_sums

    layout = laid_out(baskets.indptr, baskets.items, np.arange(baskets.n_items, dtype=np.int32))
    inverse, alone = match_sums(layout, r)
    n_sets = np.array([math.comb(int(n), r) for n in baskets.lengths[eligible]], np.float64)
    probability = float((inverse[eligible] / n_sets).mean())
    unique = float((alone[eligible] / n_sets).mean())
    return Reidentification(
        int(r),
        probability,
        unique,
        exact=True,
        probability_interval=(probability, probability),
        unique_interval=(unique, unique),
        n_baskets=eligible.size,
        n_samples=0,
    )


def _sampled(
    baskets: Baskets, r: int, eligible: IntArray, n_samples: int, confidence: float, rng: np.random.Generator
) -> Reidentification:
    from discreet.kernels.itemsets.known_items import matches_of

    items = drawn_sets(baskets, r, rng.choice(eligible, n_samples), rng)
    order = np.argsort(baskets.items, kind="stable")
    starts = ragged.bounds(baskets.counts)
    matches = matches_of(items, starts, baskets.rows()[order])
    inverse = 1 / matches
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return Reidentification(
        int(r),
        float(inverse.mean()),
        float((matches == 1).mean()),
        exact=False,
        probability_interval=_normal(inverse, z),
        unique_interval=_wilson(float((matches == 1).mean()), n_samples, z),
        n_baskets=eligible.size,
        n_samples=int(n_samples),
    )


def drawn_sets(baskets: Baskets, r: int, chosen: IntArray, rng: np.random.Generator) -> CodeArray:
    """Draw r different items of each basket, evenly (Floyd's way)."""
    lengths, starts = baskets.lengths[chosen], baskets.indptr[:-1][chosen]
    places = np.empty((chosen.size, r), np.int64)
    for step in range(r):
        last = lengths - r + step
        drawn = rng.integers(0, last + 1)
        repeated = (places[:, :step] == drawn[:, None]).any(axis=1)
        # A place that was drawn before gives way to the last one, which could not be drawn before.
        places[:, step] = np.where(repeated, last, drawn)
    items: CodeArray = baskets.items[starts[:, None] + places]
    return items


def _normal(values: FloatArray, z: float) -> Interval:
    off = z * float(values.std(ddof=1)) / math.sqrt(values.size)
    return max(float(values.mean()) - off, 0.0), min(float(values.mean()) + off, 1.0)


def _wilson(share: float, n: int, z: float) -> Interval:
    """Return the interval of a share that also holds near 0 and 1."""
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    off = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(center - off, 0.0), min(center + off, 1.0)
