"""`discreet run`: do what a job file says."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli import _options as options
from discreet.cli._perform import perform

_EPILOG = """\b
Examples:
  discreet init patients.csv
  discreet run job.toml
  discreet run job.toml --overwrite --json"""


@click.command(short_help="Run a job file.", epilog=_EPILOG)
@click.argument("job", type=options.DATA)
@click.option("--out", type=options.DATA, metavar="DIR", help="The folder to write, instead of the job's.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier release.")
@options.telling
def run(job: Path, out: Path | None, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Do what the JOB file says; `discreet init` writes one to start from."""
    from dataclasses import replace

    from discreet.job import Job

    read = Job.read(job)
    chosen = replace(read, out=out or read.out, overwrite=overwrite or read.overwrite)
    perform("run", chosen, as_json=as_json, quiet=quiet)
