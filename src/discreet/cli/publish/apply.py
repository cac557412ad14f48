"""`discreet apply`: protect new rows as an earlier release did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command
from discreet.cli._spec_options import Number

if TYPE_CHECKING:
    from discreet.publish.recipes.recipe import Recipe

_EPILOG = """\b
Examples:
  discreet apply release new.csv --out release-new
  discreet apply release new.csv --out release-new --misfits suppress --max-suppressed 0.02
  discreet apply release new.csv --released release --out release-all"""


@command(short_help="Protect new rows as an earlier release did.", epilog=_EPILOG)
@click.argument("recipe", type=options.DATA)
@click.argument("data", type=options.DATA)
@click.option(
    "--max-suppressed",
    type=Number(),
    help="The rows that may be left out: 0.02 is a share, 2 are two rows; the recipe's own if not given.",
)
@click.option(
    "--misfits",
    type=click.Choice(["coarsen", "suppress"]),
    default="coarsen",
    show_default=True,
    help="What happens to rows that no published cell covers, or whose cell too few rows share.",
)
@click.option(
    "--released", type=options.DATA, help="The data released before: old and new rows are released together."
)
@click.option(
    "--joined-unknown",
    is_flag=True,
    help="With --released: nobody can know who is among the new rows, so old and new ones count together.",
)
@click.option("--private", type=options.DATA, help="The private part of the recipe, if it was moved.")
@options.pseudonym
@options.allow_unique
@options.output_options
@options.reading
@options.printing
def apply(recipe: Path, data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Protect the new rows of DATA as an earlier release did, and judge the result afresh.

    RECIPE is the folder of that release, or its release.json.
    """
    from discreet.cli._output import print_outcome
    from discreet.cli._progress import beside_rows, dry_run, stages
    from discreet.job.running import STAGES, finish, refuse_target
    from discreet.kinds.hierarchies import key_from
    from discreet.kinds.tables import require_predictable
    from discreet.publish.recipes.recipe import Recipe

    refuse_target(out, data, overwrite=values["overwrite"])
    recipe_ = Recipe.read(recipe, private=values["private"])
    if values["joined_unknown"] and values["released"] is None:
        raise parse.mistake("--joined-unknown requires --released.", "--released")
    places = parse.key_values("--pseudonym", values["pseudonyms"])
    keys = {name: key_from(path, column=name, folder=Path()) for name, path in places.items()}
    with stages(len(STAGES), quiet=quiet or as_json) as progress:
        progress("Reading")
        frame = _read(data, parse.reading(values), recipe_)
        progress("Protecting")
        release = recipe_.apply(
            frame,
            released=None
            if values["released"] is None
            else _read(_released(values["released"]), {}, recipe_),
            joined_known=not values["joined_unknown"],
            misfits=values["misfits"],
            keys=keys,
            allow_unique=parse.names_in(values["allow_unique"]),
            max_suppressed=values["max_suppressed"],
            spreadsheet_safe=values["spreadsheet_safe"],
            random_state=values["seed"],
        )
        if predict := parse.names_in([values["predict"]] if values["predict"] else []):
            require_predictable(release, predict)
            release = replace(release, recipe={**release.recipe, "predicted": predict})
        writing = {
            "format": _format(data, values),
            "report": values["report"],
            "overwrite": values["overwrite"],
        }
        writing |= {name: values[name] for name in ("strict", "name", "pdf", "sign", "to")} | {
            "source": data.name
        }
        writing |= {
            name: parse.names_in([values[name]] if values[name] else []) for name in ("include", "allow")
        }
        finish(release, progress, None if dry_run() else out, **writing)
    rehearsed = {"dry_run": True} if dry_run() else None
    if rehearsed:
        release.refuse_unless_published(strict=values["strict"], allow=writing["allow"])
    with beside_rows(values["to"]):
        print_outcome("apply", release, out, as_json=as_json, quiet=quiet, plain=rehearsed)


def _released(path: Path) -> Path:
    """Return the file of the data released before, which may be named by the folder of its release."""
    from discreet.cli._described import data_file

    return data_file(path, None)


def _read(data: Path, reading: dict[str, Any], recipe: Recipe) -> Any:
    """Read the new rows; what was text when the recipe was made is read as text, whatever it looks like now."""
    from discreet.core.engine import engine_of
    from discreet.engines.files import read

    frame = read(data, **reading)
    earlier = {entry["name"] for entry in recipe.data["columns"] if entry.get("type") == "string"}
    types = engine_of(frame).value_types(frame)
    changed = [name for name, type_ in types.items() if name in earlier and type_ != "text"]
    if not changed:
        return frame
    return read(data, **(reading | {"text": [*reading.get("text", []), *changed]}))


def _format(data: Path, values: dict[str, Any]) -> str:
    from discreet.engines.formats import output_format

    return values["format_"] or ("parquet" if values["engine"] == "spark" else output_format(data))
