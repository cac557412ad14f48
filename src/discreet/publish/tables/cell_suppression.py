"""Cell suppression: rows that would be left out whole are published with only some of their cells starred."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.recoding_rounds import Recoded, Rounds, Steps, ladder


def starred(rounds: Rounds, recoded: Recoded, weights: FloatArray, most: int) -> Recoded:
    """Publish what is left in rounds at nodes with some columns starred, beyond the highest levels of the lattice."""
    from discreet.publish.lattice.measures import LossMeasure

    lattice = rounds.lattice
    limited = [tree.height > top for tree, top in zip(lattice.trees, lattice.top, strict=True)]
    if not any(limited) or not recoded.rest.size:
        return recoded
    ways = []
    for column, loss in enumerate(LossMeasure(lattice, weights, "mean").columns):
        star = [lattice.trees[column].height - lattice.bottom[column]] * limited[column]
        cost = weights[column] * np.concatenate([loss, np.ones(len(star))])
        ways.append(Steps.of(column, len(limited), [*range(lattice.dims[column]), *star], cost))
    nodes = ladder(lattice.bottom, ways, most)
    beyond = [
        node for node in nodes if any(level > top for level, top in zip(node, lattice.top, strict=True))
    ]
    return rounds.run(beyond, recoded)


def joined(rounds: Rounds, recoded: Recoded, *, cells: bool) -> Recoded | None:
    """Publish what is left together with the last groups, at the lowest node that holds them all.

    As few groups are opened again as needed: none, one, two, four and so on, until the rows together keep the promise.
    Gives None where they never do, or where some cell would have to be starred and may not be.
    """
    rest = recoded.rest
    n_groups = len(recoded.levels)
    n_opened = 0
    while rest.size:
        first = n_groups - n_opened
        together = np.flatnonzero((recoded.group_of < 0) | (recoded.group_of >= first)).astype(np.int32)
        node = _lowest_common(rounds.lattice, together, cells=cells)
        if node is None:
            return None
        if rounds.judged(together, node):
            group_of = recoded.group_of.copy()
            group_of[together] = first
            return Recoded(group_of, np.concatenate([recoded.levels[:first], [node]]))
        if first == 0:
            return None
        n_opened = min(max(2 * n_opened, 1), n_groups)
    return recoded


def _lowest_common(lattice: Lattice, tuples: CodeArray, *, cells: bool) -> Node | None:
    """Return the lowest node within the lattice's limits at which tuples are one class, or starred beyond them."""
    node = []
    for column, (name, tree) in enumerate(zip(lattice.names, lattice.trees, strict=True)):
        codes = lattice.table.codes(name)[tuples]
        level = int(tree.lowest_common(codes.min(keepdims=True), codes.max(keepdims=True))[0][0])
        if level > lattice.top[column]:
            if not cells:
                return None
            level = tree.height
        node.append(max(level, lattice.bottom[column]))
    return tuple(node)
