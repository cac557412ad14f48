"""Public names loaded when they are first used, so that importing a room costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package whose public names live in the modules that ``homes`` tells.

    >>> lazily("discreet", {"Verdict": "core.verdict"})("Verdict").__name__
    'Verdict'
    """

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
