"""Frequent, closed and maximal itemsets: level by level over bit columns, or depth-first (Apriori, Eclat)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.cluster_baskets import ClusterBaskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.baskets.supports import least_count
from discreet.core.boundary import public
from discreet.core.params import Constraints, OneOf
from discreet.core.release import Release
from discreet.kernels import ragged
from discreet.mine.itemsets.apriori import MinedBaskets, all_levels, blocks_of, levels
from discreet.mine.itemsets.found import FoundItemsets, Kind
from discreet.mine.itemsets.parameters import MINING, Names, check_channel, check_mining, included_items

_DENSE = 0.1
"""From this share of ones on, the bit columns are mined depth-first."""
_PROJECTED, _DELIVERED = 50, 400
"""The words of bit columns that are processed in the time of one pair of entries of a basket, by projections or not."""


@public
@dataclass(repr=False, eq=False)
class Itemsets:
    """Find the itemsets that enough baskets hold.

    Dense data is mined depth-first over bit columns (Eclat), long thin data depth-first over a small table of bits for
    each item, or level by level over blocks of bit columns (Apriori) where that is less work, and data with very many
    items over the baskets themselves; the sets and the counts are exact and the same whichever it is.

    Parameters
    ----------
    min_support
        The minimum support. An int is a number of baskets (1: one basket), a float a share of them (1.0: all). A
        share is taken as it is written: 0.3 of 10 baskets are 3.
    kind
        ``"frequent"`` for all; ``"closed"`` for those without a larger set of the same count; ``"maximal"`` for those
        without a larger frequent set.
    max_length
        The most items of a set. Closed and maximal are meant among all sets, longer ones too.
    include
        Look only at these items, by name.
    exclude
        Leave these items out, by name. Closed and maximal are meant among sets of the items looked at.

    Examples
    --------
    >>> import pyarrow as pa
    >>> shop = Baskets(np.array([0, 2, 5, 7]), np.array([0, 1, 0, 1, 2, 1, 2]), pa.array(["beer", "bread", "milk"]))
    >>> Itemsets(2).mine(shop).as_dict()[frozenset({"bread", "milk"})]
    2
    >>> [names for names, count in Itemsets(2, kind="maximal").mine(shop)]
    [('beer', 'bread'), ('bread', 'milk')]

    References
    ----------
    R. Agrawal, R. Srikant: Fast algorithms for mining association rules. VLDB 1994.
    M. J. Zaki: Scalable algorithms for association mining. IEEE TKDE 12(3), 2000.
    T. Uno, M. Kiyomi, H. Arimura: LCM ver. 2. FIMI 2004 (the delivery of occurrences).
    """

    min_support: float
    _: KW_ONLY
    kind: Kind = "frequent"
    max_length: int | None = None
    include: Names | None = None
    exclude: Names | None = None

    constraints: ClassVar[Constraints] = {**MINING, "kind": OneOf(("frequent", "closed", "maximal"))}

    def mine(self, baskets: MinedBaskets | GroupedBaskets | Release) -> FoundItemsets:
        """Find the sets in baskets, in their bit columns, on a cluster, or in published groups.

        In groups the sets of ordinary items are exact; those with a sensitive one are estimated, and marked so.
        """
        if isinstance(baskets, Release):
            return self.mine(baskets.data)
        if isinstance(baskets, GroupedBaskets):
            from discreet.mine.itemsets.grouped import mine_grouped

            return mine_grouped(self, baskets)
        check_mining(self, baskets)
        check_channel(baskets, None)
        least = least_count(self.min_support, len(baskets))
        included = included_items(baskets.names, self.include, self.exclude)
        item_counts = baskets.counts
        items = np.flatnonzero(included & (item_counts >= least)).astype(np.int32)
        # Whether a set of the longest length is closed or maximal shows in sets of one item more.
        deeper = 0 if self.kind == "frequent" else 1
        longest = None if self.max_length is None else self.max_length + deeper
        indptr, codes, counts = _mined(baskets, items, item_counts[items], least, longest)
        itemsets = FoundItemsets(indptr, codes, counts, len(baskets), baskets.names, self.kind)
        return itemsets if self.kind == "frequent" else itemsets.keep(self._topmost(itemsets))

    def _topmost(self, itemsets: FoundItemsets) -> BoolArray:
        """Return which sets are closed or maximal, and not too long: the larger sets rule their subsets out."""
        subsets = itemsets.subsets
        covered = subsets >= 0
        if self.kind == "closed":
            # Of a closed set no larger one has the same count; it is enough to look at sets of one item more.
            covered &= itemsets.counts[subsets] == np.repeat(itemsets.counts, itemsets.lengths)
        topmost: BoolArray = itemsets.lengths <= (self.max_length or np.inf)
        topmost[subsets[covered]] = False
        return topmost


class _AtLeast:
    """Keeps the sets that enough baskets hold; nothing else is remembered."""

    def __init__(self, least: int) -> None:
        self.least = least

    def nothing(self, n: int) -> None:
        """Remember nothing about the empty set."""

    def judge(self, counts: IntArray, subsets: NDArray[np.int32], below: None) -> tuple[IntArray, None]:
        """Return the rows with a high enough count."""
        return np.flatnonzero(counts >= self.least), None

    def joined(self, parts: list[None]) -> None:
        """Remember nothing about a whole level."""


def _mined(
    data: MinedBaskets, items: CodeArray, counts: IntArray, least: int, longest: int | None
) -> tuple[IntArray, CodeArray, IntArray]:
    """Find all sets of the given items, by the method that suits the data, in order: CSR arrays and counts."""
    from discreet.kernels.itemsets.eclat import mine_columns, mine_rows
    from discreet.kernels.itemsets.found_sets import in_order
    from discreet.kernels.itemsets.projection import MOST_ITEMS, mine_projections

    if longest == 1 or items.size < 2:
        return np.arange(items.size + 1), items, counts
    method = "levels" if isinstance(data, ClusterBaskets) else _method(data, items, counts)
    if isinstance(data, ClusterBaskets) or method == "levels":
        return all_levels(list(levels(data, _AtLeast(least), items=items, counts=counts, max_length=longest)))
    # Depth-first searches begin with rare items, whose few supporters keep the branches below small.
    rarest_first = items[np.argsort(counts, kind="stable")]
    deepest = items.size if longest is None else min(longest, items.size)
    sets = None
    if method == "columns":
        sets = mine_columns(blocks_of(data, rarest_first), len(data), least, deepest)
    else:
        rows = data if isinstance(data, Baskets) else data.baskets()
        rank = np.full(rows.n_items, -1, np.int32)
        rank[rarest_first] = np.arange(items.size, dtype=np.int32)
        if items.size <= MOST_ITEMS:
            sets = mine_projections(rows.indptr, rows.items, rank, np.sort(counts), least, deepest)
        sets = sets or mine_rows(rows.indptr, rows.items, rank, least, deepest)
    indptr, numbers, counts = sets
    codes, order = in_order(indptr, rarest_first[numbers], data.n_items)
    lengths = np.diff(indptr)[order]
    return ragged.bounds(lengths), codes, counts[order]


def _method(data: Baskets | ItemBits, items: CodeArray, counts: IntArray) -> str:
    """Choose how to mine by what the pairs cost: all pairs of columns, or all pairs of entries in the baskets."""
    from discreet.kernels.itemsets.eclat import squared_lengths
    from discreet.kernels.itemsets.projection import MOST_ITEMS

    entries = int(counts.sum())
    if entries >= _DENSE * items.size * len(data):
        return "columns"
    by_columns = items.size**2 * (len(data) / 64)
    # Baskets packed as bits would have to be unpacked first.
    projected = isinstance(data, Baskets) and items.size <= MOST_ITEMS
    words = _PROJECTED if projected else _DELIVERED
    if by_columns <= words * entries**2 / max(len(data), 1):
        return "levels"
    if isinstance(data, ItemBits):
        return "rows"
    looked_at = np.zeros(data.n_items, np.bool_)
    looked_at[items] = True
    return "levels" if by_columns <= words * squared_lengths(data.indptr, data.items, looked_at) else "rows"
