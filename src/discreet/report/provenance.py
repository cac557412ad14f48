"""Provenance: the columns and their roles, what was done, and how to do it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet import __version__
from discreet.core.grouped_table import GroupedRelease
from discreet.core.hierarchy import Hierarchy, HierarchySpec
from discreet.core.release import Release
from discreet.core.schema import Column, Role
from discreet.guarantees import RulesHidden
from discreet.report.figures import table
from discreet.report.markup import Markup, tag

_ROLES = {
    Role.IDENTIFIER: "names a person",
    Role.QUASI: "quasi-identifier",
    Role.SENSITIVE: "sensitive",
    Role.OTHER: "other",
}
_HIERARCHIES = {"intervals": "intervals", "cuts": "intervals", "masked": "masks", "flat": "all or nothing"}

_APPLY = """from discreet import Recipe, read

new = Recipe.read("release.json").apply(read("new.csv"))
new.write("new-release")
"""


def columns(release: Release) -> Markup:
    """List the columns, their roles and what became of them."""
    rows = [
        (name, _ROLES[one.role], _fate(name, one, release)) for name, one in release.original.schema.items()
    ]
    return tag(
        "section",
        tag("h2", "Columns and their roles", id="columns-title"),
        tag("p", "The promise holds for these roles. They are a person's decision: a column that others can know, "
            "but is not marked as a quasi-identifier, is not protected.", class_="told"),
        table(("Column", "Role", "In the release"), rows, caption="Columns"),
        id="columns",
        aria_labelledby="columns-title",
    )  # fmt: skip


def method(release: Release) -> Markup:
    """Say what was done, and how to do it again."""
    evidence, recipe = release.evidence, release.recipe
    rows = [
        ("Method", str(recipe.get("method", "–"))),
        ("Promise", repr(release.guarantee)),
        *((f"Parameter {name}", value_text(value)) for name, value in _parameters(recipe).items()),
        ("Rows in", f"{evidence.n_rows:,}"),
        ("Rows out", f"{release.table.n_rows:,}"),
        ("Rows left out", f"{evidence.suppressed:,}"),
        ("Order of the rows", "shuffled"),
        ("Seed", seed_text(recipe.get("seed"), kept=keeps_seed(release))),
        ("Discreet", __version__),
    ]  # fmt: skip
    again = f"from discreet.publish import {_imported(recipe)}\n\nrelease = {_call(release)}.release(table)\n"
    renewed = () if "levels" not in recipe and "boxes" not in recipe else (
        tag("h3", "Protect new rows the same way"),
        tag("p", "On the command line, or in Python. The result is judged afresh."),
        code("discreet apply release.json new.csv --out new-release\n"),
        code(_APPLY),
    )  # fmt: skip
    return tag(
        "section",
        tag("h2", "How it was made", id="method-title"),
        table(("What", "How"), rows, caption="What was done"),
        tag("h3", "Run it again"),
        tag("p", "With the same table and the same roles, which release.json holds:"),
        code(again),
        *renewed,
        id="method",
        aria_labelledby="method-title",
    )


def _fate(name: str, column: Column, release: Release) -> str:
    if column.role is Role.IDENTIFIER:
        kept = column.key is not None and not release.evidence.pseudo
        return "replaced by keyed pseudonyms" if kept else "dropped"
    if release.evidence.pseudo:
        return (
            "drawn from statistics of groups" if name in release.schema else "privacy levels: not published"
        )
    if isinstance(release, GroupedRelease) and column.role is Role.SENSITIVE:
        return "counted per group, in a file of its own"
    if column.role is not Role.QUASI:
        return "as it was"
    levels = release.evidence.levels
    tree = release.original.encoded[name].hierarchy
    if levels is not None and name in levels:
        top = tree.height if tree is not None else 1
        return "as it was" if levels[name] == 0 else f"generalised to level {levels[name]} of {top}"
    kind = "" if column.hierarchy is None else f" along its hierarchy ({_kind(column.hierarchy)})"
    return f"generalised{kind}" if release.evidence.cells[name].loss.any() else "as it was"


def _kind(hierarchy: Hierarchy | HierarchySpec) -> str:
    return "tree" if isinstance(hierarchy, Hierarchy) else _HIERARCHIES.get(hierarchy.kind, "tree")


def _parameters(recipe: Mapping[str, Any]) -> dict[str, object]:
    given = {
        name: value for name, value in dict(recipe.get("parameters", {})).items() if value not in (None, {})
    }
    return given | ({"levels": dict(recipe["levels"])} if "levels" in recipe else {})


def _call(release: Release) -> str:
    """Write the call that makes the release again; a method around a search takes the search's own call."""
    method = str(release.recipe.get("method", ""))
    given = _parameters(release.recipe)
    if method != "Generalization" and not release.evidence.pseudo:
        given.pop("levels", None)
    start = given.pop("start", None)
    first = "" if isinstance(release, GroupedRelease) else repr(release.guarantee)
    if isinstance(start, Mapping):
        given = {name: value for name, value in given.items() if name not in start}
        first = f"OptimalLattice({_arguments(first, start)})"
    if release.evidence.pseudo:
        levels = given.pop("levels")
        first = repr(levels) if release.guarantee.to_dict().get("levels") is not None else "levels"
    if release.recipe.get("seed") is not None and not keeps_seed(release):
        given["random_state"] = release.recipe["seed"]
    return f"{method}({_arguments(first, given)})"


def _arguments(first: str, given: Mapping[str, object]) -> str:
    named = (f"{name}={value!r}" for name, value in given.items() if value is not None and value != {})
    return ", ".join(filter(None, [first, *named]))


def _imported(recipe: Mapping[str, Any]) -> str:
    search = "OptimalLattice" if "start" in recipe.get("parameters", {}) else None
    return ", ".join(filter(None, [str(recipe.get("method", "")), search]))


def seed_text(seed: object, *, kept: bool = False) -> str:
    """Say what the seed was, and what it means; or, where it is kept back, that there was one."""
    if seed is None:
        return "none: drawn from the operating system"
    if kept:
        return "given, and not told here: whoever knows it can undo what was drawn"
    return f"{seed}; whoever knows it can undo the shuffling"


def keeps_seed(release: Release) -> bool:
    """Tell whether the seed stays out of what is written: where it decided more than the order of the rows."""
    hidden = isinstance(release.guarantee, RulesHidden)
    return release.evidence.pseudo or hidden or isinstance(release, GroupedRelease)


def value_text(value: object) -> str:
    """Write a parameter's value for reading."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {one}" for name, one in value.items() if one is not None and one != {})
    return str(value)


def code(text: str) -> Markup:
    """Set a piece of code."""
    return tag("pre", tag("code", text), tabindex=0)
