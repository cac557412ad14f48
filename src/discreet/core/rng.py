"""The one door for randomness: the global generator is never touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from discreet.core.params import InstanceOf, IntIn, require

RandomState: TypeAlias = int | np.random.Generator | None


def generator(random_state: RandomState, *, owner: str | object = "discreet") -> np.random.Generator:
    """Make a generator: from the operating system (None), from a seed, or the one given.

    >>> int(generator(7).integers(100)) == int(generator(7).integers(100))
    True
    """
    require(
        owner,
        "random_state",
        random_state,
        IntIn(0),
        InstanceOf((type(None), np.random.Generator), "None or a numpy Generator"),
    )
    return np.random.default_rng(random_state)


def seed_of(random_state: RandomState) -> int | None:
    """Give the seed a release must name so that it can be run again, if there is one."""
    return int(random_state) if isinstance(random_state, int | np.integer) else None


def without_seed(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Give a recipe that tells whether there was a seed but not which: whoever knows it can undo what was drawn.

    >>> without_seed({"method": "Cahd", "seed": 7})
    {'method': 'Cahd', 'seeded': True}
    """
    return {
        "seeded" if name == "seed" else name: value is not None if name == "seed" else value
        for name, value in recipe.items()
    }
