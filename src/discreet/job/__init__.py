"""A whole run described as data, from a file to a written release."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
