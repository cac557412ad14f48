"""Products of shared bits: multiplication triples from random oblivious transfers (Gilboa; Asharov et al. 2013).

A bit is shared when each of two parties holds a random-looking bit and the XOR of both is the value. A triple is a
shared vector a of a few bits, a shared bit b, and the shared vector a·b. Each is used once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InternalError
from discreet.parties.ot.extension import (
    TransferReceiver,
    TransferSender,
    random_frames,
    transfer_setup_frames,
)
from discreet.parties.ot.forms import correlated_frames, receive_correlated, send_correlated
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

Bits = NDArray[np.uint8]
"""Bits, or vectors of at most 8 bits, one to a byte."""
_CORRECTIONS, _OPENED = "bits.corrections", "bits.opened"


def pair_frames(names: tuple[str, str]) -> list[FrameShape]:
    """Return the frames that set up transfers in both directions."""
    return transfer_setup_frames(*names) + transfer_setup_frames(*names[::-1])


def triple_frames(names: tuple[str, str], n: int) -> list[FrameShape]:
    """Return the frames of n triples."""
    there = random_frames(*names, n, malicious=False)
    return there + random_frames(*names[::-1], n, malicious=False)


def product_frames(names: tuple[str, str], n: int, width: int) -> list[FrameShape]:
    """Return the frames of n products of a shared vector of ``width`` bits and a shared bit."""
    size = _packed_bytes(n * (width + 1))
    return [FrameShape(*names, _OPENED, size), FrameShape(*names[::-1], _OPENED, size)]


def cross_frames(names: tuple[str, str], n: int) -> list[FrameShape]:
    """Return the frames of n products of a bit of the first party and a bit of the second."""
    frames = random_frames(*names, n, malicious=False)
    return [*frames, FrameShape(*names, _CORRECTIONS, _packed_bytes(n))]


def word_frames(names: tuple[str, str], n: int, n_words: int) -> list[FrameShape]:
    """Return the frames of n products of a shared bit and ``n_words`` shared words."""
    there = correlated_frames(*names, n, n_words=n_words, malicious=False)
    return there + correlated_frames(*names[::-1], n, n_words=n_words, malicious=False)


@dataclass
class Triples:
    """One party's shares of triples; ``take`` removes what it returns, so that none is used twice."""

    a: Bits
    b: Bits
    c: Bits

    def take(self, n: int) -> tuple[Bits, Bits, Bits]:
        """Return the shares of n triples that are not used yet."""
        shares = self.a[:n], self.b[:n], self.c[:n]
        if shares[0].size < n:
            raise InternalError("There are not enough triples.")
        self.a, self.b, self.c = self.a[n:], self.b[n:], self.c[n:]
        return shares


class BitProducts:
    """One party's end of transfers in both directions, by which bits are multiplied."""

    def __init__(self, party: Party, *, label: str) -> None:
        self.party = party
        there, back = f"{label}, there", f"{label}, back"
        if party.index == 0:
            self._sender = TransferSender(party, party.peer, label=there)
            self._receiver = TransferReceiver(party, party.peer, label=back)
        else:
            self._receiver = TransferReceiver(party, party.peer, label=there)
            self._sender = TransferSender(party, party.peer, label=back)

    def triples(self, n: int, *, width: int) -> Triples:
        """Return this party's shares of n triples whose vectors have ``width`` bits, at most 8."""
        mask = np.uint8((1 << width) - 1)
        # The transfers run in the same order at both ends: those in which the first party sends, then those
        # back. Two ends that both began as senders would wait for each other's columns.
        b = self._receiver.random_bits(n)
        if self.party.index == 0:
            pairs = self._sender.random(n)
            received = self._receiver.random(b)
        else:
            received = self._receiver.random(b)
            pairs = self._sender.random(n)
        # The sender's pair (v, w) has the difference a = v ⊕ w; the receiver with bit b holds u = v ⊕ a·b. Both ways
        # together share a·b for a and b that are sums of both parties' parts.
        v, u = _low_byte(pairs[:, 0]) & mask, _low_byte(received) & mask
        a = v ^ (_low_byte(pairs[:, 1]) & mask)
        return Triples(a, b.view(np.uint8), a * b ^ u ^ v)

    def products(self, triples: Triples, x: Bits, y: Bits, *, width: int) -> Bits:
        """Return shares of x·y, for shared vectors x of ``width`` bits and shared bits y; both in one round."""
        n = x.size
        a, b, c = triples.take(n)
        # Beaver's trick: d = x ⊕ a and e = y ⊕ b are opened, which a and b hide, and x·y = c ⊕ d·b ⊕ a·e ⊕ d·e.
        opened = np.concatenate([_bits(x ^ a, width), y ^ b])
        packed = np.packbits(opened)
        self.party.send(self.party.peer, _OPENED, packed.data)
        received = np.frombuffer(self.party.recv(self.party.peer, _OPENED, packed.size), np.uint8)
        opened = np.unpackbits(packed ^ received, count=opened.size)
        d, e = _vectors(opened[: n * width], width), opened[n * width :]
        share: Bits = c ^ d * b ^ a * e
        if self.party.index == 0:
            # d·e is public: both parties adding it would cancel it in the XOR.
            share ^= d * e
        return share

    def word_products(self, bits: Bits, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return shares of the products of shared bits, by XOR, and shared words, by addition; a row for each bit."""
        # For own bit s and the other's t: (s ⊕ t)·w = s·w + t·(w − 2·s·w). The second term is the other's choice of a
        # difference that is w or −w by the own bit.
        chosen = bits.view(np.bool_)
        offered = np.where(chosen[:, None], np.uint64(0) - words, words)
        if self.party.index == 0:
            masks = send_correlated(self._sender, offered)
            received = receive_correlated(self._receiver, chosen, n_words=words.shape[1])
        else:
            received = receive_correlated(self._receiver, chosen, n_words=words.shape[1])
            masks = send_correlated(self._sender, offered)
        return np.asarray(words * chosen[:, None] - masks + received)

    def cross_products(self, bits: Bits) -> Bits:
        """Return shares of the products of each own bit and the other party's; one transfer each, there."""
        n = bits.size
        if self.party.index == 0:
            pairs = self._sender.random(n)
            first, second = (_low_byte(pairs[:, which]) & np.uint8(1) for which in (0, 1))
            # Turns the random difference of each pair into the own bit: with choice t the receiver gets first
            # ⊕ t·bit. The difference is a one-time pad, so the correction shows nothing of the bit.
            corrections = np.packbits(first ^ second ^ bits)
            self.party.send(self.party.peer, _CORRECTIONS, corrections.data)
            return first
        received = _low_byte(self._receiver.random(bits.view(np.bool_))) & np.uint8(1)
        payload = self.party.recv(self.party.peer, _CORRECTIONS, _packed_bytes(n))
        return received ^ np.unpackbits(np.frombuffer(payload, np.uint8), count=n) * bits


def _packed_bytes(n_bits: int) -> int:
    return -(-n_bits // 8)


def _low_byte(words: NDArray[np.uint64]) -> Bits:
    return words[:, 0].astype(np.uint8)


def _bits(vectors: Bits, width: int) -> Bits:
    """Return the bits of vectors, all lowest ones first."""
    return np.concatenate([vectors >> np.uint8(bit) & np.uint8(1) for bit in range(width)])


def _vectors(bits: Bits, width: int) -> Bits:
    """Return the vectors of bits, all lowest ones first."""
    vectors = np.zeros(bits.size // width, np.uint8)
    for bit, part in enumerate(bits.reshape(width, -1)):
        vectors |= part << np.uint8(bit)
    return vectors
