"""k-means over columns of the same people: shares of distances, secure minimum (Vaidya & Clifton 2003)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import Placed, in_ranges, own_columns, require_ranges
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.vertical import (
    VerticalProtocol,
    agree_on_rows,
    broadcast_frames,
    row_frames,
)
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.pair import PairFrames, PairShares
from discreet.parties.transcript import FrameShape

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
        seeds = "Every party learns which rows are the seeds, and the total of the squared distances to them."
        return (
            "Every party learns the number of rows, and the cluster of each row in every round.",
            *((seeds,) if self.init == "k-means++" else ()),
            *((one_row,) if self.open_centers and self.min_count == 1 else ()),
            "The first two parties together learn all distances.",
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run over so many rows, rounds and comparisons of each draw."""
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
        own = self.names_of(name)
        held = own_columns(data, own)
        widest = max(high - low for low, high in self.ranges.values())
        shifted = {one: (self.ranges[one][0], self.ranges[one][0] + widest) for one in own}
        in_ranges(held, own, self.ranges, bits=self.bits, clip=False)
        return in_ranges(held, own, shifted, bits=self.bits, clip=False)

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its columns."""
        self.check_parties(party.names)
        placed = self.read(data, party.name)
        n = placed.rows.shape[0]
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
        cautions = (*self.count_cautions(few if n_small else ""), *((still,) if moved else ()))
        return Fitted(model, party.names, cautions=cautions)

    def _labels(self, shares: PairShares, placed: Placed, centers: Floats) -> NDArray[np.int64]:
        """Return the nearest center of each row: a running minimum over shared distances, with its number."""
        n = placed.rows.shape[0]
        own = np.stack([_distances(placed.rows, center) for center in centers], axis=1)
        total = shares.gathered(own.reshape(-1)).reshape(n, self.k)
        best = np.stack([total[:, 0], np.zeros(n, np.uint64)], axis=1)
        for number in range(1, self.k):
            place = np.full(n, number if shares.party.index == 0 else 0, np.uint64)
            other = np.stack([total[:, number], place], axis=1)
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
        found, searches = [_below(shares.coins(16), n)], []
        nearest = shares.gathered(_distances(placed.rows, placed.rows[found[0]]))
        while len(found) < self.k:
            total = int(shares.opened_words(nearest.sum(keepdims=True, dtype=np.uint64))[0])
            drawn = _below(shares.coins(16), max(total, 1))
            row, n_compared = self._search(shares, np.cumsum(nearest, dtype=np.uint64), drawn)
            searches.append(n_compared)
            found.append(row if total else found[0])
            if len(found) < self.k:
                distances = shares.gathered(_distances(placed.rows, placed.rows[found[-1]]))
                nearer = shares.negated(shares.at_least_zero(distances - nearest))
                nearest = nearest + shares.chosen(nearer, (distances - nearest)[:, None])[:, 0]
        party.reveal("searches", searches)
        return tuple(found)

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
        own = placed.values(centers)
        names: tuple[str, ...] = self.names_of(party.name)
        if self.open_centers:
            large, labels = self._large(labels)
            party.reveal("opened centers", large.size)
            own = own[large]
            party.broadcast("centers", own.tobytes())
            parts = []
            for name in party.names:
                size = 8 * large.size * len(self.columns[name])
                heard = own.tobytes() if name == party.name else party.recv(name, "centers", size)
                parts.append(np.frombuffer(heard, np.float64).reshape(large.size, -1))
            own, names = np.concatenate(parts, axis=1), self.all_names(party.names)
        return fitted.kmeans(
            own, names, n_iter=n_rounds, inertia=float("nan"), labels=labels.astype(np.int32)
        )


def _distances(rows: NDArray[np.int64], center: NDArray[Any]) -> Words:
    """Return the squared distances of rows to a center in the own columns, rounded to whole squared steps."""
    return np.asarray(np.rint(((rows - center) ** 2).sum(axis=1)), np.uint64)


def _means(rows: NDArray[np.int64], labels: NDArray[np.int64], centers: Floats) -> Floats:
    """Return the means of the clusters; an empty one keeps its center."""
    found = centers.copy()
    for number in range(len(centers)):
        here = rows[labels == number]
        if len(here):
            found[number] = here.sum(axis=0) / len(here)
    return found


def _below(coins: bytes, end: int) -> int:
    """Return an integer below ``end`` from 128 random bits, uniform up to one part in 2^64."""
    return int.from_bytes(coins, "little") * end >> 128
