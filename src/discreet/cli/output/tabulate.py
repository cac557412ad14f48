"""`discreet tabulate`: publish a table of counts or sums whose small cells cannot be worked out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, in_group
from discreet.cli._progress import perform
from discreet.cli._spec_options import options_of, parameters_of
from discreet.core.registry import GUARANTEES, METHODS, methods

_EPILOG = """\b
Examples:
  discreet tabulate patients.csv --by region,sex --threshold 5 --out release
  discreet tabulate visits.csv --by region,sex --person patient --hierarchy region=tree.csv --threshold 5 --out release
  discreet tabulate firms.csv --by region,branch --value turnover --p-percent 10 --threshold 3 --out release
  discreet tabulate patients.csv --by region,sex --threshold 4 --method controlled-rounding --base 5 --out release
  discreet tabulate counts.csv --by region,sex --value count --total Total --threshold 5 --out release"""
_METHODS = ("cell-suppression", "controlled-rounding")


@command(
    short_help="Publish a table of counts or sums.",
    epilog=_EPILOG,
    essentials=(
        "--by", "--value", "--person", "--hierarchy", "--threshold", "--width", "--percent", "--dominance",
        "--p-percent", "--method", "--out", "--overwrite",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@in_group(
    "Roles",
    [
        click.option(
            "--by",
            multiple=True,
            required=True,
            metavar="COLUMNS",
            help="The columns whose categories make the cells.",
        ),
        click.option("--value", metavar="COLUMN", help="The column to sum; rows are counted without it."),
        click.option(
            "--person", metavar="COLUMN", help="Whose row it is: contributors are then people, not rows."
        ),
        click.option(
            "--hierarchy",
            "hierarchies",
            multiple=True,
            metavar="COLUMN=HOW",
            help="A tree of a column, each of whose nodes gets a margin: region=regions.csv, age=intervals:5,10.",
        ),
        click.option(
            "--total",
            metavar="LABEL",
            help="DATA is a ready table, a row for each cell: --value names its counts, LABEL stands in its margins.",
        ),
    ],
)
@options_of(lambda: [GUARANTEES["cell-protection"]], group="Guarantee")
@in_group(
    "Method",
    [
        click.option(
            "--method", type=click.Choice(_METHODS), default=_METHODS[0], help="cell-suppression by default."
        ),
        click.option(
            "--dominance",
            metavar="N,K",
            help="For sums: suppress cells of which the N largest contributions are more than K percent.",
        ),
    ],
)
@options_of(lambda: methods(role="publisher", takes="cells"))
@in_group(
    "Writing",
    [
        click.option("--out", type=options.DATA, required=True, metavar="DIR", help="The folder to write."),
        options.OVERWRITE,
        click.option(
            "--name", metavar="TEXT", help="The data's name, published in the report; none by default."
        ),
        click.option(
            "--no-report", "report", flag_value=False, default=True, type=bool, help="Write no report."
        ),
        click.option("--strict", is_flag=True, help="Write nothing where there is any caution."),
    ],
)
@options.sign
@options.reading
@options.printing
def tabulate(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Count the rows of DATA by some columns, or sum a column, and publish the table with all margins, safely."""
    from discreet.job import Job

    output = {name: values[name] for name in ("overwrite", "name", "report", "strict", "sign")}
    described = {
        "input": {"path": data, **parse.reading(values)},
        "cells": _cells(values),
        "guarantee": [_guarantee(values)],
        "method": _method(values),
        "output": {"folder": out} | {name: value for name, value in output.items() if value is not None},
    }
    perform("tabulate", Job.from_dict(described), as_json=as_json, quiet=quiet)


def _cells(values: dict[str, Any]) -> dict[str, Any]:
    trees = parse.key_values("--hierarchy", values["hierarchies"]).items()
    section = {
        "by": parse.names_in(values["by"]),
        "hierarchy": {name: parse.hierarchy_option(how) for name, how in trees},
        **{name: values[name] for name in ("value", "person", "total")},
    }
    return {name: value for name, value in section.items() if value is not None}


def _guarantee(values: dict[str, Any]) -> dict[str, Any]:
    """Return the guarantee; rules about sums need no threshold of contributors."""
    is_sum = values["value"] is not None and values["total"] is None
    rules = [values[name] for name in ("threshold", "dominance", "p_percent")]
    if all(rule is None for rule in rules):
        raise parse.mistake(
            "Say which cells are too small to be published.",
            "--threshold 5" + (", or --p-percent 10" * is_sum),
        )
    if not is_sum and any(rule is not None for rule in rules[1:]):
        raise parse.mistake("--dominance and --p-percent are for sums.", "--value COLUMN, or --threshold 5")
    if is_sum and rules[1:] == [None, None] and values["width"] is None and values["percent"] is None:
        raise parse.mistake("Say how far apart the bounds of a suppressed sum must be.", "--percent 10")
    named = {name: values[name] for name in ("threshold", "width", "percent") if values[name] is not None}
    return {"kind": "cell-protection", "threshold": 1, **named}


def _method(values: dict[str, Any]) -> dict[str, Any]:
    spec = METHODS[values["method"]]
    parameters = parameters_of(spec, values, among=methods(role="publisher", takes="cells"))
    if values["dominance"] is None:
        return {"name": spec.name} | parameters
    if spec.name != _METHODS[0]:
        raise parse.mistake("--dominance belongs to --method cell-suppression.")
    number, _, share = values["dominance"].partition(",")
    try:
        dominance = [int(number), float(share)]
    except ValueError:
        raise parse.mistake(
            "--dominance takes a number of contributors and a percentage.", "--dominance 1,75"
        ) from None
    return {"name": spec.name, **parameters, "dominance": dominance}
