"""Mining: itemsets and rules, of true baskets and distorted ones; classifiers and statistics from noisy values."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
