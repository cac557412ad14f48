"""Interruption: Ctrl-C and a polite kill end a command cleanly, whatever library is at work."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from discreet.cli._startup import is_loading

INTERRUPTED = 130
"""The exit code of an interrupted command."""
INTERRUPTION = "interrupted; nothing was left half-written."
"""What an interrupted command prints."""

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
    """Stop at once, but not while the engine is loading, which would abort the process: then between stages."""
    del number, frame
    _interrupted.set()
    if not is_loading("duckdb"):
        raise Interrupted
