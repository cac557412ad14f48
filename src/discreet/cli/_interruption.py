"""Interruption: Ctrl-C and a polite kill end a command cleanly, whatever library is at work."""

from __future__ import annotations

import signal
import sys
import threading
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
_interrupted = threading.Event()


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
        raise Interrupted


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop at once, or at the next line that can bear it: an exception in some others would abort the process."""
    del number
    _interrupted.set()
    if not _is_delicate(frame):
        raise Interrupted
    for caller in _stack(frame):
        caller.f_trace = _stop_at_line
    sys.settrace(_stop_at_line)


def _stop_at_line(frame: FrameType, event: str, value: Any) -> Any:
    """Stop unless the line is delicate as well; the interpreter calls this before every line."""
    del event, value
    if _is_delicate(frame):
        return _stop_at_line
    sys.settrace(None)
    raise Interrupted


def _is_delicate(frame: FrameType | None) -> bool:
    """Return whether the engine is loading, or the results of a kernel are being made."""
    return is_loading("duckdb") or any(one.f_globals.get("__name__") == _BOXING for one in _stack(frame))


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
