"""k-means over rows that are split between parties: secure sums of the sums and sizes of clusters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import Placed, own_columns, require_ranges
from discreet.parties.mining.models.horizontal import NumbersProtocol
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.seeds import draw_seeds, seed_lengths
from discreet.parties.mining.models.totals import WIDE, TotalFrames, Totals
from discreet.parties.protocol import Facts, Party
from discreet.parties.transcript import FrameShape

_WORDS = 5
"""The words of a sum, so that no number of rows makes it too large in the middle of a run."""


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalKMeans(NumbersProtocol):
    """k-means over the rows of all parties.

    In every round each party labels its own rows with the nearest center. The sums and sizes of the clusters are
    summed securely, and the new centers follow. A cluster that is empty, or has fewer than ``min_count`` rows, keeps
    its center, and its rows count for the nearest of the other clusters: left out, they would be the difference to a
    round in which they are not. But for that the centers equal those of Lloyd's algorithm on the pooled
    rows, rounded to multiples of 2^−``fraction_bits``, from the same seeds.

    The output has a fitted ``KMeans`` whose ``labels_`` are those of the party's own rows.

    Parameters
    ----------
    columns : tuple of str
        The columns of numbers.
    k : int
        The number of clusters.
    max_rounds : int
        The most rounds; with ``epsilon`` all of them are run, else it stops where no center moves.
    init : {"k-means++", "ranges", "given"}
        Seeds drawn by k-means++ from means of ``min_rows`` rows of one party each; drawn uniformly from the public
        ranges, which ``epsilon`` needs; or ``centers``.
    min_rows : int
        The rows of one party of which a seed by k-means++ is the mean, at least; not fewer than ``min_count``.
    centers : tuple of tuple of float
        The first centers, for ``init="given"``.
    ranges : mapping of str to pair of float
        The public range of every column; needed for ``init="ranges"`` and ``epsilon``, which clips values to it.
    fraction_bits : int
        The bits after the binary point of values; without ``epsilon``.
    epsilon, min_honest, threshold, min_count, two_parties_see_each_other
        As in every protocol of sums.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalKMeans(columns=("x",), k=2, init="given", centers=((0,), (10,)), min_count=2)
    >>> run = simulate(protocol, {"north": {"x": [1, 2]}, "south": {"x": [3, 11]}, "west": {"x": [9]}})
    >>> run.outputs["north"].model.cluster_centers_.tolist()
    [[2.0], [10.0]]
    """

    name: ClassVar[str] = "k-means"

    k: int
    max_rounds: int = 20
    init: str = "k-means++"
    min_rows: int = 5
    centers: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "k", self.k, IntIn(1, 10_000))
        require(self, "max_rounds", self.max_rounds, IntIn(1, 10_000))
        require(self, "init", self.init, OneOf(("k-means++", "ranges", "given")))
        require(self, "min_rows", self.min_rows, IntIn(1))
        require_ranges(self, self.ranges, self.columns, all_of=bool(self.epsilon) or self.init == "ranges")
        if self.epsilon and self.init == "k-means++":
            raise ParameterError(
                "With 'epsilon' seeds must not depend on rows: use init='ranges' or 'given'."
            )
        if self.init == "given" and not _are_centers(self.centers, (self.k, len(self.columns))):
            raise ParameterError(
                "The 'centers' parameter of HorizontalKMeans must have k rows of all columns, of finite numbers."
            )

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the model."""
        if self.epsilon:
            return ("Every party learns the noisy centers of all rounds.", *self._sum_leaks)
        seeds = (
            f"Every party learns the seeds, each the mean of at least {self._seed_rows} rows of one party.",
            (
                "Every party learns the number of candidates, the total of the squared distances to the seeds so "
                "far, and of 64 trials for each seed how many candidates were picked."
            ),
        )
        small = "" if self.holds_back else "; a cluster of one row shows it"
        return (
            f"Every party learns the centers and sizes of the clusters of all rounds{small}.",
            "Every party learns the number of rounds.",
            "A row that changes its cluster between two rounds shows in the differences of their sizes and sums.",
            *(seeds if self.init == "k-means++" else ()),
            *self._sum_leaks,
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run that took so many rounds and drew so many seeds."""
        facts = {"rounds": self.max_rounds, "seeds": self.k, **(revealed or {})}
        d, frames = len(self.columns), TotalFrames(names, self)
        if self.init == "k-means++":
            for length in seed_lengths(facts["seeds"], self.k, d):
                yield from frames.add(length)
        elif self.init == "ranges":
            yield from frames.add(4)
        for _ in range(facts["rounds"]):
            if self.holds_back:
                yield from frames.reached(self.k)
            yield from frames.add(_WORDS * self.k * (d + 1))
        if self.holds_back:
            yield from frames.reached(self.k)
        if not self.epsilon:
            yield from frames.add(WIDE)

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its rows."""
        self.check_parties(party.names)
        placed = self.read(data)
        totals = Totals(party, self)
        centers = self._seeds(party, totals, placed)
        n_rounds, moved = 0, True
        while moved and n_rounds < self.max_rounds:
            with party.step("round"):
                new = self._next(totals, placed, centers)
            n_rounds += 1
            moved = bool(self.epsilon) or not np.array_equal(new, centers)
            centers = new
        party.reveal("rounds", n_rounds)
        labels, inertia, n_small = self._inertia(totals, placed, centers)
        values = placed.values(centers)
        model = fitted.kmeans(values, self.columns, n_iter=n_rounds, inertia=inertia, labels=labels)
        return totals.fitted(model, self._cautions(n_small, moved=moved and not self.epsilon))

    def _cautions(self, n_small: int, *, moved: bool) -> list[str]:
        few = f"{n_small} of {self.k} clusters have no row or fewer than {self.min_count}, and kept their centers."
        still = "Centers still moved in the last round; agree on more rounds for those that Lloyd's algorithm ends at."
        return [*self.count_cautions(few if n_small else ""), *([still] if moved else [])]

    def read(self, data: Any) -> Placed:
        """Return the own values on a grid, in their ranges where noise is added."""
        return self.placed(own_columns(data, self.columns), self.columns, same_step=True)

    def _seeds(self, party: Party, totals: Totals, placed: Placed) -> NDArray[np.float64]:
        """Return the first centers on the grid."""
        if self.init == "given":
            given = np.array(self.centers, np.float64)
            return np.asarray((given - placed.middle) / placed.step)
        with party.step("seeds"):
            if self.init == "ranges":
                return _uniform(totals.coins(), self.k, self.columns, self.ranges, placed)
            drawn, n_drawn = draw_seeds(
                totals, placed.rows, k=self.k, min_rows=self._seed_rows, random_bytes=party.random
            )
        party.reveal("seeds", n_drawn)
        return drawn

    def _next(self, totals: Totals, placed: Placed, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the means of the clusters; a noisy one is kept within the ranges."""
        from discreet.kernels.parties.nearest_center import sums_by_center

        _, sums, counts = sums_by_center(placed.rows, centers)
        if self.holds_back:
            large = totals.reached(counts)
            if not large.any():
                raise InputError(f"No cluster has {self.min_count} rows; there is nothing to learn from.")
            # Every row is in a sum of every round: sums of some rows could be subtracted from those of all.
            sums[:], counts[:] = 0, 0
            _, sums[large], counts[large] = sums_by_center(placed.rows, centers[large])
        weight = sum(placed.limits) if self.epsilon else 1
        found = totals.add(
            [*sums.reshape(-1).tolist(), *(counts * weight).tolist()],
            words=_WORDS,
            share=Fraction(1, self.max_rounds),
            sensitivity=2 * weight,
            touched=len(self.columns) + 1,
        )
        total = np.array(found[: sums.size], np.float64).reshape(sums.shape)
        sizes = np.array(found[sums.size :], np.float64) / weight
        if not self.epsilon:
            return np.where(sizes[:, None] > 0, total / np.maximum(sizes, 1)[:, None], centers)
        means = total / np.maximum(sizes, 1)[:, None]
        limits = np.array(placed.limits, np.float64)
        return np.where(sizes[:, None] >= 1, np.clip(means, -limits, limits), centers)

    def _inertia(
        self, totals: Totals, placed: Placed, centers: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], float, int]:
        """Return the labels of the own rows, the squared distances of rows to centers, and how many clusters are small.

        Rows of small clusters are left out of the distances. With ε there are none.
        """
        from discreet.kernels.parties.nearest_center import sums_by_center

        labels, _, counts = sums_by_center(placed.rows, centers)
        if self.epsilon:
            return labels, float("nan"), 0
        large = totals.reached(counts) if self.holds_back else np.ones(self.k, np.bool_)
        gaps = (placed.rows - centers[labels])[large[labels]]
        [total] = totals.add([int(np.rint(np.einsum("ij,ij->", gaps, gaps)))], words=WIDE)
        return labels, total * float(placed.step[0]) ** 2, int((~large).sum())

    @property
    def _seed_rows(self) -> int:
        return max(self.min_rows, self.min_count if self.holds_back else 1)


def _are_centers(centers: Any, shape: tuple[int, int]) -> bool:
    """Whether centers are finite numbers of a shape."""
    try:
        values = np.array(centers)
    except ValueError:
        return False
    return values.shape == shape and values.dtype.kind in "iuf" and bool(np.isfinite(values).all())


def _uniform(
    coins: bytes, k: int, names: Sequence[str], ranges: Mapping[str, Any], placed: Placed
) -> NDArray[np.float64]:
    """Return centers that are uniform in the ranges, the same for all who hold the coins."""
    stream = hashlib.shake_256(b"seeds" + coins).digest(8 * k * len(names))
    shares = (np.frombuffer(stream, "<u8") >> np.uint64(11)).astype(np.float64).reshape(k, -1) / 2.0**53
    low, high = np.array([ranges[name] for name in names], np.float64).T
    return np.asarray((low + shares * (high - low) - placed.middle) / placed.step)
