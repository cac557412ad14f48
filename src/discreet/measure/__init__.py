"""Measures: what a release costs, how much risk is left, and what an attacker with another table would learn."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
