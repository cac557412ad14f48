"""`discreet sample`: write a generated file to try the commands on."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli import _options as options
from discreet.cli._command import command

_NEXT = {
    "patients": "discreet anonymize patients.csv --quasi age,zip --sensitive disease --rest drop -k 5 --out release",
    "people": "discreet init people.csv",
    "staff": "discreet init staff.parquet",
    "baskets": "discreet anonymize baskets.dat --sensitive-items 12,17,42,47 -p 10 --out release",
}
_EPILOG = """\b
Examples:
  discreet sample patients
  discreet sample baskets"""


@command(short_help="Write a generated file to try things on.", epilog=_EPILOG)
@click.argument("name", type=click.Choice(tuple(_NEXT)))
@options.OVERWRITE_FILE
@options.printing
def sample(name: str, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Write the sample NAME into this folder: patients.csv, people.csv, staff.parquet or baskets.dat.

    The files are generated, and nobody in them exists. They are those that the examples of README and docs read.
    """
    from discreet.cli._output import print_result
    from discreet.datasets.samples import write_sample

    path = write_sample(name, Path(), overwrite=overwrite)
    lines = [("written", str(path)), ("next", _NEXT[name])]
    print_result("sample", {"file": str(path), "next": _NEXT[name]}, lines, as_json=as_json, quiet=quiet)
