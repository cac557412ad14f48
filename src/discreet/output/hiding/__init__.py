"""Hiding sensitive rules in baskets and tables before they are handed over."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
