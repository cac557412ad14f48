"""Seeds of k-means drawn by all parties together: k-means++ over means of a few rows (Arthur & Vassilvitskii 2007)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError
from discreet.parties.errors import PartyError
from discreet.parties.mining.models.columns import Grid
from discreet.parties.mining.models.horizontal import WIDE, Totals

MAX_CANDIDATES = 1024
"""The most candidates of one party."""
TRIALS = 64
"""The trials of one draw. A trial picks one candidate with a chance of more than a third."""
Floats = NDArray[np.float64]


def seed_lengths(n_drawn: int, k: int, d: int) -> list[int]:
    """Return the lengths of the sums that draw ``n_drawn`` different seeds of k.

    >>> seed_lengths(2, 3, 5)
    [8, 64, 5, 8, 64, 5, 8]
    """
    return [WIDE, TRIALS, d] * n_drawn + [WIDE] * (n_drawn < k)


def draw_seeds(
    totals: Totals, rows: Grid, *, k: int, min_rows: int, random_bytes: Callable[[int], bytes]
) -> tuple[Floats, int, NDArray[np.int64]]:
    """Return k seeds, each the mean of at least ``min_rows`` rows of one party, and how many of them were drawn.

    The third result has, for each row of this party, the number of the seed that it is in, or −1.

    The total of the weights is opened; a weight is the size of a candidate times its squared distance to the nearest
    seed so far. For the first seed all weights are 1, so that the total is the number of candidates and not of rows,
    from which the size of a small cluster would follow. Then every party picks each of its candidates with odds of
    weight over total. Given that one candidate is picked in all, it is picked with a chance proportional to its
    weight. The numbers of candidates picked in several trials are opened, and the owner adds the candidate of the
    first trial with a single one to a last sum. Where all candidates are seeds already, the first seed is repeated.
    """
    means, sizes, candidate_of = candidates(rows, min_rows=min_rows)
    seed_of = np.full(len(rows), -1, np.int64)
    seeds: list[Floats] = []
    nearest = np.ones(len(sizes))
    while len(seeds) < k:
        # Rounded to whole numbers, as they are summed as integers; the total and the odds use the same ones.
        weights = [int(weight) for weight in np.rint(sizes * nearest)] if seeds else [1] * len(sizes)
        [total] = totals.add([sum(weights)], words=WIDE)
        if total == 0:
            break
        picked = _picks(weights, total, random_bytes)
        counts = totals.add(picked.sum(axis=1))
        if 1 not in counts:
            raise PartyError("The parties drew no seed, which happens once in a trillion runs; run again.")
        own = np.flatnonzero(picked[counts.index(1)])
        drawn = totals.add(means[own[0]] if own.size else np.zeros(rows.shape[1], np.int64))
        seed_of[np.isin(candidate_of, own)] = len(seeds)
        gaps = ((means - np.array(drawn, np.float64)) ** 2).sum(axis=1)
        nearest = np.minimum(nearest, gaps) if seeds else gaps
        seeds.append(np.array(drawn, np.float64))
    if not seeds:
        raise InputError(
            f"No party has {min_rows} rows, of which a seed is the mean; agree on smaller 'min_rows' and 'min_count'."
        )
    return np.array(seeds + seeds[:1] * (k - len(seeds))), len(seeds), seed_of


def candidates(rows: Grid, *, min_rows: int) -> tuple[Grid, NDArray[np.int64], NDArray[np.int64]]:
    """Return means of groups of at least ``min_rows`` rows, halved at the median of the widest column.

    Their sizes and the group of each row follow; rows of a party that has fewer have the group −1.

    >>> means, sizes, of = candidates(np.array([[0], [2], [10], [12]]), min_rows=2)
    >>> means.tolist(), sizes.tolist(), of.tolist()
    ([[1], [11]], [2, 2], [0, 0, 1, 1])
    """
    n = rows.shape[0]
    least = max(min_rows, -(-n // MAX_CANDIDATES))
    groups, done = ([np.arange(n)] if n >= min_rows else []), []
    while groups:
        places = groups.pop()
        group, half = rows[places], len(places) // 2
        spread = group.max(axis=0) - group.min(axis=0)
        if half < least or not spread.any():
            done.append(places)
            continue
        order = places[np.argpartition(group[:, int(spread.argmax())], half)]
        groups += [order[half:], order[:half]]
    candidate_of = np.full(n, -1, np.int64)
    for number, places in enumerate(done):
        candidate_of[places] = number
    means = np.array([np.rint(rows[places].mean(axis=0)) for places in done], np.int64)
    return (
        means.reshape(-1, rows.shape[1]),
        np.array([len(places) for places in done], np.int64),
        candidate_of,
    )


def _picks(weights: list[int], total: int, random_bytes: Callable[[int], bytes]) -> NDArray[np.bool_]:
    """Return in which trials each candidate is picked: with odds of its weight over the total."""
    n = len(weights)
    # Odds o that add up to 1 are chances o/(1 + o). Exactly one candidate is picked with the chance Π 1/(1 +
    # o), at least 1/e, and given that, each with the chance o.
    chances = np.array([weight / (total + weight) for weight in weights])
    coins = np.frombuffer(random_bytes(8 * TRIALS * n), np.uint64).reshape(TRIALS, n) >> np.uint64(11)
    return np.asarray(coins.astype(np.float64) < np.ldexp(chances, 53))
