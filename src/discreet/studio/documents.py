"""Documents: a job as plain data laid out like a job file, and how one writes it down elsewhere."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.core.registry import METHODS, releasable_guarantees
from discreet.core.schema import Role
from discreet.guarantees import AllOf
from discreet.job import Job
from discreet.job.decisions import MOST_GUARDED, K, diversity_of
from discreet.job.parse import guarantee_from
from discreet.job.template import key, value
from discreet.kinds.sections.provenance import constructor, expression

Document = dict[str, Any]
"""A job, laid out as a job file; its path is the name of the data as the person knows it."""

NAMES = "names of levels"
"""The key of what a person calls the levels of columns: pages show it, and jobs have none of it."""
FOLDER = "release"
_DEFAULT_METHOD = "mondrian"
_INDENTED = " \\\n    "


def proposed(name: str, proposals: Sequence[Mapping[str, Any]], n_rows: int) -> Document:
    """Return the job that `discreet init` would propose, with its roles, hierarchies and guarantees."""
    columns: dict[str, Any] = {}
    for proposal in proposals:
        columns[proposal["name"]] = {"role": proposal["role"]}
        if proposal["hierarchy"] is not None:
            columns[proposal["name"]]["hierarchy"] = proposal["hierarchy"]
    varied = [
        proposal
        for proposal in proposals
        if proposal["role"] == Role.SENSITIVE.value and proposal["n_distinct"] > 1 and not proposal["block"]
    ]
    rich = [proposal for proposal in varied if proposal["n_distinct"] > 2] or varied
    rich = sorted(rich, key=lambda proposal: -proposal["n_distinct"])[:MOST_GUARDED]
    guarantees: list[dict[str, Any]] = [{"kind": "k-anonymity", "k": min(K, max(n_rows, 1))}]
    for proposal in rich:
        kind, least = diversity_of(proposal["effective"])
        guarantees.append({"kind": kind, "l": least, "of": proposal["name"]})
    return {
        "input": {"path": name},
        "columns": columns,
        "guarantee": guarantees,
        "method": {"name": _DEFAULT_METHOD},
        "output": {"folder": FOLDER},
    }


def job_text_of(document: Document) -> str:
    """Write a document down as the job file that `discreet run` takes.

    >>> print(job_text_of({"input": {"path": "a.csv"}, "guarantee": [{"kind": "k-anonymity", "k": 5}]}), end="")
    [input]
    path = "a.csv"
    <BLANKLINE>
    [[guarantee]]
    kind = "k-anonymity"
    k = 5
    """
    return "\n\n".join(_sections(document)) + "\n"


def _without_names(document: Document) -> Document:
    return {name: section for name, section in document.items() if name != NAMES}


def _sections(document: Document) -> Iterable[str]:
    for name, section in _without_names(document).items():
        if isinstance(section, list):
            yield from ("\n".join([f"[[{name}]]", *_entries(table)]) for table in section)
        elif name == "columns":
            for column, entry in section.items():
                yield "\n".join([f"[columns.{key(column)}]", *_entries(entry)])
        elif section or name != "output":
            yield "\n".join([f"[{name}]", *_entries(section)])


def _entries(table: Mapping[str, Any]) -> list[str]:
    return [f"{key(name)} = {value(entry)}" for name, entry in table.items() if entry is not None]


def command_text(document: Document) -> str:
    """Return the command that does the same; where its options cannot say it all, the one that runs the job file."""
    options = None
    method = METHODS.get(document.get("method", {}).get("name") or "")
    if "columns" in document and method is not None and "table" in method.makes:
        options = _table_options(document)
    if options is None:
        return "discreet run job.toml"
    path = document["input"]["path"]
    # A name that begins with a dash would be an option.
    argument = f"./{path}" if path.startswith("-") else path
    return _INDENTED.join(
        [
            f"discreet anonymize {shlex.quote(argument)}",
            *options,
            *([f"--allow {_listed(allow)}"] if (allow := document["output"].get("allow")) else []),
            f"--out {document['output'].get('folder', FOLDER)}",
        ]
    )


def _table_options(document: Document) -> list[str] | None:
    """Return the options that stand for a document about a table; None where there are none for it."""
    by_role: dict[str, list[str]] = {}
    hierarchies = []
    for name, entry in document["columns"].items():
        by_role.setdefault(entry["role"], []).append(name)
        rest = {key for key in entry if key not in ("role", "hierarchy")}
        if rest or "=" in name or '"' in name or (document["input"].keys() - {"path"}):
            return None
        if "hierarchy" in entry:
            how = _hierarchy_option(entry["hierarchy"])
            if how is None:
                return None
            hierarchies.append(f"--hierarchy {shlex.quote(f'{name}={how}')}")
    options = [f"--{role} {_listed(names)}" for role, names in by_role.items()]
    guarantees = _guarantee_options(document["guarantee"], by_role.get(Role.SENSITIVE.value, []))
    method = _method_options(document["method"])
    return None if guarantees is None or method is None else [*options, *hierarchies, *guarantees, *method]


def _listed(names: Iterable[str]) -> str:
    return shlex.quote(",".join(f'"{name}"' if "," in name else name for name in names))


def _hierarchy_option(entry: Mapping[str, Any]) -> str | None:
    """Return a hierarchy as the option has it; None where only a job file can have it."""
    way = next(iter(entry))
    first, others = entry[way], {name for name in entry if name != way}
    if way == "intervals":
        ends = [f":{name}={entry[name]}" for name in sorted(others)]
        return f"intervals:{','.join(map(str, first))}{''.join(ends)}"
    if way == "mask" and others <= {"width"}:
        return f"mask:{first}" + (f":{entry['width']}" if "width" in entry else "")
    simple = {
        "flat": "flat",
        "ip": "ip",
        "icd": f"icd{first}",
        "scale": f"scale:{first}",
        "codes": f"codes:{first}",
    }
    return None if others else simple.get(way)


def _guarantee_options(guarantees: Sequence[Mapping[str, Any]], sensitive: Sequence[str]) -> list[str] | None:
    specs, options, flags = releasable_guarantees(), [], set()
    for guarantee in guarantees:
        spec = specs[guarantee["kind"]]
        if guarantee.get("of") not in (None, *(sensitive if len(sensitive) == 1 else ())):
            return None
        for name, parameter in guarantee.items():
            if name in ("kind", "of"):
                continue
            flag = spec.flag(name)
            if flag in flags:
                return None
            flags.add(flag)
            options.append(f"{flag} {shlex.quote(str(parameter))}")
        if spec.variant is not None:
            options.append(f"--{spec.variant[0]} {spec.variant[1]}")
    return options


def _method_options(method: Mapping[str, Any]) -> list[str] | None:
    spec = METHODS[method["name"]]
    options = [] if spec.name == _DEFAULT_METHOD else [f"--method {spec.name}"]
    for name, setting in method.items():
        if name == "name":
            continue
        flag = spec.flag(name)
        if isinstance(setting, bool):
            on, _, off = flag.partition("/")
            options.append(on if setting else off or f"--no-{on.removeprefix('--')}")
        elif isinstance(setting, Mapping):
            options += [f"{flag} {shlex.quote(f'{column}={number}')}" for column, number in setting.items()]
        elif isinstance(setting, list):
            options.append(f"{flag} {_listed(setting)}")
        else:
            options.append(f"{flag} {shlex.quote(str(setting))}")
    return options


def python_text(document: Document) -> str:
    """Return the Python that does the same; roles and hierarchies are read from the job file."""
    method = METHODS.get(document.get("method", {}).get("name") or "")
    if (
        "columns" not in document
        or method is None
        or method.role != "publisher"
        or "guarantee" not in document
    ):
        return 'from discreet.job import open_job, run\n\nresult = run(open_job("job.toml"))\n'
    guarantee = guarantee_from(document["guarantee"], {}, Path())
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    names = ", ".join(sorted({type(part).__name__ for part in parts}))
    settings = {name: setting for name, setting in document["method"].items() if name != "name"}
    options = dict(document["input"])
    allow = f", allow={document['output']['allow']!r}" if document["output"].get("allow") else ""
    reading = "".join(f", {name}={option!r}" for name, option in options.items() if name != "path")
    return (
        f"from discreet import Table, read\nfrom discreet.guarantees import {names}\n"
        f"from discreet.job import roles_of\nfrom discreet.publish import {method.class_name}\n\n"
        f'data = Table(read({options["path"]!r}{reading}), roles_of("job.toml"))\n'
        f"release = {constructor(method, expression(guarantee), settings)}.release(data)\n"
        f'release.write("{FOLDER}"{allow})\n'
    )


def job_of(document: Document, path: Path | str, out: Path | None) -> Job:
    """Return the job of a document about data at a path, to be written into a folder."""
    output = {} if out is None else {**document.get("output", {}), "folder": out}
    return Job.from_dict(
        {**_without_names(document), "input": {**document["input"], "path": path}, "output": output}
    )
