"""`discreet recipe`: show the recipe of a release, in words or as SQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse_options
from discreet.cli._command import command

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
  discreet recipe release/release.json
  discreet recipe release/release.json --sql --table patients | duckdb hospital.db
  discreet recipe release/release.json --sql --dialect ansi"""


@command(short_help="Show a recipe, in words or as SQL.", epilog=_EPILOG)
@click.argument("recipe", type=options.DATA)
@click.option("--sql", is_flag=True, help="Print the generalization as one SELECT statement.")
@click.option("--dialect", type=click.Choice(["duckdb", "ansi"]), help="The SQL dialect; duckdb by default.")
@click.option("--table", metavar="NAME", help="The table to select from; data by default.")
@options.printing
def recipe(recipe: Path, sql: bool, dialect: Any, table: str | None, as_json: bool, quiet: bool) -> None:
    """Show the RECIPE (release.json) of a release: method, guarantee and columns."""
    from discreet.cli._output import print_json, print_lines
    from discreet.publish.recipes.recipe import Recipe

    if not sql and (dialect or table):
        raise parse_options.mistake("--dialect and --table need --sql.", "--sql")
    known = Recipe.read(recipe)
    if sql:
        from discreet.publish.recipes.sql import statement

        written = statement(known, table=table or "data", dialect=dialect or "duckdb")
        if as_json:
            print_json({"command": "recipe", "ok": True, "dialect": dialect or "duckdb", "sql": written})
        elif not quiet:
            click.echo(f"{_NOTE}{written};")
    elif as_json:
        print_json({"command": "recipe", "ok": True, "recipe": _plain(known)})
    elif not quiet:
        print_lines(_summary(known, recipe))


def _plain(known: Recipe) -> dict[str, Any]:
    """Return the recipe without the values of its trees and boxes."""
    data = known.data
    return {
        "method": data.get("method"),
        "parameters": data.get("parameters", {}),
        "guarantee": data["guarantee"],
        "levels": data.get("levels"),
        "rows": data.get("rows"),
        "columns": [
            {"name": one["name"], "role": one["role"], "becomes": _becomes(one, known)}
            for one in data["columns"]
        ],
    }


def _summary(known: Recipe, path: Path) -> list[tuple[str, str]]:
    data = known.data
    rows = data.get("rows")
    lines = [
        ("method", " ".join([str(data.get("method", "unknown")), *_parameters(data.get("parameters", {}))])),
        ("guarantee", _guarantee(data["guarantee"])),
    ]
    if isinstance(rows, dict) and {"in", "out", "suppressed"} <= set(rows):
        lines.append(("rows", f"{rows['in']:,} in, {rows['out']:,} out, {rows['suppressed']:,} suppressed"))
    columns = [(one["name"], f"{one['role']}: {_becomes(one, known)}") for one in data["columns"]]
    width = max(len(name) for name, _ in columns)
    lines += [
        ("columns" if at == 0 else "", f"{name.ljust(width)}  {text}")
        for at, (name, text) in enumerate(columns)
    ]
    again = f"discreet apply {path} new.csv --out release-new"
    return [*lines, ("next", again + (f", or discreet recipe {path} --sql" if "levels" in data else ""))]


def _parameters(given: dict[str, Any]) -> list[str]:
    """Return parameters as text, without empty ones."""
    found = []
    for name, value in given.items():
        if isinstance(value, dict):
            found.append(f"{name}=({', '.join(_parameters(value))})")
        elif value is not None:
            found.append(f"{name}={value}")
    return [one for one in found if not one.endswith("=()")]


def _guarantee(guarantee: dict[str, Any]) -> str:
    from discreet.guarantees import guarantee_from_dict

    if "KMap" in str(guarantee):
        return "k-map; see release.json for its parameters"
    return guarantee_from_dict(guarantee).describe()


def _becomes(entry: dict[str, Any], known: Recipe) -> str:
    """Return what happens to a column; no value of it is shown."""
    if entry["role"] == "identifier":
        return "replaced by pseudonyms" if entry.get("pseudonym") else "dropped"
    if entry["role"] != "quasi":
        return "as it is"
    plain = entry.get("hierarchy")
    kind = "all or nothing" if plain is None else "a tree or cuts, in the private folder"
    if isinstance(plain, dict):
        kind = _KINDS.get(str(plain.get("kind", "")), "a tree")
    if "levels" in known.data:
        level = known.data["levels"].get(entry["name"], 0)
        if level == "top":
            return "the same in every row"
        return f"level {level} of {kind}" if level else "as it is"
    parts = len(known.data.get("cells", {}).get(entry["name"], {}).get("labels", ()))
    if not parts:
        return "means of groups, or labels in the private folder"
    return f"one of {parts:,} labels" if parts != 1 else "one label"
