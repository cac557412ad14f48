"""Run a job and print what it came to, whatever kind of data it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.job import Job


def perform(command: str, job: Job, *, as_json: bool, quiet: bool, anytime: bool = False) -> None:
    """Run a job and say what it came to; with ``anytime`` an interruption stops the solver only."""
    from discreet.cli._progress import stages, watched
    from discreet.core.errors import SchemaError
    from discreet.job import MissingRoleError, run
    from discreet.job.running import STAGES
    from discreet.measure.tables.singling_out import SinglingOutError

    if job.out is None:
        raise gather.mistake("The job names no folder to write.", 'folder = "release" under [output]')
    try:
        with (
            stages(len(STAGES), quiet=quiet or as_json) as progress,
            watched(job, progress, anytime=anytime) as seen,
        ):
            release = run(seen, progress)
    except SchemaError as error:
        if isinstance(error, MissingRoleError):
            error.remedy = _missing(command, job, error.names)
        elif isinstance(error, SinglingOutError):
            error.remedy = _unique(command, error.columns)
        raise
    if as_json or not quiet:
        _print(command, job, release, as_json=as_json)
    if not as_json and not quiet:
        from discreet.cli._output import print_cautions

        print_cautions(release, job.out)


def _print(command: str, job: Job, release: Any, *, as_json: bool) -> None:
    """Print the outcome in the way of what was made."""
    from discreet.core.registry import METHODS

    if job.out is None:
        return
    made = METHODS[job.method or ""].makes_of(job.kind.takes)
    if made == "baskets":
        from discreet.cli import _basket_output

        _basket_output.print_outcome(
            _basket_output.outcome(command, release, job.out), release, as_json=as_json
        )
    elif made.startswith("sanitized"):
        from discreet.cli.output import hide

        hide.print_outcome(command, release, job.out, as_json=as_json)
    elif made == "pseudo-data":
        from discreet.cli.publish import condense

        condense.print_outcome(command, release, job.out, as_json=as_json)
    elif made == "sketches":
        from discreet.cli.publish import sketch

        sketch.print_outcome(command, release, job.out, as_json=as_json)
    else:
        from discreet.cli import _output

        _output.print_outcome(
            _output.outcome(command, release, job.out), release, as_json=as_json, quiet=False
        )


def _unique(command: str, columns: tuple[str, ...]) -> str:
    """Describe what to do about columns that single rows out."""
    from discreet.job.template import key

    if command == "run":
        where = " and ".join(f"[columns.{key(name)}]" for name in columns)
        return f'{where}: role = "identifier" to drop it, "quasi" to generalize it, or allow_unique = true'
    flag = gather.as_flag(columns)
    if command == "condense":
        return f"--identifier {flag} to drop it, or --allow-unique {flag}"
    return f"--identifier {flag} to drop it, --quasi {flag} to generalize it, or --allow-unique {flag}"


def _missing(command: str, job: Job, names: tuple[str, ...]) -> str:
    """Describe what to add for columns that have no role, guessed as `discreet init` would."""
    from discreet.core.engine import engine_of
    from discreet.engines.files import read
    from discreet.job.roles import role_of
    from discreet.job.template import key

    frame = read(job.data, **job.reading)
    guesses = {facts.name: role_of(facts).role.value for facts in engine_of(frame).facts(frame)}
    roles = {role: [name for name in names if guesses[name] == role] for role in gather.ROLES}
    guessed = [(role, found) for role, found in roles.items() if found]
    if command == "run":
        tables = " ".join(
            f'[columns.{key(name)}] role = "{role}"' for role, found in guessed for name in found
        )
        return f"{tables} (a guess; the roles are your decision)"
    flags = " ".join(f"--{role} {gather.as_flag(found)}" for role, found in guessed)
    return f"{flags} (a guess; the roles are your decision), or --rest identifier to drop what is not named"
