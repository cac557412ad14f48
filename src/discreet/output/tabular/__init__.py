"""Tables of counts and sums whose small cells cannot be worked out: cell suppression and controlled rounding."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
