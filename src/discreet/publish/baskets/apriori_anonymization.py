"""Apriori-based anonymization: k^m-anonymous baskets by generalized items (Terrovitis, Mamoulis & Kalnis 2008)."""

from __future__ import annotations

import heapq
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.names import sorted_items
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.even_ranges import even_ranges
from discreet.core.params import NONE, Constraints, InstanceOf, IntIn, OneOf, check_parameters, require
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.guarantees import KmAnonymity
from discreet.kernels import ragged
from discreet.publish.baskets.grouping import basket_recipe
from discreet.publish.baskets.item_tree import ItemTree, item_tree, label_of

_AT_ONCE = 64
"""The items whose rare combinations are in memory at once."""


@public
@dataclass(repr=False, eq=False)
class AprioriAnonymization:
    """Generalize items until every combination of at most m of them is in at least k baskets, or in none.

    Each item is replaced everywhere by the same node of a hierarchy, and with it all items below that node
    (full-subtree recoding). First single items are made frequent enough, then pairs, and so on up to m: for each rare
    combination in turn those nodes are raised whose generalization costs least. So far it is the paper's method, which
    guarantees a valid result and no more. Then each node is lowered again as far as the guarantee allows, the dearest
    first, and the result is minimal: every finer recoding breaks the guarantee. It need not be the cheapest such one.

    The cost is the normalized certainty penalty: an occurrence of an item that is published as a node above u leaves
    costs u over all leaves of the tree, and one that is published as it is costs nothing. The mean is reported.

    Parameters
    ----------
    k
        The least number of baskets for each combination; or a `KmAnonymity`, which includes ``m``.
    m
        How many items of a basket an attacker may know.
    hierarchy
        The tree over the items, as `read_hierarchy`, `from_mapping` or `tree` make it. None joins neighboring items in
        the order of their names.
    fan_out
        How many nodes are joined on each level without a hierarchy.
    random_state
        Seeds the order of the baskets, which is all that is random.

    Examples
    --------
    The paper's database: with a1 and a2 published as A, each pair is in two baskets.

    >>> from discreet import tree
    >>> bought = Baskets.from_lists([["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]])
    >>> release = AprioriAnonymization(2, 2, hierarchy=tree({"A": ["a1", "a2"], "B": ["b1", "b2"]})).release(bought)
    >>> sorted(release.data.lists())
    [['A', 'b1'], ['A', 'b1', 'b2'], ['A', 'b1', 'b2'], ['A', 'b2']]
    >>> print(release.verdict)
    KmAnonymity(k=2, m=2): verified (support of a combination 2, required >= 2)

    References
    ----------
    M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data. VLDB 2008.
    """

    k: int | KmAnonymity
    m: int | None = None
    _: KW_ONLY
    hierarchy: Hierarchy | HierarchySpec | None = None
    fan_out: int = 4
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "k": (IntIn(1), InstanceOf((KmAnonymity,), "a KmAnonymity")),
        "m": (IntIn(1), NONE),
        "hierarchy": InstanceOf((Hierarchy, HierarchySpec, type(None)), "a hierarchy or None"),
        "fan_out": IntIn(2),
        "random_state": RANDOM_STATE,
    }

    @property
    def guarantee(self) -> KmAnonymity:
        """What the release keeps."""
        if isinstance(self.k, KmAnonymity):
            require(self, "m", self.m, OneOf((None, self.k.m)))
            return self.k
        require(self, "m", self.m, IntIn(1))
        return KmAnonymity(self.k, self.m or 1)

    def release(self, baskets: Baskets) -> Release:
        """Generalize the items and publish the baskets, shuffled."""
        rng = self._checked(baskets)
        if baskets.n_items == 0:
            return self._published(baskets, baskets, rng, {"loss": 0.0, "items": 0})
        spec = even_ranges(baskets.names, self.fan_out) if self.hierarchy is None else self.hierarchy
        tree = item_tree(spec, baskets.names)
        guarantee = self.guarantee
        recoding = _Recoding(baskets, tree, guarantee.k, guarantee.m)
        for size in range(1, min(guarantee.m, int(baskets.lengths.max())) + 1):
            recoding.make_frequent(size)
        raised = recoding.loss
        recoding.lower()
        details = {
            "loss": recoding.loss,
            "loss_before_lowering": raised,
            "raised": recoding.raised,
            "lowered": recoding.lowered,
            "leaves": tree.n_leaves,
            "items": int(np.count_nonzero(baskets.counts)),
            "nodes": _covers(tree, recoding.cut),
        }
        return self._published(baskets, recoding.baskets(), rng, details)

    def _checked(self, baskets: Baskets) -> np.random.Generator:
        check_parameters(self)
        require(self, "baskets", baskets, InstanceOf((Baskets,), "Baskets"))
        if len(baskets) == 0:
            raise InputError("There are no baskets.")
        filled = int(np.count_nonzero(baskets.lengths))
        k = self.guarantee.k
        if 0 < filled < k:
            raise InfeasibleError(
                f"No release can keep the guarantee: only {filled} of the {len(baskets)} baskets hold any item, fewer "
                f"than k={k}. Use k={filled} at most."
            )
        return generator(self.random_state, owner=self)

    def _published(
        self, baskets: Baskets, generalized: Baskets, rng: np.random.Generator, details: dict[str, Any]
    ) -> Release:
        hierarchy = type(self.hierarchy).__name__ if self.hierarchy is not None else "even ranges"
        parameters: dict[str, object] = {"k": self.guarantee.k, "m": self.guarantee.m, "hierarchy": hierarchy}
        if self.hierarchy is None:
            parameters["fan_out"] = int(self.fan_out)
        return Release(
            data=generalized.take(rng.permutation(len(generalized))),
            guarantee=self.guarantee,
            evidence=Evidence(len(baskets), np.empty(0, np.int64), {}, details=details),
            recipe=basket_recipe(self, generalized, parameters),
            kind="baskets",
            original=baskets,
        )


class _Recoding:
    """Baskets, a tree, and the cut through it that maps each leaf to the node it is published as."""

    def __init__(self, original: Baskets, tree: ItemTree, k: int, m: int) -> None:
        from discreet.kernels.baskets.item_cuts import holders_of

        self.original = original
        self.tree = tree
        self.k, self.m = k, m
        self.raised = self.lowered = 0
        self.leaves = tree.leaf[original.items]
        self.holders = holders_of(original.indptr, self.leaves, tree.parent)
        self.cut = np.arange(tree.n_leaves, dtype=np.int32)
        # Sums up to each leaf: what is below a node is one difference.
        counts = ragged.bounds(np.bincount(self.leaves, minlength=tree.n_leaves))
        self.weight: FloatArray = (counts[tree.high] - counts[tree.low]).astype(np.float64)
        self.cost = np.zeros(tree.parent.size)

    @property
    def loss(self) -> float:
        """The mean certainty penalty of an occurrence."""
        nodes = self.cut[self.leaves]
        return float(self.tree.price[nodes].mean()) if nodes.size else 0.0

    def make_frequent(self, size: int) -> None:
        """Raise the cut until all combinations of ``size`` nodes are frequent; smaller ones are already."""
        from discreet.kernels.baskets.item_cuts import raise_cut
        from discreet.kernels.itemsets.combinations import count_combinations, laid_out

        tree = self.tree
        indptr, nodes = self._nodes()
        counts = np.bincount(nodes, minlength=tree.parent.size)
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].astype(np.int32)
        layout = laid_out(indptr, nodes, _rank(order, tree.parent.size))
        for first in range(0, order.size, _AT_ONCE):
            stop = min(first + _AT_ONCE, order.size)
            rare = count_combinations(layout, self.k, size, first=first, stop=stop, keep=True).rare
            self.raised += raise_cut(
                order[rare], self.k, *self.holders, tree.parent, tree.low, tree.high, tree.price, self.weight,
                self.cost, self.cut,
            )  # fmt: skip

    def lower(self) -> None:
        """Replace nodes by those below them wherever that keeps the guarantee, the dearest node first.

        What cannot be lowered once never can: a finer cut elsewhere only makes combinations rarer.
        """
        nodes = np.unique(self.cut)
        waiting = [(-self._paid(node), node) for node in nodes[nodes >= self.tree.n_leaves].tolist()]
        heapq.heapify(waiting)
        while waiting:
            _, node = heapq.heappop(waiting)
            children = self.tree.children(node)
            if not self._may_lower(node, children):
                continue
            self.lowered += 1
            for child in children.tolist():
                self.cut[self.tree.low[child] : self.tree.high[child]] = child
                if child >= self.tree.n_leaves:
                    heapq.heappush(waiting, (-self._paid(child), child))

    def baskets(self) -> Baskets:
        """Return the baskets with each item as its node; unchanged where no item was generalized."""
        if (self.cut[self.leaves] == self.leaves).all():
            return self.original.keep(self.original.counts > 0)
        nodes, codes = np.unique(self.cut[self.leaves], return_inverse=True)
        names, rank = sorted_items(label_of(self.tree, nodes))
        rows = self.original.rows()
        return Baskets.from_entries(rows, rank[codes], names, n=len(self.original))

    def _paid(self, node: int) -> float:
        return float(self.weight[node] * self.tree.price[node])

    def _may_lower(self, node: int, children: CodeArray) -> bool:
        """Return whether all combinations with one of the children are frequent; the others stay as they are."""
        from discreet.kernels.itemsets.combinations import count_combinations, laid_out

        starts, rows = self.holders
        # A child that is too rare alone needs no count of combinations.
        counts_below = starts[children + 1] - starts[children]
        if ((counts_below > 0) & (counts_below < self.k)).any():
            return False
        # The cut is changed only to see the baskets that hold the node; others cannot hold a child.
        before = self.cut[self.tree.low[node]]
        self.cut[self.tree.low[node] : self.tree.high[node]] = _spread(self.tree, children)
        indptr, nodes = self._nodes(rows[starts[node] : starts[node + 1]])
        self.cut[self.tree.low[node] : self.tree.high[node]] = before
        held_nodes = np.bincount(nodes, minlength=self.tree.parent.size) > 0
        held_nodes[children] = False
        # Children come first in the order, and only combinations that begin with one of them are counted.
        others = np.flatnonzero(held_nodes).astype(np.int32)
        rank = _rank(np.concatenate([children, others]), self.tree.parent.size)
        layout = laid_out(indptr, nodes, rank)
        longest = min(self.m, int(np.diff(indptr).max(initial=1)))
        return count_combinations(layout, self.k, longest, stop=children.size, hasty=True).n_rare == 0

    def _nodes(self, rows: CodeArray | None = None) -> tuple[IntArray, CodeArray]:
        """Return the nodes of all or some baskets under the cut, each node once a basket."""
        from discreet.kernels.baskets.item_cuts import baskets_under

        chosen = np.arange(len(self.original), dtype=np.int32) if rows is None else rows
        return baskets_under(self.original.indptr, self.leaves, chosen, self.cut, self.tree.parent.size)


def _rank(order: CodeArray, n_nodes: int) -> CodeArray:
    rank = np.full(n_nodes, -1, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return rank


def _spread(tree: ItemTree, nodes: CodeArray) -> CodeArray:
    """Return each of the leaves below some neighboring nodes its node."""
    nodes = nodes[np.argsort(tree.low[nodes], kind="stable")]
    return np.repeat(nodes, tree.high[nodes] - tree.low[nodes])


def _covers(tree: ItemTree, cut: CodeArray) -> dict[int, int]:
    """Count the published nodes by the number of their leaves."""
    nodes = np.unique(cut)
    sizes, counts = np.unique(tree.high[nodes] - tree.low[nodes], return_counts=True)
    return dict(zip(sizes.tolist(), counts.tolist(), strict=True))
