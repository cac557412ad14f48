"""The one source of randomness: the global generator is never touched."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.boundary import reads
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, IntIn, require

RandomState: TypeAlias = int | np.random.Generator | None
_FRESH = "ChaCha20"
"""What is saved of a cryptographic generator: its name alone, since its state would undo what it drew."""
RANDOM_STATE = (
    IntIn(0),
    InstanceOf((type(None), np.random.Generator), "None or a numpy Generator"),
)
"""The constraint of every ``random_state``."""


def generator(random_state: RandomState, *, owner: str | object = "discreet") -> np.random.Generator:
    """Make a generator: from the operating system (None), from a seed, or the one given.

    Without a seed the draws are those of ChaCha20 under a key that the operating system draws and nobody sees: who
    knows some of them can predict no others. With a seed they are NumPy's own, so that runs repeat; they protect
    only as long as nobody knows or guesses the seed.

    >>> int(generator(7).integers(100)) == int(generator(7).integers(100))
    True
    """
    require(owner, "random_state", random_state, *RANDOM_STATE)
    return _chacha() if random_state is None else np.random.default_rng(random_state)


class LateGenerator:
    """ChaCha20 under a key of the operating system, loaded at the first draw: that takes longer than most searches."""

    @cached_property
    def _generator(self) -> np.random.Generator:
        return generator(None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


def late_generator(random_state: RandomState, *, owner: str | object = "discreet") -> np.random.Generator:
    """Return what `generator` returns; without a seed it is made when something is drawn."""
    if random_state is None:
        return cast("np.random.Generator", LateGenerator())
    return generator(random_state, owner=owner)


def _chacha() -> np.random.Generator:
    from discreet.kernels.random.bit_generator import ChaCha20

    return np.random.Generator(ChaCha20())


def keyed_order(key: int, n: int, use: str = "") -> IntArray:
    """Return the numbers below n in an order that follows from a secret of up to 256 bits, and from nothing else.

    Orders for different uses of a secret are independent of each other.

    >>> keyed_order(7, 5).tolist() == keyed_order(7, 5).tolist(), sorted(keyed_order(7, 5).tolist())
    (True, [0, 1, 2, 3, 4])
    """
    stream = hashlib.shake_256(int(key).to_bytes(32, "little") + use.encode()).digest(8 * n)
    order: IntArray = np.argsort(np.frombuffer(stream, "<u8"), kind="stable")
    return order


def secret_seed(random_state: RandomState, *, owner: str | object = "discreet") -> int:
    """Draw a secret of 256 bits: from the operating system (None), or from a seed or generator."""
    require(owner, "random_state", random_state, *RANDOM_STATE)
    if random_state is None:
        return secrets.randbits(256)
    return int.from_bytes(np.random.default_rng(random_state).bytes(32), "little")


def seed_of(random_state: RandomState) -> int | None:
    """Return the seed a release must name so that it can be run again, if there is one."""
    return int(random_state) if isinstance(random_state, int | np.integer) else None


def without_seed(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe that says whether there was a seed but not which: whoever knows it can undo what was drawn.

    >>> without_seed({"method": "Cahd", "seed": 7})
    {'method': 'Cahd', 'seeded': True}
    """
    return {
        "seeded" if name == "seed" else name: value is not None if name == "seed" else value
        for name, value in recipe.items()
    }


def rng_to_plain(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator as plain data; of a cryptographic one only that it is one."""
    return dict(_as_json(rng.bit_generator.state))


@reads("The state of the generator")
def rng_from_plain(state: Mapping[str, Any]) -> np.random.Generator:
    """Make the generator that goes on where another was."""
    kinds = {"PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"}
    name = state.get("bit_generator") if isinstance(state, Mapping) else None
    if name == _FRESH:
        return _chacha()
    if not isinstance(name, str) or name not in kinds:
        raise InputError("The state names a generator of random numbers that is not known here.")
    bits = getattr(np.random, name)()
    try:
        bits.state = state
    except (ValueError, TypeError, KeyError, OverflowError, AttributeError):
        raise InputError("The state of the generator of random numbers cannot be read.") from None
    return np.random.Generator(bits)


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_json(inner) for name, inner in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
