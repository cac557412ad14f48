"""The key that a collector's chance comes from: 256 bits, from the operating system unless a seed is passed."""

from __future__ import annotations

import secrets

import numpy as np
from numpy.typing import NDArray

from discreet.core.rng import RandomState, generator


def secret_key(random_state: RandomState, *, owner: str | object) -> NDArray[np.uint32]:
    """Draw a key: from the operating system (None), or from a seed or generator, so that it can be drawn again.

    Whoever knows the key can undo what was done with it. A key from the operating system is forgotten after use and
    cannot be guessed. One from a seed is only as secret as the seed: it is for tests and experiments.
    """
    drawn = generator(random_state, owner=owner)
    if random_state is None:
        return np.frombuffer(secrets.token_bytes(32), np.uint32).copy()
    return drawn.integers(0, 2**32, 8, np.uint32)
