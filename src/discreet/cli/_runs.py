"""Run a job that makes no release, and show what it made."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.job import VerbJob

_COMMANDS = {
    "perturb": "collect.perturb",
    "distort": "collect.distort",
    "reconstruct": "collect.reconstruct",
    "mine": "mine.mine",
    "fit": "mine.fit",
    "predict": "mine.predict",
    "audit": "output.audit",
    "party": "party",
}
"""The module of the command that shows what each verb makes."""


def perform_verb(command: str, job: VerbJob, *, as_json: bool, quiet: bool) -> None:
    """Run a job and show its figures: one JSON object, or labeled lines, or nothing."""
    from discreet.cli._output import print_json
    from discreet.cli._progress import stages
    from discreet.job import run

    with stages(len(job.stages), quiet=quiet or as_json) as progress:
        made = run(job, progress)
    if as_json:
        ok = made.figures.get("converged", True)
        print_json({"command": command, "ok": ok, **made.figures})
    elif not quiet:
        import_module(f"discreet.cli.{_COMMANDS[job.verb]}").show(job, made)


def section(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the options that were named, as the keys of a job file."""
    return {name: given[name] for name in names if given[name] is not None and given[name] is not False}
