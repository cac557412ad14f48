"""A light process that leaves at once, and Ctrl-C or a polite kill, which end it cleanly whatever is at work."""

from __future__ import annotations

import atexit
import contextlib
import gc
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

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
_BLAS_SETTINGS = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_THREAD_TIMEOUT": "20"}
"""How NumPy's linear algebra works: products here are small, and take twenty times the CPU where threads share them.

Where the user wants threads, idle ones keep a core busy for 2^20 cycles, under a millisecond, and not for 2^26.
"""


class _Unneeded:
    """Return for a few modules that they are not there, while it is a library that asks.

    PyArrow loads pandas to tell arrays from pandas' own; PySpark and pyreadstat alone cannot do without. Numba loads
    scipy's linear algebra to see whether products of matrices can be compiled, coverage to report compiled lines, and
    cffi to call foreign functions: no kernel has any of these. It needs yaml only where the current folder holds
    settings for it.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse a module that is not needed; anything else is left to the other finders."""
        del path, target
        is_optional = name in _OPTIONAL_IN_NUMBA and is_loading(_OPTIONAL_IN_NUMBA[name])
        is_pandas = name == "pandas" and not {"pyspark", "pyreadstat"} & sys.modules.keys()
        if is_pandas or (is_optional and not (name == "yaml" and Path(_NUMBA_SETTINGS).exists())):
            raise ModuleNotFoundError(f"No command needs {name}.", name=name)
        return None


def main() -> NoReturn:
    """Run the command line as a process of its own."""
    lighten()
    heed_signals()
    try:
        from discreet.cli._app import start

        start()
    except Interrupted:
        with contextlib.suppress(OSError):
            print(f"error: {INTERRUPTION}", file=sys.stderr)  # noqa: T201  # nothing more is loaded yet
        leave(INTERRUPTED)
    except SystemExit as done:
        leave(done.code if isinstance(done.code, int) else int(done.code is not None))


def lighten() -> None:
    """Make this process start faster; only for a process that is all ours."""
    gc.set_threshold(_RARELY)
    for name, value in _BLAS_SETTINGS.items():
        os.environ.setdefault(name, value)
    sys.meta_path.insert(0, _Unneeded)
    scraped: Any = ModuleType("pyarrow.vendored.docscrape")
    scraped.NumpyDocString = _no_parameters
    sys.modules[scraped.__name__] = scraped


def _no_parameters(text: str) -> dict[str, list[str]]:
    """Return the documentation of parameters that PyArrow takes over into its functions: no command shows it."""
    del text
    return {"Parameters": []}


def leave(code: int) -> NoReturn:
    """End the process: what is registered for the exit runs, but nothing is taken apart object by object."""
    for number in _STOPPING:
        signal.signal(number, signal.SIG_IGN)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # the terminal may be closed
            stream.flush()
    os._exit(code)


def is_loading(name: str) -> bool:
    """Return whether a module is being imported at this moment."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


INTERRUPTED = 130
"""The exit code of an interrupted command."""
INTERRUPTION = "interrupted; nothing was left half-written."
"""What an interrupted command prints."""

_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that ask a process to stop; the last comes when its terminal is closed."""
_BOXING = "numba.core.serialize"
"""Numba calls this module while it turns a kernel's results into objects, and does not look for exceptions."""
_ONCE = 2.0
"""A signal that follows another within this many seconds does not disturb the clearing up."""
_interrupted = threading.Event()
_stopped_at = -math.inf


class Interrupted(BaseException):
    """The user or the system interrupted the process."""


def heed_signals() -> None:
    """Turn the signals that ask a process to stop into an Interrupted."""
    for number in _STOPPING:
        # Under nohup a process outlives its terminal.
        if signal.getsignal(number) is not signal.SIG_IGN or number != getattr(signal, "SIGHUP", None):
            signal.signal(number, _stop)


def was_interrupted() -> bool:
    """Return whether a signal came: an engine may report it as an error of its own, or swallow it."""
    return _interrupted.is_set()


def stop_if_interrupted() -> None:
    """Stop between stages, where a library on the way swallowed the interruption."""
    if _interrupted.is_set():
        raise _interruption()


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop at once, or at the next line that can bear it: an exception in some others would abort the process."""
    del number
    _interrupted.set()
    if time.monotonic() - _stopped_at < _ONCE:
        return
    if not _is_delicate(frame):
        raise _interruption()
    for caller in _stack(frame):
        caller.f_trace = _stop_at_line
    sys.settrace(_stop_at_line)


def _stop_at_line(frame: FrameType, event: str, value: Any) -> Any:
    """Stop unless the line is delicate as well; the interpreter calls this before every line."""
    del event, value
    if _is_delicate(frame):
        return _stop_at_line
    sys.settrace(None)
    raise _interruption()


def _interruption() -> Interrupted:
    """Return what stops the process, from now on undisturbed by the same signal once more."""
    global _stopped_at
    _stopped_at = time.monotonic()
    return Interrupted()


def _is_delicate(frame: FrameType | None) -> bool:
    """Return whether the engine is loading, or the results of a kernel are being made."""
    return is_loading("duckdb") or any(name.f_globals.get("__name__") == _BOXING for name in _stack(frame))


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
