"""Discreet: collect, publish, mine and share sensitive data while protecting the people it is about."""

from __future__ import annotations

from discreet.core.adapters import exported

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = exported(__name__, __file__)
