"""Counts of candidates over columns of several parties, as shares (Vaidya & Clifton 2002; Gilboa 1999).

Candidates are grouped by the parties whose columns they have. A candidate has a part at each of its parties: the items
of that party, whose bits the party multiplies alone. The count of a candidate is the scalar product of its parts. For
two parties it comes from one correlated transfer for each bit of the second. For more, the first parties come to hold
shares of the product of their parts, row by row; each of them then multiplies its shares with the bits of the next
party.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.parties.mining.rules.joint_rules import Sets
from discreet.parties.ot.extension import TransferReceiver, TransferSender, transfer_setup_frames
from discreet.parties.ot.forms import correlated_frames, receive_correlated, send_correlated
from discreet.parties.protocol import Party
from discreet.parties.shares.thresholds import ThresholdFrames, Thresholds, require_agreed
from discreet.parties.transcript import FrameShape

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
    members: dict[tuple[tuple[int, int], ...], list[tuple[int, dict[int, Part]]]] = {}
    for row, items in enumerate(candidates.tolist()):
        parts = _parts(items, owners)
        shape = tuple((owner, len(parts[owner])) for owner in sorted(parts))
        members.setdefault(shape, []).append((row, parts))
    return [_group([owner for owner, _ in shape], members) for shape, members in sorted(members.items())]


def _group(places: Sequence[int], members: Sequence[tuple[int, dict[int, Part]]]) -> Group:
    several = {owner: len({parts[owner] for _, parts in members}) for owner in places}
    parties = tuple(sorted(places, key=lambda owner: (-several[owner], owner)))
    parts = tuple(tuple(parts_of[owner] for owner in parties) for _, parts_of in members)
    return Group(parties, np.array([row for row, _ in members], np.int64), parts)


def _parts(items: Sequence[int], owners: Sequence[int]) -> dict[int, Part]:
    parts: dict[int, Part] = {}
    for item in items:
        parts[owners[item]] = (*parts.get(owners[item], ()), item)
    return parts


_COMBINED = "combined"
_AT_ONCE = 1 << 24
"""The products of a row that are computed together."""

Held = dict[tuple[Part, ...], NDArray[Any]]
"""The words that a party holds of products of parts, one for each person."""


class ColumnProducts:
    """One party's half of counting candidates over the columns of several parties.

    Parameters
    ----------
    party : Party
        This end.
    bits : mapping of int to array of bool
        The own columns, by the number of the item.
    n : int
        The people.
    """

    def __init__(self, party: Party, bits: dict[int, NDArray[np.bool_]], n: int) -> None:
        self._party, self._bits, self._n = party, bits, n
        self._word: Any = word_for(n)
        self._senders: dict[int, TransferSender] = {}
        self._receivers: dict[int, TransferReceiver] = {}
        self._thresholds: dict[tuple[int, int], Thresholds] = {}

    def part(self, items: Part) -> NDArray[np.bool_]:
        """Return who has all of some own items."""
        flags: NDArray[np.bool_] = np.all([self._bits[item] for item in items], axis=0)
        return flags

    def counts(self, group: Group, least: int) -> NDArray[np.int64] | None:
        """Return, at the two keepers, the counts that reach the least one, and zeros for the others."""
        share = self._combined(group, self._shares(group, self._joined(group)))
        keepers = group.keepers
        if self._party.index not in keepers:
            return None
        if keepers not in self._thresholds:
            names = [self._party.names[keeper] for keeper in keepers]
            self._thresholds[keepers] = Thresholds(self._party.within(f"keepers {keepers}", names))
        judge = self._thresholds[keepers]
        # The shares add up modulo the size of the narrower word, not modulo 2^64. The comparison reads no bit
        # above that word, see ``word_for``, and what is opened is reduced to it.
        words = share.astype(np.uint64)
        reached = judge.at_least(words, least, largest=self._n)
        counts = np.zeros(share.size, np.int64)
        opened = judge.opened(words[reached])
        counts[reached] = opened.astype(self._word)
        require_agreed(counts[reached], least)
        return counts

    def _joined(self, group: Group) -> Held:
        """Return the own shares of the products of the parts of all parties but the last, row by row."""
        index, products = self._party.index, {}
        if index == group.parties[0]:
            # The first party alone holds the bits of its parts: until another one has multiplied them, they
            # are its share, and those of the others are zero.
            products = {prefix: self.part(prefix[0]).astype(self._word) for prefix in group.prefixes(1)}
        for depth in range(2, len(group.parties)):
            *before, last = group.parties[:depth]
            longer: Held = {}
            for prefix in group.prefixes(depth):
                if index in before:
                    masks = send_correlated(self._sender(last), products[prefix[:-1]][:, None])
                    # The sender keeps the negative masks and the receiver
                    # the masks plus bit times word: shares of the product.
                    longer[prefix] = self._word(0) - masks[:, 0]
                elif index == last:
                    bits = self.part(prefix[-1])
                    longer[prefix] = np.zeros(self._n, self._word)
                    for peer in before:
                        words = receive_correlated(self._receiver(peer), bits, n_words=1, dtype=self._word)
                        longer[prefix] += words[:, 0]
            products = longer
        return products

    def _shares(self, group: Group, products: Held) -> NDArray[Any]:
        """Return the own share of the counts, which adds up over the parties of the group."""
        # The bits of the last party choose in transfers from each of the others, who hold shares of the product before.
        *before, last = group.parties
        share = np.zeros(len(group.parts), self._word)
        for places, prefixes, part in _chunks(group, self._n):
            if self._party.index in before:
                words = np.stack([products[prefix] for prefix in prefixes], axis=1)
                share[places] -= _summed(send_correlated(self._sender(last), words))
            elif self._party.index == last:
                bits, n_words = self.part(part), len(places)
                for peer in before:
                    receiver = self._receiver(peer)
                    share[places] += _summed(
                        receive_correlated(receiver, bits, n_words=n_words, dtype=self._word)
                    )
        return share

    def _combined(self, group: Group, share: NDArray[Any]) -> NDArray[Any]:
        """Return shares that add up over the first two parties: the others send theirs to the first."""
        names, first = self._party.names, group.parties[0]
        for owner in group.parties[2:]:
            if self._party.index == owner:
                self._party.send(names[first], _COMBINED, share.view(np.uint8).data)
            elif self._party.index == first:
                payload = self._party.recv(names[owner], _COMBINED, share.nbytes)
                share += np.frombuffer(payload, self._word)
        return share

    def _sender(self, receiver: int) -> TransferSender:
        if receiver not in self._senders:
            self._senders[receiver] = TransferSender(
                *self._pair(self._party.index, receiver), label="columns"
            )
        return self._senders[receiver]

    def _receiver(self, sender: int) -> TransferReceiver:
        if sender not in self._receivers:
            self._receivers[sender] = TransferReceiver(
                *self._pair(sender, self._party.index), label="columns"
            )
        return self._receivers[sender]

    def _pair(self, sender: int, receiver: int) -> tuple[Party, str]:
        """Return this end of the transfers between two parties, and the name of the other one."""
        pair = [self._party.names[index] for index in (sender, receiver)]
        part = self._party.within(f"transfers {sender} {receiver}", pair)
        return part, part.peer


class ProductFrames:
    """The frames of counting candidates, group by group as a run takes them."""

    def __init__(self, names: tuple[str, ...], n: int) -> None:
        self._names, self._n = names, n
        self._word_bytes = np.dtype(word_for(n)).itemsize
        self._set_up: set[tuple[int, int]] = set()
        self._thresholds: dict[tuple[int, int], ThresholdFrames] = {}

    def counts(self, group: Group, least: int, n_frequent: int) -> Iterator[FrameShape]:
        """Return the frames of one group, of whose candidates some are frequent."""
        for depth in range(2, len(group.parties)):
            for _ in group.prefixes(depth):
                for sender in group.parties[: depth - 1]:
                    yield from self._transfers(sender, group.parties[depth - 1], n_words=1)
        *before, last = group.parties
        for places, _, _ in _chunks(group, self._n):
            for sender in before:
                yield from self._transfers(sender, last, n_words=len(places))
        size = self._word_bytes * len(group.parts)
        collector = self._names[group.parties[0]]
        yield from (
            FrameShape(self._names[sender], collector, _COMBINED, size) for sender in group.parties[2:]
        )
        first, second = group.keepers
        frames = ThresholdFrames((self._names[first], self._names[second]))
        frames = self._thresholds.setdefault(group.keepers, frames)
        yield from frames.at_least(len(group.parts), least, largest=self._n)
        yield from frames.opened(n_frequent)

    def _transfers(self, sender: int, receiver: int, *, n_words: int) -> Iterator[FrameShape]:
        names = self._names[sender], self._names[receiver]
        if (sender, receiver) not in self._set_up:
            self._set_up.add((sender, receiver))
            yield from transfer_setup_frames(*names)
        yield from correlated_frames(
            *names, self._n, n_words=n_words, malicious=False, word_bytes=self._word_bytes
        )


def word_for(n: int) -> Any:
    """Return the type of the shares: one that holds counts of n people, and their difference to a threshold.

    >>> word_for(100).__name__, word_for(100_000).__name__
    ('uint16', 'uint32')
    """
    # A comparison takes a bit more than the count and the threshold,
    # another one for the bound of thresholds, and the sign.
    bits = n.bit_length() + 3
    return np.uint16 if bits <= 16 else np.uint32 if bits <= 32 else np.uint64


def _chunks(group: Group, n: int) -> Iterator[tuple[list[int], list[tuple[Part, ...]], Part]]:
    """Return the candidates that are multiplied together: their places, their parts but the last, and the last."""
    # Candidates with the same last part share one transfer for each person. Their words are held in memory
    # together, which bounds how many, but at least 16.
    size = max(16, _AT_ONCE // n)
    for part, places in group.by_last_part():
        for start in range(0, len(places), size):
            chunk = places[start : start + size]
            yield chunk, [group.parts[at][:-1] for at in chunk], part


def _summed(words: NDArray[Any]) -> NDArray[Any]:
    total: NDArray[Any] = words.sum(axis=0, dtype=words.dtype)
    return total
