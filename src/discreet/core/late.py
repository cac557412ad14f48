"""Names bound late: the few things the core calls by name, because the rooms that hold them import the core."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_ROOMS = {
    "relation source": "discreet.engines.relations:RelationSource",
    "write release": "discreet.report.writing:write_release",
}


def late(name: str) -> Any:
    """Load one of the late-bound names."""
    module, _, attribute = _ROOMS[name].partition(":")
    return getattr(import_module(module), attribute)
