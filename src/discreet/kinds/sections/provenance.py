"""Provenance: the columns and their roles, the method, and how to protect new rows the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet import __version__
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.release import Release
from discreet.core.schema import DROPPED, Column, Role
from discreet.kinds.blocks import Block, Code, Section, Subsection, TableBlock

_ROLES = {
    Role.IDENTIFIER: "identifier",
    Role.PERSON: "person: groups the rows of one person",
    Role.QUASI: "quasi-identifier",
    Role.SENSITIVE: "sensitive",
    Role.OTHER: "other",
}
_HIERARCHIES = {"intervals": "intervals", "cuts": "intervals", "masked": "masks", "flat": "all or nothing"}

_APPLY = """from discreet import Recipe, read

new = Recipe.read("release/release.json").apply(read("new.csv"))
new.write("new-release")
"""


def columns(release: Release, cells: Callable[..., str], *, internal: bool = False) -> Section:
    """Return the columns, their roles and, by ``cells`` of the kind of data, what became of their cells."""
    schema = release.original.schema if internal else release.schema
    unique = release.figures.public.singling_out
    singletons = {name: f"{column.n_singletons:,}" for name, column in unique.columns.items()}
    rows = [
        (
            name,
            _ROLES[column.role],
            cells(name, column, release, internal=internal),
            singletons.get(name, "–"),
        )
        for name, column in schema.items()
    ]
    if len(singletons) > 1:
        rows.append(("All other columns together", "other", "exact", f"{unique.together.n_singletons:,}"))
    return Section(
        "columns",
        "Columns and their roles",
        "The guarantee holds for these roles, which are a person's decision: a column that others may know, but that "
        "is not marked as a quasi-identifier, is not protected. A row is singled out by a column of the role other if "
        "no other released row has the same value there.",
        [TableBlock(("Column", "Role", "In the release", "Rows singled out"), rows, "Columns")],
    )


def method(release: Release, *, internal: bool = False, shuffled: bool = True) -> Section:
    """Return what was done, and how to protect new rows the same way; ``shuffled`` where records are released."""
    evidence, recipe = release.evidence, release.recipe
    rows = [
        ("Method", str(recipe.get("method", "–"))),
        ("Guarantee", repr(release.guarantee)),
        *((f"Parameter {name}", value_text(value)) for name, value in _parameters(recipe).items()),
        ("Records in", f"{evidence.n_rows:,}"),
        ("Records suppressed", f"{evidence.suppressed:,}"),
        *([("Order of the records", "shuffled")] if shuffled else []),
        *([("Seed", seed_text(recipe.get("seed"), internal=internal))] if shuffled else []),
        ("Discreet", __version__),
    ]
    content: list[Block] = [TableBlock(("Property", "Value"), rows, "Method")]
    if "levels" in recipe or "cells" in recipe:
        text = "On the command line, or in Python. The guarantee is checked again."
        code = [Code("discreet apply release new.csv --out new-release\n"), Code(_APPLY)]
        content.append(Subsection("Protect new rows the same way", code, text))
    return Section("method", "How it was made", "", content)


def generalized_cells(name: str, column: Column, release: Release) -> str:
    """Return what the cells of a released column are, by the recipe alone."""
    if column.role is not Role.QUASI:
        return "exact"
    levels = release.recipe.get("levels")
    if levels is not None:
        level = levels.get(name)
        if isinstance(level, Mapping):
            return f"each value generalized to one of the levels {', '.join(level)}"
        return f"generalized to {'the top' if level == 'top' else f'level {level}'}" if level else "exact"
    return "generalized where needed"


def original_cells(name: str, column: Column, release: Release) -> str:
    """Return what became of the cells of an original column."""
    if column.role in DROPPED:
        return "dropped" if column.key is None else "replaced by keyed pseudonyms"
    if column.role is not Role.QUASI:
        return "as it was"
    levels = release.evidence.levels
    tree = release.original.encoded[name].hierarchy
    if levels is not None and name in levels:
        top = tree.height if tree is not None else 1
        return "as it was" if levels[name] == 0 else f"generalized to level {levels[name]} of {top}"
    kind = "" if column.hierarchy is None else f" along its hierarchy ({_kind(column.hierarchy)})"
    return f"generalized{kind}" if release.evidence.cells[name].loss.any() else "as it was"


def _kind(hierarchy: Hierarchy | HierarchySpec) -> str:
    return "tree" if isinstance(hierarchy, Hierarchy) else _HIERARCHIES.get(hierarchy.kind, "tree")


def _parameters(recipe: Mapping[str, Any]) -> dict[str, object]:
    parameters = {
        name: value for name, value in dict(recipe.get("parameters", {})).items() if value not in (None, {})
    }
    levels = {
        name: f"{', '.join(level)} by value" if isinstance(level, Mapping) else level
        for name, level in recipe.get("levels", {}).items()
    }
    return parameters | ({"levels": levels} if "levels" in recipe else {})


def seed_text(seed: object, *, internal: bool) -> str:
    """Return the seed in words; only the owner learns which it was, since it undoes the randomness."""
    if seed is None:
        return "none: random bits of the operating system"
    return (
        f"{seed}: keep it secret, it undoes the randomness"
        if internal
        else "set, and known to the owner only"
    )


def value_text(value: object) -> str:
    """Return the value of a parameter as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name}: {inner}" for name, inner in value.items() if inner is not None and inner != {}
        )
    return str(value)
