"""Interruption: Ctrl-C and a polite kill end a command cleanly, whatever library is at work."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from discreet.cli._startup import is_loading

INTERRUPTED = 130
"""The exit code of an interrupted command."""
INTERRUPTION = "interrupted; nothing was left half-written."
"""What an interrupted command prints."""

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
    for number in (signal.SIGINT, signal.SIGTERM):
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
