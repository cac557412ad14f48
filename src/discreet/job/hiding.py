"""HidingJob: everything a run that hides rules needs, from plain data or a job file, and the run itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.schema import Column, Role
from discreet.core.tables.table import Table
from discreet.guarantees import RulesHidden
from discreet.job.kinds import TableKind, column_from, complete
from discreet.job.parse import output_from, reading_from, rest_from
from discreet.job.running import Progress, refuse_target
from discreet.job.wording import refuse_unknown
from discreet.output.hiding import METHODS, hider_of

TABLE_READING = tuple(TableKind.reading)
_BASKET_READING = ("format", "basket", "item", "delimiter")
_FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
_OPTIONS = ("time_limit", "objective", "psi", "window", "camouflage")
_SECTIONS = {
    "input": ("path", "rest", *dict.fromkeys((*_BASKET_READING, *TABLE_READING))),
    "columns": (),
    "hiding": ("rules", "min_support", "min_confidence", "margin", "method", "levels", "cells", *_OPTIONS),
    "output": ("folder", "format", "report", "overwrite", "seed"),
}


class NothingToHideError(InputError):
    """None of the sensitive rules is found, so there is nothing to hide."""


@dataclass(frozen=True)
class HidingJob:
    """Everything a run that hides rules needs; `run_hiding` does it.

    Parameters
    ----------
    data
        The path of a file, baskets, or a table.
    guarantee
        The rules and the thresholds.
    method
        One of `discreet.output.hiding.METHODS`.
    columns, rest
        The roles of the columns where the file is a table, and the role of those that are not named; without any the
        file holds baskets.
    options
        The method's own parameters by name.
    levels, cells
        For tables, as `Hider.hide` takes them.
    reading
        How to read the file, by the names of the options of its reader.
    out, format, report, overwrite, seed
        As in `Job`.

    Examples
    --------
    >>> shop = Baskets.from_lists([["diapers", "beer"]] * 3 + [["diapers"]])
    >>> run_hiding(HidingJob(shop, RulesHidden(["diapers => beer"], 2, 0.5))).verdict.ok
    True
    """

    data: Any = field(repr=False)
    guarantee: RulesHidden
    method: str = "exact"
    columns: Mapping[str, Column] = field(default_factory=dict)
    rest: Role | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, int] | None = None
    cells: Literal["null", "coarser"] = "null"
    reading: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None
    format: str | None = None
    report: bool = True
    overwrite: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        require(self, "guarantee", self.guarantee, InstanceOf((RulesHidden,), "a RulesHidden"))
        require(self, "method", self.method, OneOf(tuple(METHODS)))
        refuse_unknown("The job", self.options, (*_OPTIONS, "progress"))

    @property
    def is_file(self) -> bool:
        """Whether the data is the path of a file."""
        return isinstance(self.data, str | os.PathLike)

    def read(self) -> Baskets | Table:
        """Return the baskets or the table."""
        if not self.is_file:
            require(
                self,
                "data",
                self.data,
                InstanceOf((Baskets, Table), "the path of a file, Baskets or a Table"),
            )
            held: Baskets | Table = self.data
            return held
        if not self.columns:
            from discreet.engines.baskets.files import read_baskets

            return read_baskets(self.data, **self.reading)
        from discreet.engines.files import read

        frame = read(self.data, **self.reading)
        return Table(frame, complete(self.columns, frame.columns, rest=self.rest))


def run_hiding(job: HidingJob, progress: Progress | None = None) -> Any:
    """Do what the job says, and return the release; with ``out`` it is also written, if it keeps its promise."""
    tell: Callable[[str], None] = progress or (lambda stage: None)
    if job.out is not None:
        refuse_target(job.out, job.data if job.is_file else None, overwrite=job.overwrite)
    tell("Reading")
    data = job.read()
    tell("Hiding")
    hider = hider_of(job.method, job.guarantee, random_state=job.seed, **job.options)
    release = hider.hide(data, levels=job.levels, cells=job.cells)
    tell("Judging")
    kept = release.verdict.ok
    if release.evidence.details.get("already_hidden") == len(job.guarantee.rules) and job.out is not None:
        raise NothingToHideError(
            "None of the sensitive rules is found at these thresholds, so there is nothing to hide and nothing was "
            "written."
        )
    if job.out is not None:
        if kept:
            tell("Writing")
        kind: Any = job.format or "csv"
        release.write(job.out, format=kind, report=job.report, overwrite=job.overwrite)
    return release


def hiding_job_from_dict(plain: Mapping[str, Any], *, folder: Path | None = None) -> HidingJob:
    """Build a job from plain data laid out as a job file with a section [hiding]."""
    folder = folder or Path()
    refuse_unknown("The job", plain, _SECTIONS)
    sections = {name: _section(plain, name) for name in _SECTIONS}
    given, about, written = sections["input"], sections["hiding"], dict(sections["output"])
    if "path" not in given:
        raise InputError("The job does not say what to read: give [input] its path.")
    require("input", "path", given["path"], InstanceOf((str, Path), "a path"))
    columns = {str(name): column_from(name, one, folder) for name, one in sections["columns"].items()}
    if "min_support" not in about or "rules" not in about:
        raise InputError('[hiding] needs rules = ["a => b"] and min_support = 0.01.')
    return HidingJob(
        data=folder / given["path"],
        guarantee=RulesHidden(
            about["rules"], about["min_support"], about.get("min_confidence"), about.get("margin", 0.0)
        ),
        method=about.get("method", "exact"),
        columns=columns,
        rest=rest_from(given.get("rest")),
        options={name: about[name] for name in _OPTIONS if name in about},
        levels=about.get("levels"),
        cells=about.get("cells", "null"),
        reading=_reading(given, table=bool(columns)),
        **output_from(written, folder, _FORMATS),
    )


def _reading(given: Mapping[str, Any], *, table: bool) -> dict[str, Any]:
    """Return the options of the reader, those of tables or those of baskets."""
    known = TABLE_READING if table else _BASKET_READING
    asked = {
        name: value for name, value in given.items() if name not in ("path", "rest") and value is not None
    }
    refuse_unknown("[input] of a table" if table else "[input] of baskets", asked, known)
    if table:
        return reading_from(asked)
    for name, value in asked.items():
        require("input", name, value, InstanceOf((str,), "a text"))
    return asked


def _section(plain: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = plain.get(name, {})
    if not isinstance(section, Mapping):
        raise InputError(f"[{name}] must be a table of keys.")
    if name != "columns":
        refuse_unknown(f"[{name}]", section, _SECTIONS[name])
    return section
