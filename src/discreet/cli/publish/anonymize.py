"""`discreet anonymize`: protect a file, with roles given as options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._described import with_roles
from discreet.cli._perform import perform

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


@click.command(short_help="Protect a file, with roles given as options.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@options.roles(rest=None)
@options.pseudonym
@options.allow_unique
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="COLUMN=NUMBER",
    help="Weight of a column: a higher one keeps more detail.",
)
@options.promises
@options.method
@baskets.publishing
@options.output
@options.reading
@options.printing
def anonymize(data: Path, out: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Protect DATA, a table or baskets, and write a release that keeps the promise, with a report of what it cost."""
    from discreet.job import Job

    plain = baskets.job(data, given) if baskets.is_baskets(data, given) else _job(data, given)
    job = Job.from_dict(plain | {"output": gather.output(out, given)})
    perform("anonymize", with_roles(job, given), as_json=as_json, quiet=quiet)


def _job(data: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the job for a table, laid out as a job file."""
    from discreet.cli._methods import method

    return {
        "input": {"path": data, **gather.reading(given), **_rest(given)},
        "columns": gather.columns(given),
        "guarantee": _promises(given),
        "method": method(given),
    }


def _rest(given: dict[str, Any]) -> dict[str, Any]:
    return {} if given["rest"] is None else {"rest": given["rest"]}


def _promises(given: dict[str, Any]) -> list[dict[str, Any]]:
    asked = gather.promises(given)
    if not asked:
        raise gather.mistake("Choose a privacy guarantee.", "-k 5")
    if given["population"] is not None and given["k_map"] is None:
        raise gather.mistake("--population requires --k-map.", "--k-map 5")
    return asked
