"""`discreet run`: do what a job file says."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli import gather, options

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

    from discreet.cli import baskets
    from discreet.cli.anonymize import perform
    from discreet.job import BasketJob, HidingJob, read_any_job

    read = read_any_job(job)
    if isinstance(read, HidingJob):
        from discreet.cli.hide import perform as hide

        if out is None and read.out is None:
            raise gather.mistake("The job names no folder to write.", 'folder = "release" under [output]')
        named = replace(read, out=out or read.out, overwrite=overwrite or read.overwrite)
        hide("run", named, as_json=as_json, quiet=quiet)
        return
    if isinstance(read, BasketJob):
        asked = replace(read, out=out or read.out, overwrite=overwrite or read.overwrite)
        baskets.perform("run", asked, as_json=as_json, quiet=quiet)
        return
    chosen = replace(read, out=out or read.out, overwrite=overwrite or read.overwrite)
    perform("run", chosen, as_json=as_json, quiet=quiet)
