"""The one way a kernel is compiled: cached on disk, and without the interpreter's lock so that threads may drive it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over arrays; the first call of a machine compiles, later ones read the cache."""
    kernel: Callable[..., Any] = numba.njit(cache=True, nogil=True)(function)
    return kernel
