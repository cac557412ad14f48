"""The command line: it builds a job and runs it; no algorithm inside."""

from __future__ import annotations

from discreet.cli._startup import main

__all__ = ["main"]
