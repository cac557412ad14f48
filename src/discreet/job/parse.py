"""Jobs from document data, as job files and the command line write them; an unknown key is an error."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.params import NONE, Constraint, InstanceOf, IntIn, OneOf, require
from discreet.core.registry import RELEASING, methods, releasable_guarantees
from discreet.core.schema import Column, Role, quasi
from discreet.engines.addresses import Address, address_of
from discreet.engines.inputs import STANDARD
from discreet.guarantees import Guarantee, guarantee_from_dict
from discreet.guarantees.constructed import together
from discreet.job.model import Job
from discreet.kinds.kind import TEXT, Kind, job_kinds
from discreet.kinds.roles import complete
from discreet.kinds.tables import TableKind
from discreet.kinds.wording import nearest_name, quoted_list, refuse_unknown

_OUTPUT = (
    "folder",
    "format",
    "report",
    "overwrite",
    "spreadsheet_safe",
    "strict",
    "seed",
    "name",
    "pdf",
    "sign",
    "to",
    "include",
    "allow",
    "predict",
)
_FIELDS = ("columns", "baskets", "sketches", "cells", "tables")
"""The sections that are fields of a job; those of other kinds stand in its sections."""
_BOOL = InstanceOf((bool,), "true or false")
_PATH = InstanceOf((str, Path, Address), "a path")


def read_job(path: Path) -> Job:
    """Read a job file."""
    return job_from_dict(toml_of(path), folder=path.parent)


@reads("The job file")
def toml_of(path: Path) -> dict[str, Any]:
    """Return what a job file says, as document data."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no job file {path}.") from None
    except tomllib.TOMLDecodeError as error:
        position = re.search(r"\(at ([a-z0-9, ]+)\)", str(error))
        raise InputError(f"{path} is no valid TOML{f', {position[1]}' if position else ''}.") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read as a job file.") from None


@reads("The job")
def job_from_dict(document: Mapping[str, Any], *, folder: Path | None = None) -> Job:
    """Build a job from document data laid out as a job file."""
    folder = folder or Path()
    kind = _kind(document)
    section = str(kind.section)
    refuse_unknown("The job", document, ("input", section, "guarantee", "method", "output"))
    about = kind.parse(_table(document, section), folder)
    source = _input(_table(document, "input"), kind)
    path = source.pop("path", None)
    return Job(
        data=None if path is None else _located(path, folder),
        rest=rest_from(source.pop("rest", None)),
        reading=source,
        guarantee=guarantee_from(
            document.get("guarantee", []), about if section == "columns" else {}, folder
        ),
        **({section: about} if section in _FIELDS else {"sections": {section: about}}),
        **_method(_table(document, "method"), kind),
        **output_from(_table(document, "output"), folder, kind.formats),
    )


def _kind(document: Mapping[str, Any]) -> Kind:
    """Return the kind of data a job is about, by the section that describes it; tables by default."""
    kinds = job_kinds()
    named = [kind for kind in kinds if kind.section in document]
    if len(named) > 1:
        sections = " and ".join(f"[{kind.section}]" for kind in named)
        raise ParameterError(f"A job is about one kind of data, and this has {sections}.")
    return named[0] if named else kinds[0]


def _input(section: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    """Check where and how to read."""
    rest = ("rest",) if isinstance(kind, TableKind) else ()
    fixed_keys = rest if kind.names_files else ("path", *rest)
    refuse_unknown("[input]", section, (*fixed_keys, *kind.reading))
    if kind.names_files:
        return reading_from(
            {name: value for name, value in section.items() if value is not None}, kind.reading
        )
    if "path" not in section:
        raise InputError("The job does not say what to read: give [input] its path.")
    require("input", "path", section["path"], _PATH)
    options = {name: value for name, value in section.items() if name in kind.reading and value is not None}
    fixed = {name: section[name] for name in ("path", *rest) if name in section}
    return reading_from(options, kind.reading) | fixed


def _located(path: str | Path, folder: Path) -> Path | Address:
    """Return the file of a relative path, the address of a table, or standard input."""
    if str(path) == STANDARD:
        return Path(STANDARD)
    return address_of(path) or folder / path if "://" in str(path) else folder / path


def reading_from(
    options: Mapping[str, Any], constraints: Mapping[str, Constraint] = TableKind.reading
) -> dict[str, Any]:
    """Check the options for reading."""
    for name, value in options.items():
        require("input", name, value, constraints[name])
        if name in ("nulls", "text"):
            for text in value:
                require("input", name, text, TEXT)
    return dict(options)


def rest_from(role: object) -> Role | None:
    """Read the role of the columns that are not named."""
    require("input", "rest", role, OneOf((None, "other", "identifier", "drop")))
    return None if role is None else Role(role)


def guarantee_from(section: object, columns: Mapping[str, Column], folder: Path) -> Guarantee:
    """Return the guarantees of a job, joined into one."""
    tables = [section] if isinstance(section, Mapping) else section
    if not isinstance(tables, list | tuple) or not tables:
        raise ParameterError(
            'The job has no guarantee: give it a [[guarantee]], such as kind = "k-anonymity", k = 5.'
        )
    parts = tuple(_guarantee(table, columns, folder) for table in tables)
    return parts[0] if len(parts) == 1 else together(parts)


def _guarantee(section: object, columns: Mapping[str, Column], folder: Path) -> Guarantee:
    specs = releasable_guarantees()
    if not isinstance(section, Mapping) or not isinstance(section.get("kind"), str):
        raise ParameterError(f"A [[guarantee]] needs a kind: {quoted_list(list(specs))}.")
    fields = {name: value for name, value in section.items() if name != "kind"}
    classes = {name: spec.class_name for name, spec in specs.items()}
    with_population = {spec.class_name for spec in specs.values() if spec.takes_population}
    kind = classes.get(section["kind"], section["kind"])
    if kind not in classes.values():
        hint = nearest_name(section["kind"], [*classes, *classes.values()])
        raise ParameterError(f"'{section['kind']}' is no guarantee{hint}")
    if kind not in with_population:
        return guarantee_from_dict({"guarantee": kind} | fields)
    path = fields.pop("population", None)
    require(kind, "population", path, InstanceOf((str, Path), "the path of a file"))
    names = [name for name, column in columns.items() if column.role is Role.QUASI]
    return guarantee_from_dict({"guarantee": kind} | fields, population=population(folder / path, names))


def population(path: Path, names: Iterable[str], reading: Mapping[str, Any] | None = None) -> Any:
    """Read a population table with the named quasi-identifiers; its other columns do not matter."""
    from discreet.core.tables.table import Table
    from discreet.engines.files import read

    frame, columns = read(path, **(reading or {})), {name: quasi() for name in names}
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise SchemaError(
            f"The population {path.name} has no column '{absent[0]}', a quasi-identifier of the table."
        )
    return Table(frame, complete(columns, frame.columns, rest=Role.OTHER))


def _method(section: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    name = section.get("name")
    specs = {method.name: method for method in methods(role=RELEASING, takes=kind.takes)}
    if name is not None and name not in specs:
        raise ParameterError(f"[method] has an unknown name{nearest_name(name, specs)}")
    return {"method": name, "options": {key: value for key, value in section.items() if key != "name"}}


def output_from(section: Mapping[str, Any], folder: Path, formats: tuple[str, ...]) -> dict[str, Any]:
    """Read where and how to write."""
    refuse_unknown("[output]", section, _OUTPUT)
    out = section.get("folder")
    require("output", "folder", out, _PATH, NONE)
    require("output", "sign", section.get("sign"), _PATH, NONE)
    for name in ("report", "overwrite", "spreadsheet_safe", "strict", "pdf"):
        require("output", name, section.get(name, True), _BOOL)
    require("output", "seed", section.get("seed"), NONE, IntIn(0))
    require("output", "name", section.get("name"), TEXT, NONE)
    require("output", "to", section.get("to"), TEXT, NONE)
    require("output", "format", section.get("format"), OneOf((None, *formats)))
    for name in ("include", "allow", "predict"):
        require("output", name, section.get(name, []), InstanceOf((list, tuple), "a list of texts"))
    settings = {name: section[name] for name in _OUTPUT[1:] if name in section}
    if settings.get("sign") is not None:
        settings["sign"] = folder / settings["sign"]
    to = settings.get("to")
    if to is not None and to != STANDARD and "://" not in to:
        settings["to"] = str(folder / to)
    return {"out": None if out is None else folder / out} | settings


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = document.get(name, {})
    if not isinstance(section, Mapping):
        raise InputError(f"[{name}] must be a table of keys.")
    return section
