"""Compiled loops over plain arrays: arrays in, arrays out, nothing else of ours imported."""

from __future__ import annotations

from collections.abc import Callable

listeners: list[Callable[[bool], None]] = []
"""What is called when the compiling of a kernel begins (True) and ends: it takes seconds, once on a machine."""
