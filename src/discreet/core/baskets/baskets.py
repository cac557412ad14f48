"""Baskets: transactions as sets of items, in compressed rows of item codes beside the items' names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.names import codes_among, sorted_items, sorted_names, whole_or_text
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.tables.publication import defused
from discreet.kernels.ragged import bounds, entries_of


@public
@dataclass(frozen=True, repr=False, eq=False)
class Baskets:
    """Transactions: each one a set of items.

    Basket t holds the items ``items[indptr[t]:indptr[t + 1]]``, codes in ascending order without repetition; the name
    of code i is ``names[i]``. A basket may be empty, and an item may occur in none.

    Parameters
    ----------
    indptr, items
        The compressed rows.
    names
        The name of each code: whole numbers or text, each once.

    Examples
    --------
    >>> shop = Baskets.from_lists([["bread", "milk"], ["milk", "beer", "milk"], []])
    >>> shop
    Baskets(3 baskets, 3 items, 4 entries)
    >>> shop.lists()
    [['bread', 'milk'], ['beer', 'milk'], []]
    >>> shop.counts.tolist()
    [1, 1, 2]
    """

    indptr: IntArray
    items: CodeArray
    names: pa.Array

    def __post_init__(self) -> None:
        codes = _whole(self.items)
        indptr = np.ascontiguousarray(_whole(self.indptr), np.int64)
        items = np.ascontiguousarray(codes, np.int32)
        object.__setattr__(self, "indptr", indptr)
        object.__setattr__(self, "items", items)
        framed_by_pointers = indptr.size > 0 and indptr[0] == 0 and indptr[-1] == items.size
        if not framed_by_pointers or (np.diff(indptr) < 0).any():
            raise InputError("The row pointers of the baskets do not fit their items.")
        if not isinstance(self.names, pa.Array | pa.ChunkedArray):
            raise InputError("The names of the items must be an Arrow array.")
        if codes.size and (codes.min() < 0 or codes.max() >= len(self.names)):
            raise InputError("A basket holds an item code that has no name.")
        names = whole_or_text(
            self.names if len(self.names) else pa.array([], pa.string()), where="that are named"
        )
        object.__setattr__(self, "names", names)
        if len(pc.unique(names)) < len(names):
            raise InputError("Several items have the same name.")
        rising = np.ones(items.size, np.bool_)
        rising[1:] = items[1:] > items[:-1]
        rising[indptr[:-1][np.diff(indptr) > 0]] = True
        if not rising.all():
            raise InputError("The items of a basket must be in ascending order, each once.")

    @classmethod
    def from_entries(cls, baskets: IntArray, items: CodeArray, names: pa.Array, *, n: int) -> Baskets:
        """Make baskets of entries in any order: the number of the basket (below n) and the item's code.

        An item given twice in a basket counts once.
        """
        keys = baskets.astype(np.int64) * max(len(names), 1) + items
        # Entries that come in order, each once, need no sort.
        if (keys[1:] <= keys[:-1]).any():
            keys = np.unique(keys)
        rows, codes = np.divmod(keys, max(len(names), 1))
        indptr = bounds(np.bincount(rows, minlength=n))
        return cls(indptr, codes.astype(np.int32), names)

    @classmethod
    def from_lists(cls, lists: Iterable[Iterable[Any]] | Any) -> Baskets:
        """Make baskets of lists of items: nested Python sequences, or a pandas, Polars or Arrow column of lists.

        Items are whole numbers or text, not both; their codes follow their order. A null list is an empty basket;
        a null item is refused.
        """
        from discreet.core.baskets.forms import from_lists

        return from_lists(lists)

    @classmethod
    def from_long(cls, frame: Any, *, basket: str, item: str) -> Baskets:
        """Make baskets of a frame with one row per entry: the basket's number or name, and the item."""
        from discreet.core.baskets.forms import from_long

        return from_long(frame, basket=basket, item=item)

    @classmethod
    def from_onehot(cls, frame: Any) -> Baskets:
        """Make baskets of a frame with one column of 0 and 1 (or false and true) for each item."""
        from discreet.core.baskets.forms import from_onehot

        return from_onehot(frame)

    @classmethod
    def from_sparse(cls, matrix: Any, *, names: Sequence[Any] | None = None) -> Baskets:
        """Make baskets of a scipy sparse matrix or array: a row per basket, a column per item, non-zero where held."""
        from discreet.core.baskets.forms import from_sparse

        return from_sparse(matrix, names=names)

    @property
    def ordinary(self) -> Baskets:
        """The items that are published exactly: all of them, where none is set apart in groups."""
        return self

    def text_frames(self) -> Iterator[pa.Table]:
        """Iterate over frames that hold every text: each item that a basket holds, once."""
        yield pa.table({"item": self.names.take(pa.array(np.flatnonzero(self.counts)))})

    @property
    def n_items(self) -> int:
        """The number of items, those in no basket included."""
        return len(self.names)

    @cached_property
    def lengths(self) -> IntArray:
        """The number of items of each basket."""
        return np.diff(self.indptr)

    @cached_property
    def counts(self) -> IntArray:
        """The number of baskets that hold each item."""
        from discreet.kernels.itemsets.counting import item_counts

        return item_counts(self.items, self.n_items)

    def rows(self) -> IntArray:
        """Return the number of the basket of every entry."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def codes_of(self, names: Iterable[Any], *, parameter: str = "items") -> CodeArray:
        """Return the codes of named items; a name that no item bears is refused."""
        return codes_among(self.names, names, parameter=parameter)

    def listed(self, names: Iterable[Any]) -> Baskets:
        """Return the baskets over a list of items; those in no basket stay in it, and one that it lacks is refused.

        >>> shop = Baskets.from_lists([["milk"], ["beer", "milk"]]).listed(["beer", "bread", "milk", "tea"])
        >>> shop.n_items, shop.lists()
        (4, [['milk'], ['beer', 'milk']])
        """
        try:
            values = whole_or_text(pa.array(list(names)), where="that are listed")
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
            raise InputError("The list must name items by whole numbers or text.") from None
        # Items that all read as numbers are numbers in a file of baskets, while the list may name others too.
        type_ = self.names.type if values.type == self.names.type else pa.string()
        wanted, _ = sorted_names(values.cast(type_), where="that are listed")
        codes = pc.index_in(self.names.cast(type_), value_set=wanted)
        if codes.null_count:
            raise InputError(f"{codes.null_count} of the {self.n_items} items of the baskets are not listed.")
        new_code = np.asarray(codes.to_numpy(zero_copy_only=False), np.int32)
        return Baskets.from_entries(self.rows(), new_code[self.items], wanted, n=len(self))

    def spreadsheet_safe(self) -> Baskets:
        """Return the baskets with an apostrophe before names of items that a spreadsheet would run as a formula.

        >>> Baskets.from_lists([["=1+1", "milk"]]).spreadsheet_safe().lists()
        [["'=1+1", 'milk']]
        """
        names, new_code = sorted_items(defused(self.names))
        return Baskets.from_entries(self.rows(), new_code[self.items], names, n=len(self))

    def take(self, baskets: IntArray) -> Baskets:
        """Keep some baskets, in the order given."""
        indptr, entries = entries_of(self.indptr, baskets)
        return Baskets(indptr, self.items[entries], self.names)

    def keep(self, items_to_keep: BoolArray) -> Baskets:
        """Keep the items that are wanted, one truth value each; every basket stays, perhaps empty."""
        remaining = items_to_keep[self.items]
        indptr = bounds(remaining)[self.indptr]
        fresh = np.cumsum(items_to_keep, dtype=np.int32) - np.int32(1)
        return Baskets(indptr, fresh[self.items[remaining]], self.names.filter(pa.array(items_to_keep)))

    def bits(self, *, items: CodeArray | None = None) -> ItemBits:
        """Stand the baskets on end: one bit column for each item, or for the items given."""
        from discreet.kernels.itemsets.bits import columns_of

        chosen = np.arange(self.n_items, dtype=np.int32) if items is None else items
        column = np.full(self.n_items, -1, np.int32)
        column[chosen] = np.arange(chosen.size, dtype=np.int32)
        blocks = columns_of(self.indptr, self.items, column, chosen.size)
        return ItemBits(blocks, len(self), self.names.take(pa.array(chosen)))

    def to_long(self, *, basket: str = "basket", item: str = "item", drop_empty: bool = False) -> pa.Table:
        """Return an Arrow table with one row per entry: the basket's number, from 0, and the item's name.

        It cannot hold empty baskets, which are refused unless they may be dropped, nor items that no basket holds.
        """
        from discreet.core.baskets.forms import to_long

        return to_long(self, basket=basket, item=item, drop_empty=drop_empty)

    def to_onehot(self) -> pa.Table:
        """Return an Arrow table with one column of truth values for each item."""
        from discreet.core.baskets.forms import to_onehot

        return to_onehot(self)

    def to_sparse(self) -> Any:
        """Return a scipy CSR array of ones: a row per basket, a column per item."""
        from discreet.core.baskets.forms import to_sparse

        return to_sparse(self)

    def to_arrow(self) -> pa.Array:
        """Return an Arrow column with the list of names of each basket; items that no basket holds do not show."""
        from discreet.core.baskets.forms import to_arrow

        return to_arrow(self)

    def equals(self, other: Baskets) -> bool:
        """Return whether the other baskets are the same ones in the same order, with the same names of items."""
        return (
            np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.items, other.items)
            and bool(self.names.equals(other.names))
        )

    def lists(self) -> list[list[Any]]:
        """Return every basket as a list of names."""
        names = self.names.to_pylist()
        return [[names[code] for code in basket] for basket in self]

    def __iter__(self) -> Iterator[list[int]]:
        """Go through the baskets, each a list of codes."""
        items = self.items.tolist()
        return (items[start:stop] for start, stop in itertools.pairwise(self.indptr.tolist()))

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __repr__(self) -> str:
        return f"Baskets({len(self)} baskets, {self.n_items} items, {self.items.size} entries)"


def _whole(numbers: Any) -> NDArray[Any]:
    """Return numbers as an array, as wide as they come; what is no row of whole numbers is refused."""
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError("The row pointers and the items of baskets must each be a row of whole numbers.")
    return array
