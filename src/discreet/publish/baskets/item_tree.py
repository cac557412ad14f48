"""A tree over the items of baskets: the nodes of a hierarchy as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec


@dataclass(frozen=True, repr=False, eq=False)
class ItemTree:
    """A tree of items: the leaves come first, the root last.

    A node covers the leaves ``low[node]`` to ``high[node] - 1``; ``parent`` is -1 for the root. ``leaf`` is the leaf
    of each item. A level at which a node stays what it is adds no node.
    """

    labels: list[str]
    parent: CodeArray
    low: IntArray
    high: IntArray
    leaf: CodeArray
    n_leaves: int

    @property
    def price(self) -> FloatArray:
        """The certainty penalty of one occurrence: the share of all leaves below a node, 0 for a leaf."""
        covered = self.high - self.low
        return np.where(covered > 1, covered / self.n_leaves, 0.0)

    def children(self, node: int) -> CodeArray:
        """Return the nodes right below a node."""
        return np.flatnonzero(self.parent == node).astype(np.int32)


def item_tree(hierarchy: Hierarchy | HierarchySpec, names: pa.Array) -> ItemTree:
    """Bind a hierarchy to the items and return its nodes."""
    bound = hierarchy.bind(names, column="item")
    n_leaves = bound.n_leaves
    labels = [str(label) for label in bound.labels[0][1:]]
    low, high = list(range(n_leaves)), list(range(1, n_leaves + 1))
    parent = [-1] * n_leaves
    node = np.arange(n_leaves)
    for level in range(1, bound.height + 1):
        along = bound.levels[level][1:]
        bounds = [0, *(np.flatnonzero(np.diff(along)) + 1).tolist(), n_leaves]
        for start, stop in pairwise(bounds):
            if start == stop or (low[node[start]] == start and high[node[start]] == stop):
                continue
            for below in np.unique(node[start:stop]).tolist():
                parent[below] = len(labels)
            node[start:stop] = len(labels)
            labels.append(str(bound.labels[level][along[start]]))
            low.append(start)
            high.append(stop)
            parent.append(-1)
    leaf = bound.encode(names) - np.int32(1)
    return ItemTree(labels, np.array(parent, np.int32), np.array(low), np.array(high), leaf, n_leaves)


def label_of(tree: ItemTree, nodes: CodeArray) -> pa.Array:
    """Return the names of nodes; no two may be equal."""
    names = [tree.labels[node] for node in nodes.tolist()]
    if len(set(names)) < len(names):
        raise HierarchyError(
            f"{len(names) - len(set(names))} nodes of the items' hierarchy have the name of another node."
        )
    return pa.array(names, pa.string())
