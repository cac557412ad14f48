"""`discreet recipe`: show the recipe of a release, in words or as SQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command
from discreet.core.registry import GUARANTEES

if TYPE_CHECKING:
    from discreet.publish.recipes.recipe import Recipe

_KINDS = {
    "intervals": "intervals",
    "cuts": "cuts",
    "masked": "masks",
    "flat": "all or nothing",
    "rows": "a tree",
}
_NOTE = (
    "-- Generalizes as the recipe does. It suppresses no row and checks no guarantee:\n"
    "-- run `discreet check` on the result before you hand it on.\n"
)
_EPILOG = """\b
Examples:
  discreet recipe release
  discreet recipe release --sql --table patients | duckdb hospital.db
  discreet recipe release --sql --dialect ansi"""


@command(short_help="Show a recipe, in words or as SQL.", epilog=_EPILOG)
@click.argument("recipe", type=options.DATA)
@click.option("--sql", is_flag=True, help="Print the generalization as one SELECT statement.")
@click.option("--dialect", type=click.Choice(["duckdb", "ansi"]), help="The SQL dialect; duckdb by default.")
@click.option("--table", metavar="NAME", help="The table to select from; data by default.")
@options.printing
def recipe(recipe: Path, sql: bool, dialect: Any, table: str | None, as_json: bool, quiet: bool) -> None:
    """Show method, guarantee and columns of a release: RECIPE is its folder, or its release.json."""
    from discreet.cli._output import print_json, print_lines
    from discreet.publish.recipes.recipe import Recipe

    if not sql and (dialect or table):
        raise parse.mistake("--dialect and --table need --sql.", "--sql")
    recipe_ = Recipe.read(recipe)
    if sql:
        from discreet.publish.recipes.sql import statement

        written = statement(recipe_, table=table or "data", dialect=dialect or "duckdb")
        if as_json:
            print_json({"command": "recipe", "ok": True, "dialect": dialect or "duckdb", "sql": written})
        elif not quiet:
            click.echo(f"{_NOTE}{written};")
    elif as_json:
        print_json({"command": "recipe", "ok": True, "recipe": _plain(recipe_)})
    elif not quiet:
        print_lines(_summary(recipe_, recipe))


def _plain(recipe: Recipe) -> dict[str, Any]:
    """Return the recipe without the values of its trees and boxes."""
    data = recipe.data
    return {
        "method": data.get("method"),
        "parameters": data.get("parameters", {}),
        "guarantee": data["guarantee"],
        "levels": None if "levels" not in data else {name: _level(at) for name, at in data["levels"].items()},
        "rows": data.get("rows"),
        "columns": [
            {"name": entry["name"], "role": entry["role"], "becomes": _becomes(entry, recipe)}
            for entry in data["columns"]
        ],
    }


def _level(level: Any) -> Any:
    """Return a level, or those at which the values of a column stand, without their labels."""
    return sorted(map(int, level)) if isinstance(level, dict) else level


def _summary(recipe: Recipe, path: Path) -> list[tuple[str, str]]:
    data = recipe.data
    rows = data.get("rows")
    lines = [
        ("method", " ".join([str(data.get("method", "unknown")), *_parameters(data.get("parameters", {}))])),
        ("guarantee", _guarantee(data["guarantee"])),
    ]
    if isinstance(rows, dict) and {"in", "out", "suppressed"} <= set(rows):
        lines.append(("rows", f"{rows['in']:,} in, {rows['out']:,} out, {rows['suppressed']:,} suppressed"))
    columns = [(entry["name"], f"{entry['role']}: {_becomes(entry, recipe)}") for entry in data["columns"]]
    width = max(len(name) for name, _ in columns)
    lines += [
        ("columns" if at == 0 else "", f"{name.ljust(width)}  {text}")
        for at, (name, text) in enumerate(columns)
    ]
    again = f"discreet apply {path} new.csv --out release-new"
    return [*lines, ("next", again + (f", or discreet recipe {path} --sql" if "levels" in data else ""))]


def _parameters(parameters: dict[str, Any]) -> list[str]:
    """Return parameters as text, without empty ones."""
    texts = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            texts.append(f"{name}=({', '.join(_parameters(value))})")
        elif value is not None:
            texts.append(f"{name}={value}")
    return [value for value in texts if not value.endswith("=()")]


def _guarantee(guarantee: dict[str, Any]) -> str:
    from discreet.guarantees import guarantee_from_dict

    for spec in GUARANTEES.values():
        if spec.takes_population and spec.class_name in str(guarantee):
            return f"{spec.name}; see release.json for its parameters"
    return guarantee_from_dict(guarantee).describe()


def _becomes(entry: dict[str, Any], recipe: Recipe) -> str:
    """Return what happens to a column; no value of it is shown."""
    if entry["role"] in ("identifier", "person", "drop"):
        return "replaced by pseudonyms" if entry.get("pseudonym") else "dropped"
    if entry["role"] != "quasi":
        return "as it is"
    hierarchy = entry.get("hierarchy")
    kind = "all or nothing" if hierarchy is None else "a tree or cuts, in the private folder"
    if isinstance(hierarchy, dict):
        kind = _KINDS.get(str(hierarchy.get("kind", "")), "a tree")
    if "levels" in recipe.data:
        level = recipe.data["levels"].get(entry["name"], 0)
        if level == "top":
            return "the same in every row"
        if isinstance(level, dict):
            return f"levels {', '.join(sorted(level, key=int))} of {kind}, by value"
        return f"level {level} of {kind}" if level else "as it is"
    parts = len(recipe.data.get("cells", {}).get(entry["name"], {}).get("labels", ()))
    if not parts:
        return "means of groups, or labels in the private folder"
    return f"one of {parts:,} labels" if parts != 1 else "one label"
