"""Ratings on the command line: the options, and what `discreet risk` does with a table of ratings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _parse_options as parse
from discreet.cli._command import group_of, in_group
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.measure import RatingsLinkage

_KNOWN = "1,2,3,4,6,8"
_COLUMNS = ("--person", "--item", "--value")
_EXAMPLE = "--person user --item movie --value rating"
options = in_group(
    "Ratings",
    [
        click.option(
            "--value",
            metavar="COLUMN",
            help="Ratings: the column of the rating, in a table with a row for each; with --person and --item.",
        ),
        click.option(
            "--time", metavar="COLUMN", help="Ratings: the column of the time, where it is known about."
        ),
        click.option(
            "--error",
            type=float,
            default=0.0,
            help="Ratings: how far a known rating is off, a third of them up and a third down; 0 by default.",
        ),
        click.option(
            "--days",
            type=float,
            default=14.0,
            help="Ratings: by how many days a known time is off; 14 by default.",
        ),
        click.option(
            "--targets",
            type=click.IntRange(min=1),
            default=1000,
            help="Ratings: how many people are looked for; 1000 by default.",
        ),
    ],
)


def is_ratings(values: Mapping[str, Any]) -> bool:
    """Return whether the options are about ratings."""
    named_apart = values["person"] and values["item"] is not None and values["basket"] is None
    return values["value"] is not None or bool(named_apart)


def measure_ratings(data: Path, values: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Measure how surely a few known ratings find a person."""
    from discreet.cli._output import print_json, print_lines
    from discreet.cli._progress import stages
    from discreet.engines.files import read
    from discreet.job.parse import reading_from
    from discreet.measure import ratings_linkage

    _refuse_others()
    people = parse.names_in(values["person"])
    if len(people) != 1 or values["item"] is None or values["value"] is None:
        raise parse.mistake(f"Ratings need {', '.join(_COLUMNS)}, a column each.", _EXAMPLE)
    known = parse.number_list("--known", values["known"] or _KNOWN, int)
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        frame = read(data, **reading_from(parse.reading(values)))
        progress("Measuring")
        linked = ratings_linkage(
            frame,
            person=people[0],
            item=values["item"],
            value=values["value"],
            time=values["time"],
            known=known,
            error=values["error"],
            days=values["days"],
            n_targets=values["targets"],
            random_state=values["seed"],
        )
    if as_json:
        print_json({"command": "risk", "ok": True, "ratings": linked.to_dict()})
    elif not quiet:
        print_lines(_lines(linked))


def _refuse_others() -> None:
    """Refuse options that say nothing about ratings."""
    context = click.get_current_context()
    for option in context.command.get_params(context):
        flag = option.opts[-1]
        of_others = group_of(option) in ("Roles", "Guarantee", "Baskets") or flag in (
            "--external", "--external-person", "--threshold",
        )  # fmt: skip
        named = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if named and of_others and flag not in _COLUMNS:
            raise parse.mistake(f"{flag} is not for ratings, which --value is about.", _EXAMPLE)


def _lines(linked: RatingsLinkage) -> list[tuple[str, str]]:
    off = "exact" if linked.error == 0 else f"off by {linked.error:g} two times of three"
    dates = "no times" if linked.days is None else f"times within {linked.days:g} days"
    lines = [
        ("ratings", f"{linked.n_ratings:,} of {linked.n_items:,} items by {linked.n_people:,} people"),
        ("attacker", f"knows ratings, {off}, and {dates}"),
    ]
    for risk in linked.by_known:
        among = (
            "" if risk.right_among_sure is None else f", {percent(risk.right_among_sure)} of these rightly"
        )
        people = (
            f"{percent(risk.right)} of {risk.n_targets:,} people found; sure of {percent(risk.sure)}{among}"
        )
        lines.append(
            (f"{risk.n_known} known", f"{people}; {percent(risk.unique)} are the only ones that fit")
        )
    return lines
