"""Junction trees: columns that were counted together, in cliques along which marginals are computed exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

Clique = tuple[int, ...]
"""Numbers of columns, ascending."""


@dataclass(frozen=True)
class JunctionTree:
    """Cliques in an order in which each comes after its parent, and what each shares with it.

    Every column is in some clique, every set that was asked for is inside one, and the cliques that hold a column hang
    together. A clique that shares nothing with what comes before has an empty separator.
    """

    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    @classmethod
    def of(cls, sets: Iterable[Clique], shape: Sequence[int]) -> JunctionTree:
        """Make a tree in which each of the sets is inside a clique: columns are eliminated where that costs least."""
        cliques = _maximal(_eliminated(sets, shape))
        parents, order = [-1], [0]
        separators: list[Clique] = [()]
        near = {at: (len({*cliques[0]} & {*cliques[at]}), 0) for at in range(1, len(cliques))}
        while near:  # Prim: a spanning tree with the largest separators has the running intersection property
            at = max(near, key=lambda clique: (near[clique][0], -clique))
            parent = near.pop(at)[1]
            parents.append(order.index(parent))
            separators.append(tuple(sorted({*cliques[at]} & {*cliques[parent]})))
            order.append(at)
            for other, (shared, _) in near.items():
                more = len({*cliques[at]} & {*cliques[other]})
                if more > shared:
                    near[other] = (more, at)
        return cls(tuple(cliques[at] for at in order), tuple(parents), tuple(separators))

    def n_cells(self, shape: Sequence[int]) -> int:
        """Return the number of cells in all cliques."""
        return sum(math.prod(shape[column] for column in clique) for clique in self.cliques)

    def home(self, columns: Clique) -> int | None:
        """Return the smallest clique that holds some columns; None where they are in several."""
        holding = [at for at, clique in enumerate(self.cliques) if {*columns} <= {*clique}]
        return min(holding, key=lambda at: len(self.cliques[at]), default=None)


def _eliminated(sets: Iterable[Clique], shape: Sequence[int]) -> list[Clique]:
    """Return the clique of each column as it is eliminated, the one with the fewest cells first."""
    near: dict[int, set[int]] = {column: set() for column in range(len(shape))}
    for columns in sets:
        for first, second in combinations(columns, 2):
            near[first].add(second)
            near[second].add(first)
    cliques = []
    while near:
        # Ties by number, so that the tree does not depend on the order of the sets.
        column = min(near, key=lambda at: (math.prod(shape[other] for other in {at} | near[at]), at))
        others = near.pop(column)
        cliques.append(tuple(sorted({column} | others)))
        for other in others:
            near[other] = (near[other] | others) - {column, other}
    return cliques


def _maximal(cliques: list[Clique]) -> list[Clique]:
    """Return the cliques that are inside no other."""
    longest = sorted(dict.fromkeys(cliques), key=lambda clique: -len(clique))
    kept_cliques: list[Clique] = []
    for clique in longest:
        if not any({*clique} <= {*other} for other in kept_cliques):
            kept_cliques.append(clique)
    return kept_cliques
