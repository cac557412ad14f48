"""An oblivious pseudorandom function: the mode OPRF of RFC 9497 with ristretto255 and SHA-512.

One party holds a key, the other an input; the second learns the function of both, the first learns nothing.
"""

from __future__ import annotations

import hashlib

from discreet.parties.crypto.ristretto import UNIFORM, ristretto

_CONTEXT = b"OPRFV1-\x00-ristretto255-SHA512"
_SHA512_BLOCK = 128


def hash_to_group(data: bytes, *, tag: bytes = b"HashToGroup-" + _CONTEXT) -> bytes:
    """Return the element that bytes hash to; nobody knows its logarithm."""
    suffix = tag + bytes([len(tag)])
    padded = bytes(_SHA512_BLOCK) + data + UNIFORM.to_bytes(2, "big") + b"\x00" + suffix
    first = hashlib.sha512(padded).digest()
    return ristretto().from_uniform(hashlib.sha512(first + b"\x01" + suffix).digest())


def blind_input(data: bytes, scalar: bytes) -> bytes:
    """Return the element that hides the input behind a random scalar."""
    return ristretto().multiply(scalar, hash_to_group(data))


def evaluate_blinded(key: bytes, blinded: bytes) -> bytes:
    """Return what the holder of the key answers."""
    return ristretto().multiply(key, blinded)


def finalize(data: bytes, scalar: bytes, evaluated: bytes) -> bytes:
    """Return the 64 bytes of the function from the answer."""
    group = ristretto()
    # (k · r · H(x)) / r = k · H(x): the blinding scalar r cancels, and the holder of k saw r · H(x), which is uniform.
    return _output(data, group.multiply(group.invert(scalar), evaluated))


def evaluate(key: bytes, data: bytes) -> bytes:
    """Return the 64 bytes of the function, by the holder of the key."""
    return _output(data, ristretto().multiply(key, hash_to_group(data)))


def _output(data: bytes, element: bytes) -> bytes:
    lengths = len(data).to_bytes(2, "big"), len(element).to_bytes(2, "big")
    return hashlib.sha512(lengths[0] + data + lengths[1] + element + b"Finalize").digest()
