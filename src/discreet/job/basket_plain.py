"""Basket jobs from plain data, as job files and the command line give them; a table [baskets] tells them apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.core.errors import InputError, ParameterError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.guarantees import KmAnonymity, PrivacyDegree
from discreet.job.baskets import FORMATS, METHODS, READING, BasketJob
from discreet.job.hiding import HidingJob, hiding_job_from_dict
from discreet.job.hierarchies import hierarchy_from
from discreet.job.model import Job, listed
from discreet.job.plain import job_from_dict, output_from, refuse_unknown, toml_of

KINDS: dict[str, type[PrivacyDegree] | type[KmAnonymity]] = {
    "privacy-degree": PrivacyDegree,
    "km-anonymity": KmAnonymity,
}
_SECTIONS = {
    "input": ("path", *READING),
    "baskets": ("sensitive", "hierarchy"),
    "guarantee": (),
    "method": ("name", *(option for _, options in METHODS.values() for option in options)),
    "output": ("folder", "format", "report", "overwrite", "seed"),
}
_TEXT = InstanceOf((str,), "a text")


def read_any_job(path: Path) -> Job | BasketJob | HidingJob:
    """Read a job file, for a table or for baskets, or for hiding rules in either."""
    plain = toml_of(path)
    if "hiding" in plain:
        return hiding_job_from_dict(plain, folder=path.parent)
    if "baskets" in plain:
        return basket_job_from_dict(plain, folder=path.parent)
    return job_from_dict(plain, folder=path.parent)


def basket_job_from_dict(plain: Mapping[str, Any], *, folder: Path | None = None) -> BasketJob:
    """Build a job for baskets from plain data laid out as a job file."""
    folder = folder or Path()
    sections = {name: _section(plain, name) for name in _SECTIONS if name != "guarantee"}
    refuse_unknown("The job", plain, _SECTIONS)
    given, about = sections["input"], sections["baskets"]
    if "path" not in given:
        raise InputError("The job does not say what to read: give [input] its path.")
    require("input", "path", given["path"], InstanceOf((str, Path), "a path"))
    for name in READING:
        require("input", name, given.get(name), OneOf((None,)), _TEXT)
    sensitive = about.get("sensitive", [])
    require("baskets", "sensitive", sensitive, InstanceOf((list, tuple), "a list of items"))
    tree = about.get("hierarchy")
    return BasketJob(
        data=folder / given["path"],
        guarantee=guarantee_of(plain.get("guarantee", [])),
        sensitive=list(sensitive),
        hierarchy=None if tree is None else hierarchy_from(tree, column="item", folder=folder),
        method=sections["method"].get("name"),
        options={name: value for name, value in sections["method"].items() if name != "name"},
        reading={name: given[name] for name in READING if given.get(name) is not None},
        **output_from(sections["output"], folder, formats=FORMATS),
    )


def guarantee_of(given: object) -> PrivacyDegree | KmAnonymity:
    """Read the one promise of a job for baskets."""
    tables = [given] if isinstance(given, Mapping) else given
    if not isinstance(tables, list | tuple) or len(tables) != 1 or not isinstance(tables[0], Mapping):
        raise ParameterError(
            'A job for baskets makes one promise: [[guarantee]] with kind = "privacy-degree", p = 10, or with '
            'kind = "km-anonymity", k = 5, m = 2.'
        )
    kind = tables[0].get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ParameterError(f"A [[guarantee]] for baskets needs a kind: {listed(list(KINDS))}.")
    plain = {name: value for name, value in tables[0].items() if name != "kind"}
    fields = ("p",) if KINDS[kind] is PrivacyDegree else ("k", "m")
    refuse_unknown(f"The guarantee {kind}", plain, fields)
    for name in fields:
        if name not in plain:
            raise ParameterError(f"The guarantee {kind} lacks its '{name}'.")
    return KINDS[kind](**plain)


def _section(plain: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = plain.get(name, {})
    if not isinstance(section, Mapping):
        raise InputError(f"[{name}] must be a table of keys.")
    refuse_unknown(f"[{name}]", section, _SECTIONS[name])
    return section
