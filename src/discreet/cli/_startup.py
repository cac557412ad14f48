"""A light process: leave out what libraries would load by themselves and no command uses, and leave at once."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

_RARELY = 500_000
"""How many objects are made between two searches for cycles: more than all imports make, which are no garbage."""
_OPTIONAL_IN_NUMBA = {
    "scipy.linalg": "numba.np.arraymath",
    "coverage": "numba.misc.coverage_support",
    "cffi": "numba.core.typing.cffi_utils",
    "yaml": "numba.core.config",
}
"""Modules that no kernel needs, and the module of Numba that imports each if it is installed."""
_NUMBA_SETTINGS = ".numba_config.yaml"
_BLAS_SPIN = ("OPENBLAS_THREAD_TIMEOUT", "20")
"""How long idle threads of NumPy's linear algebra keep a core busy: 2^20 cycles, under a millisecond.

By default it is 2^26, and each thread spends them once when NumPy is loaded, whether or not there is any product.
"""


class _Unneeded:
    """Return for a few modules that they are not there, while it is a library that asks.

    PyArrow loads pandas to tell arrays from pandas' own. Numba loads scipy's linear algebra to see whether products
    of matrices can be compiled, coverage to report compiled lines, and cffi to call foreign functions: no kernel has
    any of these. It needs yaml only where the current folder holds settings for it.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse a module that is not needed; anything else is left to the other finders."""
        del path, target
        is_optional = name in _OPTIONAL_IN_NUMBA and is_loading(_OPTIONAL_IN_NUMBA[name])
        if name == "pandas" or (is_optional and not (name == "yaml" and Path(_NUMBA_SETTINGS).exists())):
            raise ModuleNotFoundError(f"No command needs {name}.", name=name)
        return None


def lighten() -> None:
    """Make this process start faster; only for a process that is all ours."""
    gc.set_threshold(_RARELY)
    os.environ.setdefault(*_BLAS_SPIN)
    sys.meta_path.insert(0, _Unneeded)


def leave(code: int) -> NoReturn:
    """End the process: what is registered for the exit runs, but nothing is taken apart object by object."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def is_loading(name: str) -> bool:
    """Return whether a module is being imported at this moment."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return bool(getattr(spec, "_initializing", False))
