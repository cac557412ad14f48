"""BasketJob: everything a run on baskets needs, and the run itself: read, publish, judge, write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.basket_release import BasketRelease
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import ParameterError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.guarantees import KmAnonymity, PrivacyDegree
from discreet.job.model import refuse_unknown
from discreet.job.running import Progress, refuse_target

FORMATS = ("csv", "tsv", "parquet", "arrow")
READING = ("format", "basket", "item", "delimiter")
"""How baskets are read: the options of `read_baskets`."""

METHODS: dict[str, tuple[type[PrivacyDegree] | type[KmAnonymity], tuple[str, ...]]] = {
    "cahd": (PrivacyDegree, ("alpha", "order", "randomize_groups")),
    "perm-mondrian": (PrivacyDegree, ()),
    "anatomy": (PrivacyDegree, ()),
    "apriori": (KmAnonymity, ("fan_out",)),
}
"""The methods for baskets: what each can promise, and the parameters a job may give it."""


@dataclass(frozen=True)
class BasketJob:
    """Everything a run on baskets needs; `run_baskets` does it.

    Parameters
    ----------
    data
        The path of a file, or baskets.
    guarantee
        `PrivacyDegree` or `KmAnonymity`.
    sensitive
        The names of the sensitive items, for a privacy degree.
    hierarchy
        The tree over the items, for k^m-anonymity; None joins neighboring items.
    method
        ``"cahd"``, ``"perm-mondrian"``, ``"anatomy"`` or ``"apriori"``; None takes the first that can keep the promise.
    options
        The method's own parameters by name.
    reading
        How to read the file: the options of `discreet.read_baskets` by name.
    out, format, report, overwrite, seed
        As in `Job`.

    Examples
    --------
    >>> job = BasketJob(Baskets.from_lists([["tea"], ["tea", "pill"]]), PrivacyDegree(2), sensitive=["pill"])
    >>> run_baskets(job).verdict.ok
    True
    """

    data: Any = field(repr=False)
    guarantee: PrivacyDegree | KmAnonymity
    sensitive: Sequence[Any] = ()
    hierarchy: Any = None
    method: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None
    format: str | None = None
    report: bool = True
    overwrite: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        kinds = InstanceOf((PrivacyDegree, KmAnonymity), "a PrivacyDegree or a KmAnonymity")
        require(self, "guarantee", self.guarantee, kinds)
        require(self, "format", self.format, OneOf((None, *FORMATS)))
        fitting = tuple(name for name, (kind, _) in METHODS.items() if isinstance(self.guarantee, kind))
        require(self, "method", self.method, OneOf((None, *fitting)))
        method = self.method or fitting[0]
        object.__setattr__(self, "method", method)
        refuse_unknown(method, self.options, METHODS[method][1])
        if isinstance(self.guarantee, PrivacyDegree):
            if not self.sensitive:
                raise ParameterError("A privacy degree needs sensitive items, and the job names none.")
            if self.hierarchy is not None:
                raise ParameterError(
                    "A hierarchy of items belongs to km-anonymity; a privacy degree has no use for it."
                )
        elif self.sensitive:
            raise ParameterError("For km-anonymity no item is sensitive, or all are; name none.")

    @property
    def is_file(self) -> bool:
        """Whether the data is the path of a file."""
        return isinstance(self.data, str | os.PathLike)

    def publisher(self) -> Any:
        """Make the publisher."""
        from discreet import publish

        if isinstance(self.guarantee, KmAnonymity):
            return publish.AprioriAnonymization(
                self.guarantee.k,
                self.guarantee.m,
                hierarchy=self.hierarchy,
                random_state=self.seed,
                **self.options,
            )
        made: dict[str | None, Any] = {
            "cahd": publish.Cahd,
            "perm-mondrian": publish.PermMondrian,
            "anatomy": publish.Anatomy,
        }
        return made[self.method](
            self.guarantee.p, sensitive=list(self.sensitive), random_state=self.seed, **self.options
        )


def run_baskets(job: BasketJob, progress: Progress | None = None) -> BasketRelease:
    """Do what the job says, and give the release; with ``out`` it is also written, if it keeps its promise."""

    def tell(stage: str) -> None:
        if progress is not None:
            progress(stage)

    if job.out is not None:
        refuse_target(job.out, job.data if job.is_file else None, overwrite=job.overwrite)
    tell("Reading")
    baskets = _read(job)
    tell("Protecting")
    release: BasketRelease = job.publisher().release(baskets)
    tell("Judging")
    kept = release.verdict.ok
    if job.out is not None:
        if kept:
            tell("Writing")
        kind: Any = job.format or "csv"
        release.write(job.out, format=kind, report=job.report, overwrite=job.overwrite)
    return release


def _read(job: BasketJob) -> Baskets:
    if not job.is_file:
        require(job, "data", job.data, InstanceOf((Baskets,), "the path of a file, or Baskets"))
        baskets: Baskets = job.data
        return baskets
    from discreet.engines.baskets.files import read_baskets

    return read_baskets(job.data, **job.reading)
