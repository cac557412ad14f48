"""What a project from elsewhere may set: only what the studio's own pages set, so that it names no path and no key."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from discreet.core.errors import InputError
from discreet.core.registry import METHODS, VERBS
from discreet.core.schema import Role
from discreet.core.spec import Spec
from discreet.studio.documents import NAMES, Document
from discreet.studio.forms import parameters_of_spec
from discreet.studio.tasks import Task, first_document

READ_BY = ("delimiter", "encoding", "decimal", "thousands", "dates", "header", "sheet", "column")
"""How the pages let a file be read."""
_HIERARCHY = (
    "intervals", "cuts", "mask", "flat", "tree", "rows", "scale", "icd", "ip", "codes",
    "origin", "bottom", "top", "unit", "levels", "char", "width", "ordered",
)  # fmt: skip
_ALLOWING = ("allow", "allow_unique")
"""Keys that publish what names people: each person decides that anew."""
_NAMING = ("key", "previous")
"""Fields of the pages that name a file or a variable: each person fills them in anew."""
_LONGEST_NAME = 120


def displayed_name(name: str) -> str:
    r"""Return the name of a file as pages and jobs show it: its last part, without anything that cannot be printed.

    >>> displayed_name("../../etc/pass\u202ewd.csv"), displayed_name("")
    ('passwd.csv', 'data.csv')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(char for char in last if char.isprintable()).strip(". ")
    if len(printable) > _LONGEST_NAME:
        printable = printable[-_LONGEST_NAME:]
    return printable or "data.csv"


def own_reading(reading: object) -> dict[str, Any]:
    """Return how a file is read, if the pages could have set it."""
    return _only("input", reading, READ_BY)


def own_document(task: Task, document: object) -> Document:
    """Return the job of a project from elsewhere, if the pages could have made it.

    A job decides where results go, which files are read and whose key makes pseudonyms. So every key is looked up in
    what the pages set; the first other one is named in the error, its value never.
    """
    sections = {spec.name: spec for spec in task.sections}
    if not task.makes_release and task.name in VERBS:
        sections[task.name] = VERBS[task.name]
    own = (
        first_document(task, "")
        if not task.has_roles
        else dict.fromkeys(("columns", "guarantee", "method", NAMES))
    )
    made = _only("", document, {"input", "output", *own})
    source = _only("input", made.get("input", {}), ("path", *READ_BY))
    if not isinstance(source.setdefault("path", ""), str):
        raise _refusal("input", "path")
    # Scripts beside the form name it, so it must not be an address: the data of the project is another's.
    made["input"] = {**source, "path": displayed_name(source["path"])}
    # The pages never change the folder or the file, and scripts hand them to a shell.
    expected = first_document(task, "").get("output", {})
    output = _only("output", made.get("output", {}), {*expected, *_ALLOWING})
    if "output" in made:
        made["output"] = _without_allowing(output)
    for name, value in made.get("output", {}).items():
        if value != expected[name]:
            raise _refusal("output", name)
    for name, spec in sections.items():
        made[name] = _parameters(name, spec, made.get(name, {}))
    columns = {}
    for name, entry in _table("columns", made.get("columns", {})).items():
        columns[name] = _only(f"columns.{name}", entry, ("role", "hierarchy", *_ALLOWING))
        if columns[name].get("role") not in [role.value for role in Role]:
            raise _refusal(f"columns.{name}", "role")
        _only(f"columns.{name}.hierarchy", columns[name].get("hierarchy", {}), _HIERARCHY)
    made |= (
        {"columns": {name: _without_allowing(entry) for name, entry in columns.items()}} if columns else {}
    )
    for names in _table(NAMES, made.get(NAMES, {})).values():
        if not all(isinstance(name, str) for name in _list(NAMES, names)):
            raise _refusal("", NAMES)
    if task.makes_release:
        made["guarantee"] = [_guarantee(task, part) for part in _list("guarantee", made.get("guarantee"))]
        made["method"] = _method(task, made.get("method"))
    return made


def _without_allowing(section: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in section.items() if name not in _ALLOWING}


def _guarantee(task: Task, part: object) -> dict[str, Any]:
    kind = _table("guarantee", part).get("kind")
    specs = task.guarantees()
    if kind not in specs:
        raise _refusal("guarantee", "kind")
    return _parameters("guarantee", specs[kind], part, "kind")


def _method(task: Task, section: object) -> dict[str, Any]:
    name = _table("method", section).get("name")
    if name is None:
        return _only("method", section, ("name",))
    if name not in {method.name for method in task.methods()}:
        raise _refusal("method", "name")
    return _parameters("method", METHODS[name], section, "name")


def _parameters(where: str, spec: Spec, section: object, *others: str) -> dict[str, Any]:
    """Return what a form sets of a spec, without what names a file or a variable."""
    names = [parameter.name for parameter in parameters_of_spec(spec)]
    own = _only(where, section, (*others, *names))
    return {name: value for name, value in own.items() if name not in _NAMING}


def _only(where: str, section: object, names: Collection[str]) -> dict[str, Any]:
    """Return a table as it is, if it has no other keys than these."""
    for name in _table(where, section):
        if name not in names:
            raise _refusal(where, name)
    return dict(_table(where, section))


def _table(where: str, section: object) -> Mapping[str, Any]:
    if not isinstance(section, Mapping):
        raise _refusal(*(where.rpartition(".")[::2]))
    return section


def _list(where: str, section: object) -> list[Any]:
    if not isinstance(section, list):
        raise _refusal("", where)
    return section


def _refusal(where: str, name: str) -> InputError:
    key = ".".join(filter(None, (where, name)))[:80]
    return InputError(
        f"The project sets {key or 'a job'} as no page of the studio does, so it was not opened."
    )
