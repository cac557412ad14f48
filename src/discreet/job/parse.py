"""Jobs from plain data, as job files and the command line give them; an unknown key is an error."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.core.schema import Column, Role, identifier, other, quasi, sensitive
from discreet.guarantees import AllOf, Guarantee, guarantee_from_dict
from discreet.job.hierarchies import hierarchy_from, key_from
from discreet.job.methods import METHODS
from discreet.job.model import FORMATS, Job, listed, nearest

READING = ("delimiter", "encoding", "quote", "header", "decimal", "thousands", "nulls", "dates", "text")
"""How a file is read: the options of `discreet.read`."""

_SECTIONS = {
    "input": ("path", *READING, "rest"),
    "columns": (),
    "guarantee": (),
    "method": ("name", *(option for _, options in METHODS.values() for option in options)),
    "output": ("folder", "format", "report", "overwrite", "seed"),
}
_COLUMN = {
    Role.IDENTIFIER: ("pseudonym",),
    Role.QUASI: ("hierarchy", "weight", "ordered"),
    Role.SENSITIVE: ("hierarchy", "ordered"),
    Role.OTHER: (),
}
KINDS = {
    "k-anonymity": "KAnonymity",
    "distinct-l-diversity": "DistinctDiversity",
    "privacy-degree": "PrivacyDegree",
    "entropy-l-diversity": "EntropyDiversity",
    "recursive-cl-diversity": "RecursiveDiversity",
    "t-closeness": "TCloseness",
    "alpha-k-anonymity": "AlphaKAnonymity",
    "basic-beta-likeness": "BasicBetaLikeness",
    "enhanced-beta-likeness": "EnhancedBetaLikeness",
    "delta-disclosure": "DeltaDisclosure",
    "k-map": "KMap",
}
"""The guarantees by their names in the literature."""

_TEXT = InstanceOf((str,), "a text")
_BOOL = InstanceOf((bool,), "true or false")
_TEXTS = InstanceOf((list, tuple), "a list of texts")
_READING_KINDS = {"header": _BOOL, "nulls": _TEXTS, "text": _TEXTS}


def read_job(path: Path) -> Job:
    """Read a job file."""
    return job_from_dict(toml_of(path), folder=path.parent)


def toml_of(path: Path) -> dict[str, Any]:
    """Return what a job file says, as plain data."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no job file {path}.") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at ([a-z0-9, ]+)\)", str(error))
        raise InputError(f"{path} is no valid TOML{f', {place[1]}' if place else ''}.") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read as a job file.") from None


def job_from_dict(plain: Mapping[str, Any], *, folder: Path | None = None) -> Job:
    """Build a job from plain data laid out as a job file."""
    folder = folder or Path()
    refuse_unknown("The job", plain, _SECTIONS)
    given = _section(plain, "input")
    if "path" not in given:
        raise InputError("The job does not say what to read: give [input] its path.")
    require("input", "path", given["path"], InstanceOf((str, Path), "a path"))
    columns = {str(name): column_from(name, one, folder) for name, one in _table(plain, "columns").items()}
    return Job(
        data=folder / given["path"],
        columns=columns,
        guarantee=guarantee_from(plain.get("guarantee", []), columns, folder),
        **_method(_section(plain, "method")),
        reading=reading_from({name: given[name] for name in READING if name in given}),
        rest=rest_from(given.get("rest")),
        **output_from(_section(plain, "output"), folder),
    )


def reading_from(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options for reading."""
    for name, value in given.items():
        require("input", name, value, _READING_KINDS.get(name, _TEXT))
        if name in ("nulls", "text"):
            for one in value:
                require("input", name, one, _TEXT)
    return dict(given)


def rest_from(given: object) -> Role | None:
    """Read the role of the columns that are not named."""
    require("input", "rest", given, OneOf((None, "other", "identifier")))
    return None if given is None else Role(given)


def column_from(name: str, given: object, folder: Path) -> Column:
    """Read one column's role and how it may be published."""
    where = f"[columns.{name}]"
    if not isinstance(given, Mapping) or "role" not in given:
        raise SchemaError(f'{where} needs a role: role = "identifier", "quasi", "sensitive" or "other".')
    roles = [role.value for role in Role]
    if given["role"] not in roles:
        raise SchemaError(f"{where} has an unknown role{nearest(given['role'], roles)}")
    role = Role(given["role"])
    refuse_unknown(where, given, ("role", *_COLUMN[role]))
    hierarchy = given.get("hierarchy")
    spec = None if hierarchy is None else hierarchy_from(hierarchy, column=name, folder=folder)
    ordered = given.get("ordered")
    require(where, "ordered", ordered, InstanceOf((list, tuple, type(None)), "a list of the column's values"))
    if role is Role.IDENTIFIER:
        place = given.get("pseudonym")
        return identifier(pseudonym=None if place is None else key_from(place, column=name, folder=folder))
    if role is Role.QUASI:
        return quasi(spec, weight=given.get("weight", 1.0), ordered=ordered)
    return other() if role is Role.OTHER else sensitive(spec, ordered=ordered)


def guarantee_from(given: object, columns: Mapping[str, Column], folder: Path) -> Guarantee:
    """Read the promises, joined into one."""
    tables = [given] if isinstance(given, Mapping) else given
    if not isinstance(tables, list | tuple) or not tables:
        raise ParameterError(
            'The job promises nothing: give it a [[guarantee]], such as kind = "k-anonymity", k = 5.'
        )
    parts = tuple(_promise(one, columns, folder) for one in tables)
    return parts[0] if len(parts) == 1 else AllOf(parts)


def _promise(given: object, columns: Mapping[str, Column], folder: Path) -> Guarantee:
    if not isinstance(given, Mapping) or not isinstance(given.get("kind"), str):
        raise ParameterError(f"A [[guarantee]] needs a kind: {listed(list(KINDS))}.")
    plain = {name: value for name, value in given.items() if name != "kind"}
    kind = KINDS.get(given["kind"], given["kind"])
    if kind not in KINDS.values():
        raise ParameterError(
            f"'{given['kind']}' is no guarantee{nearest(given['kind'], [*KINDS, *KINDS.values()])}"
        )
    if kind != "KMap":
        return guarantee_from_dict({"guarantee": kind} | plain)
    path = plain.pop("population", None)
    require("KMap", "population", path, InstanceOf((str, Path), "the path of a file"))
    names = [name for name, column in columns.items() if column.role is Role.QUASI]
    return guarantee_from_dict({"guarantee": kind} | plain, population=population(folder / path, names))


def population(path: Path, names: Iterable[str], reading: Mapping[str, Any] | None = None) -> Any:
    """Read a population table with the named quasi-identifiers; its other columns do not matter."""
    from discreet.core.tables.table import Table
    from discreet.engines.files import read
    from discreet.job.model import complete

    frame = read(path, **(reading or {}))
    return Table(frame, complete({name: quasi() for name in names}, frame.columns, rest=Role.OTHER))


def _method(given: Mapping[str, Any]) -> dict[str, Any]:
    name = given.get("name", "mondrian")
    if name not in METHODS:
        raise ParameterError(f"[method] has an unknown name{nearest(name, METHODS)}")
    options = {key: value for key, value in given.items() if key != "name"}
    refuse_unknown(f"The method {name}", options, METHODS[name][1])
    return {"method": name, "options": options}


def output_from(
    given: Mapping[str, Any], folder: Path, *, formats: tuple[str, ...] = FORMATS
) -> dict[str, Any]:
    """Read where and how to write."""
    out = given.get("folder")
    require("output", "folder", out, InstanceOf((str, Path, type(None)), "a path"))
    for name in ("report", "overwrite"):
        require("output", name, given.get(name, True), _BOOL)
    require("output", "seed", given.get("seed"), OneOf((None,)), IntIn(0))
    require("output", "format", given.get("format"), OneOf((None, *formats)))
    return {"out": None if out is None else folder / out} | {
        name: given[name] for name in ("format", "report", "overwrite", "seed") if name in given
    }


def _section(plain: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = _table(plain, name)
    refuse_unknown(f"[{name}]", section, _SECTIONS[name])
    return section


def _table(plain: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = plain.get(name, {})
    if not isinstance(section, Mapping):
        raise InputError(f"[{name}] must be a table of keys.")
    return section


def refuse_unknown(where: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a key that nobody knows, and name the one that may have been meant."""
    for name in given:
        if name not in known:
            raise ParameterError(f"{where} has an unknown key '{name}'{nearest(name, known)}")
