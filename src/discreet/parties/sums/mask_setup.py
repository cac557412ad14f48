"""The set-up of masked sums: keys and shares of their secrets, for one sum or for several at once.

Each sum has secrets of its own. Of a party that drops out the others reveal their shares of one sum's secrets, and
those say nothing about the masks of another.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from discreet.parties.channel import Payload
from discreet.parties.crypto.masks import (
    KEY_BYTES,
    SEAL_BYTES,
    agree,
    derive,
    private_key,
    public_key,
    seal,
    unseal,
)
from discreet.parties.crypto.shamir import SHARE_BYTES, split_secret
from discreet.parties.errors import LostPartyError, PartyError, PeerLostError
from discreet.parties.protocol import Party

_PAIR = 2 * SHARE_BYTES


@dataclass
class Half:
    """What one party holds of one sum: its secrets, and what it received of the others, by place."""

    party: Party
    threshold: int
    collector: str
    masking_secret: bytes
    own_mask: bytes
    keys: dict[int, bytes] = field(default_factory=dict)
    shares: dict[int, bytes] = field(default_factory=dict)
    sharing: list[int] = field(default_factory=list)

    @property
    def n(self) -> int:
        """The parties of the session."""
        return len(self.party.names)

    @property
    def collects(self) -> bool:
        """Whether this party receives the masked vectors."""
        return self.party.name == self.collector


def key_bytes(n_sums: int) -> int:
    """Return the bytes of the public keys of a party: one to seal by, and one for the masks of each sum.

    >>> key_bytes(1), key_bytes(8)
    (64, 288)
    """
    return KEY_BYTES * (1 + n_sums)


def sealed_bytes(n_sums: int) -> int:
    """Return the bytes of the shares that one party sends to another, sealed."""
    return _PAIR * n_sums + SEAL_BYTES


def prepare(party: Party, *, threshold: int, collector: str, n_sums: int = 1) -> list[Half]:
    """Exchange the keys and the shares of several sums; return what this party holds of each."""
    halves = [Half(party, threshold, collector, party.random(32), party.random(32)) for _ in range(n_sums)]
    sealing = _Sealing(party, party.random(32))
    with party.step("keys"):
        _exchange_keys(halves, sealing)
    with party.step("shares"):
        _share(halves, sealing)
    return halves


class _Sealing:
    """The secret by which a party seals what it sends to others through the collector."""

    def __init__(self, party: Party, secret: bytes) -> None:
        self._party, self._secret = party, private_key(secret)
        self.public = public_key(secret)
        self.keys: dict[int, bytes] = {}
        self._agreed: dict[int, bytes] = {}

    def key(self, sender: int, receiver: int) -> bytes:
        """Return the key that seals what one of two parties sends to the other; the own place is one of both."""
        other = receiver if sender == self._party.index else sender
        if other not in self._agreed:
            self._agreed[other] = agree(self._secret, self.keys[other])
        # Each direction has a key of its own, since ``seal`` uses the same nonce for all keys.
        info = f"shares {sender} {receiver}".encode()
        return derive(self._agreed[other], salt=self._party.session, info=info)


def _exchange_keys(halves: list[Half], sealing: _Sealing) -> None:
    """Send all public keys to every peer, directly, so that the collector cannot replace them."""
    party = halves[0].party
    public_keys = sealing.public + b"".join(public_key(half.masking_secret) for half in halves)
    # Not through the collector, as the shares are: it could put in keys of its own, and unmask every vector.
    for peer in party.peers:
        party.try_send(peer, "keys", public_keys)
    for index, keys in {
        party.index: public_keys,
        **gather(party, party.peers, "keys", len(public_keys)),
    }.items():
        sealing.keys[index] = keys[:KEY_BYTES]
        for number, half in enumerate(halves, start=1):
            half.keys[index] = keys[:KEY_BYTES] + keys[KEY_BYTES * number : KEY_BYTES * (number + 1)]


def _share(halves: list[Half], sealing: _Sealing) -> None:
    """Share the secrets among all parties through the collector, and note the places that take part."""
    first, party, size = halves[0], halves[0].party, sealed_bytes(len(halves))
    pieces = _split(halves)
    # A party whose keys did not arrive has an empty slot, so that the frame has the same size for all.
    sealed = {
        index: seal(sealing.key(party.index, index), pieces[index]) if index in sealing.keys else bytes(size)
        for index in range(first.n)
        if index != party.index
    }
    if first.collects:
        sharing, received = _relay(first, sealed, size)
    else:
        party.send(first.collector, "shares", b"".join(sealed[index] for index in sorted(sealed)))
        sharing, received = _read_relay(first, size)
    opened = {index: unseal(sealing.key(index, party.index), piece) for index, piece in received.items()}
    for number, half in enumerate(halves):
        half.sharing = sharing
        for index, shares in {**opened, party.index: pieces[party.index]}.items():
            half.shares[index] = shares[_PAIR * number : _PAIR * (number + 1)]


def _split(halves: list[Half]) -> list[bytes]:
    """Return for every place the shares of both secrets of all sums."""
    pieces = [b""] * halves[0].n
    for half in halves:
        coins = {"n_shares": half.n, "threshold": half.threshold}
        of_key = split_secret(half.masking_secret, random_bytes=half.party.random, **coins)
        of_mask = split_secret(half.own_mask, random_bytes=half.party.random, **coins)
        pieces = [piece + key + mask for piece, key, mask in zip(pieces, of_key, of_mask, strict=True)]
    return pieces


def _relay(half: Half, sealed: dict[int, bytes], size: int) -> tuple[list[int], dict[int, bytes]]:
    """Pass on, at the collector, what the parties sealed for each other; return who takes part, and the own pieces."""
    party, n = half.party, half.n
    bundles = gather(party, party.peers, "shares", (n - 1) * size)
    # Without a party's keys neither can its pieces be unsealed here nor its pair masks be taken off.
    bundles = {index: bundle for index, bundle in bundles.items() if index in half.keys}
    sharing = sorted([*bundles, party.index])
    require_enough_parties(half, sharing)
    for index in bundles:
        pieces = [
            sealed[index] if other == party.index else _slot(bundles[other], other, index, size)
            for other in sharing
            if other != index
        ]
        party.try_send(party.names[index], "relay", to_mask(sharing, n) + b"".join(pieces))
    return sharing, {index: _slot(bundle, index, party.index, size) for index, bundle in bundles.items()}


def _read_relay(half: Half, size: int) -> tuple[list[int], dict[int, bytes]]:
    party, n = half.party, half.n
    relay = party.recv(half.collector, "relay")
    sharing = from_mask(relay[: (n + 7) // 8], n)
    body = relay[(n + 7) // 8 :]
    others = [index for index in sharing if index != party.index]
    if len(others) == len(sharing) or len(body) != len(others) * size or not set(others) <= set(half.keys):
        raise PartyError(
            f"Party '{half.collector}' relayed shares that do not fit the parties of the session."
        )
    # Judged here as well: a collector must not be able to run a sum of too few.
    require_enough_parties(half, sharing)
    return sharing, {index: body[at * size : (at + 1) * size] for at, index in enumerate(others)}


def gather(party: Party, peers: Iterable[str], kind: str, size: int) -> dict[int, bytes]:
    """Return one frame of every peer that is still there, by place, within half of the time-out for all of them.

    A peer that is late is given up: what it sends later belongs to no round.
    """
    return {index: bytes(payload) for index, payload in gather_views(party, peers, kind, size).items()}


def gather_views(party: Party, peers: Iterable[str], kind: str, size: int) -> dict[int, Payload]:
    """Return frames as ``gather`` does, large ones without a copy."""
    arrived: dict[int, Payload] = {}
    # Half, so that a party that does answer does not run
    # into its own time-out while the others are waited for.
    deadline = time.monotonic() + party.timeout / 2
    for peer in peers:
        try:
            payload = party.recv_view(peer, kind, size, timeout=deadline - time.monotonic())
        except PeerLostError as lost:
            party.give_up(peer, late=lost.late)
            continue
        arrived[party.names.index(peer)] = payload
    return arrived


def require_enough_parties(half: Half, places: Iterable[int]) -> None:
    """Raise a PartyError unless enough parties remain."""
    remaining = set(places)
    if len(remaining) < half.threshold:
        lost = ", ".join(name for index, name in enumerate(half.party.names) if index not in remaining)
        raise PartyError(
            f"{len(remaining)} of {half.n} parties remain; the secure sum needs {half.threshold}. Nothing was opened. "
            f"Lost: {lost}."
        )


def require_there(half: Half, places: Iterable[int], required: Iterable[str]) -> None:
    """Raise a LostPartyError unless all parties without whom a sum must not be opened are at these places."""
    remaining = [half.party.names[index] for index in places]
    lost = [name for name in half.party.names if name in set(required) - set(remaining)]
    if lost:
        raise LostPartyError(lost, remaining)


def to_mask(places: Iterable[int], n: int) -> bytes:
    """Return places as the bits of a number."""
    return sum(1 << index for index in places).to_bytes((n + 7) // 8, "little")


def from_mask(mask: bytes, n: int) -> list[int]:
    """Return the places that bits stand for.

    >>> from_mask(to_mask([0, 2], 3), 3)
    [0, 2]
    """
    bits = int.from_bytes(mask, "little")
    return [index for index in range(n) if bits >> index & 1]


def _slot(bundle: bytes, sender: int, receiver: int, size: int) -> bytes:
    # A bundle holds a slot for every place but the sender's own.
    at = receiver if receiver < sender else receiver - 1
    return bundle[at * size : (at + 1) * size]
