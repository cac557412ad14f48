"""FoundItemsets: what a miner found, as arrays, as an Arrow table, or as plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import IntIn, require
from discreet.kernels import ragged

Kind = Literal["frequent", "closed", "maximal"]


@public
@dataclass(frozen=True, repr=False, eq=False)
class FoundItemsets:
    """Itemsets with their counts, ordered by length and then by their items.

    Set r holds the items ``codes[indptr[r]:indptr[r + 1]]``, ascending, and ``counts[r]`` of ``n`` baskets hold it. The
    name of code i is ``names[i]``.

    Examples
    --------
    >>> from discreet import Baskets
    >>> from discreet.mine import Itemsets
    >>> shop = Baskets(np.array([0, 2, 5, 7]), np.array([0, 1, 0, 1, 2, 1, 2]), pa.array(["beer", "bread", "milk"]))
    >>> found = Itemsets(0.5).mine(shop)
    >>> found
    FoundItemsets(5 frequent itemsets of 3 baskets)
    >>> list(found)[-2:]
    [(('beer', 'bread'), 2), (('bread', 'milk'), 2)]
    >>> found.table.column_names
    ['itemsets', 'support', 'count', 'length']
    """

    indptr: IntArray
    codes: CodeArray
    counts: IntArray
    n: int
    names: pa.Array
    kind: Kind = "frequent"

    @property
    def supports(self) -> FloatArray:
        """The share of the baskets that hold each set."""
        return self.counts / max(self.n, 1)

    @property
    def lengths(self) -> IntArray:
        """The number of items of each set."""
        return np.diff(self.indptr)

    @cached_property
    def subsets(self) -> IntArray:
        """For every entry of ``codes``, the number of the set without that item; -1 where it was not found."""
        from discreet.kernels.itemsets.found_sets import immediate_subsets

        return immediate_subsets(self.indptr, self.codes)

    @property
    def table(self) -> pa.Table:
        """An Arrow table: itemsets (lists of names), support, count and length.

        Any frame takes it: ``found.table.to_pandas()``, ``polars.from_arrow(found.table)``.
        """
        return pa.table(
            {"itemsets": self.lists(), "support": self.supports, "count": self.counts, "length": self.lengths}
        )

    def lists(self) -> pa.Array:
        """Return the sets as an Arrow array of lists of names."""
        return named_lists(self.indptr, self.codes, self.names)

    def as_dict(self) -> dict[frozenset[Any], float]:
        """Return the count of each set, by its names; of masked sets the estimated count."""
        return dict(zip(map(frozenset, self._names()), self._supports(), strict=True))

    def of_length(self, k: int) -> Self:
        """Keep the sets of k items."""
        require(self, "k", k, IntIn(1))
        return self.keep(self.lengths == k)

    def keep(self, mask: BoolArray) -> Self:
        """Keep the sets that are wanted, one truth value each."""
        indptr = ragged.bounds(self.lengths[mask])
        codes = self.codes[np.repeat(mask, self.lengths)]
        return replace(self, indptr=indptr, codes=codes, counts=self.counts[mask], **self._selected(mask))

    def _selected(self, mask: BoolArray) -> dict[str, Any]:
        """Return what else each set has, for the sets that are wanted."""
        del mask
        return {}

    def _names(self) -> Iterator[tuple[Any, ...]]:
        names = self.names.to_pylist()
        codes = self.codes.tolist()
        bounds = self.indptr.tolist()
        for start, stop in pairwise(bounds):
            yield tuple(names[code] for code in codes[start:stop])

    def _supports(self) -> list[float]:
        """Return the counts to show, whole ones as ints."""
        counts: list[float] = self.counts.tolist()
        return counts

    def __iter__(self) -> Iterator[tuple[tuple[Any, ...], float]]:
        """Go through the sets: the names, and the count; of masked sets the estimated count."""
        return zip(self._names(), self._supports(), strict=True)

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} {self.kind} itemsets of {self.n} baskets)"


def named_lists(indptr: IntArray, codes: CodeArray, names: pa.Array) -> pa.Array:
    """Make an Arrow array of lists of names."""
    values = names.take(pa.array(codes))
    # Arrow's lists have offsets of 32 bits, its large lists of 64.
    if codes.size < 2**31:
        return pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(indptr), values)
