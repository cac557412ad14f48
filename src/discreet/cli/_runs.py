"""Jobs that make no release: their options, made from the registry, and what is shown of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from discreet.cli._command import HOMES, in_group, later
from discreet.cli._options import DATA, OVERWRITE_FILE, YES
from discreet.cli._spec_options import click_options, parameters_of
from discreet.core.registry import VERBS

if TYPE_CHECKING:
    from discreet.job import VerbJob

F = TypeVar("F", bound=Callable[..., Any])


def verb_options(verb: str, *, group: str = "Options", **names: Any) -> Callable[[F], F]:
    """Return a decorator that adds an option for every key of a job; ``only`` and ``without`` name keys."""

    def make() -> list[click.Option]:
        made = click_options([VERBS[verb]], group=group, **names)
        required = {VERBS[verb].flag(name) for name, key in VERBS[verb].options().items() if key.required}
        for option in made:
            option.required = bool(required & set(option.opts))
        return made

    return later(make)


def file_output(words: str, *, required: bool = True) -> Callable[[F], F]:
    """Return a decorator that adds the options for the file to write."""
    out = click.option("--out", type=DATA, required=required, metavar="FILE", help=words)
    return in_group("Writing", (out, OVERWRITE_FILE, YES))


def command_job(
    verb: str,
    values: Mapping[str, Any],
    *,
    data: Path | None,
    out: Path | None,
    reading: Mapping[str, Any] | None = None,
    **keys: Any,
) -> VerbJob:
    """Build a job from the values of its options; ``keys`` come before them."""
    declared = VERBS[verb].load()
    described = parameters_of(VERBS[verb], values, without=tuple(keys)) | keys
    output = {
        name: described.pop(name)
        for name in (*declared.output_keys, "overwrite")
        if described.get(name) is not None
    }
    job: VerbJob = declared.from_dict(
        {
            "input": {**({} if data is None else {"path": data}), **(reading or {})},
            verb: {name: value for name, value in described.items() if value is not None},
            "output": {declared.target_key: out, **output},
        }
    )
    return job


def perform_verb(command: str, job: VerbJob, *, as_json: bool, quiet: bool) -> None:
    """Run a job and show its figures: one JSON object, or labeled lines, or nothing."""
    from discreet.cli._output import print_json, print_lines, replaced_lines, to_be_replaced
    from discreet.cli._progress import stages
    from discreet.job import run

    earlier = to_be_replaced(job.out, overwrite=job.overwrite, asks=not (as_json or quiet))
    with stages(len(job.stages), quiet=quiet or as_json) as progress:
        result = run(job, progress)
    if as_json:
        ok = result.figures.get("converged", True)
        replaced = {} if earlier is None else {"replaced": earlier}
        print_json({"command": command, "ok": ok, **result.figures, **replaced})
    elif not quiet:
        print_lines(replaced_lines(earlier))
        import_module(f"discreet.cli.{HOMES[job.verb]}").show(job, result)
