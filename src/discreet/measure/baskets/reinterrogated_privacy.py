"""Re-interrogated privacy: what is left of the ones' privacy once the frequent itemsets are known.

The worst case of Agrawal, Krishnan & Haritsa (DASFAA 2004): the miner knows the true supports, and looks at every
distorted basket again. Where it has a frequent itemset, the items of that itemset are likely to be true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import FloatIn, InstanceOf, require
from discreet.kernels import ragged


@public
def reinterrogated_privacy(
    baskets: Baskets, distorted: Baskets | ItemBits, itemsets: Iterable[Sequence[int]], *, basic: float
) -> float:
    """Return the mean privacy of the true ones in percent, after mining.

    The breach of an item by a frequent itemset that holds it is the share of true holders of the item among the baskets
    whose distorted version has the itemset. A one that stayed a one has the privacy that the worst breach leaves, over
    the frequent itemsets its distorted basket has. A one that was flipped, or whose item is not frequent, has the basic
    privacy.

    Parameters
    ----------
    baskets, distorted
        The true baskets and the distorted ones, in the same order.
    itemsets
        The truly frequent itemsets, as codes; the miner is taken to know them.
    basic
        The average basic privacy in percent; the paper takes the average-support form.

    Examples
    --------
    >>> true = Baskets.from_lists([["a"], ["a"], [], ["b"]])
    >>> distorted = Baskets.from_lists([["a"], ["b"], ["a"], ["b"]])
    >>> reinterrogated_privacy(true, distorted, [(0,)], basic=90)
    76.66666666666667
    """
    require("reinterrogated_privacy", "basic", basic, FloatIn(0, 100))
    require("reinterrogated_privacy", "baskets", baskets, InstanceOf((Baskets,), "Baskets"))
    require(
        "reinterrogated_privacy",
        "distorted",
        distorted,
        InstanceOf((Baskets, ItemBits), "Baskets or ItemBits"),
    )
    if len(baskets) != len(distorted) or not baskets.names.equals(distorted.names):
        raise InputError("The true and the distorted baskets must be as many, with the same items.")
    if baskets.items.size == 0:
        return float(basic)
    starts, codes = _packed(itemsets, baskets.n_items)
    lost, covered = _breached(baskets, distorted, starts, codes) if codes.size else (0.0, 0)
    n_ones = baskets.items.size
    return (100 * (covered - lost) + basic * (n_ones - covered)) / n_ones


def _packed(itemsets: Iterable[Sequence[int]], n_items: int) -> tuple[IntArray, CodeArray]:
    """Put itemsets into compressed rows."""
    rows = [np.asarray(itemset, np.int32) for itemset in itemsets]
    if any(itemset.ndim != 1 or itemset.size == 0 for itemset in rows):
        raise InputError("An itemset must hold at least one item.")
    starts = ragged.bounds([itemset.size for itemset in rows])
    codes = np.concatenate([np.empty(0, np.int32), *rows])
    if codes.size and (codes.min() < 0 or codes.max() >= n_items):
        raise InputError("An itemset holds an item code that has no name.")
    return starts, codes


def _breached(
    baskets: Baskets, distorted: Baskets | ItemBits, starts: IntArray, codes: CodeArray
) -> tuple[float, int]:
    """Return the sum of the worst breaches, and the number of ones that have one."""
    from discreet.kernels.itemsets.reinterrogation import breaches, worst_of

    frequent, numbers = np.unique(codes, return_inverse=True)
    columns: CodeArray = numbers.astype(np.int32)
    true = baskets.bits(items=frequent).blocks
    estimates = (
        distorted.take(frequent) if isinstance(distorted, ItemBits) else distorted.bits(items=frequent)
    ).blocks
    breach = breaches(true, estimates, starts, columns)
    # Item by item, the itemset with the worst breach first.
    order = np.lexsort((-breach, columns)).astype(np.int64)
    owners = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    counts = worst_of(true, estimates, starts, columns, order, owners)
    return float(counts @ breach), int(counts.sum())
