"""Discreet: collect, publish, mine and share sensitive data without giving anyone away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazily

if TYPE_CHECKING:
    from discreet.core.baskets.baskets import Baskets
    from discreet.core.hierarchy.bound import Hierarchy
    from discreet.core.hierarchy.specs import (
        flat,
        from_mapping,
        intervals,
        masked,
        read_hierarchy,
        suggest,
        tree,
    )
    from discreet.core.release import Release
    from discreet.core.schema import Column, Role, Schema, identifier, other, quasi, sensitive
    from discreet.core.sketches import Sketches
    from discreet.core.tables.table import Table
    from discreet.core.verdict import Basis, Verdict
    from discreet.engines.baskets.bits import read_bits, write_bits
    from discreet.engines.baskets.files import read_baskets, write_baskets
    from discreet.engines.baskets.published import read_published
    from discreet.engines.files import read
    from discreet.engines.sketches import read_sketches, write_sketches
    from discreet.engines.texts import text_rows
    from discreet.publish.recipes.recipe import Recipe

__version__ = "0.1.0"

_HOMES = {
    "Basis": "core.verdict",
    "Baskets": "core.baskets.baskets",
    "Column": "core.schema",
    "Hierarchy": "core.hierarchy.bound",
    "Recipe": "publish.recipes.recipe",
    "Release": "core.release",
    "Role": "core.schema",
    "Schema": "core.schema",
    "Sketches": "core.sketches",
    "Table": "core.tables.table",
    "Verdict": "core.verdict",
    "flat": "core.hierarchy.specs",
    "from_mapping": "core.hierarchy.specs",
    "identifier": "core.schema",
    "intervals": "core.hierarchy.specs",
    "masked": "core.hierarchy.specs",
    "other": "core.schema",
    "quasi": "core.schema",
    "read": "engines.files",
    "read_baskets": "engines.baskets.files",
    "read_bits": "engines.baskets.bits",
    "read_hierarchy": "core.hierarchy.specs",
    "read_published": "engines.baskets.published",
    "read_sketches": "engines.sketches",
    "sensitive": "core.schema",
    "suggest": "core.hierarchy.specs",
    "text_rows": "engines.texts",
    "tree": "core.hierarchy.specs",
    "write_baskets": "engines.baskets.files",
    "write_bits": "engines.baskets.bits",
    "write_sketches": "engines.sketches",
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
    "read_published",
    "read_sketches",
    "sensitive",
    "suggest",
    "text_rows",
    "tree",
    "write_baskets",
    "write_bits",
    "write_sketches",
]

__getattr__ = lazily(__name__, _HOMES)
