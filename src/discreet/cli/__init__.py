"""The command line: it builds a job and runs it; no algorithm inside."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line as a process of its own."""
    from discreet.cli._startup import INTERRUPTED, INTERRUPTION, Interrupted, heed_signals, leave, lighten

    lighten()
    heed_signals()
    try:
        from discreet.cli._app import start

        start()
    except Interrupted:
        print(f"error: {INTERRUPTION}", file=sys.stderr)  # noqa: T201  # nothing more is loaded yet
        leave(INTERRUPTED)
    except SystemExit as done:
        leave(done.code if isinstance(done.code, int) else int(done.code is not None))
