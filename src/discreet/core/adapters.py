"""The registry of adapters: what the core calls above it, and public names of packages, loaded when first used.

Imports point down, from the command line to the kernels. A release that is written, and a frame that lives in an
engine, need something from above. These few names are resolved when they are first used, and nowhere else.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

ENGINES = {
    "duckdb": "discreet.engines.duckdb.engine:ENGINE",
    "discreet.engines.postgres": "discreet.engines.postgres.engine:ENGINE",
    "pyspark": "discreet.engines.spark.engine:ENGINE",
}
"""What works on a frame, by the package its type comes from."""

MEMORY = "discreet.engines.memory:ENGINE"
"""What works on any other frame."""

KINDS = {
    "table": "discreet.kinds.tables:TableKind",
    "baskets": "discreet.kinds.baskets:BasketKind",
    "sketches": "discreet.kinds.sketches:SketchKind",
    "grouped-table": "discreet.kinds.grouped_tables:GroupedTableKind",
    "pseudo-data": "discreet.kinds.drawn.pseudo_data:PseudoKind",
    "synthetic-data": "discreet.kinds.drawn.synthetic_data:SyntheticKind",
    "sampled-table": "discreet.kinds.sampled_tables:SampledTableKind",
    "uncertain-records": "discreet.kinds.uncertain_records:UncertainKind",
    "cells": "discreet.kinds.cells:CellsKind",
    "linked-tables": "discreet.kinds.linked_tables:LinkedTablesKind",
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


def exported(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose stub imports its public names.

    Type checkers read the stub; at run time each name is imported from its module when it is first used. A name that
    is also that of its module is loaded at once, since importing the module would hide it.

    Parameters
    ----------
    package
        ``__name__`` of the package.
    file
        ``__file__`` of the package; the stub lies beside it.

    Examples
    --------
    >>> import discreet
    >>> load, listed, names = exported("discreet", discreet.__file__)
    >>> load("Verdict").__name__, "Verdict" in names
    ('Verdict', True)
    """
    homes = _homes(Path(file).with_suffix(".pyi"), package)

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    for name, home in homes.items():
        if home == f"{package}.{name}":
            load(name)
    return load, lambda: sorted({*vars(sys.modules[package]), *homes}), sorted(homes)


def _homes(stub: Path, package: str) -> dict[str, str]:
    """Return the module of each name that a stub imports by ``from module import name as name``."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    return {
        alias.name: resolve_name("." * node.level + (node.module or ""), package)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
