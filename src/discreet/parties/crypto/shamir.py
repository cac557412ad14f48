"""Shamir's secret sharing of 32-byte secrets over a prime field (Shamir 1979)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.parties.errors import PartyError

PRIME = (1 << 256) + 297
"""The smallest prime above 2**256, so that every secret of 32 bytes is an element of the field."""
SHARE_BYTES = 33
"""The bytes of one share."""
_COIN_BYTES = 48
"""The random bytes of a coefficient: 384 bits for a prime of 257, so that the remainder is uniform up to 2**-127."""


def split_secret(
    secret: bytes, *, n_shares: int, threshold: int, random_bytes: Callable[[int], bytes]
) -> list[bytes]:
    """Return shares of a secret; any ``threshold`` of them determine it and fewer are independent of it.

    >>> import os
    >>> shares = split_secret(b"s" * 32, n_shares=5, threshold=3, random_bytes=os.urandom)
    >>> combine_shares({0: shares[0], 2: shares[2], 4: shares[4]}, threshold=3) == b"s" * 32
    True
    """
    coefficients = [int.from_bytes(secret, "big")]
    coefficients += [int.from_bytes(random_bytes(_COIN_BYTES), "big") % PRIME for _ in range(threshold - 1)]
    # Place 0 is the point 1: the value at 0 is the secret itself.
    return [_value(coefficients, index + 1).to_bytes(SHARE_BYTES, "big") for index in range(n_shares)]


def combine_shares(shares: Mapping[int, bytes], *, threshold: int) -> bytes:
    """Return the secret from shares by their places, which start at 0."""
    if len(shares) < threshold:
        raise PartyError(f"{len(shares)} shares are not enough; {threshold} are needed.")
    places = sorted(shares)[:threshold]
    secret = sum(
        int.from_bytes(shares[index], "big") * weight for index, weight in _weights_at_zero(places).items()
    )
    value = secret % PRIME
    # A secret has 32 bytes, so the 297 residues from 2^256 on come from shares that do not fit. Other wrong
    # shares are not noticed here: they yield another secret.
    if value >> 256:
        raise PartyError("The shares of the parties do not fit each other.")
    return value.to_bytes(32, "big")


def _value(coefficients: list[int], x: int) -> int:
    total = 0
    for coefficient in reversed(coefficients):
        total = (total * x + coefficient) % PRIME
    return total


def _weights_at_zero(places: list[int]) -> dict[int, int]:
    """Return the weights of Lagrange's interpolation at zero."""
    weights = {}
    for index in places:
        above = below = 1
        for other in places:
            if other != index:
                above = above * (other + 1) % PRIME
                below = below * (other - index) % PRIME
        weights[index] = above * pow(below, -1, PRIME) % PRIME
    return weights
