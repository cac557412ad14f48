"""Shuffling by cryptographic coins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
_KEY_BYTES = 16


def shuffled(items: Sequence[T], random_bytes: Callable[[int], bytes]) -> list[T]:
    """Return the items in a random order: sorted by keys of 128 random bits.

    >>> import os
    >>> sorted(shuffled([3, 1, 2], os.urandom))
    [1, 2, 3]
    """
    keys = random_bytes(_KEY_BYTES * len(items))
    order = sorted(range(len(items)), key=lambda at: keys[at * _KEY_BYTES : (at + 1) * _KEY_BYTES])
    return [items[at] for at in order]
