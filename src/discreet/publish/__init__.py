"""Privacy at publication: publishers turn a table into a release that keeps a guarantee."""

from __future__ import annotations

from discreet.core.adapters import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
