"""Job: everything a run needs, built from the command line, from a job file or by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.core.boundary import public, takes_clusters
from discreet.core.errors import ParameterError
from discreet.core.params import BOOL, NONE, InstanceOf, IntIn, OneOf, require
from discreet.core.registry import METHODS, RELEASING, Method, methods
from discreet.core.release import Release
from discreet.core.schema import Column, Role
from discreet.guarantees import AllOf, Guarantee
from discreet.kinds.baskets import BasketSection
from discreet.kinds.cells import CellsSection
from discreet.kinds.kind import Input, Kind, job_kinds
from discreet.kinds.sketches import SketchSection
from discreet.kinds.tables import require_predictable
from discreet.kinds.wording import nearest_name, quoted_list


@public
@takes_clusters
@dataclass(frozen=True)
class Job:
    """Everything a run needs; `run` does it.

    A job is about one kind of data, which one of ``columns``, ``baskets``, ``sketches``, ``cells`` and
    ``tables`` describes. Its guarantee is what a publisher keeps, or a `RulesHidden`.

    Parameters
    ----------
    data
        The path of a file, or a frame, baskets or records.
    columns
        Tables: the roles of the columns, made by `identifier`, `quasi`, `sensitive` and `other`.
    guarantee
        What the release guarantees.
    method
        The name of a method in the registry; None takes the first that can keep the guarantee.
    options
        The method's own parameters by name.
    reading
        How to read the file: the options of `discreet.read`, or of `discreet.read_baskets`, by name.
    rest
        The role of every column that ``columns`` does not name, other or identifier; None refuses them.
    out
        The folder to write; None writes nothing.
    format
        The format of the written data; None takes the input's for tables, and CSV otherwise.
    report
        Whether to write the report as well.
    overwrite
        Whether an earlier release in the folder may be replaced.
    spreadsheet_safe
        Whether released texts that a spreadsheet would run as a formula get an apostrophe before them.
    strict
        Whether to refuse a release about which there is any caution.
    seed
        Seeds what is random; None draws from the operating system.
    name
        The data's name, which is published in the report and in ``release.json``; None publishes none.
    pdf
        Whether to print the report into a PDF as well.
    sign
        The file of an Ed25519 private key that signs ``release.json``; None signs nothing.
    to
        Where the rows are written as well: a new file, ``-``, or the address of a new table; None for the folder alone.
    include
        What the release holds on request: ``"bounds"``, ``"healthdcat"``.
    allow
        Columns that are published although they hold free text or direct identifiers, such as e-mail addresses.
    predict
        The sensitive columns that the report predicts; by default the table's own label and the first others.
    baskets
        Baskets: the sensitive items, or the tree over the items; neither for hidden rules.
    sketches
        Sketches: the key and the longest sketch.
    cells
        Tables of counts or sums: by which columns, and what is summed.
    tables
        Linked tables: what `Job.read` makes of the section of each; ``data`` is None, since each names its file.
    sections
        Any other kind of data: what its section says, by the name of the section.
    source
        The file that the data was read from, where it is not itself a path; only the owner sees its name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Baskets, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity, PrivacyDegree
    >>> from discreet.job import BasketSection, Job, run
    >>> frame = pa.table({"age": [24, 37, 26, 38], "disease": ["HIV", "flu", "flu", "HIV"]})
    >>> job = Job(frame, {"age": quasi(), "disease": sensitive()}, KAnonymity(2))
    >>> sorted(set(run(job).frame["age"].to_pylist()))
    ['[24, 26]', '[37, 38]']
    >>> bought = Baskets.from_lists([["tea"], ["tea", "pill"]])
    >>> job = Job(bought, guarantee=PrivacyDegree(2), baskets=BasketSection(sensitive=["pill"]))
    >>> job.method, run(job).verdict.ok
    ('cahd', True)
    >>> from discreet.guarantees import RulesHidden
    >>> job = Job(bought, guarantee=RulesHidden(["tea, pill"], 1), method="maxmin2", baskets=BasketSection())
    >>> sorted(run(job).data.lists())
    [['pill'], ['tea']]
    """

    data: Any = field(repr=False)
    columns: Mapping[str, Column] | None = None
    guarantee: Guarantee | None = None
    method: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    rest: Role | None = None
    out: Path | None = None
    format: str | None = None
    report: bool = True
    overwrite: bool = False
    spreadsheet_safe: bool = False
    strict: bool = False
    seed: int | None = None
    name: str | None = None
    pdf: bool = False
    sign: Path | None = field(default=None, repr=False)
    to: str | None = field(default=None, repr=False)
    include: Sequence[str] = ()
    allow: Sequence[str] = ()
    predict: Sequence[str] = ()
    baskets: BasketSection | None = None
    sketches: SketchSection | None = None
    cells: CellsSection | None = None
    tables: Mapping[str, Any] | None = None
    sections: Mapping[str, Any] = field(default_factory=dict)
    source: Path | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check what can be checked without the data, and choose the method where none is named."""
        require(self, "guarantee", self.guarantee, InstanceOf((Guarantee,), "a guarantee"))
        described = [kind for kind in job_kinds() if self._section(kind) is not None]
        if len(described) != 1:
            sections = ", ".join(kind.section or "" for kind in job_kinds())
            raise ParameterError(
                f"A job describes its data by exactly one of {sections}. Got {len(described)} instead."
            )
        require(self, "rest", self.rest, OneOf((None, Role.OTHER, Role.IDENTIFIER, Role.DROP)))
        require(self, "format", self.format, OneOf((None, *self.kind.formats)))
        require(self, "report", self.report, BOOL)
        require(self, "overwrite", self.overwrite, BOOL)
        require(self, "spreadsheet_safe", self.spreadsheet_safe, BOOL)
        require(self, "strict", self.strict, BOOL)
        require(self, "pdf", self.pdf, BOOL)
        require(self, "seed", self.seed, NONE, IntIn(0))
        require(self, "name", self.name, InstanceOf((str, type(None)), "None or a text"))
        require(self, "to", self.to, InstanceOf((str, type(None)), "None or an address"))
        for extra in self.include:
            require(self, "include", extra, OneOf(("bounds", "healthdcat")))
        for name in ("source", "sign"):
            require(
                self, name, getattr(self, name), InstanceOf((str, os.PathLike, type(None)), "None or a path")
            )
        path = self.data if self.is_file else self.source
        object.__setattr__(self, "source", None if path is None else Path(path))
        method = self._chosen()
        object.__setattr__(self, "method", method.name)
        known_options = method.options()
        for name in self.options:
            if name not in known_options:
                raise ParameterError(
                    f"The method {method.name} has no option '{name}'{nearest_name(name, known_options)}"
                )
        self.kind.check(self.input, method)
        if self.kind.stays_on_cluster(self.input):
            require(self, "format", self.format, OneOf((None, "parquet")))
            if self.to is not None or self.include:
                raise ParameterError(
                    "Rows on a cluster are written into the folder alone, and nothing is added to them."
                )

    @classmethod
    def read(cls, path: str | Path) -> Job:
        """Read a job file; the relative paths in it are relative to its folder."""
        from discreet.job.parse import read_job

        return read_job(Path(path))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], *, folder: Path | None = None) -> Job:
        """Build a job from plain data laid out as a job file; relative paths are relative to the folder."""
        from discreet.job.parse import job_from_dict

        return job_from_dict(document, folder=folder)

    @property
    def kind(self) -> Kind:
        """The kind of data the job is about."""
        return next(kind for kind in job_kinds() if self._section(kind) is not None)

    @property
    def input(self) -> Input:
        """The data, and what the job says about it, as its kind takes them."""
        section = self._section(self.kind)
        return Input(self.data, section, self.reading, self.rest, self.spreadsheet_safe)

    def _section(self, kind: Kind) -> Any:
        """Return what the job says of a kind of data; None where it is about another."""
        built_in = {
            "columns": self.columns,
            "baskets": self.baskets,
            "sketches": self.sketches,
            "cells": self.cells,
            "tables": self.tables,
        }
        return {**built_in, **self.sections}.get(kind.section or "")

    @property
    def is_file(self) -> bool:
        """Whether the data is the path of a file."""
        return isinstance(self.data, str | os.PathLike)

    @property
    def output_format(self) -> str | None:
        """The format of the written data."""
        return self.format or self.kind.output_format(self.input)

    @property
    def promise(self) -> Guarantee | None:
        """The guarantee about the data as the job reads it, whose items may have other names."""
        return self.kind.guarantee(self.guarantee, self.input)

    def publisher(self) -> Any:
        """Make the publisher, or the hider."""
        method = METHODS[self.method or ""]
        seeded = {"random_state": self.seed} if "random_state" in method.parameters() else {}
        return method.make(self.promise, **self.kind.arguments(self.input, method), **self.options, **seeded)

    def release(self, data: Any) -> Release:
        """Return the release that the method makes of data."""
        released: Release = METHODS[self.method or ""].publish(self.publisher(), data)
        added: dict[str, Any] = {}
        if self.spreadsheet_safe and "spreadsheet_safe" not in released.recipe:
            added["spreadsheet_safe"] = True
        if self.predict:
            require_predictable(released, self.predict)
            added["predicted"] = list(self.predict)
        return replace(released, recipe={**released.recipe, **added}) if added else released

    def _chosen(self) -> Method:
        """Return the method, or the first that can keep the guarantee; one that cannot is refused."""
        kind, fitting = self.kind, list(methods(role=RELEASING, takes=self.kind.takes))
        parts = self.guarantee.parts if isinstance(self.guarantee, AllOf) else (self.guarantee,)
        names = [type(part).__name__ for part in parts]
        if self.method is None:
            keeping = [method for method in fitting if method.keeps(names)]
            if not keeping:
                keepable = dict.fromkeys(name for method in fitting for name in method.guarantees)
                raise ParameterError(
                    f"No method for {kind.noun} keeps {' & '.join(names)}; they keep {', '.join(keepable)}."
                )
            return keeping[0]
        require(self, "method", self.method, OneOf(tuple(method.name for method in fitting)))
        method = METHODS[self.method]
        if not method.keeps(names):
            several = ", and one at a time" if len(names) > 1 and not method.joins else ""
            can = [other.name for other in fitting if other.keeps(names)]
            remedy = f"; {quoted_list(can)} can." if can else "."
            raise ParameterError(
                f"The method {method.name} keeps {', '.join(method.guarantees)}{several}, and cannot keep "
                f"{' & '.join(names)}{remedy}"
            )
        return method
