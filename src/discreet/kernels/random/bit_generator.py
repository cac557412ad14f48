"""ChaCha20 as a source of bits for NumPy's generators: seeing some draws does not help to predict others.

NumPy takes any object with a lock and a capsule around four C functions. These are compiled here; their state holds a
key of 256 bits, the number of the next block and the words of the current ones.
"""

from __future__ import annotations

import ctypes
import secrets
from typing import Any

import numba
import numpy as np
from numba import types

from discreet.kernels.compiled import compiled, compiled_callback
from discreet.kernels.random.chacha import DRAWS, LANES, fill

KEY_BYTES = 32
_HEAD = 2
"""Words of 64 bits before the key: how many draws of the current blocks are used, and the next block."""
_WORDS = 2 * _HEAD + 8 + 2 * DRAWS
_SCALE = 2.0**-53


# State: draws used, next block, key, then the 16 x 16 words of the current blocks; two words of a lane are
# one draw. The blocks are made 16 at a time, so that most draws are a read. The counter of 64 bits never
# comes round.
def _draw(state: Any) -> Any:
    long = numba.carray(state, (_HEAD,), np.uint64)
    short = numba.carray(state, (_WORDS,), np.uint32)
    words = short[2 * _HEAD + 8 :].reshape((16, LANES))
    used = long[0]
    if used == np.uint64(DRAWS):
        fill(short[2 * _HEAD : 2 * _HEAD + 8], np.uint64(0), long[1], words)
        long[1] += np.uint64(LANES)
        used = np.uint64(0)
    long[0] = used + np.uint64(1)
    row, lane = 2 * (np.int64(used) // LANES), np.int64(used) % LANES
    return (np.uint64(words[row, lane]) << np.uint64(32)) | np.uint64(words[row + 1, lane])


_next = compiled(_draw)
_next_64 = compiled_callback(types.uint64(types.voidptr))(_draw)


@compiled_callback(types.uint32(types.voidptr))
def _next_32(state: Any) -> Any:
    return np.uint32(_next(state) >> np.uint64(32))


@compiled_callback(types.float64(types.voidptr))
def _next_double(state: Any) -> Any:
    return np.float64(_next(state) >> np.uint64(11)) * _SCALE


class _BitGenerator(ctypes.Structure):
    """The C struct that NumPy's generators draw from."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("next_uint64", ctypes.c_void_p),
        ("next_uint32", ctypes.c_void_p),
        ("next_double", ctypes.c_void_p),
        ("next_raw", ctypes.c_void_p),
    )


class ChaCha20(np.random.BitGenerator):
    """A source of bits for ``numpy.random.Generator``, from a key; without one, from the operating system's.

    Copies and pickles of one without a key of its own begin anew: its state is never written anywhere.
    """

    def __init__(self, key: bytes | None = None) -> None:
        super().__init__(0)
        self.is_keyed = key is not None
        self._state = np.zeros(_WORDS, np.uint32)
        self._state[2 * _HEAD : 2 * _HEAD + 8] = np.frombuffer(key or secrets.token_bytes(KEY_BYTES), "<u4")
        # All draws count as used, so that the first call fills the words.
        self._state.view(np.uint64)[0] = DRAWS
        source, short, fraction = _next_64.address, _next_32.address, _next_double.address
        self._struct = _BitGenerator(self._state.ctypes.data, source, short, fraction, source)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self._capsule = make(ctypes.addressof(self._struct), b"BitGenerator", None)

    @property
    def capsule(self) -> Any:
        """What NumPy draws from, instead of the base class's own."""
        return self._capsule

    @property  # type: ignore[misc]
    def state(self) -> dict[str, str]:  # type: ignore[override]
        """The name alone: the state would undo what was drawn."""
        return {"bit_generator": type(self).__name__}

    def __reduce__(self) -> tuple[type[ChaCha20], tuple[()]]:  # type: ignore[override]
        if self.is_keyed:
            raise TypeError("a keyed source of bits is not copied")
        return ChaCha20, ()

    def __repr__(self) -> str:
        return "ChaCha20()"
