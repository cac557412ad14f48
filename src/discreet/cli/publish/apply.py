"""`discreet apply`: protect new rows as an earlier release did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.publish.recipes.recipe import Recipe

_EPILOG = """\b
Examples:
  discreet apply release/release.json new.csv --out release-new
  discreet apply release/release.json new.csv --out release-new --max-suppressed 0.02"""


@click.command(short_help="Protect new rows as an earlier release did.", epilog=_EPILOG)
@click.argument("recipe", type=options.DATA)
@click.argument("data", type=options.DATA)
@click.option("--max-suppressed", type=float, default=0.0, help="The share of rows that may be left out.")
@options.pseudonym
@options.output
@options.reading
@options.telling
def apply(recipe: Path, data: Path, out: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Protect the new rows of DATA as the RECIPE (release.json) says, and judge the result afresh."""
    from discreet.cli._output import outcome, tell_outcome
    from discreet.cli._progress import stages
    from discreet.job.hierarchies import key_from
    from discreet.job.running import STAGES, finish, refuse_target
    from discreet.publish.recipes.recipe import Recipe

    refuse_target(out, data, overwrite=given["overwrite"])
    known = Recipe.read(recipe)
    _require_whole(known, recipe)
    places = gather.pairs("--pseudonym", given["pseudonyms"])
    keys = {name: key_from(place, column=name, folder=Path()) for name, place in places.items()}
    with stages(len(STAGES), quiet=quiet or as_json) as tell:
        tell("Reading")
        frame = _read(data, gather.reading(given), known)
        tell("Protecting")
        release = known.apply(
            frame,
            keys=keys,
            max_suppressed=given["max_suppressed"],
            spreadsheet_safe=given["spreadsheet_safe"],
            random_state=given["seed"],
        )
        writing = {"format": _format(data, given), "report": given["report"], "overwrite": given["overwrite"]}
        finish(release, tell, out, **writing)
    tell_outcome(outcome("apply", release, out), release, as_json=as_json, quiet=quiet)


def _require_whole(recipe: Recipe, path: Path) -> None:
    """Refuse a recipe from which something was taken out."""
    from discreet.core.errors import InputError

    needed = {"columns", "guarantee"} | ({"levels"} if "levels" in recipe.data else {"boxes", "cells"})
    missing = sorted(needed - set(recipe.data))
    if missing:
        raise InputError(f"{path} is no whole recipe; it lacks {', '.join(missing)}.")


def _read(data: Path, reading: dict[str, Any], recipe: Recipe) -> Any:
    """Read the new rows; what was text when the recipe was made is read as text, whatever it looks like now."""
    from discreet.engines.files import describe, read

    frame = read(data, **reading)
    known = {entry["name"] for entry in recipe.data["columns"] if entry.get("type") == "string"}
    changed = [name for name, type_ in describe(frame) if name in known and type_ != "VARCHAR"]
    if not changed:
        return frame
    return read(data, **(reading | {"text": [*reading.get("text", []), *changed]}))


def _format(data: Path, given: dict[str, Any]) -> str:
    from discreet.engines.formats import output_format

    return given["format_"] or output_format(data)
