"""AES-128 of the ``cryptography`` package, over arrays: key streams, and hashing by a permutation of fixed key."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.parties.bit_matrix import add_blocks, add_tweaks

SEED = 16
"""The bytes of a key."""
_BLOCK = 16
_ZEROS = memoryview(bytes(1 << 18))


class KeyStream:
    """The stream of AES-128 in counter mode from zero on: a pseudorandom generator with a seed of 16 bytes.

    >>> KeyStream(bytes(16)).take(4).tolist()
    [102, 233, 75, 212]
    """

    def __init__(self, seed: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._encryptor = Cipher(algorithms.AES128(seed), modes.CTR(bytes(_BLOCK))).encryptor()

    def fill(self, target: NDArray[np.uint8]) -> None:
        """Overwrite contiguous bytes with the next bytes of the stream."""
        for start in range(0, target.size, len(_ZEROS)):
            part = target[start : start + len(_ZEROS)]
            self._encryptor.update_into(_ZEROS[: part.size], part.data)

    def take(self, n_bytes: int) -> NDArray[np.uint8]:
        """Return the next bytes of the stream."""
        target = np.empty(n_bytes, np.uint8)
        self.fill(target)
        return target

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return the next n words of 64 bits."""
        return self.take(8 * n).view(np.uint64)


class RowHash:
    """A tweakable hash of rows of 128 bits, robust to correlation: π(π(x) ⊕ i) ⊕ π(x), where π is AES of a fixed key.

    This is TMMO of Guo, Katz, Wang and Yu (2020). The key is drawn from the session and a label, so that what is
    computed on one session is of no use for another.
    """

    def __init__(self, session: bytes, label: str) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = hashlib.sha256(b"discreet fixed key" + session + label.encode()).digest()[:SEED]
        # A permutation of independent blocks is wanted here, which is what this mode computes.
        self._permutation = Cipher(algorithms.AES128(key), modes.ECB()).encryptor()  # noqa: S305

    def write(self, target: NDArray[np.uint64], rows: NDArray[np.uint64], start: int) -> None:
        """Write the hashes of the rows, each of as many blocks of 128 bits as a row of the target has.

        The tweak of block b of row r is (start + r, b).
        """
        # π(x) is computed once and serves all blocks of a row; only the outer permutation depends on the tweak.
        first = self._permuted(rows)
        tweaked = np.empty_like(first)
        for block in range(target.shape[1] // 2):
            add_tweaks(first, start, block, tweaked)
            add_blocks(self._permuted(tweaked), first, target[:, 2 * block : 2 * block + 2])

    def _permuted(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        # For a block mode ``update_into`` takes a buffer that
        # is one byte less than a block longer than the data.
        buffer = np.empty(rows.shape[0] * _BLOCK + _BLOCK, np.uint8)
        source = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
        self._permutation.update_into(source.data, buffer.data)
        return buffer[:-_BLOCK].view(np.uint64).reshape(-1, 2)
