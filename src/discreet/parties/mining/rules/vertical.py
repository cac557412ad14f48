"""Level by level over columns of several parties: who counts which candidates, and how all learn the frequent ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.parties.mining.matching.people import matching_frames
from discreet.parties.mining.rules.column_groups import Group, grouped
from discreet.parties.mining.rules.column_products import ColumnProducts, ProductFrames
from discreet.parties.mining.rules.joint_rules import JointRules, Sets, joint_rules, longer_candidates
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

if TYPE_CHECKING:
    from discreet.parties.mining.rules.vertical_rules import VerticalRules

_COUNTS = "counts"


class Vertical:
    """One party's half of mining, once the people are matched."""

    def __init__(
        self, protocol: VerticalRules, party: Party, bits: Mapping[str, NDArray[np.bool_]], n: int
    ) -> None:
        self._protocol, self._party, self._n = protocol, party, n
        self._items, self._owners = protocol.items(party.names)
        numbers = {item: number for number, item in enumerate(self._items)}
        self._products = ColumnProducts(party, {numbers[item]: column for item, column in bits.items()}, n)
        self._least = protocol.least(n)

    def mine(self) -> JointRules:
        """Return the rules."""
        self._party.reveal("people", self._n)
        levels: list[Sets] = []
        counts = [np.zeros(0, np.int64)]
        candidates = first_candidates(self._items, self._n)
        while len(candidates):
            found = self._counted(candidates)
            levels.append(candidates[found > 0])
            counts.append(found[found > 0])
            self._party.reveal(f"frequent of {candidates.shape[1]}", levels[-1].tolist())
            candidates = longer_candidates(levels[-1], max_length=self._protocol.max_length)
        levels = [level for level in levels if len(level)]
        names = self._party.names
        return joint_rules(self._protocol, levels, np.concatenate(counts), self._n, self._items, names)

    def _counted(self, candidates: Sets) -> NDArray[np.int64]:
        """Return the counts of the frequent candidates, and zero for the others, at all parties."""
        counts = np.zeros(len(candidates), np.int64)
        for group in grouped(candidates, self._owners):
            with self._party.step(f"sets of {candidates.shape[1]}"):
                counts[group.rows] = self._spread(group, self._known(group))
        return counts

    def _known(self, group: Group) -> NDArray[np.int64] | None:
        """Return the counts of a group at the parties that compute them."""
        if len(group.parties) > 1:
            return self._products.counts(group, self._least)
        if self._party.index != group.parties[0]:
            return None
        own = np.array([np.count_nonzero(self._products.part(parts[0])) for parts in group.parts], np.int64)
        return np.where(own >= self._least, own, 0)

    def _spread(self, group: Group, counts: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return what the first party that knows the counts sends to those who do not."""
        names = self._party.names
        source, others = _receivers(group, len(names))
        if self._party.index == source and counts is not None:
            for place in others:
                self._party.send(names[place], _COUNTS, counts.view(np.uint8).data)
        if counts is not None:
            return counts
        return np.frombuffer(self._party.recv(names[source], _COUNTS, 8 * len(group.parts)), np.int64)


def vertical_frames(
    protocol: VerticalRules, names: Sequence[str], revealed: Mapping[str, Any]
) -> Iterator[FrameShape]:
    """Return the frames of a run from its output: the number of people and the frequent sets of each length."""
    n = revealed["people"]
    items, owners = protocol.items(names)
    least = protocol.least(n)
    products = ProductFrames(tuple(names), n)
    yield from matching_frames(names, protocol.max_people)
    candidates = first_candidates(items, n)
    while len(candidates):
        found = revealed[f"frequent of {candidates.shape[1]}"]
        frequent: Sets = np.array(found, np.int32).reshape(len(found), candidates.shape[1])
        known = {tuple(one) for one in found}
        for group in grouped(candidates, owners):
            if len(group.parties) > 1:
                n_frequent = sum(tuple(row) in known for row in candidates[group.rows].tolist())
                yield from products.counts(group, least, n_frequent)
            source, others = _receivers(group, len(names))
            size = 8 * len(group.parts)
            yield from (FrameShape(names[source], names[place], _COUNTS, size) for place in others)
        candidates = longer_candidates(frequent, max_length=protocol.max_length)


def first_candidates(items: Sequence[str], n: int) -> Sets:
    """Return the sets of one item; none where nobody takes part."""
    return np.arange(len(items) if n else 0, dtype=np.int32)[:, None]


def _receivers(group: Group, n_parties: int) -> tuple[int, list[int]]:
    """Return the party that sends the counts of a group, and those that receive them."""
    knowing = group.keepers if len(group.parties) > 1 else group.parties
    return knowing[0], [place for place in range(n_parties) if place not in knowing]
