"""Masks that cancel in the sum, with recovery of drop-outs (Bonawitz et al. 2017).

Rounds: keys, shares (relayed by the collector), masked vectors, survivors with the shares that unmask them, result.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.parties.channel import Payload
from discreet.parties.crypto.masks import (
    SEAL_BYTES,
    add_stream,
    agree,
    derive,
    private_key,
    public_key,
    seal,
    unseal,
)
from discreet.parties.crypto.shamir import SHARE_BYTES, combine, split
from discreet.parties.errors import PartyError, PeerLostError
from discreet.parties.protocol import Party
from discreet.parties.sums.fixed_point import Words
from discreet.parties.transcript import FrameShape

if TYPE_CHECKING:
    from discreet.parties.crypto.masks import PrivateKey

_SEALED = 2 * SHARE_BYTES + SEAL_BYTES
_ROUNDS = ("keys", "shares", "masked", "reveal")


@dataclass
class _Half:
    """What one party holds during a run: its secrets, and what it received of the others, by place."""

    party: Party
    threshold: int
    collector: str
    sealing_secret: bytes
    masking_secret: bytes
    own_mask: bytes
    keys: dict[int, bytes] = field(default_factory=dict)
    shares: dict[int, bytes] = field(default_factory=dict)
    sealing: dict[int, bytes] = field(default_factory=dict)

    @cached_property
    def sealing_key(self) -> PrivateKey:
        return private_key(self.sealing_secret)

    @property
    def n(self) -> int:
        return len(self.party.names)

    @property
    def collects(self) -> bool:
        return self.party.name == self.collector


def masked_sum(
    party: Party, words: Words, *, threshold: int, collector: str, to_all: bool
) -> tuple[Words | None, tuple[str, ...]]:
    """Return the sum of the words of all parties that remain, and their names; blocking."""
    half = _Half(party, threshold, collector, party.random(32), party.random(32), party.random(32))
    with party.step("keys"):
        half.keys = _exchange_keys(half)
    with party.step("shares"):
        sharing = _share(half)
    with party.step("masked"):
        masked = _mask(half, words, sharing)
        arrived = _deliver(half, "masked", masked.data.cast("B"), 8 * len(words), sharing)
    with party.step("reveal"):
        included = _announce(half, sharing, sorted(arrived))
        revealed = _deliver(
            half, "reveal", _reveal(half, sharing, included), SHARE_BYTES * len(sharing), included
        )
    with party.step("result"):
        total = _unmask(half, arrived, revealed, sharing, included) if half.collects else None
        total = _publish(half, total, len(words), included, to_all=to_all)
    return total, tuple(party.names[place] for place in included)


def frames(
    names: tuple[str, ...], collector: str, length: int, dropped: Mapping[str, str], *, to_all: bool
) -> Iterator[FrameShape]:
    """Return the frames of a run in which some parties left before their first frame of a kind."""
    n = len(names)
    left = {name: _ROUNDS.index(kind) for name, kind in dropped.items()}
    stays = {kind: [x for x in names if left.get(x, 9) > at] for at, kind in enumerate(_ROUNDS)}
    others = {kind: [x for x in stays[kind] if x != collector] for kind in _ROUNDS}
    mask = (n + 7) // 8
    for sender in stays["keys"]:
        yield from (FrameShape(sender, receiver, "keys", 64) for receiver in names if receiver != sender)
    yield from (FrameShape(x, collector, "shares", (n - 1) * _SEALED) for x in others["shares"])
    relayed = mask + (len(stays["shares"]) - 1) * _SEALED
    yield from (FrameShape(collector, x, "relay", relayed) for x in others["shares"])
    yield from (FrameShape(x, collector, "masked", 8 * length) for x in others["masked"])
    yield from (FrameShape(collector, x, "survivors", mask) for x in others["masked"])
    shares = SHARE_BYTES * len(stays["shares"])
    yield from (FrameShape(x, collector, "reveal", shares) for x in others["reveal"])
    result = mask + 8 * length * to_all
    yield from (FrameShape(collector, x, "result", result) for x in others["reveal"])


def _exchange_keys(half: _Half) -> dict[int, bytes]:
    """Send both public keys to every peer, directly, so that the collector cannot replace them."""
    party = half.party
    own = public_key(half.sealing_secret) + public_key(half.masking_secret)
    for peer in party.peers:
        party.try_send(peer, "keys", own)
    received = _gather(half, party.peers, "keys", len(own))
    return {party.index: own, **{place: bytes(keys) for place, keys in received.items()}}


def _share(half: _Half) -> list[int]:
    """Share both secrets among all parties through the collector; return the places that take part."""
    party, n = half.party, half.n
    coins = {"n_shares": n, "threshold": half.threshold}
    of_key = split(half.masking_secret, random_bytes=party.random, **coins)
    of_mask = split(half.own_mask, random_bytes=party.random, **coins)
    half.shares[party.index] = of_key[party.index] + of_mask[party.index]
    sealed = {
        place: seal(_sealing_key(half, party.index, place), of_key[place] + of_mask[place])
        if place in half.keys
        else bytes(_SEALED)
        for place in range(n)
        if place != party.index
    }
    if half.collects:
        bundles = _gather(half, party.peers, "shares", (n - 1) * _SEALED)
        bundles = {place: b for place, b in bundles.items() if place in half.keys}
        sharing = sorted([*bundles, party.index])
        _require_enough(half, sharing)
        for place in bundles:
            pieces = [
                sealed[place] if other == party.index else _slot(bundles[other], other, place)
                for other in sharing
                if other != place
            ]
            party.try_send(party.names[place], "relay", _to_mask(sharing, n) + b"".join(pieces))
        received = {place: _slot(bundle, place, party.index) for place, bundle in bundles.items()}
    else:
        party.send(half.collector, "shares", b"".join(sealed[place] for place in sorted(sealed)))
        sharing, received = _read_relay(half)
    for place, piece in received.items():
        half.shares[place] = unseal(_sealing_key(half, place, party.index), piece)
    return sharing


def _read_relay(half: _Half) -> tuple[list[int], dict[int, bytes]]:
    party, n = half.party, half.n
    relay = party.recv(half.collector, "relay")
    sharing = _from_mask(relay[: (n + 7) // 8], n)
    body = relay[(n + 7) // 8 :]
    others = [place for place in sharing if place != party.index]
    if len(others) == len(sharing) or len(body) != len(others) * _SEALED or not set(others) <= set(half.keys):
        raise PartyError(
            f"Party '{half.collector}' relayed shares that do not fit the parties of the session."
        )
    _require_enough(half, sharing)
    return sharing, {place: body[at * _SEALED : (at + 1) * _SEALED] for at, place in enumerate(others)}


def _mask(half: _Half, words: Words, sharing: Sequence[int]) -> Words:
    """Return the words plus the own mask, plus the masks shared with later and minus those shared with earlier ones.

    The collector's vector does not leave it, and gets no mask of its own.
    """
    masked = words.copy()
    secret = private_key(half.masking_secret)
    if not half.collects:
        add_stream(masked, half.own_mask)
    for place in sharing:
        if place != half.party.index:
            _add_pair_mask(masked, secret, half, half.party.index, place)
    return masked


def _deliver(half: _Half, kind: str, own: Payload, size: int, among: Iterable[int]) -> dict[int, Payload]:
    """Send the own payload to the collector; at the collector, return the payloads that arrive, by place."""
    party = half.party
    if not half.collects:
        party.send(half.collector, kind, own)
        return {}
    peers = [party.names[place] for place in among if place != party.index]
    arrived = {**_gather(half, peers, kind, size), party.index: own}
    _require_enough(half, arrived)
    return arrived


def _announce(half: _Half, sharing: Sequence[int], arrived: Sequence[int]) -> list[int]:
    """Return the places whose masked vectors arrived, as the collector announces them."""
    party, n = half.party, half.n
    if half.collects:
        for place in arrived:
            if place != party.index:
                party.try_send(party.names[place], "survivors", _to_mask(arrived, n))
        return list(arrived)
    included = _from_mask(party.recv(half.collector, "survivors", (n + 7) // 8), n)
    if party.index not in included or not set(included) <= set(sharing):
        raise PartyError(f"Party '{half.collector}' announced survivors that did not take part.")
    _require_enough(half, included)
    return included


def _reveal(half: _Half, sharing: Sequence[int], included: Sequence[int]) -> bytes:
    """Return one share for every party: of its own mask if its vector arrived, of its masking key if it did not."""
    return b"".join(
        half.shares[place][SHARE_BYTES:] if place in included else half.shares[place][:SHARE_BYTES]
        for place in sharing
    )


def _unmask(
    half: _Half,
    arrived: Mapping[int, Payload],
    revealed: Mapping[int, Payload],
    sharing: Sequence[int],
    included: Sequence[int],
) -> Words:
    """Return the sum without the masks of those who remain and without the pair masks of those who left.

    It is made in the memory of the collector's own masked vector, which is not sent to anybody.
    """
    own = half.party.index
    total = np.frombuffer(arrived[own], dtype="<u8")
    for place in included:
        if place != own:
            total += np.frombuffer(arrived[place], dtype="<u8")
    for at, place in enumerate(sharing):
        if place == own:
            continue
        shares = {x: bytes(piece[at * SHARE_BYTES : (at + 1) * SHARE_BYTES]) for x, piece in revealed.items()}
        secret = combine(shares, threshold=half.threshold)
        if place in included:
            add_stream(total, secret, sign=-1)
        else:
            key = private_key(secret)
            for other in included:
                _add_pair_mask(total, key, half, place, other)
    return total


def _publish(
    half: _Half, total: Words | None, length: int, included: Sequence[int], *, to_all: bool
) -> Words | None:
    party, n = half.party, half.n
    mask = _to_mask(included, n)
    if total is not None:
        payload = b"".join((mask, total.data.cast("B"))) if to_all else mask
        for place in included:
            if place != party.index:
                party.try_send(party.names[place], "result", payload)
        return total
    received = party.recv_view(half.collector, "result", len(mask) + 8 * length * to_all)
    if received[: len(mask)] != mask:
        raise PartyError(f"Party '{half.collector}' opened the sum of other parties than it announced.")
    return np.frombuffer(received, dtype="<u8", offset=len(mask)).copy() if to_all else None


def _add_pair_mask(into: Words, secret: PrivateKey, half: _Half, place: int, other: int) -> None:
    """Add the mask that the party at ``place``, whose masking secret this is, shares with another."""
    low, high = sorted((place, other))
    shared = agree(secret, half.keys[other][32:])
    key = derive(shared, salt=half.party.session, info=f"mask {low} {high}".encode())
    add_stream(into, key, sign=1 if place < other else -1)


def _sealing_key(half: _Half, sender: int, receiver: int) -> bytes:
    """Return the key that seals what one of two parties sends to the other; the own place is one of both."""
    other = receiver if sender == half.party.index else sender
    if other not in half.sealing:
        half.sealing[other] = agree(half.sealing_key, half.keys[other][:32])
    return derive(half.sealing[other], salt=half.party.session, info=f"shares {sender} {receiver}".encode())


def _gather(half: _Half, peers: Iterable[str], kind: str, size: int) -> dict[int, Payload]:
    """Return one frame of every peer that is still there, by place, within half of the time-out for all of them.

    A peer that is late is given up: what it sends later belongs to no round.
    """
    party = half.party
    found: dict[int, Payload] = {}
    deadline = time.monotonic() + party.timeout / 2
    for peer in peers:
        try:
            payload = party.recv_view(peer, kind, size, timeout=deadline - time.monotonic())
        except PeerLostError:
            party.give_up(peer)
            continue
        found[party.names.index(peer)] = payload
    return found


def _require_enough(half: _Half, places: Iterable[int]) -> None:
    remaining = set(places)
    if len(remaining) < half.threshold:
        lost = ", ".join(name for place, name in enumerate(half.party.names) if place not in remaining)
        raise PartyError(
            f"{len(remaining)} of {half.n} parties remain; the secure sum needs {half.threshold}. Nothing was opened. "
            f"Lost: {lost}."
        )


def _slot(bundle: Payload, sender: int, receiver: int) -> bytes:
    at = receiver if receiver < sender else receiver - 1
    return bytes(bundle[at * _SEALED : (at + 1) * _SEALED])


def _to_mask(places: Iterable[int], n: int) -> bytes:
    return sum(1 << place for place in places).to_bytes((n + 7) // 8, "little")


def _from_mask(mask: bytes, n: int) -> list[int]:
    bits = int.from_bytes(mask, "little")
    return [place for place in range(n) if bits >> place & 1]
