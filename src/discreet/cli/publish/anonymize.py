"""`discreet anonymize`: protect a file, with roles given as options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.job import Job

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
@click.option(
    "--weight", "weights", multiple=True, metavar="COLUMN=NUMBER", help="How much finer a column stays."
)
@options.promises
@options.method
@baskets.publishing
@options.output
@options.reading
@options.telling
def anonymize(data: Path, out: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Protect DATA, a table or baskets, and write a release that keeps the promise, with a report of what it cost."""
    if baskets.is_baskets(data, given):
        baskets.anonymize("anonymize", data, out, given, as_json=as_json, quiet=quiet)
        return
    from discreet.cli._methods import method as gather_method
    from discreet.job import Job

    job = Job.from_dict(
        {
            "input": {"path": data, **gather.reading(given), **_rest(given)},
            "columns": gather.columns(given),
            "guarantee": _promises(given),
            "method": gather_method(given),
            "output": _output(out, given),
        }
    )
    perform("anonymize", job, as_json=as_json, quiet=quiet)


def perform(command: str, job: Job, *, as_json: bool, quiet: bool) -> None:
    """Run a job and say what it came to."""
    from discreet.cli._output import outcome, tell_outcome
    from discreet.cli._progress import stages
    from discreet.job import MissingRoleError, run
    from discreet.job.running import STAGES

    if job.out is None:
        raise gather.mistake("The job names no folder to write.", 'folder = "release" under [output]')
    try:
        with stages(len(STAGES), quiet=quiet or as_json) as tell:
            release = run(job, tell)
    except MissingRoleError as error:
        error.remedy = _missing(command, job, error.names)  # type: ignore[attr-defined]
        raise
    tell_outcome(outcome(command, release, job.out), release, as_json=as_json, quiet=quiet)


def _missing(command: str, job: Job, names: tuple[str, ...]) -> str:
    """Describe what to add for columns that have no role, guessed as `discreet init` would."""
    from discreet.engines.files import read
    from discreet.job.proposals import look, role_of
    from discreet.job.template import key

    guesses = {facts.name: role_of(facts).role.value for facts in look(read(job.data, **job.reading))}
    roles = {role: [name for name in names if guesses[name] == role] for role in gather.ROLES}
    guessed = [(role, found) for role, found in roles.items() if found]
    if command == "run":
        tables = " ".join(
            f'[columns.{key(name)}] role = "{role}"' for role, found in guessed for name in found
        )
        return f"{tables} (a guess; the roles are your decision)"
    flags = " ".join(f"--{role} {gather.as_flag(found)}" for role, found in guessed)
    return f"{flags} (a guess; the roles are your decision), or --rest identifier to drop what is not named"


def _rest(given: dict[str, Any]) -> dict[str, Any]:
    return {} if given["rest"] is None else {"rest": given["rest"]}


def _promises(given: dict[str, Any]) -> list[dict[str, Any]]:
    asked = gather.promises(given)
    if not asked:
        raise gather.mistake("Say what the release shall promise.", "-k 5")
    if given["population"] is not None and given["k_map"] is None:
        raise gather.mistake("--population says nothing without --k-map.", "--k-map 5")
    return asked


def _output(out: Path, given: dict[str, Any]) -> dict[str, Any]:
    plain = {"folder": out, "overwrite": given["overwrite"], "report": given["report"]}
    optional = {"format": given["format_"], "seed": given["seed"]}
    return plain | {name: value for name, value in optional.items() if value is not None}
