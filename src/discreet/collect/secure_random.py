"""Chance for collectors: a key of 256 bits, and numbers drawn from it, stream after stream."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray
from discreet.core.errors import InternalError
from discreet.core.rng import RandomState, generator

CELLS = 2.0**52
"""Uniform draws are the midpoints of this many equal cells; a probability is rounded to a whole number of them."""


def secret_key(random_state: RandomState, *, owner: str | object) -> NDArray[np.uint32]:
    """Draw a key: from the operating system (None), or from a seed or generator, so that it can be drawn again.

    Whoever knows the key can undo what was done with it. A key from the operating system is forgotten after use and
    cannot be guessed. One from a seed is only as secret as the seed: it is for tests and experiments.
    """
    drawn = generator(random_state, owner=owner)
    if random_state is None:
        return np.frombuffer(secrets.token_bytes(32), np.uint32).copy()
    return drawn.integers(0, 2**32, 8, np.uint32)


class Chance:
    """Draw numbers between 0 and 1 from a key of 256 bits that is forgotten with the object."""

    def __init__(self, random_state: RandomState, *, owner: str | object) -> None:
        self._key = secret_key(random_state, owner=owner)
        self._stream = 0

    def uniform(self, size: int) -> FloatArray:
        """Draw numbers strictly between 0 and 1; every call begins a stream of its own."""
        from discreet.kernels.random.uniforms import uniforms

        self._stream += 1
        return uniforms(self._key, self._stream, size)

    def exponential(self, size: int) -> FloatArray:
        """Draw waiting times of mean 1, fine in the far tail too; every call begins a stream of its own."""
        from discreet.kernels.random.uniforms import exponentials

        self._stream += 1
        return exponentials(self._key, self._stream, size)

    def normal(self, size: int) -> FloatArray:
        """Draw standard normal numbers."""
        from scipy.special import ndtri

        return np.asarray(ndtri(self.uniform(size)))


def cells_below(chances: FloatArray | float) -> FloatArray:
    """Return how many of the equally likely cells have their middle below chances: what draws make of them."""
    return np.asarray(np.ceil(np.asarray(chances, np.float64) * CELLS - 0.5))


def rounded_up(chance: float) -> float:
    """Return a probability that draws meet exactly, no lower than ``chance``, whose own rounding is counted."""
    return (math.ceil(chance * CELLS) + 1) / CELLS


class RowChance(Chance):
    """Draw numbers for rows from a key and from a text that no other row has, such as its cells and a number.

    Every draw is a digest of both (BLAKE2b with the key), so that a row has the same noise whenever, wherever and
    beside whatever rows it is drawn: engines elsewhere work a frame out again and again, and several draws for one row
    could be averaged.
    """

    def __init__(self, key: bytes, rows: Sequence[str]) -> None:
        self._secret, self._rows, self._stream = key, [row.encode() for row in rows], 0

    def uniform(self, size: int) -> FloatArray:
        """Draw a number strictly between 0 and 1 for each row; every call begins a stream of its own."""
        (word,) = self._words(size, 1)
        return _fractions(word) / CELLS

    def exponential(self, size: int) -> FloatArray:
        """Draw a waiting time of mean 1 for each row: minus the logarithm of 2^-halves times a part from 1/2 to 1."""
        order, word = self._words(size, 2)
        halves = np.where(order == 0, 64, 0)
        for shift in (32, 16, 8, 4, 2, 1):
            is_small = (order > 0) & (order < np.uint64(1) << np.uint64(64 - shift))
            halves[is_small] += shift
            order[is_small] <<= np.uint64(shift)
        return np.asarray(halves * math.log(2) - np.log(0.5 + _fractions(word) / (2 * CELLS)))

    def keys(self) -> NDArray[np.uint32]:
        """Return a key of 256 bits for each row; every call begins a stream of its own."""
        return np.stack(self._words(len(self._rows), 4), axis=1).view(np.uint32)

    def _words(self, size: int, n_words: int) -> list[NDArray[np.uint64]]:
        if size != len(self._rows):
            raise InternalError("numbers are drawn for rows")
        self._stream += 1
        stream = self._stream.to_bytes(hashlib.blake2b.SALT_SIZE, "little")
        digests = (
            hashlib.blake2b(row, key=self._secret, salt=stream, digest_size=8 * n_words).digest()
            for row in self._rows
        )
        words = np.frombuffer(b"".join(digests), "<u8").reshape(size, n_words)
        return [words[:, at].copy() for at in range(n_words)]


def _fractions(words: NDArray[np.uint64]) -> FloatArray:
    """Return the middles of the cells that the first 52 bits of words name, in cells."""
    return (words >> np.uint64(12)).astype(np.float64) + 0.5
