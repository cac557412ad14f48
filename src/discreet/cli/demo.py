"""`discreet demo`: protect the embedded sample."""

from __future__ import annotations

import json
from pathlib import Path

import click

from discreet.cli import _options as options

_EPILOG = """\b
Example:
  discreet demo --out release-demo"""


@click.command(short_help="Protect the embedded sample.", epilog=_EPILOG)
@click.option(
    "--out",
    type=options.DATA,
    default="release-demo",
    metavar="DIR",
    help="The folder to write; release-demo by default.",
)
@options.telling
def demo(out: Path, as_json: bool, quiet: bool) -> None:
    """Protect a generated hospital table of 20,000 patients; nobody in it exists."""
    from discreet.cli._perform import perform
    from discreet.datasets import hospital, hospital_columns
    from discreet.guarantees import EntropyDiversity, KAnonymity
    from discreet.job import Job

    promise = KAnonymity(5) & EntropyDiversity(2, of="diagnosis")
    columns = hospital_columns()
    job = Job(hospital(), columns, promise, out=out, overwrite=_is_demo(out, list(columns)))
    perform("demo", job, as_json=as_json, quiet=quiet)


def _is_demo(out: Path, columns: list[str]) -> bool:
    """Return whether a folder holds an earlier demo, which may be replaced."""
    try:
        recipe = json.loads((out / "release.json").read_text(encoding="utf-8"))
        return [column["name"] for column in recipe["columns"]] == columns
    except (OSError, ValueError, KeyError, TypeError):
        return False
