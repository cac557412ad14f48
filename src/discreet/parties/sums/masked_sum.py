"""Masks that cancel in the sum, with recovery of drop-outs (Bonawitz et al. 2017).

Rounds: keys, shares (relayed by the collector), masked vectors, survivors with the shares that unmask them, result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.parties.channel import Payload
from discreet.parties.crypto.masks import Words, add_stream, agree, derive, private_key
from discreet.parties.crypto.shamir import SHARE_BYTES, combine_shares
from discreet.parties.errors import PartyError
from discreet.parties.protocol import Party
from discreet.parties.sums.mask_setup import (
    Half,
    from_mask,
    gather_views,
    key_bytes,
    prepare,
    require_enough_parties,
    require_there,
    sealed_bytes,
    to_mask,
)
from discreet.parties.transcript import FrameShape

if TYPE_CHECKING:
    from discreet.parties.crypto.masks import PrivateKey

_ROUNDS = ("keys", "shares", "masked", "reveal")


def masked_sum(
    party: Party, words: Words, *, threshold: int, collector: str, to_all: bool
) -> tuple[Words | None, tuple[str, ...]]:
    """Return the sum of the words of all parties that remain, and their names; blocking."""
    half = prepare(party, threshold=threshold, collector=collector)[0]
    return prepared_sum(half, words, to_all=to_all)


def prepared_sum(
    half: Half, words: Words, *, to_all: bool, required: Collection[str] = ()
) -> tuple[Words | None, tuple[str, ...]]:
    """Return the sum of the words of all parties that remain, by keys that are set up already and used once.

    Unless the ``required`` parties are in it, no party reveals a share, and all raise a LostPartyError. Whoever adds
    random words that hide the sum is required: without them the sum would be the values that they hide.
    """
    party, sharing = half.party, half.sharing
    require_there(half, sharing, required)
    with party.step("masked"):
        masked = _mask(half, words, sharing)
        arrived = _deliver(half, "masked", masked.data.cast("B"), 8 * len(words), sharing)
    with party.step("reveal"):
        included = _announce(half, sharing, sorted(arrived))
        # Before any share is revealed: from here on nothing would keep the collector from opening the sum.
        require_there(half, included, required)
        revealed = _deliver(
            half, "reveal", _reveal(half, sharing, included), SHARE_BYTES * len(sharing), included
        )
    with party.step("result"):
        total = _unmask(half, arrived, revealed, sharing, included) if half.collects else None
        total = _publish(half, total, len(words), included, to_all=to_all)
    return total, tuple(party.names[index] for index in included)


def masked_frames(
    names: tuple[str, ...], collector: str, length: int, dropped: Mapping[str, str], *, to_all: bool
) -> Iterator[FrameShape]:
    """Return the frames of a run in which some parties left before their first frame of a kind."""
    left = {name: _ROUNDS.index(kind) for name, kind in dropped.items()}
    stays = {kind: [x for x in names if left.get(x, 9) > at] for at, kind in enumerate(_ROUNDS)}
    yield from _setup_frames(names, collector, stays, 1)
    yield from _sum_frames(names, collector, length, stays, to_all=to_all)


def mask_setup_frames(names: tuple[str, ...], collector: str, n_sums: int) -> Iterator[FrameShape]:
    """Return the frames that set up several sums of which no party drops out."""
    return _setup_frames(names, collector, dict.fromkeys(_ROUNDS, names), n_sums)


def sum_frames(names: tuple[str, ...], collector: str, length: int, *, to_all: bool) -> Iterator[FrameShape]:
    """Return the frames of one sum that is set up already and from which no party drops out."""
    return _sum_frames(names, collector, length, dict.fromkeys(_ROUNDS, names), to_all=to_all)


def _setup_frames(
    names: tuple[str, ...], collector: str, stays: Mapping[str, Sequence[str]], n_sums: int
) -> Iterator[FrameShape]:
    sealed, n = sealed_bytes(n_sums), len(names)
    for sender in stays["keys"]:
        yield from (FrameShape(sender, x, "keys", key_bytes(n_sums)) for x in names if x != sender)
    others = [name for name in stays["shares"] if name != collector]
    yield from (FrameShape(x, collector, "shares", (n - 1) * sealed) for x in others)
    relayed = (n + 7) // 8 + (len(stays["shares"]) - 1) * sealed
    yield from (FrameShape(collector, x, "relay", relayed) for x in others)


def _sum_frames(
    names: tuple[str, ...], collector: str, length: int, stays: Mapping[str, Sequence[str]], *, to_all: bool
) -> Iterator[FrameShape]:
    mask = (len(names) + 7) // 8
    others = {kind: [x for x in stays[kind] if x != collector] for kind in _ROUNDS}
    yield from (FrameShape(x, collector, "masked", 8 * length) for x in others["masked"])
    yield from (FrameShape(collector, x, "survivors", 2 * mask) for x in others["masked"])
    shares = SHARE_BYTES * len(stays["shares"])
    yield from (FrameShape(x, collector, "reveal", shares) for x in others["reveal"])
    result = mask + 8 * length * to_all
    yield from (FrameShape(collector, x, "result", result) for x in others["reveal"])


def _mask(half: Half, words: Words, sharing: Sequence[int]) -> Words:
    """Return the words plus the own mask, plus the masks shared with later and minus those shared with earlier ones.

    The collector's vector does not leave it, and gets no mask of its own.
    """
    # Pair masks alone would not do: of a party that is taken for lost, but was only late, the masking key is revealed,
    # and its vector would lie open when it arrives. The own mask still hides it then.
    masked = words.copy()
    secret = private_key(half.masking_secret)
    if not half.collects:
        add_stream(masked, half.own_mask)
    for index in sharing:
        if index != half.party.index:
            _add_pair_mask(masked, secret, half, half.party.index, index)
    return masked


def _deliver(half: Half, kind: str, payload: Payload, size: int, among: Iterable[int]) -> dict[int, Payload]:
    """Send the own payload to the collector; at the collector, return the payloads that arrive, by place."""
    party = half.party
    if not half.collects:
        party.send(half.collector, kind, payload)
        return {}
    peers = [party.names[index] for index in among if index != party.index]
    arrived = {**gather_views(party, peers, kind, size), party.index: payload}
    require_enough_parties(half, arrived)
    return arrived


def _announce(half: Half, sharing: Sequence[int], arrived: Sequence[int]) -> list[int]:
    """Return the places whose masked vectors arrived, as the collector announces them, with those that were late."""
    party, n, size = half.party, half.n, (half.n + 7) // 8
    if half.collects:
        late = [index for index, name in enumerate(party.names) if party.lost.get(name) == "late"]
        for index in arrived:
            if index != party.index:
                party.try_send(party.names[index], "survivors", to_mask(arrived, n) + to_mask(late, n))
        return list(arrived)
    # Deviation: the round in which Bonawitz et al. have the parties sign the
    # set of survivors, against a collector that names different ones to
    # different parties, is left out. The parties are assumed to be semi-honest.
    announced = party.recv(half.collector, "survivors", 2 * size)
    included, late = from_mask(announced[:size], n), from_mask(announced[size:], n)
    if party.index not in included or not set(included) <= set(sharing):
        raise PartyError(f"Party '{half.collector}' announced survivors that did not take part.")
    require_enough_parties(half, included)
    for index in set(range(n)) - set(included):
        party.note_lost(party.names[index], late=index in late)
    return included


def _reveal(half: Half, sharing: Sequence[int], included: Sequence[int]) -> bytes:
    """Return one share for every party: of its own mask if its vector arrived, of its masking key if it did not."""
    # Never both shares of one party: with both secrets its vector could be unmasked alone.
    return b"".join(
        half.shares[index][SHARE_BYTES:] if index in included else half.shares[index][:SHARE_BYTES]
        for index in sharing
    )


def _unmask(
    half: Half,
    arrived: Mapping[int, Payload],
    revealed: Mapping[int, Payload],
    sharing: Sequence[int],
    included: Sequence[int],
) -> Words:
    """Return the sum without the masks of those who remain and without the pair masks of those who left.

    It is made in the memory of the collector's own masked vector, which is not sent to anybody.
    """
    collector = half.party.index
    total = np.frombuffer(arrived[collector], dtype="<u8")
    for index in included:
        if index != collector:
            total += np.frombuffer(arrived[index], dtype="<u8")
    for at, index in enumerate(sharing):
        if index == collector:
            continue
        shares = {x: bytes(piece[at * SHARE_BYTES : (at + 1) * SHARE_BYTES]) for x, piece in revealed.items()}
        secret = combine_shares(shares, threshold=half.threshold)
        if index in included:
            # Who remains: its pair masks cancel in the sum, and its own mask is taken off.
            add_stream(total, secret, sign=-1)
        else:
            # Who left: those who remain have added their masks
            # with it, and what it would have added cancels them.
            key = private_key(secret)
            for other in included:
                _add_pair_mask(total, key, half, index, other)
    return total


def _publish(
    half: Half, total: Words | None, length: int, included: Sequence[int], *, to_all: bool
) -> Words | None:
    party, n = half.party, half.n
    mask = to_mask(included, n)
    if total is not None:
        payload = b"".join((mask, total.data.cast("B"))) if to_all else mask
        for index in included:
            if index != party.index:
                party.try_send(party.names[index], "result", payload)
        return total
    received = party.recv_view(half.collector, "result", len(mask) + 8 * length * to_all)
    if received[: len(mask)] != mask:
        raise PartyError(f"Party '{half.collector}' opened the sum of other parties than it announced.")
    return np.frombuffer(received, dtype="<u8", offset=len(mask)).copy() if to_all else None


def _add_pair_mask(into: Words, secret: PrivateKey, half: Half, index: int, other: int) -> None:
    """Add the mask that the party at ``index``, whose masking secret this is, shares with another."""
    low, high = sorted((index, other))
    shared = agree(secret, half.keys[other][32:])
    key = derive(shared, salt=half.party.session, info=f"mask {low} {high}".encode())
    # Both parties derive the same key, as places enter it in order;
    # the earlier one adds the stream and the later one subtracts it.
    add_stream(into, key, sign=1 if index < other else -1)
