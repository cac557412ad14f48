"""The one way a kernel is compiled: cached on disk, and without the interpreter's lock so that threads may drive it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over arrays; the first call of a machine compiles, later ones read the cache.

    Where no folder can be written for the cache, as for users without a home, every process compiles.
    """
    kernel: Callable[..., Any] = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):
        kernel.enable_caching()  # type: ignore[attr-defined]
    return kernel
