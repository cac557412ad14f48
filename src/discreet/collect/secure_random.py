"""Chance for collectors: a key of 256 bits, and numbers drawn from it, stream after stream."""

from __future__ import annotations

import math
import secrets

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray
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
