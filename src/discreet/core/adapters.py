"""The registry of adapters: what the core calls in the packages above it, each named once.

Imports point down, from the command line to the kernels. A release that is written, and a frame that lives in an
engine, need something from above. These few names are resolved when they are first used, and nowhere else.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

SOURCES = {"duckdb": "discreet.engines.duckdb.small:relation_source"}
"""What reads a frame, by the package its type comes from; any other frame is read through Narwhals."""

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

FORMULAS = {"duckdb": "discreet.engines.duckdb.spreadsheet:formula_cells"}
"""What counts the formulas in a frame, by the package its type comes from."""

COUNTED = "discreet.guarantees.per_unit:counted_by_unit"
"""What counts a guarantee by the units of a table."""

WRITER = "discreet.report.folder:write_release"
"""What writes a release into a folder."""


@cache
def load(place: str) -> Any:
    """Return the object at ``package.module:name``.

    >>> load("discreet.core.verdict:Verdict").__name__
    'Verdict'
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
