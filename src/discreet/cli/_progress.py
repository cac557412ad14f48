"""Runs of the command line: a bar over their stages, on stderr and only on a terminal, and their outcome."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _parse_options as gather
from discreet.cli._log import log
from discreet.cli._startup import stop_if_interrupted
from discreet.kernels import listeners

if TYPE_CHECKING:
    from discreet.job import Job

DRY_RUN = "discreet.dry_run"
"""Where the context of a command says that nothing is to be written."""
_SHOWN = 1_000_000
_COMPILING = "Compiling for this machine, the first time only"
_UNKNOWN = 1e29
"""What a solver reports as its best while it has none."""


@contextmanager
def stages(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a bar that moves one step with each new stage; after a colon a stage says how far it is."""
    if quiet or not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    from discreet.engines.atomic import spilled_bytes

    class SpillColumn(ProgressColumn):
        """How much the engine has put on disk, once it is more than a little."""

        max_refresh = 0.5

        def render(self, task: Any) -> Text:
            del task
            return Text(spill_text(spilled_bytes()), style="yellow")

    console = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), SpillColumn()
    )  # fmt: skip
    with Progress(*console, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Starting", total=total, completed=-1)
        latest = ["Starting"]

        def advance(stage: str) -> None:
            _log_stage(stage)
            stop_if_interrupted()
            latest[0] = stage
            bar.update(task, description=stage, advance=0 if ":" in stage else 1)

        def compiling(is_compiling: bool) -> None:
            bar.update(task, description=_COMPILING if is_compiling else latest[0])

        listeners.append(compiling)
        try:
            yield advance
        finally:
            listeners.remove(compiling)


def spill_text(n_bytes: int) -> str:
    """Return how much lies on disk for want of memory; nothing where it is little.

    >>> spill_text(3_210_000_000), spill_text(12_000_000), spill_text(0)
    ('3.2 GB on disk', '12 MB on disk', '')
    """
    if n_bytes < _SHOWN:
        return ""
    return f"{n_bytes / 1e9:.1f} GB on disk" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB on disk"


def _unseen(stage: str) -> None:
    _log_stage(stage)
    stop_if_interrupted()


def _log_stage(stage: str) -> None:
    """Log a stage; how far it is, after a colon, only where every detail is wanted."""
    log("debug" if ":" in stage else "info", "stage", stage=stage)


@contextmanager
def watched(job: Job, progress: Callable[[str], None], *, anytime: bool) -> Iterator[Job]:
    """Return the job so that a solver shows its gap; with ``anytime`` Ctrl-C takes the best so far."""
    from discreet.core.registry import METHODS

    if "progress" not in METHODS[job.method or ""].options():
        yield job
        return
    from discreet.output.hiding import Stop

    enough = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def watch(value: float, bound: float) -> None:
        stop_if_interrupted()
        if enough.is_set():
            raise Stop
        if math.isfinite(value) and value < _UNKNOWN:
            progress(gap_text(value, bound))

    if anytime:
        signal.signal(signal.SIGINT, lambda number, frame: enough.set())
    try:
        yield replace(job, options={**job.options, "progress": watch})
    finally:
        if anytime:
            signal.signal(signal.SIGINT, before)


def gap_text(value: float, bound: float) -> str:
    """Return the best so far and how far it may be from the optimum.

    >>> gap_text(8.0, 6.0), gap_text(0.0, -1.0)
    ('Solving: best 8, at least 6, gap 25.0%', 'Solving: best 0, at least 0, gap 0.0%')
    """
    least = max(bound, 0.0)
    gap = 0.0 if value <= least else (value - least) / value
    return f"Solving: best {value:,.0f}, at least {least:,.0f}, gap {gap:.1%}"


def perform(command: str, job: Job, *, as_json: bool, quiet: bool, anytime: bool = False) -> None:
    """Run a job and print what it achieved; with ``anytime`` an interruption stops the solver only."""
    from discreet.cli._output import print_outcome, to_be_replaced
    from discreet.core.errors import SchemaError
    from discreet.engines.destinations import is_view
    from discreet.job import MissingRoleError, run
    from discreet.job.running import STAGES
    from discreet.measure.tables.risk import SinglingOutError

    if job.out is None:
        raise gather.mistake("The job names no folder to write.", 'folder = "release" under [output]')
    earlier = to_be_replaced(job.out, overwrite=job.overwrite, asks=not (as_json or quiet))
    out, rehearsed = job.out, dry_run()
    if rehearsed:
        job = rehearsal(job)
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
    if rehearsed:
        release.refuse_unless_published(strict=job.strict, allow=job.allow)
    plain: dict[str, Any] = (
        {"dry_run": True} if rehearsed else {} if earlier is None else {"replaced": earlier}
    )
    with beside_rows(job.to):
        if job.to is not None and is_view(job.to):
            from discreet.publish.recipes.live_rows import CAUTION

            plain |= {"view": CAUTION}
            if not (as_json or quiet):
                click.echo(f"caution: {CAUTION}", err=True)
        print_outcome(command, release, out, as_json=as_json, quiet=quiet, plain=plain)


def dry_run() -> bool:
    """Return whether the command is to write nothing."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(DRY_RUN))


def rehearsal(job: Job) -> Job:
    """Return a job that writes nothing, after a look at where it would write."""
    from discreet.job.running import refuse_target

    assert job.out is not None
    refuse_target(job.out, job.source, overwrite=job.overwrite)
    return replace(job, out=None, to=None)


@contextmanager
def beside_rows(to: str | None) -> Iterator[None]:
    """Print what follows on standard error where the rows went to standard output."""
    if to != "-":
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def _unique(command: str, columns: tuple[str, ...]) -> str:
    """Return what to do about columns that single rows out."""
    from discreet.job.template import key

    them = "it" if len(columns) == 1 else "them"
    if command == "run":
        where = " and ".join(f"[columns.{key(name)}]" for name in columns)
        return f'{where}: role = "identifier" to drop {them}, "quasi" to generalize {them}, or allow_unique = true'
    flag = gather.as_flag(columns)
    if command == "condense":
        return f"--identifier {flag} to drop {them}, or --allow-unique {flag}"
    return (
        f"--identifier {flag} to drop {them}, --quasi {flag} to generalize {them}, or --allow-unique {flag}"
    )


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
