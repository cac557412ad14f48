"""Run a job: read, publish, judge, write; one straight line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.core.boundary import public
from discreet.core.errors import InputError, OutputError
from discreet.core.release import Release
from discreet.guarantees import RulesHidden
from discreet.job.model import Job

Progress = Callable[[str], None]
"""Told the name of each stage as it begins."""

STAGES = ("Reading", "Protecting", "Judging", "Writing")


@public
def run(job: Job, progress: Progress | None = None) -> Release:
    """Do what the job says, and give the release; with ``out`` it is also written, if it keeps its promise.

    Parameters
    ----------
    job : Job
        What to do.
    progress : callable, optional
        Told the name of each stage as it begins.
    """
    tell = progress or _silent
    if job.out is not None:
        refuse_target(job.out, job.data if job.is_file else None, overwrite=job.overwrite)
    tell("Reading")
    data = job.kind.read(job)
    tell("Protecting")
    release = job.release(data)
    if job.out is not None:
        refuse_untouched(release)
    return finish(
        release,
        tell,
        job.out,
        format=job.output_format,
        report=job.report,
        overwrite=job.overwrite,
        strict=job.strict,
        name=job.name,
        source=job.source,
        pdf=job.pdf,
    )


def finish(release: Release, tell: Progress, out: Path | None, **writing: Any) -> Release:
    """Judge a release and, where a folder is named, write it."""
    tell("Judging")
    kept = release.verdict.ok
    if out is not None:
        if kept:
            tell("Writing")
        release.write(out, **writing)
    return release


def refuse_target(out: Path, data: str | Path | None, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a folder that cannot or must not be replaced."""
    if data is not None and out.resolve() in Path(data).resolve().parents:
        raise OutputError(f"{out} holds the input itself; name another folder for the output.")
    from discreet.report.folder import refuse_folder

    refuse_folder(out, overwrite=overwrite)


def refuse_untouched(release: Release) -> None:
    """Refuse to write data in which there was nothing to hide: whoever named rules expects that some were found."""
    guarantee = release.guarantee
    if isinstance(guarantee, RulesHidden) and release.evidence.details["already_hidden"] == len(
        guarantee.rules
    ):
        raise InputError(
            "None of the sensitive rules is found at these thresholds, so there is nothing to hide and nothing was "
            "written."
        )


def _silent(stage: str) -> None:
    del stage
