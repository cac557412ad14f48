"""Baskets of people in the items of a release, and who holds which items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import ParameterError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.even_ranges import even_ranges
from discreet.core.release import Release
from discreet.core.tables.labels import texts
from discreet.kernels import ragged


def item_tree_of(
    released: object, original: Baskets, hierarchy: Hierarchy | HierarchySpec | None
) -> Hierarchy | None:
    """Return the tree that says which items a published one stands for; None where items are not generalized."""
    if hierarchy is not None:
        return hierarchy.bind(original.names, column="item")
    parameters = released.recipe.get("parameters", {}) if isinstance(released, Release) else {}
    if "hierarchy" not in parameters:
        return None
    if "fan_out" not in parameters:
        raise ParameterError(
            "The items were generalized by a tree, which is not in the release: name it (hierarchy=, --item-hierarchy)."
        )
    return even_ranges(original.names, parameters["fan_out"])


@dataclass(frozen=True, eq=False, repr=False)
class ItemHolders:
    """Baskets, and the rows of those that hold each item, end to end."""

    baskets: Baskets
    starts: IntArray
    rows: IntArray

    @classmethod
    def of(cls, baskets: Baskets) -> ItemHolders:
        """Return the baskets with the lists of their items."""
        order = np.argsort(baskets.items, kind="stable")
        return cls(baskets, ragged.bounds(baskets.counts), baskets.rows()[order])

    def count(self, sets: CodeArray) -> IntArray:
        """Count the baskets that hold all items of each row of sets."""
        from discreet.kernels.itemsets.known_items import matches_of

        return np.asarray(matches_of(sets, self.starts, self.rows))

    def holding(self, items: Iterable[int]) -> IntArray:
        """Return the baskets that hold all of some items: the shortest list, looked up in the others."""
        lists = sorted((self.rows[self.starts[item] : self.starts[item + 1]] for item in items), key=len)
        rows: IntArray = lists[0] if lists else np.arange(len(self.baskets))
        for longer in lists[1:]:
            if rows.size == 0:
                break
            at = np.minimum(np.searchsorted(longer, rows), longer.size - 1)
            rows = rows[longer[at] == rows]
        return rows


@dataclass(frozen=True, eq=False, repr=False)
class BasketPeople:
    """Baskets of people in the items of a release: entries, one per item in clear; and the sensitive ones."""

    rows: IntArray
    codes: CodeArray
    ordinary: Baskets
    sensitive: Baskets | None

    @classmethod
    def of(cls, baskets: Baskets, released: Baskets | GroupedBaskets, tree: Hierarchy | None) -> BasketPeople:
        """Return baskets in clear in the items of a release; what it does not have is left out."""
        names = released.ordinary.names
        rows, codes = _entries(baskets, names, tree)
        secret = None
        if isinstance(released, GroupedBaskets):
            held = _entries(baskets, released.sensitive_names, None)
            secret = Baskets.from_entries(*held, released.sensitive_names, n=len(baskets))
        return cls(rows, codes, Baskets.from_entries(rows, codes, names, n=len(baskets)), secret)


def _entries(baskets: Baskets, published: pa.Array, tree: Hierarchy | None) -> tuple[IntArray, CodeArray]:
    """Return the entries whose items are published: as themselves, or as a node above them; one node is at the most."""
    names, wanted = texts(baskets.names), texts(published)
    codes = np.asarray(pc.index_in(names, value_set=wanted).fill_null(-1), np.int32)
    if tree is not None:
        leaf = np.asarray(pc.index_in(names, value_set=texts(tree.leaves)).fill_null(-1), np.int64)
        for level, labels in zip(tree.levels[1:], tree.labels[1:], strict=True):
            node = np.asarray(
                pc.index_in(pa.array(labels, wanted.type), value_set=wanted).fill_null(-1), np.int32
            )
            codes = np.where((codes < 0) & (leaf >= 0), node[level[leaf + 1]], codes)
    items = codes[baskets.items]
    return baskets.rows()[items >= 0], items[items >= 0]
