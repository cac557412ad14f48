"""Discreet: collect, publish, mine and share sensitive data without giving anyone away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazily import lazily

if TYPE_CHECKING:
    from discreet.core.baskets import Baskets
    from discreet.core.hierarchies import flat, from_mapping, intervals, masked, read_hierarchy, suggest, tree
    from discreet.core.hierarchy import Hierarchy
    from discreet.core.release import Release
    from discreet.core.schema import Column, Role, Schema, identifier, other, quasi, sensitive
    from discreet.core.sketches import Sketches
    from discreet.core.table import Table
    from discreet.core.verdict import Basis, Verdict
    from discreet.engines.basket_files import read_baskets, write_baskets
    from discreet.engines.bit_files import read_bits, write_bits
    from discreet.engines.files import read
    from discreet.publish.recipe import Recipe

__version__ = "0.1.0"

_HOMES = {
    "Basis": "core.verdict",
    "Baskets": "core.baskets",
    "Column": "core.schema",
    "Hierarchy": "core.hierarchy",
    "Recipe": "publish.recipe",
    "Release": "core.release",
    "Role": "core.schema",
    "Schema": "core.schema",
    "Sketches": "core.sketches",
    "Table": "core.table",
    "Verdict": "core.verdict",
    "flat": "core.hierarchies",
    "from_mapping": "core.hierarchies",
    "identifier": "core.schema",
    "intervals": "core.hierarchies",
    "masked": "core.hierarchies",
    "other": "core.schema",
    "quasi": "core.schema",
    "read": "engines.files",
    "read_baskets": "engines.basket_files",
    "read_bits": "engines.bit_files",
    "read_hierarchy": "core.hierarchies",
    "sensitive": "core.schema",
    "suggest": "core.hierarchies",
    "tree": "core.hierarchies",
    "write_baskets": "engines.basket_files",
    "write_bits": "engines.bit_files",
}

__all__ = [
    "Basis",
    "Baskets",
    "Column",
    "Hierarchy",
    "Recipe",
    "Release",
    "Role",
    "Schema",
    "Sketches",
    "Table",
    "Verdict",
    "flat",
    "from_mapping",
    "identifier",
    "intervals",
    "masked",
    "other",
    "quasi",
    "read",
    "read_baskets",
    "read_bits",
    "read_hierarchy",
    "sensitive",
    "suggest",
    "tree",
    "write_baskets",
    "write_bits",
]

__getattr__ = lazily(__name__, _HOMES)
