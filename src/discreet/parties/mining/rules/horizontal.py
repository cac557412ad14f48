"""Level by level over baskets that several parties hold: candidates, shared counts, and those that are frequent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.supports import is_count, least_count
from discreet.core.errors import InputError
from discreet.parties.errors import PartyError
from discreet.parties.mining.rules.joint_rules import JointRules, Sets, joint_rules, longer_candidates
from discreet.parties.protocol import Party
from discreet.parties.sets.set_union import SetUnion
from discreet.parties.sums.shared_sums import SharedFrames, SharedSums
from discreet.parties.sums.sum_rounds import SumRounds
from discreet.parties.transcript import FrameShape

if TYPE_CHECKING:
    from discreet.parties.mining.rules.association_rules import AssociationRules

Counts = NDArray[np.int64]


class Horizontal:
    """One party's half of mining among parties that are all there; a sum without one of them is not opened.

    ``items`` are those that were united before a party was lost. Nothing is united again then: a second union would
    show what only the lost party had. ``has_opened`` says that a sum was opened; the others must not count again then,
    as the difference of both results would show what the lost party had.
    """

    def __init__(
        self,
        protocol: AssociationRules,
        party: Party,
        baskets: Baskets,
        *,
        needed: int,
        items: list[str] | None = None,
    ) -> None:
        self._protocol, self._party, self._own = protocol, party, baskets
        self.items, self.has_opened = items, False
        self._unites = items is None and protocol.candidates == "union"
        rounds = SumRounds(party, label="shared sums", threshold=needed, required=party.names)
        self._sums = SharedSums(party, rounds)
        self._largest = 0

    def mine(self, *, revealed: Party) -> JointRules:
        """Return the rules; what the frames depend on is noted as revealed once the run is through."""
        facts: dict[str, Any] = {}
        if self.items is None:
            self.items = self._first_items()
        names = self.items
        baskets = _among(self._own, names)
        candidates: Sets = np.arange(len(names), dtype=np.int32)[:, None]
        levels: list[Sets] = []
        shares: list[NDArray[np.uint64]] = []
        while not levels or len(candidates):
            length = candidates.shape[1]
            facts[f"candidates of {length}"] = len(candidates)
            own = _counts(baskets, candidates)
            if length > 1 and self._unites:
                kept = self._united(own, length, len(baskets))
                candidates, own = candidates[kept], own[kept]
                facts[f"large candidates of {length}"] = len(candidates)
            share, frequent = self._judged(own, first=length == 1, n=len(baskets))
            levels.append(candidates[frequent])
            shares.append(share[frequent])
            facts[f"frequent of {length}"] = len(levels[-1])
            candidates = longer_candidates(levels[-1], max_length=self._protocol.max_length)
        counts = self._sums.opened(np.concatenate(shares))
        facts["baskets"] = self._largest
        for fact, value in facts.items():
            revealed.reveal(fact, value)
        levels = [level for level in levels if len(level)]
        return joint_rules(self._protocol, levels, counts, self._largest, names, self._party.names)

    def _first_items(self) -> list[str]:
        """Return the items that are looked at, in order: those of the public list, or those large at some party."""
        if self._protocol.items:
            return sorted(self._protocol.items)
        large = large_items(self._protocol, self._own, len(self._party.names))
        return sorted(self._unite(union_of_items(self._protocol), large, "items"))

    def _united(self, own: Counts, length: int, n: int) -> NDArray[np.int64]:
        """Return the rows of the candidates that are large at some party; candidates travel by their numbers."""
        least = local_least(self._protocol, n, len(self._party.names))
        large = map(str, np.flatnonzero(own >= least).tolist())
        found = self._unite(union_of_sets(self._protocol, own.size), list(large), f"sets of {length}")
        rows = sorted({int(number) for number in found if number.isascii() and number.isdecimal()})
        if len(rows) < len(found) or (rows and rows[-1] >= own.size):
            raise PartyError(
                "A party united something that is no number of a candidate; nothing more was opened."
            )
        return np.array(rows, np.int64)

    def _unite(self, union: SetUnion, own: list[str], label: str) -> tuple[str, ...]:
        _require_room(len(own), union.max_items, label)
        return union.run(self._party.within(f"union of {label}"), own).items

    def _judged(self, own: Counts, *, first: bool, n: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return the share of the counts, and which candidates are frequent; the first sum also counts baskets."""
        if not own.size and not first:
            return np.zeros(0, np.uint64), np.zeros(0, np.bool_)
        found = self._sums.add(np.concatenate([[n], own]) if first else own, n_opened=int(first))
        self.has_opened = True
        if first:
            self._largest = int(found.opened[0])
        least = self._protocol.least(self._largest)
        return found.share, self._sums.at_least(found.share, least, largest=self._largest)


def local_least(protocol: AssociationRules, n: int, n_parties: int) -> int:
    """Return the least count of a large set in n own baskets: a frequent set has it at one party or more."""
    support = protocol.min_support
    if is_count(support):
        return -(-max(int(support), protocol.min_count) // n_parties)
    return least_count(support, n)


def large_items(protocol: AssociationRules, baskets: Baskets, n_parties: int) -> list[str]:
    """Return the items that are large in a party's own baskets; refuse more than the session allows."""
    large = baskets.counts >= local_least(protocol, len(baskets), n_parties)
    _require_room(int(large.sum()), protocol.max_items, "items")
    found: list[str] = baskets.names.filter(pa.array(large)).to_pylist()
    return found


def _require_room(n: int, most: int, label: str) -> None:
    if n > most:
        raise InputError(f"More {label} are large than the {most} that the session allows; raise max_items.")


def union_of_items(protocol: AssociationRules) -> SetUnion:
    """Return the union of items."""
    return SetUnion(
        max_items=protocol.max_items,
        max_item_bytes=protocol.max_item_bytes,
        two_parties_see_each_other=protocol.two_parties_see_each_other,
    )


def union_of_sets(protocol: AssociationRules, n_candidates: int) -> SetUnion:
    """Return the union of candidates by their numbers; no party can have more than there are."""
    return SetUnion(
        max_items=max(1, min(protocol.max_items, n_candidates)),
        two_parties_see_each_other=protocol.two_parties_see_each_other,
    )


def horizontal_frames(
    protocol: AssociationRules, names: Sequence[str], revealed: Mapping[str, Any]
) -> Iterator[FrameShape]:
    """Return the frames of a run from what it reveals: the number of baskets, and of candidates of each length."""
    frames, total = SharedFrames(names), revealed["baskets"]
    least = protocol.least(total)
    if not protocol.items:
        yield from union_of_items(protocol).frames(names)
    length, n_opened = 1, 0
    while f"candidates of {length}" in revealed:
        n = revealed[f"candidates of {length}"]
        if length > 1 and protocol.candidates == "union":
            yield from union_of_sets(protocol, n).frames(names)
            n = revealed[f"large candidates of {length}"]
        first = int(length == 1)
        if n + first:
            yield from frames.add(n + first, n_opened=first)
        yield from frames.at_least(n, least, largest=total)
        n_opened += revealed[f"frequent of {length}"]
        length += 1
    yield from frames.opened(n_opened)


def _among(baskets: Baskets, items: Sequence[str]) -> Baskets:
    """Return the baskets with these items alone, in this order; items that occur in none included."""
    place = {name: at for at, name in enumerate(items)}
    codes = np.array([place.get(name, -1) for name in baskets.names.to_pylist()], np.int32)
    found = codes[baskets.items] if baskets.items.size else np.empty(0, np.int32)
    kept = found >= 0
    return Baskets.from_entries(
        baskets.rows()[kept], found[kept], pa.array(list(items), pa.string()), n=len(baskets)
    )


def _counts(baskets: Baskets, candidates: Sets) -> Counts:
    """Return how many baskets hold each candidate."""
    from discreet.kernels.itemsets.counting import set_counts

    if candidates.shape[1] == 1:
        return baskets.counts[candidates[:, 0]]
    used, columns = np.unique(candidates, return_inverse=True)
    blocks = baskets.bits(items=used.astype(np.int32)).blocks
    if not len(blocks):
        return np.zeros(len(candidates), np.int64)
    return set_counts(blocks, columns.reshape(candidates.shape).astype(np.int32)).astype(np.int64)
