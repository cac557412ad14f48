"""Base oblivious transfer of random keys on ristretto255 (Chou & Orlandi, 2015)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from discreet.parties.crypto.aes import SEED
from discreet.parties.crypto.ristretto import ELEMENT, UNIFORM, received_elements, ristretto, scalar_from
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

_POINT, _CHOICES = "ot.base.point", "ot.base.choices"


def base_frames(sender: str, receiver: str, n: int) -> list[FrameShape]:
    """Return the frames of n base transfers."""
    return [
        FrameShape(sender, receiver, _POINT, ELEMENT),
        FrameShape(receiver, sender, _CHOICES, n * ELEMENT),
    ]


def send_base(party: Party, peer: str, n: int, *, label: str) -> list[tuple[bytes, bytes]]:
    """Return n pairs of random keys, of which the peer receives one each and the sender learns not which.

    Parameters
    ----------
    label : str
        The use of these transfers; it enters the hash with the session and the index, and no two uses share one.
    """
    group = ristretto()
    secret = scalar_from(party.random(UNIFORM))
    point = group.multiply_base(secret)
    party.send(peer, _POINT, point)
    answers = received_elements(party.recv(peer, _CHOICES, n * ELEMENT), n, of="base transfer")
    shift = group.multiply(secret, point)
    pairs = []
    for index, answer in enumerate(answers):
        product = group.multiply(secret, answer)
        elements = product, group.subtract(product, shift)
        first, second = (_key(party, label, index, point, answer, one) for one in elements)
        pairs.append((first, second))
    return pairs


def receive_base(party: Party, peer: str, choices: Sequence[int], *, label: str) -> list[bytes]:
    """Return the key of each pair that the choice bit names; the other one stays unknown."""
    group = ristretto()
    point = received_elements(party.recv(peer, _POINT, ELEMENT), 1, of="base transfer")[0]
    secrets = [scalar_from(party.random(UNIFORM)) for _ in choices]
    answers = []
    for secret, choice in zip(secrets, choices, strict=True):
        plain = group.multiply_base(secret)
        shifted = group.add(point, plain)
        answers.append(shifted if choice else plain)
    party.send(peer, _CHOICES, b"".join(answers))
    products = (group.multiply(secret, point) for secret in secrets)
    return [
        _key(party, label, index, point, answer, product)
        for index, (answer, product) in enumerate(zip(answers, products, strict=True))
    ]


def _key(party: Party, label: str, index: int, point: bytes, answer: bytes, element: bytes) -> bytes:
    """Return the hash of session, label, index and transcript that becomes a key; the label has a length of its own."""
    name = label.encode()
    parts = (
        party.session,
        len(name).to_bytes(2, "big"),
        name,
        index.to_bytes(4, "big"),
        point,
        answer,
        element,
    )
    return hashlib.sha512(b"discreet base transfer" + b"".join(parts)).digest()[:SEED]
