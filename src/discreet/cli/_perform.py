"""Run a job and print what it achieved, whatever kind of data it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.job import Job


def perform(command: str, job: Job, *, as_json: bool, quiet: bool, anytime: bool = False) -> None:
    """Run a job and print what it achieved; with ``anytime`` an interruption stops the solver only."""
    from discreet.cli._output import earlier_output, print_outcome
    from discreet.cli._progress import stages, watched
    from discreet.core.errors import SchemaError
    from discreet.job import MissingRoleError, run
    from discreet.job.running import STAGES
    from discreet.measure.tables.singling_out import SinglingOutError

    earlier = earlier_output(job.out) if job.overwrite else None
    if job.out is None:
        raise gather.mistake("The job names no folder to write.", 'folder = "release" under [output]')
    try:
        with (
            stages(len(STAGES), quiet=quiet or as_json) as progress,
            watched(job, progress, anytime=anytime) as watched_job,
        ):
            release = run(watched_job, progress)
    except SchemaError as error:
        if isinstance(error, MissingRoleError):
            error.remedy = _missing(command, job, error.names)
        elif isinstance(error, SinglingOutError):
            error.remedy = _unique(command, error.columns)
        raise
    plain = {} if earlier is None else {"replaced": earlier}
    print_outcome(command, release, job.out, as_json=as_json, quiet=quiet, plain=plain)


def _unique(command: str, columns: tuple[str, ...]) -> str:
    """Return what to do about columns that single rows out."""
    from discreet.job.template import key

    if command == "run":
        where = " and ".join(f"[columns.{key(name)}]" for name in columns)
        return f'{where}: role = "identifier" to drop it, "quasi" to generalize it, or allow_unique = true'
    flag = gather.as_flag(columns)
    if command == "condense":
        return f"--identifier {flag} to drop it, or --allow-unique {flag}"
    return f"--identifier {flag} to drop it, --quasi {flag} to generalize it, or --allow-unique {flag}"


def _missing(command: str, job: Job, names: tuple[str, ...]) -> str:
    """Return what to add for columns that have no role, guessed as `discreet init` would."""
    from discreet.core.engine import engine_of
    from discreet.engines.files import read
    from discreet.job.roles import role_of
    from discreet.job.template import key

    frame = read(job.data, **job.reading)
    guesses = {facts.name: role_of(facts).role.value for facts in engine_of(frame).facts(frame)}
    roles = {role: [name for name in names if guesses[name] == role] for role in gather.ROLES}
    guessed = [(role, columns) for role, columns in roles.items() if columns]
    if command == "run":
        tables = " ".join(
            f'[columns.{key(name)}] role = "{role}"' for role, columns in guessed for name in columns
        )
        return f"{tables} (a guess; the roles are your decision)"
    flags = " ".join(f"--{role} {gather.as_flag(columns)}" for role, columns in guessed)
    return f"{flags} (a guess; the roles are your decision), or --rest identifier to drop what is not named"
