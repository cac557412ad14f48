"""Names bound late: the few things the core calls by name, because the rooms that hold them import the core."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_ROOMS = {
    "density chart": "discreet.report.densities:chart",
    "read grouped baskets": "discreet.engines.baskets.published:read_grouped",
    "read sketches": "discreet.engines.sketches:read_sketches",
    "relation source": "discreet.engines.duckdb.small:relation_source",
    "write basket release": "discreet.report.basket_writing:write_basket_release",
    "write release": "discreet.report.folder:write_release",
    "write sketch release": "discreet.engines.sketches:write_sketch_release",
    "write stream release": "discreet.report.stream_writing:write_stream_release",
    "write sketches": "discreet.engines.sketches:write_sketches",
}


def late(name: str) -> Any:
    """Load one of the late-bound names."""
    module, _, attribute = _ROOMS[name].partition(":")
    return getattr(import_module(module), attribute)
