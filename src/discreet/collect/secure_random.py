"""Chance for collectors: numbers drawn from a key, stream after stream."""

from __future__ import annotations

import math

import numpy as np

from discreet.collect.secret_key import secret_key
from discreet.core.arrays import FloatArray
from discreet.core.rng import RandomState

CELLS = 2.0**52
"""Uniform draws are the midpoints of this many equal cells; a probability is rounded to a whole number of them."""


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
