"""Masks: keys agreed by X25519, derived by HKDF and stretched by AES-CTR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    PrivateKey: TypeAlias = X25519PrivateKey

Words = np.ndarray[Any, np.dtype[np.uint64]]
KEY_BYTES = 32
SEAL_BYTES = 16
"""The bytes that sealing adds to a message."""
_BLOCK = 1 << 12
_ZEROS = bytes(8 * _BLOCK)


def public_key(secret: bytes) -> bytes:
    """Return the X25519 public key of a secret."""
    return private_key(secret).public_key().public_bytes_raw()


def private_key(secret: bytes) -> PrivateKey:
    """Return the X25519 private key of a secret, for several agreements."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(secret)


def agree(secret: bytes | PrivateKey, peer_key: bytes) -> bytes:
    """Return what two parties share by X25519; keys are derived from it."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    from discreet.parties.errors import PartyError

    key = private_key(secret) if isinstance(secret, bytes) else secret
    try:
        return key.exchange(X25519PublicKey.from_public_bytes(peer_key))
    except ValueError:
        raise PartyError("A party sent a public key that is not valid.") from None


def derive(secret: bytes, *, salt: bytes, info: bytes, length: int = KEY_BYTES) -> bytes:
    """Return a key by HKDF-SHA256 (RFC 5869)."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length, salt, info).derive(secret)


def add_stream(into: Words, key: bytes, *, sign: int = 1) -> None:
    """Add to words, or subtract from them, a pseudo-random stream: AES-256-CTR from counter zero, little-endian.

    A key must be used for one stream only.

    >>> words = np.zeros(3, np.uint64)
    >>> add_stream(words, bytes(32))
    >>> add_stream(words, bytes(32), sign=-1)
    >>> words
    array([0, 0, 0], dtype=uint64)
    """
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CTR

    # The counter starts at zero: a key has one stream, so no block of the cipher is used twice.
    encryptor = Cipher(AES(key), CTR(bytes(16))).encryptor()
    block = np.empty(min(_BLOCK, len(into)) + 2, dtype="<u8")
    for start in range(0, len(into), _BLOCK):
        part = into[start : start + _BLOCK]
        encryptor.update_into(_ZEROS[: 8 * len(part)], block.view(np.uint8).data)
        if sign > 0:
            part += block[: len(part)]
        else:
            part -= block[: len(part)]


def seal(key: bytes, message: bytes) -> bytes:
    """Return a message encrypted and authenticated by AES-256-GCM; a key seals one message only."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    # A constant nonce is safe here, since each key is derived for one sender, one receiver and one session.
    return AESGCM(key).encrypt(bytes(12), message, None)


def unseal(key: bytes, sealed: bytes) -> bytes:
    """Return a sealed message, or raise a PartyError if it was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from discreet.parties.errors import PartyError

    try:
        return AESGCM(key).decrypt(bytes(12), sealed, None)
    except InvalidTag:
        raise PartyError("A sealed message between two parties was changed on its way.") from None
