"""The command line: it builds a job and runs it; no algorithm inside."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line as a process of its own."""
    from discreet.cli.interruption import INTERRUPTED, Interrupted, heed_signals

    heed_signals()
    try:
        from discreet.cli.app import start

        start()
    except Interrupted:
        sys.exit(INTERRUPTED)
