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
    "table": "discreet.kinds.tables:TableKind",
    "baskets": "discreet.kinds.baskets:BasketKind",
    "sketches": "discreet.kinds.sketches:SketchKind",
    "grouped-table": "discreet.kinds.grouped_tables:GroupedTableKind",
    "pseudo-data": "discreet.kinds.pseudo_data:PseudoKind",
    "uncertain-records": "discreet.kinds.records.uncertain_records:UncertainKind",
    "cells": "discreet.kinds.tabular.cells:CellsKind",
}
"""Every kind of data: from its section of a job to the blocks of its report."""

KIND_OF = "discreet.kinds.kind:kind_of"
"""What returns the kind of a release, with what its guarantee adds."""

WHY_NOT_FOR_ROWS = "discreet.kinds.kind:why_not_for_rows"
"""What says why the recipe of a release cannot protect new records, where it cannot."""

ADDED_BY_GUARANTEE = {"RulesHidden": "discreet.kinds.hidden_rules:HiddenRules"}
"""What a guarantee, by the name of its class, adds to the figures and the report of any kind of data."""

COUNTED = "discreet.guarantees.per_unit:counted_by_unit"
"""What counts a guarantee by the units of a table."""

AS_TABLE = "discreet.core.tables.judged_frame:as_table"
"""What puts roles on the columns of a frame that a guarantee judges."""

PICTURE = "discreet.report.notebook:notebook_page"
"""What draws a release, a verdict, a table or figures for a notebook."""

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
