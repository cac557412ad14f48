"""The command line: it builds a job and runs it; no algorithm inside."""

from __future__ import annotations

import gc
import sys

_RARELY = 100_000
"""How many objects are made between two searches for cycles: a command is short, and makes few."""


def main() -> None:
    """Run the command line as a process of its own."""
    gc.set_threshold(_RARELY)
    from discreet.cli.interruption import INTERRUPTED, Interrupted, heed_signals

    heed_signals()
    try:
        from discreet.cli.app import start

        start()
    except Interrupted:
        sys.exit(INTERRUPTED)
