"""`discreet run`: do what a job file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli._command import command
from discreet.cli._parse_options import mistake, names_in
from discreet.cli._progress import dry_run, perform
from discreet.cli._runs import perform_verb
from discreet.cli._spec_options import are_named

_EPILOG = """\b
Examples:
  discreet init patients.csv
  discreet run job.toml
  discreet run job.toml --overwrite --json"""


@command(
    short_help="Run a job file.",
    epilog=_EPILOG,
    essentials=("--out", "--overwrite", "--strict", "--pdf", "--sign", "-k", "--method", "--max-suppressed"),
)
@click.argument("job", type=options.DATA)
@click.option("--out", type=options.DATA, metavar="DIR", help="The folder to write, instead of the job's.")
@options.rewriting
@options.cluster
@click.option("-k", type=int, help="The k of the job's k-anonymity, instead of the job's own.")
@options.method_option
@options.printing
def run(
    job: Path,
    out: Path | None,
    overwrite: bool,
    strict: bool,
    allow: str | None,
    pdf: bool,
    sign: Path | None,
    to: str | None,
    k: int | None,
    engine: str | None,
    master: str | None,
    remote: str | None,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Do what the JOB file says; `discreet init` writes one to start from.

    The options of a method take the place of the job's own method.
    """
    from dataclasses import replace

    from discreet.engines.folders import require_apart
    from discreet.job import VerbJob, open_job
    from discreet.job.exploration import with_k

    read = open_job(job)
    clusters = {"engine": engine, "master": master, "remote": remote}
    cluster = {name: value for name, value in clusters.items() if value is not None}
    if isinstance(read, VerbJob):
        refused = strict or allow or pdf or sign or to or cluster or k is not None
        if refused or are_named(values) or dry_run():
            raise mistake("A job that makes no release takes --out and --overwrite alone.")
        chosen_verb = replace(read, out=out or read.out, overwrite=overwrite or read.overwrite)
        for target in chosen_verb.targets():
            require_apart(target, job)
        perform_verb("run", chosen_verb, as_json=as_json, quiet=quiet)
        return
    chosen = replace(
        read,
        out=out or read.out,
        overwrite=overwrite or read.overwrite,
        strict=strict or read.strict,
        allow=names_in([allow]) if allow else read.allow,
        pdf=pdf or read.pdf,
        sign=sign or read.sign,
        to=to or read.to,
        reading={**read.reading, **cluster},
    )
    if k is not None and chosen.guarantee is not None:
        chosen = replace(chosen, guarantee=with_k(chosen.guarantee, k))
    if are_named(values):
        from discreet.cli.publish.anonymize import method_of

        parameters = method_of(values)
        chosen = replace(chosen, method=parameters.pop("name"), options=parameters)
    perform("run", chosen, as_json=as_json, quiet=quiet)
