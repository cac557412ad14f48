"""Run a job: read, protect, check, write; or do whatever else its verb says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, overload

from discreet.core.boundary import is_on_cluster, public
from discreet.core.errors import InputError
from discreet.core.release import Release
from discreet.guarantees import RulesHidden
from discreet.job.model import Job
from discreet.job.verbs import Made, Progress, VerbJob, verb_job

STAGES = ("Reading", "Protecting", "Judging", "Writing")


@public
def open_job(path: str | Path) -> Job | VerbJob:
    """Read a job file of any verb; the relative paths in it are relative to its folder."""
    from discreet.job.parse import job_from_dict, toml_of

    described, folder = toml_of(Path(path)), Path(path).parent
    return verb_job(described, folder=folder) or job_from_dict(described, folder=folder)


@overload
def run(job: Job, progress: Progress | None = None) -> Release: ...


@overload
def run(job: VerbJob, progress: Progress | None = None) -> Made: ...


@public
def run(job: Job | VerbJob, progress: Progress | None = None) -> Release | Made:
    """Run a job and return its result; with ``out`` it is also written, a release only if it keeps its guarantee.

    Parameters
    ----------
    job : Job or VerbJob
        The data, the method and the output.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    Release or Made
        A `Job` makes a release. A `PerturbJob`, a `MineJob` or another job of a verb makes what the verb says.
    """
    begin = progress or _silent
    return job.run(begin) if isinstance(job, VerbJob) else _release(job, begin)


def _release(job: Job, begin: Progress) -> Release:
    """Make the release of a job, judge it, and write it where the job names a folder."""
    if job.out is not None:
        refuse_target(job.out, job.source, overwrite=job.overwrite)
    if job.sign is not None:
        from discreet.report.signature import signing_key

        signing_key(job.sign)
    if job.to is not None:
        from discreet.engines.destinations import require_new

        require_new(job.to, job.output_format)
    begin("Reading")
    data = job.kind.read(job.input)
    begin("Protecting")
    release = job.release(data)
    if job.out is not None:
        refuse_untouched(release)
    return finish(
        release,
        begin,
        job.out,
        format=job.output_format,
        report=job.report,
        overwrite=job.overwrite,
        strict=job.strict,
        name=job.name,
        source=None if job.source is None else job.source.name,
        pdf=job.pdf,
        sign=job.sign,
        to=job.to,
        include=job.include,
        allow=job.allow,
    )


def finish(release: Release, begin: Progress, out: Path | None, **writing: Any) -> Release:
    """Check a release and, with an output folder, write it."""
    begin("Judging")
    # Rows on a cluster are judged as they are written.
    waits = out is not None and is_on_cluster(release.data)
    holds = waits or release.verdict.ok
    if out is not None:
        if holds:
            begin("Writing")
        release.write(out, **writing)
    return release


def refuse_target(out: Path, data: Path | None, *, overwrite: bool) -> None:
    """Raise an error for an output folder that cannot or must not be replaced, before any work is done."""
    from discreet.engines.folders import require_outside
    from discreet.report.folder import refuse_folder

    require_outside(out, data)
    refuse_folder(out, overwrite=overwrite)


def refuse_untouched(release: Release) -> None:
    """Raise an error where all rules were hidden already: a user who names rules expects that some are found."""
    guarantee = release.guarantee
    if isinstance(guarantee, RulesHidden) and release.evidence.details["already_hidden"] == len(
        guarantee.rules
    ):
        raise InputError(
            "All sensitive rules are hidden already at these thresholds: there is nothing to hide, and nothing was "
            "written."
        )


def _silent(stage: str) -> None:
    del stage
