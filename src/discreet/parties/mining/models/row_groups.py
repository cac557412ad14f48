"""Groups of rows that were in the same cluster in every round of k-means, which are parted in large parts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class RowGroups:
    """The groups of all parties, and the party's own rows in them.

    The sums of all rounds are opened, so rows show in the differences of rounds. A combination of sums weighs all rows
    alike that were in the same clusters in every round. So if each group of such rows has ``min_count`` rows over all
    parties, no combination of opened sums and sizes has fewer. Whichever part of a group goes to a cluster is a group
    from then on; it may go only where it is large, and its other rows go with the nearest part that is.

    Parameters
    ----------
    of : array of int
        The group of each own row.
    clusters : sequence of int
        The cluster where each group was last.
    """

    of: Integers
    clusters: Sequence[int]

    def counts(self, labels: NDArray[np.int32], k: int) -> Integers:
        """Return how many own rows of each group have each label."""
        n = len(self.clusters)
        return np.bincount(self.of * k + labels, minlength=n * k).astype(np.int64).reshape(n, k)

    def moved(
        self, large: NDArray[np.bool_], rows: Integers, centers: NDArray[np.float64]
    ) -> tuple[RowGroups, Integers, Integers, Integers]:
        """Return the groups of the next round, the clusters of the own rows, and their sums and sizes by cluster.

        ``large`` says which parts of each group are large; a group without such a part stays as it is.
        """
        from discreet.kernels.parties.nearest_center import sums_by_center

        admitted = large.copy()
        stuck = np.flatnonzero(~large.any(axis=1))
        admitted[stuck, np.array(self.clusters, np.int64)[stuck]] = True
        groups, clusters = np.nonzero(admitted)
        numbers = np.zeros(admitted.shape, np.int64)
        numbers[groups, clusters] = np.arange(groups.size)
        labels = np.empty(len(rows), np.int64)
        sums, counts = np.zeros(centers.shape, np.int64), np.zeros(len(centers), np.int64)
        # Rows whose groups may go to the same clusters are labeled together.
        patterns, pattern_of = np.unique(admitted, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            here = np.flatnonzero(pattern_of.reshape(-1)[self.of] == number)
            nearest, part_sums, part_counts = sums_by_center(rows[here], centers[pattern])
            labels[here] = np.flatnonzero(pattern)[nearest]
            sums[pattern] += part_sums
            counts[pattern] += part_counts
        return RowGroups(numbers[self.of, labels], clusters.tolist()), labels, sums, counts
