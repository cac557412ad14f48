"""Re-interrogation: what frequent itemsets found in distorted baskets reveal about the true ones, by bit columns.

Itemsets come as compressed rows of column numbers. A pair is an itemset and one of its items, in the order of the rows'
entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.itemsets.bits import WORDS, ones
from discreet.kernels.threads import in_threads

Blocks = NDArray[np.uint64]


def breaches(
    true: Blocks, distorted: Blocks, starts: NDArray[np.int64], columns: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return for each pair the share of true holders of the item among those whose distorted basket has the itemset."""
    parts = in_threads(
        lambda start, stop: _count(true[start:stop], distorted[start:stop], starts, columns), len(true)
    )
    n_holders = np.sum([part[0] for part in parts], axis=0, dtype=np.int64)
    truly = np.sum([part[1] for part in parts], axis=0, dtype=np.int64)
    lengths = np.diff(starts)
    return np.asarray(truly / np.maximum(np.repeat(n_holders, lengths), 1))


def worst_of(
    true: Blocks,
    distorted: Blocks,
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    order: NDArray[np.int64],
    owners: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count for each pair the true ones that stayed ones for which it is the first that their basket has.

    ``order`` lists the pairs item by item, the worst breach first; ``owners`` the itemset of each pair.
    """
    parts = in_threads(
        lambda start, stop: _first(true[start:stop], distorted[start:stop], starts, columns, order, owners),
        len(true),
    )
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


# O(items of all itemsets x n / 64), twice: a meet of the distorted columns, then one AND with each true
# column.
@compiled
def _count(true, distorted, starts, columns):
    n_holders = np.zeros(starts.size - 1, np.int64)
    truly = np.zeros(columns.size, np.int64)
    both = np.empty(WORDS, np.uint64)
    for block in range(true.shape[0]):
        for itemset in range(starts.size - 1):
            _meet(distorted[block], columns, starts[itemset], starts[itemset + 1], both)
            total = np.uint64(0)
            for word in range(WORDS):
                total += ones(both[word])
            n_holders[itemset] += np.int64(total)
            for pair in range(starts[itemset], starts[itemset + 1]):
                column = true[block, columns[pair]]
                total = np.uint64(0)
                for word in range(WORDS):
                    total += ones(both[word] & column[word])
                truly[pair] += np.int64(total)
    return n_holders, truly


# Each true one that stayed counts once, for the worst itemset that its distorted basket holds: ``left`` has
# those not counted yet, and pairs come worst first. Where none is left the item's other pairs are passed
# over.
@compiled
def _first(true, distorted, starts, columns, order, owners):
    counts = np.zeros(columns.size, np.int64)
    both = np.empty(WORDS, np.uint64)
    left = np.empty(WORDS, np.uint64)
    for block in range(true.shape[0]):
        item = -1
        any_left = np.uint64(0)
        for pair in order:
            if columns[pair] != item:
                item = columns[pair]
                any_left = np.uint64(0)
                for word in range(WORDS):
                    left[word] = true[block, item, word] & distorted[block, item, word]
                    any_left |= left[word]
            if any_left == 0:
                continue
            itemset = owners[pair]
            _meet(distorted[block], columns, starts[itemset], starts[itemset + 1], both)
            total = np.uint64(0)
            any_left = np.uint64(0)
            for word in range(WORDS):
                hit = left[word] & both[word]
                total += ones(hit)
                left[word] ^= hit
                any_left |= left[word]
            counts[pair] += np.int64(total)
    return counts


@compiled
def _meet(block, columns, start, stop, both):
    """Find the baskets of a block that have all the columns."""
    first = block[columns[start]]
    for word in range(WORDS):
        both[word] = first[word]
    for pair in range(start + 1, stop):
        column = block[columns[pair]]
        for word in range(WORDS):
            both[word] &= column[word]
