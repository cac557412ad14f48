"""Counts of candidates over columns of several parties, as shares (Vaidya & Clifton 2002; Gilboa 1999).

The count of a candidate is the scalar product of its parts. For two parties it comes from one correlated transfer for
each bit of the second. For more, the first parties come to hold shares of the product of their parts, row by row; each
of them then multiplies its shares with the bits of the next party.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.parties.mining.rules.column_groups import Group, Part
from discreet.parties.ot.extension import TransferReceiver, TransferSender, batches, setup_frames
from discreet.parties.ot.forms import correlated_frames, receive_correlated, send_correlated
from discreet.parties.protocol import Party
from discreet.parties.shares import thresholds
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.shares.thresholds import Thresholds, Words
from discreet.parties.transcript import FrameShape

_COMBINED = "combined"
_AT_ONCE = 32
"""The candidates with one part of the last party that are multiplied together."""

Held = dict[tuple[Part, ...], Words]
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
        self._senders: dict[int, TransferSender] = {}
        self._receivers: dict[int, TransferReceiver] = {}
        self._thresholds: dict[tuple[int, int], Thresholds] = {}

    def part(self, items: Part) -> NDArray[np.bool_]:
        """Return who has all of some own items."""
        return np.logical_and.reduce([self._bits[item] for item in items])

    def counts(self, group: Group, least: int) -> NDArray[np.int64] | None:
        """Return, at the two keepers, the counts of the candidates that reach the least one, and zeros for the others."""
        share = self._combined(group, self._shares(group, self._joined(group)))
        keepers = group.keepers
        if self._party.index not in keepers:
            return None
        if keepers not in self._thresholds:
            names = [self._party.names[place] for place in keepers]
            self._thresholds[keepers] = Thresholds(self._party.within(f"keepers {keepers}", names))
        judge = self._thresholds[keepers]
        reached = judge.at_least(share, least, largest=self._n)
        counts = np.zeros(share.size, np.int64)
        counts[reached] = judge.opened(share[reached])
        return counts

    def _joined(self, group: Group) -> Held:
        """Return the own shares of the products of the parts of all parties but the last, row by row."""
        own, held = self._party.index, {}
        if own == group.parties[0]:
            held = {prefix: self.part(prefix[0]).astype(np.uint64) for prefix in group.prefixes(1)}
        for depth in range(2, len(group.parties)):
            *before, last = group.parties[:depth]
            longer: Held = {}
            for prefix in group.prefixes(depth):
                if own in before:
                    masks = send_correlated(self._sender(last), held[prefix[:-1]][:, None])
                    longer[prefix] = np.uint64(0) - masks[:, 0]
                elif own == last:
                    bits = self.part(prefix[-1])
                    found = [receive_correlated(self._receiver(peer), bits, n_words=1) for peer in before]
                    longer[prefix] = np.sum(found, axis=0, dtype=np.uint64)[:, 0]
            held = longer
        return held

    def _shares(self, group: Group, held: Held) -> Words:
        """Return the own share of the counts, which adds up over the parties of the group."""
        *before, last = group.parties
        share = np.zeros(len(group.parts), np.uint64)
        for places, prefixes, part in _chunks(group):
            product = _product(self._n, len(places))
            if self._party.index in before:
                words = np.stack([held[prefix] for prefix in prefixes], axis=1)
                share[places] = product.first_share(self._sender(last), words)[:, 0]
            elif self._party.index == last:
                bits = self.part(part).astype(np.uint64)[:, None]
                for peer in before:
                    share[places] += product.second_share(self._receiver(peer), bits)[:, 0]
        return share

    def _combined(self, group: Group, share: Words) -> Words:
        """Return shares that add up over the first two parties: the others send theirs to the first."""
        names, first = self._party.names, group.parties[0]
        for place in group.parties[2:]:
            if self._party.index == place:
                self._party.send(names[first], _COMBINED, share.view(np.uint8).data)
            elif self._party.index == first:
                payload = self._party.recv(names[place], _COMBINED, share.nbytes)
                share = share + np.frombuffer(payload, np.uint64)
        return share

    def _sender(self, place: int) -> TransferSender:
        if place not in self._senders:
            self._senders[place] = TransferSender(*self._pair(self._party.index, place), label="columns")
        return self._senders[place]

    def _receiver(self, place: int) -> TransferReceiver:
        if place not in self._receivers:
            self._receivers[place] = TransferReceiver(*self._pair(place, self._party.index), label="columns")
        return self._receivers[place]

    def _pair(self, sender: int, receiver: int) -> tuple[Party, str]:
        """Return this end of the transfers between two parties, and the name of the other one."""
        pair = [self._party.names[place] for place in (sender, receiver)]
        part = self._party.within(f"transfers {sender} {receiver}", pair)
        return part, part.peer


class ProductFrames:
    """The frames of counting candidates, group by group as a run takes them."""

    def __init__(self, names: tuple[str, ...], n: int) -> None:
        self._names, self._n = names, n
        self._set_up: set[tuple[str, int, int]] = set()

    def counts(self, group: Group, least: int, n_frequent: int) -> Iterator[FrameShape]:
        """Return the frames of one group, of whose candidates some are frequent."""
        for depth in range(2, len(group.parties)):
            for _ in group.prefixes(depth):
                for place in group.parties[: depth - 1]:
                    yield from self._transfers(place, group.parties[depth - 1], n_words=1)
        *before, last = group.parties
        for places, _, _ in _chunks(group):
            for place in before:
                yield from self._transfers(place, last, n_words=len(places))
        size = 8 * len(group.parts)
        first = self._names[group.parties[0]]
        yield from (FrameShape(self._names[place], first, _COMBINED, size) for place in group.parties[2:])
        pair = (self._names[group.keepers[0]], self._names[group.keepers[1]])
        if self._is_new("thresholds", *group.keepers):
            yield from thresholds.setup_frames(pair)
        yield from thresholds.threshold_frames(pair, len(group.parts), least, self._n)
        yield from thresholds.opened_frames(pair, n_frequent)

    def _transfers(self, sender: int, receiver: int, *, n_words: int) -> Iterator[FrameShape]:
        names = self._names[sender], self._names[receiver]
        if self._is_new("transfers", sender, receiver):
            yield from setup_frames(*names)
        for start, stop in batches(self._n, blocks=-(-n_words // 2)):
            yield from correlated_frames(*names, stop - start, n_words=n_words, malicious=False)

    def _is_new(self, use: str, one: int, other: int) -> bool:
        known = (use, one, other) in self._set_up
        self._set_up.add((use, one, other))
        return not known


def _chunks(group: Group) -> Iterator[tuple[list[int], list[tuple[Part, ...]], Part]]:
    """Return the candidates that are multiplied together: their places, their parts but the last, and the last."""
    for part, places in group.by_last_part():
        for start in range(0, len(places), _AT_ONCE):
            chunk = places[start : start + _AT_ONCE]
            yield chunk, [group.parts[place][:-1] for place in chunk], part


def _product(n: int, n_first: int) -> ScalarProduct:
    return ScalarProduct(n=n, first_bits=1, n_first=n_first, output="shares")
