"""Itemsets of published groups: exact for ordinary items, estimated where a sensitive one is among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.baskets.names import sorted_items as names_in_order
from discreet.core.baskets.supports import is_count, least_count
from discreet.core.boundary import public
from discreet.core.params import OneOf, require
from discreet.kernels import ragged
from discreet.mine.itemsets.found import FoundItemsets
from discreet.mine.itemsets.parameters import ItemsetMiner, check_mining, included_items

_SLACK = 1 - 1e-12
"""What rounding may take from a sum of weights that just reaches the minimum support."""


class GroupMiner(ItemsetMiner, Protocol):
    """A miner of itemsets that also takes published groups."""

    kind: Any


@public
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class FoundGroupedItemsets(FoundItemsets):
    """Itemsets of published groups.

    ``estimates`` are the counts, unrounded; ``estimated`` marks which of them are estimates. These are the sets of a
    sensitive item and others: the sum over the groups of a·b/|G|, where a of a group's |G| baskets hold the sensitive
    item and b the ordinary ones. With several sensitive items each adds its factor a/|G|, as if they were independent
    within a group. ``counts`` are rounded to whole baskets.
    """

    estimates: FloatArray
    estimated: BoolArray

    @property
    def supports(self) -> FloatArray:
        """The share of the baskets that hold each set, exact or estimated."""
        return self.estimates / max(self.n, 1)

    @property
    def table(self) -> pa.Table:
        """An Arrow table: itemsets (lists of names), support, count (unrounded), length and estimated."""
        return pa.table(
            {
                "itemsets": self.lists(),
                "support": self.supports,
                "count": self.estimates,
                "length": self.lengths,
                "estimated": self.estimated,
            }
        )

    def _selected(self, mask: BoolArray) -> dict[str, Any]:
        return {"estimates": self.estimates[mask], "estimated": self.estimated[mask]}


def mine_grouped(miner: GroupMiner, data: GroupedBaskets) -> FoundGroupedItemsets:
    """Find the itemsets of published groups.

    >>> from discreet import Baskets
    >>> from discreet.mine import Itemsets
    >>> customers = Baskets.from_lists([
    ...     ["wine", "meat"], ["wine", "meat"], ["wine", "meat", "cream"],
    ...     ["meat", "strawberries"], ["cream", "strawberries"]])
    >>> published = GroupedBaskets.of(customers, [0, 0, 0, 1, 1], Baskets.from_lists(
    ...     [["viagra"], [], [], [], ["pregnancy test"]]))
    >>> found = Itemsets(1).mine(published)
    >>> [(names, estimate) for (names, _), estimate, guess in
    ...     zip(found, found.estimates.tolist(), found.estimated, strict=True) if guess]
    [(('meat', 'viagra'), 1.0), (('pregnancy test', 'strawberries'), 1.0), (('viagra', 'wine'), 1.0),
     (('meat', 'viagra', 'wine'), 1.0)]
    """
    require(miner, "kind", miner.kind, OneOf(("frequent",)))
    check_mining(miner, data.baskets)
    names, ordinary, sensitive = _all_names(data)
    included = included_items(names, miner.include, miner.exclude)
    n = len(data)
    share = miner.min_support if is_count(miner.min_support) else miner.min_support * n
    search = _Search(data, included[ordinary], float(share) * _SLACK, miner.max_length)
    exact = search.ordinary(least_count(miner.min_support, n))
    parts = [(exact[0], ordinary[exact[1]], exact[2].astype(np.float64), np.zeros(exact[2].size, np.bool_))]
    for chosen, sets in search.with_sensitive(np.flatnonzero(included[sensitive])):
        parts.append(_joined(sets, ordinary, sensitive[chosen]))
    return _in_order(parts, n, names)


class _Search:
    """Looks for the sets of ordinary items that go with some sensitive ones."""

    def __init__(self, data: GroupedBaskets, included: BoolArray, least: float, longest: int | None) -> None:
        self.data = data
        self.included = included
        self.least = least
        self.longest = longest
        present = data.sensitive
        self.shares = np.zeros((len(data.sensitive_names), data.n_groups))
        self.shares[present.values, present.group] = present.counts / data.sizes[present.group]

    def ordinary(self, least: int) -> tuple[IntArray, CodeArray, IntArray]:
        """Find the sets of ordinary items alone, with their exact counts."""
        from discreet.mine.itemsets.itemsets import Itemsets

        baskets = self.data.baskets
        names = baskets.names.filter(pa.array(self.included)).to_pylist()
        itemsets = Itemsets(least, max_length=self.longest, include=names).mine(baskets)
        return itemsets.indptr, itemsets.codes, itemsets.counts

    def with_sensitive(self, candidates: IntArray) -> list[tuple[IntArray, Any]]:
        """Return every combination of sensitive items that weighs enough, with the sets of ordinary items to it."""
        parts: list[tuple[IntArray, Any]] = []
        waiting = [(np.array([code]), self.shares[code]) for code in candidates]
        while waiting:
            chosen, chance = waiting.pop()
            weight = float(chance @ self.data.sizes)
            # Adding an item multiplies by shares of at most 1, so no larger combination weighs more.
            if weight < self.least:
                continue
            parts.append((chosen, self._beside(chosen.size, chance, weight)))
            if self.longest is None or chosen.size < self.longest:
                waiting += [
                    (np.append(chosen, code), chance * self.shares[code])
                    # Only larger codes are added, so each combination is looked at once.
                    for code in candidates[candidates > chosen[-1]]
                ]
        return parts

    def _beside(self, n_chosen: int, chance: FloatArray, weight: float) -> Any:
        """Find the sets of ordinary items whose baskets weigh enough; the empty set comes first."""
        from discreet.kernels.itemsets.combinations import laid_out
        from discreet.kernels.itemsets.weighted_itemsets import mine_weighted

        weights = chance[self.data.group]
        rows = np.flatnonzero(weights)
        baskets = self.data.baskets.take(rows)
        rank = np.where(self.included, np.cumsum(self.included) - 1, -1).astype(np.int32)
        longest = baskets.n_items if self.longest is None else self.longest - n_chosen
        layout = laid_out(baskets.indptr, baskets.items, rank)
        indptr, items, supports = mine_weighted(layout, weights[rows], self.least, longest)
        codes = np.flatnonzero(self.included).astype(np.int32)[items]
        return np.concatenate([np.zeros(1, np.int64), indptr]), codes, np.concatenate([[weight], supports])


def _all_names(data: GroupedBaskets) -> tuple[pa.Array, CodeArray, CodeArray]:
    """Return all names in order, and the codes of ordinary and of sensitive items among them."""
    ordinary, sensitive = data.baskets.names, data.sensitive_names
    if not len(ordinary):
        ordinary = ordinary.cast(sensitive.type)
    names, code = names_in_order(pa.concat_arrays([ordinary, sensitive.cast(ordinary.type)]))
    return names, code[: len(ordinary)], code[len(ordinary) :]


def _joined(sets: Any, ordinary: CodeArray, chosen: CodeArray) -> Any:
    """Add the sensitive items to every set; a sensitive item alone has an exact count."""
    indptr, codes, weights = sets
    at = np.repeat(indptr[:-1], chosen.size)
    together = np.insert(ordinary[codes], at, np.tile(chosen, indptr.size - 1))
    estimated = np.ones(weights.size, np.bool_)
    estimated[0] = chosen.size > 1
    return indptr + chosen.size * np.arange(indptr.size), together, weights, estimated


def _in_order(parts: list[Any], n: int, names: pa.Array) -> FoundGroupedItemsets:
    from discreet.kernels.itemsets.found_sets import in_order

    lengths = np.concatenate([np.diff(part[0]) for part in parts])
    indptr = ragged.bounds(lengths)
    codes, order = in_order(indptr, np.concatenate([part[1] for part in parts]).astype(np.int32), len(names))
    estimates = np.concatenate([part[2] for part in parts])[order]
    return FoundGroupedItemsets(
        ragged.bounds(lengths[order]),
        codes,
        np.rint(estimates).astype(np.int64),
        n,
        names,
        estimates=estimates,
        estimated=np.concatenate([part[3] for part in parts])[order],
    )
