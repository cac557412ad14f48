"""k-means between parties: secure sums over rows; shares of distances and their minimum over columns.

The form over columns is that of Vaidya & Clifton (2003).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import Placed, own_columns, placed_in_ranges, require_ranges
from discreet.parties.mining.models.horizontal import WIDE, NumbersProtocol, TotalFrames, Totals
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.row_groups import RowGroups
from discreet.parties.mining.models.seeds import draw_seeds, seed_lengths
from discreet.parties.mining.models.vertical import (
    VerticalProtocol,
    agree_on_rows,
    broadcast_frames,
    row_frames,
)
from discreet.parties.protocol import Facts, Party, several_runs_leak
from discreet.parties.shares.pair import PairFrames, PairShares
from discreet.parties.transcript import FrameShape

_WORDS = 5
"""The words of a sum, so that no number of rows makes it too large in the middle of a run."""
CENTERS = "Centers and sizes of clusters"
CENTERS_SHOW_COUNTS = (
    "The center of a cluster and its size show how many of its rows have either value of a column of two values, "
    "however few."
)


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalKMeans(NumbersProtocol):
    """k-means over the rows of all parties.

    In every round each party labels its own rows with the nearest center. The sums and sizes of the clusters are
    summed securely, and the new centers follow. A cluster that is empty, or has fewer than ``min_count`` rows, keeps
    its center. Rows that were in the same clusters in all rounds, and in the same seed, are parted only where each part
    has ``min_count`` rows; the others count for the nearest cluster where they are enough. Otherwise the difference
    of two rounds would be the few rows that moved. But for that the centers equal those of Lloyd's algorithm on the
    pooled rows, rounded to multiples of 2^−``fraction_bits``, from the same seeds.

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
        moved = (
            "Rows that change their cluster between two rounds show in the differences of sizes and sums; they are "
            f"{self.min_count} or more of all parties together, also in the difference to a seed."
            if self.holds_back
            else "A row that changes its cluster between two rounds shows in the differences of their sizes and sums."
        )
        return (
            f"Every party learns the centers and sizes of the clusters of all rounds{small}.",
            "Every party learns the number of rounds.",
            moved,
            CENTERS_SHOW_COUNTS,
            *(seeds if self.init == "k-means++" else ()),
            *self._sum_leaks,
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run, by its rounds and by the seeds that were drawn."""
        facts: dict[str, Any] = {"rounds": self.max_rounds, "seeds": self.k, **(revealed or {})}
        n_groups = facts.get("groups", [1] * facts["rounds"])
        d, frames = len(self.columns), TotalFrames(names, self)
        if self.init == "k-means++":
            for length in seed_lengths(facts["seeds"], self.k, d):
                yield from frames.add(length)
        elif self.init == "ranges":
            yield from frames.add(4)
        if self.holds_back and self.init == "k-means++":
            yield from frames.reached(1)
        for n in n_groups:
            if self.holds_back:
                yield from frames.reached(n * self.k)
            yield from frames.add(_WORDS * self.k * (d + 1))
        if self.holds_back:
            yield from frames.reached(self.k)
        if not self.epsilon:
            yield from frames.add(WIDE)

    def _run(self, party: Party, placed: Placed) -> Fitted:
        totals = Totals(party, self)
        centers, groups = self._seeds(party, totals, placed)
        n_groups: list[int] = []
        moved, n_elsewhere = True, 0
        while moved and len(n_groups) < self.max_rounds:
            n_groups.append(len(groups.clusters))
            with party.step("round"):
                new, groups, n_elsewhere = self._next(totals, placed, centers, groups)
            moved = bool(self.epsilon) or not np.array_equal(new, centers)
            centers = new
        n_rounds = len(n_groups)
        party.reveal("rounds", n_rounds)
        if self.holds_back:
            party.reveal("groups", n_groups)
        labels, inertia, n_small = self._inertia(totals, placed, centers)
        values = placed.values(centers)
        model = fitted.kmeans(values, self.columns, n_iter=n_rounds, inertia=inertia, labels=labels)
        few_values = (
            "" if self.epsilon else self.few_values_caution(placed.rows, self.columns, opened=CENTERS)
        )
        elsewhere = (
            f"{n_elsewhere} of this party's rows count for another center than the nearest, as fewer than "
            f"{self.min_count} rows would show in a difference of sums."
        )
        held_back = (elsewhere if n_elsewhere else "", few_values)
        return totals.fitted(model, self._cautions(n_small, held_back, moved=moved and not self.epsilon))

    def _cautions(self, n_small: int, held_back: Sequence[str], *, moved: bool) -> list[str]:
        few = f"{n_small} of {self.k} clusters have no row or fewer than {self.min_count}, and kept their centers."
        still = "Centers still moved in the last round; agree on more rounds for those that Lloyd's algorithm ends at."
        return [*self.count_cautions(few if n_small else "", *held_back), *([still] if moved else [])]

    def read(self, data: Any) -> Placed:
        """Return the party's values on a grid, in their ranges where noise is added."""
        return self.placed(own_columns(data, self.columns), self.columns, same_step=True)

    def _seeds(self, party: Party, totals: Totals, placed: Placed) -> tuple[NDArray[np.float64], RowGroups]:
        """Return the first centers on the grid, and the groups of rows: those of each seed, and the others."""
        whole = RowGroups(np.zeros(len(placed.rows), np.int64), [0])
        if self.init == "given":
            return np.asarray((np.array(self.centers, np.float64) - placed.middle) / placed.step), whole
        with party.step("seeds"):
            if self.init == "ranges":
                return _uniform(totals.coins(), self.k, self.columns, self.ranges, placed), whole
            drawn, n_drawn, seed_of = draw_seeds(
                totals, placed.rows, k=self.k, min_rows=self._seed_rows, random_bytes=party.random
            )
            party.reveal("seeds", n_drawn)
            if self.holds_back and not totals.reached([int((seed_of < 0).sum())])[0]:
                raise InputError(
                    f"Fewer than {self.min_count} rows are in no seed; agree on fewer clusters or other seeds ('init')."
                )
        return drawn, RowGroups(seed_of + 1, [0, *range(n_drawn)])

    def _next(
        self, totals: Totals, placed: Placed, centers: NDArray[np.float64], groups: RowGroups
    ) -> tuple[NDArray[np.float64], RowGroups, int]:
        """Return the means of the clusters, the groups, and how many own rows are not at their nearest center.

        A noisy mean is kept within the ranges.
        """
        from discreet.kernels.parties.nearest_center import sums_by_center

        nearest, sums, counts = sums_by_center(placed.rows, centers)
        n_elsewhere = 0
        if self.holds_back:
            parts = groups.counts(nearest, self.k)
            large = totals.reached(parts.reshape(-1)).reshape(parts.shape)
            if not large.any() and len(groups.clusters) == 1:
                raise InputError(f"No cluster has {self.min_count} rows; there is nothing to learn from.")
            # Every row is in a sum of every round: sums of some rows could be subtracted from those of all.
            groups, labels, sums, counts = groups.moved(large, placed.rows, centers)
            n_elsewhere = int((labels != nearest).sum())
        # A count is scaled to what a row changes in the sums, so
        # that both get the same noise; together it is twice that.
        weight = sum(placed.limits) if self.epsilon else 1
        opened = totals.add(
            [*sums.reshape(-1).tolist(), *(counts * weight).tolist()],
            words=_WORDS,
            share=Fraction(1, self.max_rounds),
            sensitivity=2 * weight,
            touched=len(self.columns) + 1,
        )
        total = np.array(opened[: sums.size], np.float64).reshape(sums.shape)
        sizes = np.array(opened[sums.size :], np.float64) / weight
        means = total / np.maximum(sizes, 1)[:, None]
        if self.epsilon:
            limits = np.array(placed.limits, np.float64)
            means = np.clip(means, -limits, limits)
        # A cluster without rows here is empty or held back, and keeps its center.
        return np.where(sizes[:, None] >= 1, means, centers), groups, n_elsewhere

    def _inertia(
        self, totals: Totals, placed: Placed, centers: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], float, int]:
        """Return the labels of the party's rows, the squared distances to centers, and how many clusters are small.

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
    # 53 random bits fill the fraction of a float: the quotient is uniform on its grid, and below 1.
    stream = hashlib.shake_256(b"seeds" + coins).digest(8 * k * len(names))
    shares = (np.frombuffer(stream, "<u8") >> np.uint64(11)).astype(np.float64).reshape(k, -1) / 2.0**53
    low, high = np.array([ranges[name] for name in names], np.float64).T
    return np.asarray((low + shares * (high - low) - placed.middle) / placed.step)


Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


@public
@dataclass(frozen=True, kw_only=True)
class VerticalKMeans(VerticalProtocol):
    """k-means on columns of the same people at several parties.

    Each party knows the parts of the centers that concern its own columns. It computes the parts of all squared
    distances, and hands them as shares to the first two parties, who find the nearest center of each row by comparing
    shared sums; only the number of that center is opened. An empty cluster keeps its center. Distances are rounded to
    squared steps of the grid. At the end all learn the centers, unless ``open_centers`` is false.

    The output has a fitted ``KMeans``, over all columns or over the party's own.

    Parameters
    ----------
    columns : mapping of str to list of str
        The columns of each party, by its name. The rows are the same people in the same order at every party.
    k : int
        The number of clusters.
    ranges : mapping of str to pair of float
        The public range of every column; values beyond it are refused. All columns share the step of the widest range.
    bits : int
        The bits of a value in the widest range.
    max_rounds : int
        The most rounds; it stops where no row changes its cluster.
    init : {"k-means++", "given"}
        Seeds that are rows, drawn by k-means++, of which only the places are opened; or the rows at ``seeds``.
    seeds : tuple of int
        The rows that are the first centers, for ``init="given"``.
    open_centers : bool
        Whether all parties learn the centers in all columns.
    min_count : int
        Of clusters with fewer rows no center is opened: they are not in the model, and their rows have the label −1.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = VerticalKMeans(
    ...     columns={"shop": ("age",), "bank": ("income",)}, k=2, ranges={"age": (0, 100), "income": (0, 100)},
    ...     init="given", seeds=(0, 3), min_count=2)
    >>> run = simulate(protocol, {"shop": {"age": [20, 22, 60, 62]}, "bank": {"income": [30, 32, 70, 72]}})
    >>> run.outputs["shop"].model.labels_.tolist(), run.outputs["shop"].model.cluster_centers_.round(1).tolist()
    ([0, 0, 1, 1], [[21.0, 31.0], [61.0, 71.0]])
    """

    name: ClassVar[str] = "vertical-k-means"

    k: int
    ranges: Mapping[str, Any] = field(default_factory=dict)
    bits: int = 16
    max_rounds: int = 20
    init: str = "k-means++"
    seeds: tuple[int, ...] = ()
    open_centers: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "k", self.k, IntIn(1, 1000))
        require(self, "bits", self.bits, IntIn(2, 20))
        require(self, "max_rounds", self.max_rounds, IntIn(1, 1000))
        require(self, "init", self.init, OneOf(("k-means++", "given")))
        require(self, "open_centers", self.open_centers, OneOf((False, True)))
        require_ranges(self, self.ranges, self.all_names(), all_of=True)
        if self.init == "given" and len(self.seeds) != self.k:
            raise ParameterError("The 'seeds' parameter of VerticalKMeans must have k rows.")

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the model."""
        one_row = "A center of one row shows its values to all."
        opened = ((one_row,) if self.min_count == 1 else ()) + (CENTERS_SHOW_COUNTS,)
        seeds = "Every party learns which rows are the seeds, and the total of the squared distances to them."
        return (
            "Every party learns the number of rows, and the cluster of each row in every round.",
            *((seeds,) if self.init == "k-means++" else ()),
            *(opened if self.open_centers else ()),
            "The first two parties together learn all distances.",
            several_runs_leak(self.min_count),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run by its rows, its rounds, and the comparisons of each draw."""
        facts = {"rows": 1, "rounds": self.max_rounds, "searches": [], **(revealed or {})}
        n, pair = facts["rows"], PairFrames(names)
        yield from row_frames(names)
        yield from pair.setup()
        if self.init == "k-means++":
            yield from self._seed_frames(pair, n, facts["searches"])
        for _ in range(facts["rounds"]):
            yield from pair.gathered(n * self.k)
            for _ in range(self.k - 1):
                yield from pair.at_least_zero(n) + pair.chosen(n, 2)
            yield from pair.opened(8 * n)
        if self.open_centers:
            n_opened = facts.get("opened centers", self.k)
            lengths = {name: n_opened * len(self.columns[name]) for name in names}
            yield from broadcast_frames(names, "centers", lengths, width=8)

    def read(self, data: Any, name: str) -> Placed:
        """Return a party's columns on the grid that all share."""
        names = self.names_of(name)
        columns = own_columns(data, names)
        widest = max(high - low for low, high in self.ranges.values())
        shifted = {column: (self.ranges[column][0], self.ranges[column][0] + widest) for column in names}
        # The first call refuses values beyond a range; the second one has the step of the widest range in all columns.
        placed_in_ranges(columns, names, self.ranges, bits=self.bits, clip=False)
        return placed_in_ranges(columns, names, shifted, bits=self.bits, clip=False)

    def _run(self, party: Party, placed: Placed) -> Fitted:
        n = placed.rows.shape[0]
        # A squared difference is below 2^(2·bits), and seeds need the sum over all columns and rows.
        # Differences of such sums, which are compared, stay within int64.
        if n * len(self.ranges) << 2 * self.bits > 1 << 61:
            raise ParameterError(
                "The distances of that many rows do not fit into 64 bits; agree on fewer bits."
            )
        agree_on_rows(party, n, self.min_count)
        shares = PairShares(party, label="distances")
        seeds = self._seeds(party, shares, placed)
        centers = placed.rows[list(seeds)].astype(np.float64)
        labels, n_rounds, moved = np.full(n, -1, np.int64), 0, True
        while moved and n_rounds < self.max_rounds:
            with party.step("round"):
                new = self._labels(shares, placed, centers)
            n_rounds += 1
            moved = not np.array_equal(new, labels)
            labels = new
            centers = _means(placed.rows, labels, centers)
        party.reveal("rounds", n_rounds)
        model = self._model(party, placed, centers, labels, n_rounds)
        n_small = self.k - len(model.cluster_centers_)
        few = f"{n_small} of {self.k} clusters have fewer than {self.min_count} rows; their centers were not opened."
        still = "Rows still changed their cluster in the last round; agree on more rounds."
        few_values = ""
        if self.open_centers:
            few_values = self.few_values_caution(placed.rows, self.names_of(party.name), opened=CENTERS)
        cautions = (*self.count_cautions(few if n_small else "", few_values), *((still,) if moved else ()))
        return Fitted(model, party.names, cautions=cautions)

    def _labels(self, shares: PairShares, placed: Placed, centers: Floats) -> NDArray[np.int64]:
        """Return the nearest center of each row: a running minimum over shared distances, with its number."""
        n = placed.rows.shape[0]
        distances = np.stack([_distances(placed.rows, center) for center in centers], axis=1)
        total = shares.gathered(distances.reshape(-1)).reshape(n, self.k)
        # Distance and number travel together, so that one product moves both. A center must be nearer, not as
        # near, to replace the best: the first of equal ones stays.
        best = np.stack([total[:, 0], np.zeros(n, np.uint64)], axis=1)
        for number in range(1, self.k):
            constant = np.full(n, number if shares.party.index == 0 else 0, np.uint64)
            other = np.stack([total[:, number], constant], axis=1)
            nearer = shares.negated(shares.at_least_zero(other[:, 0] - best[:, 0]))
            best = best + shares.chosen(nearer, other - best)
        return shares.opened_words(np.ascontiguousarray(best[:, 1])).astype(np.int64)

    def _seeds(self, party: Party, shares: PairShares, placed: Placed) -> tuple[int, ...]:
        """Return the rows that are seeds: each drawn with a chance proportional to the distance to those before.

        The total of the distances is opened, a number below it is drawn, and the first row at which the running total
        exceeds the number is found by halving; the comparisons that are opened follow from that row.
        """
        n = placed.rows.shape[0]
        if self.init == "given":
            if not all(isinstance(seed, int) and 0 <= seed < n for seed in self.seeds):
                raise ParameterError("The 'seeds' parameter of VerticalKMeans must be places of rows.")
            return self.seeds
        seeds, searches = [_below(shares.coins(16), n)], []
        nearest = shares.gathered(_distances(placed.rows, placed.rows[seeds[0]]))
        while len(seeds) < self.k:
            total = int(shares.opened_words(nearest.sum(keepdims=True, dtype=np.uint64))[0])
            drawn = _below(shares.coins(16), max(total, 1))
            # The running total is computed on shares alone, since sums of shares are shares of sums.
            row, n_compared = self._search(shares, np.cumsum(nearest, dtype=np.uint64), drawn)
            searches.append(n_compared)
            seeds.append(row if total else seeds[0])
            if len(seeds) < self.k:
                distances = shares.gathered(_distances(placed.rows, placed.rows[seeds[-1]]))
                nearer = shares.negated(shares.at_least_zero(distances - nearest))
                nearest = nearest + shares.chosen(nearer, (distances - nearest)[:, None])[:, 0]
        party.reveal("searches", searches)
        return tuple(seeds)

    def _search(self, shares: PairShares, running: Words, drawn: int) -> tuple[int, int]:
        """Return the first row whose running total exceeds the number, and how many comparisons that took."""
        low, high, n_compared = 0, running.size - 1, 0
        beyond = np.uint64(drawn + 1 if shares.party.index == 0 else 0)
        while low < high:
            middle = (low + high) // 2
            above = shares.at_least_zero(running[middle : middle + 1] - beyond)
            low, high = (low, middle) if shares.opened_bits(above)[0] else (middle + 1, high)
            n_compared += 1
        return low, n_compared

    def _seed_frames(self, pair: PairFrames, n: int, searches: Sequence[int]) -> Iterator[FrameShape]:
        yield from pair.opened(16) + pair.gathered(n)
        for number, n_compared in enumerate(searches, start=2):
            yield from pair.opened(8) + pair.opened(16)
            for _ in range(n_compared):
                yield from pair.at_least_zero(1) + pair.opened(1)
            if number < self.k:
                yield from pair.gathered(n) + pair.at_least_zero(n) + pair.chosen(n, 1)

    def _large(self, labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the clusters with rows enough, or empty where all are opened, and the labels of rows among them."""
        sizes = np.bincount(labels, minlength=self.k)
        large = np.flatnonzero(sizes >= (self.min_count if self.holds_back else 0))
        if not large.size:
            raise InputError(f"No cluster has {self.min_count} rows; no center is opened.")
        numbers = np.full(self.k, -1)
        numbers[large] = np.arange(large.size)
        return large, numbers[labels]

    def _model(
        self, party: Party, placed: Placed, centers: Floats, labels: NDArray[np.int64], n_rounds: int
    ) -> Any:
        values = placed.values(centers)
        names: tuple[str, ...] = self.names_of(party.name)
        if self.open_centers:
            large, labels = self._large(labels)
            party.reveal("opened centers", large.size)
            values = values[large]
            party.broadcast("centers", values.tobytes())
            payloads = {
                name: party.recv(name, "centers", 8 * large.size * len(self.columns[name]))
                for name in party.peers
            } | {party.name: values.tobytes()}
            parts = [
                np.frombuffer(payloads[name], np.float64).reshape(large.size, -1) for name in party.names
            ]
            values, names = np.concatenate(parts, axis=1), self.all_names(party.names)
        return fitted.kmeans(
            values, names, n_iter=n_rounds, inertia=float("nan"), labels=labels.astype(np.int32)
        )


def _distances(rows: NDArray[np.int64], center: NDArray[Any]) -> Words:
    """Return the squared distances of rows to a center in the own columns, rounded to whole squared steps."""
    return np.asarray(np.rint(((rows - center) ** 2).sum(axis=1)), np.uint64)


def _means(rows: NDArray[np.int64], labels: NDArray[np.int64], centers: Floats) -> Floats:
    """Return the means of the clusters; an empty one keeps its center."""
    means = centers.copy()
    for number in range(len(centers)):
        members = rows[labels == number]
        if len(members):
            means[number] = members.sum(axis=0) / len(members)
    return means


def _below(coins: bytes, end: int) -> int:
    """Return an integer below ``end`` from 128 random bits, uniform up to one part in 2^64."""
    return int.from_bytes(coins, "little") * end >> 128
