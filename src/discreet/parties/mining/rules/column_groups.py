"""Candidates over columns of several parties, grouped by the parties whose columns they have.

A candidate has a part at each of its parties: the items of that party. Parts of one party are bits that it computes
alone, the product of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from discreet.parties.mining.rules.joint_rules import Sets

Part = tuple[int, ...]
"""Items of one party."""


@dataclass(frozen=True)
class Group:
    """The candidates with as many items at the same parties.

    ``rows`` are their places among all candidates. ``parties`` are places of the session, those with more parts first:
    the last one takes one transfer for each of its bits. ``parts`` has a row for each candidate, a part of each party.
    """

    parties: tuple[int, ...]
    rows: NDArray[np.int64]
    parts: tuple[tuple[Part, ...], ...]

    @property
    def keepers(self) -> tuple[int, int]:
        """The places of the two parties that compare, in the order of the session."""
        first, second = sorted(self.parties[:2])
        return first, second

    def by_last_part(self) -> Iterator[tuple[Part, list[int]]]:
        """Return each part of the last party, and the candidates that have it."""
        order = sorted(range(len(self.parts)), key=lambda at: (self.parts[at][-1], at))
        for part, places in groupby(order, key=lambda at: self.parts[at][-1]):
            yield part, list(places)

    def prefixes(self, depth: int) -> list[tuple[Part, ...]]:
        """Return the parts of the first parties that occur in a candidate, each once, in order."""
        return sorted({parts[:depth] for parts in self.parts})


def grouped(candidates: Sets, owners: Sequence[int]) -> list[Group]:
    """Return the groups of the candidates; ``owners`` has the place of the party of each item.

    Candidates of a group have as many items at each party as the others, so that long parts, of which there are many,
    can meet short ones.

    >>> [(one.parties, one.rows.tolist()) for one in grouped(np.array([[0, 1], [0, 2], [1, 2]]), [0, 0, 1])]
    [((0, 1), [1, 2]), ((0,), [0])]
    """
    found: dict[tuple[tuple[int, int], ...], list[tuple[int, dict[int, Part]]]] = {}
    for row, items in enumerate(candidates.tolist()):
        parts = _parts(items, owners)
        shape = tuple((place, len(parts[place])) for place in sorted(parts))
        found.setdefault(shape, []).append((row, parts))
    return [_group([place for place, _ in shape], members) for shape, members in sorted(found.items())]


def _group(places: Sequence[int], members: Sequence[tuple[int, dict[int, Part]]]) -> Group:
    several = {place: len({parts[place] for _, parts in members}) for place in places}
    parties = tuple(sorted(places, key=lambda place: (-several[place], place)))
    parts = tuple(tuple(one[place] for place in parties) for _, one in members)
    return Group(parties, np.array([row for row, _ in members], np.int64), parts)


def _parts(items: Sequence[int], owners: Sequence[int]) -> dict[int, Part]:
    found: dict[int, Part] = {}
    for item in items:
        found[owners[item]] = (*found.get(owners[item], ()), item)
    return found
