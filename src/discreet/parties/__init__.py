"""Privacy between parties: protocols whose parties learn the common result, and not each other's records."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
