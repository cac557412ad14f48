"""Query auditing: data that answers aggregate queries until an answer could disclose a value."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
