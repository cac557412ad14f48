"""The registry of adapters: what the core calls in the packages above it, each named once.

Imports point down, from the command line to the kernels. A release that is written, and a frame that lives in an
engine, need something from above. These few names are resolved when they are first used, and nowhere else.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

ENGINES = {"duckdb": "discreet.engines.duckdb.engine:ENGINE"}
"""What works on a frame, by the package its type comes from."""

MEMORY = "discreet.engines.memory:ENGINE"
"""What works on any other frame."""

KINDS = {
    "table": "discreet.report.kinds.tables:TableKind",
    "grouped-table": "discreet.report.kinds.tables:GroupedTableKind",
    "baskets": "discreet.report.kinds.baskets:BasketKind",
    "pseudo-data": "discreet.report.kinds.pseudo:PseudoKind",
    "sanitized-baskets": "discreet.report.kinds.sanitized:SanitizedBasketKind",
    "sanitized-table": "discreet.report.kinds.sanitized:SanitizedTableKind",
    "sketches": "discreet.report.kinds.sketches:SketchKind",
}
"""What lays out, reads back and pictures each kind of released data."""

COUNTED = "discreet.guarantees.per_unit:counted_by_unit"
"""What counts a guarantee by the units of a table."""

WRITER = "discreet.report.folder:write_release"
"""What writes a release into a folder."""


@cache
def load(target: str) -> Any:
    """Return the object at ``package.module:name``.

    >>> load("discreet.core.verdict:Verdict").__name__
    'Verdict'
    """
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
