"""Privacy at collection: collectors distort records where they arise, before anyone else sees them."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
