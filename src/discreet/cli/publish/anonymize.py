"""`discreet anonymize`: protect a file, with roles given as options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, in_group
from discreet.cli._options import guarantees_of
from discreet.cli._progress import perform
from discreet.cli._spec_options import parameters_of
from discreet.core.registry import METHODS

_EPILOG = """\b
Examples:
  discreet anonymize patients.csv --quasi age,zip --sensitive disease --identifier ssn -k 5 --out release
  discreet anonymize patients.csv --quasi age,zip --sensitive disease -k 5 -l 2 --diversity entropy \\
      --hierarchy age=intervals:5,10,20 --hierarchy zip=mask --rest identifier --out release
  discreet anonymize visits.parquet --quasi age,zip --rest other -k 10 --level age=2 --level zip=3 \\
      --hierarchy age=intervals:5,10 --hierarchy zip=mask --max-suppressed 0.02 --out release
  discreet anonymize visits.parquet --quasi age,zip --rest other -k 10 --method optimal --max-suppressed 0.02 \\
      --hierarchy age=intervals:5,10 --hierarchy zip=mask --highest zip=3 --out release
  discreet anonymize baskets.dat --sensitive-items 17,42 -p 10 --out release
  discreet anonymize baskets.dat --km 5,2 --item-hierarchy tree.csv --out release"""


@command(
    short_help="Protect a file, with roles given as options.",
    epilog=_EPILOG,
    essentials=(
        "--quasi", "--sensitive", "--identifier", "--rest", "--hierarchy", "-k", "-l", "-t", "--method",
        "--sensitive-items", "-p", "--out",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@options.roles(rest=None)
@options.pseudonym
@options.allow_unique
@in_group(
    "Roles",
    [
        click.option(
            "--weight",
            "weights",
            multiple=True,
            metavar="COLUMN=NUMBER",
            help="Weight of a column: a higher one keeps more detail.",
        )
    ],
)
@options.guarantees
@options.method_option
@baskets.publishing
@options.output_options
@options.reading
@options.printing
def anonymize(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Protect DATA, a table or baskets, and write a release that keeps the guarantee, with a report of what it cost."""
    from discreet.job import Job

    described = baskets.job(data, values) if baskets.is_baskets(data, values) else _job(data, values)
    job = Job.from_dict(described | {"output": parse.output(out, values)})
    if values["roles"] is not None:
        from discreet.cli._described import with_roles

        job = with_roles(job, values["roles"])
    perform("anonymize", job, as_json=as_json, quiet=quiet)


def method_of(values: dict[str, Any]) -> dict[str, Any]:
    """Return the method for a table and its parameters, laid out as in a job file."""
    name = values["method"] or ("generalization" if values["level"] else "mondrian")
    among = options.table_publishers()
    parameters = parameters_of(METHODS[name], values, among=among, without=options.NOT_OF_TABLES)
    return {"name": name} | ({"levels": {}} if name == "generalization" else {}) | parameters


def _job(data: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Return the job for a table, laid out as a job file."""
    rest = {} if values["rest"] is None else {"rest": values["rest"]}
    return {
        "input": {"path": data, **parse.reading(values), **rest},
        "columns": parse.columns(values),
        "guarantee": _guarantees(values),
        "method": method_of(values),
    }


def _guarantees(values: dict[str, Any]) -> list[dict[str, Any]]:
    chosen = guarantees_of(values)
    if not chosen:
        raise parse.mistake("Choose a privacy guarantee.", "-k 5")
    if values["population"] is not None and values["k_map"] is None and values["delta_max"] is None:
        raise parse.mistake("--population requires --k-map or --delta-max.", "--k-map 5")
    return chosen
