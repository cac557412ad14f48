"""An ARX project as a job: roles, hierarchies, privacy models and settings; what is not carried over is named."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.errors import InputError, OutputError
from discreet.engines.atomic import atomic_file, atomic_folder
from discreet.engines.folders import FolderKind
from discreet.job.arx.archive import Archive, Element, opened
from discreet.job.template import key, value

SUFFIX = ".deid"
_FILES = FolderKind("folder of an ARX project's files", "project.json", private=True)
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "other",
}
_MEASURES = {
    "Loss": "loss",
    "Height": "height",
    "Non-monotonic precision": "precision",
    "Non-monotonic non-uniform entropy": "entropy",
    "Normalized non-uniform entropy": "entropy",
    "Non-monotonic discernability": "discernibility",
    "Average equivalence class size": "average_class_size",
}
_NUMBER = r"([0-9.]+(?:E-?[0-9]+)?)"
_OF = r" for attribute '(.*)'"
_Fields = Callable[..., dict[str, Any]]


_WHOLE = {"reference": "original"}
"""ARX compares classes with the table before rows are left out."""


def _of(kind: str, letter: str, **more: Any) -> _Fields:
    return lambda number, column: {"kind": kind, letter: _number(number), **more, "of": column}


_MODELS: dict[str, _Fields] = {
    rf"{_NUMBER}-anonymity": lambda k: {"kind": "k-anonymity", "k": _number(k)},
    rf"distinct-{_NUMBER}-diversity{_OF}": _of("distinct-l-diversity", "l"),
    rf"shannon-entropy-{_NUMBER}-diversity{_OF}": _of("entropy-l-diversity", "l"),
    rf"recursive-\({_NUMBER},{_NUMBER}\)-diversity{_OF}": lambda c, l, column: {  # noqa: E741  # the published letter
        "kind": "recursive-cl-diversity",
        "c": _number(c),
        "l": _number(l),
        "of": column,
    },
    rf"{_NUMBER}-closeness with equal ground-distance{_OF}": _of(
        "t-closeness", "t", distance="equal", **_WHOLE
    ),
    rf"{_NUMBER}-closeness with ordered distance{_OF}": _of("t-closeness", "t", distance="ordered", **_WHOLE),
    rf"{_NUMBER}-closeness with hierarchical ground-distance{_OF}": _of(
        "t-closeness", "t", distance="hierarchical", **_WHOLE
    ),
    rf"{_NUMBER}-disclosure privacy{_OF}": _of("delta-disclosure", "delta", **_WHOLE),
    rf"basic-{_NUMBER}-likeness{_OF}": _of("basic-beta-likeness", "beta", **_WHOLE),
    rf"enhanced-{_NUMBER}-likeness{_OF}": _of("enhanced-beta-likeness", "beta", **_WHOLE),
    rf"\({_NUMBER}\)-avg-reidentification-risk": lambda mean: {
        "kind": "max-risk",
        "highest": 1.0,
        "mean": _number(mean),
    },
    rf"\({_NUMBER}\)-sample-uniqueness": lambda share: {
        "kind": "max-risk",
        "highest": 1.0,
        "unique": _number(share),
    },
}
"""The guarantee of each privacy model, by how ARX writes it."""


@dataclass
class ImportedProject:
    """What became of a project: the job as TOML tables, the files of its hierarchies, and what was not carried over."""

    reading: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    hierarchies: dict[str, list[list[str]]] = field(default_factory=dict)
    guarantees: list[dict[str, Any]] = field(default_factory=list)
    method: dict[str, Any] = field(default_factory=lambda: {"name": "optimal"})
    left_out: list[str] = field(default_factory=list)


@reads("The project of ARX")
def import_project(path: Path, out: Path) -> ImportedProject:
    """Read a project of ARX, and write a job, with its data and hierarchies in a folder beside it.

    Parameters
    ----------
    path
        The project, as ARX saves it.
    out
        The job file to write; the folder is called as it is, with ``-files``.
    """
    folder = out.with_name(f"{out.stem}-files")
    for target in (out, folder):
        if target.exists():
            raise OutputError(
                f"{target} is there already, and is never overwritten; name another with --out."
            )
    with opened(path) as archive:
        project = _read(archive)
        with atomic_file(out) as job, atomic_folder(folder, _FILES) as temporary:
            archive.copy("data/input.csv", temporary / "data.csv")
            for file, rows in project.hierarchies.items():
                with (temporary / file).open("x", encoding="utf-8", newline="") as stream:
                    csv.writer(stream, delimiter=";", lineterminator="\n").writerows(rows)
            job.write_text(_job_text(project, folder.name), encoding="utf-8")
    return project


def _read(archive: Archive) -> ImportedProject:
    settings = archive.xml("project.xml")
    delimiter = settings.get("separator") or ";"
    project = ImportedProject({"delimiter": delimiter, "encoding": "utf-8"})
    definition = archive.xml("input/definition.xml")
    assigned = [*definition.all("assigment"), *definition.all("assignment")]  # ARX writes it without the n
    if not assigned:
        raise InputError(f"{archive.path} assigns no roles to columns.")
    config = archive.xml("input/config.xml")
    models = [model.text.strip() for group in config.all("criteria") for model in group.all("criterion")]
    by_tree = {
        match[1] for model in models if (match := re.search(rf"hierarchical ground-distance{_OF}", model))
    }
    for element in assigned:
        _add_column(project, archive, element, delimiter, by_tree)
    _add_types(project, assigned)
    for model in models:
        _add_model(project, model)
    _add_settings(project, config)
    return project


def _add_column(
    project: ImportedProject, archive: Archive, element: Element, delimiter: str, by_tree: set[str]
) -> None:
    """Add the role of a column, its hierarchy, and the levels that it may be published at."""
    name, role = element.get("name") or "", _ROLES.get(element.get("type") or "")
    if role is None:
        raise InputError(f"{archive.path} gives column '{name}' a role that ARX does not have.")
    column: dict[str, Any] = {"role": role}
    project.columns[name] = column
    if element.get("microaggregationFunction") is not None:
        project.left_out.append(
            f"column '{name}': micro-aggregation; it is generalized (or take --method mondrian, mean)"
        )
    if element.get("response") == "true":
        project.left_out.append(f"column '{name}': that it is a response variable; name it with --predict")
    ref = element.get("ref")
    if ref is None or (role != "quasi" and name not in by_tree):
        return
    entry = f"input/{ref}"
    if ".." in ref or not archive.has(entry):
        raise InputError(f"{archive.path} lacks the hierarchy of column '{name}'.")
    rows = list(csv.reader(archive.lines(entry), delimiter=delimiter))
    rows = [row for row in rows if row]
    height = max(map(len, rows), default=1) - 1
    limits = {"lowest": element.get("min"), "highest": element.get("max")}
    if height < 1:
        column["hierarchy"], limits["highest"] = {"flat": True}, "0"
    else:
        if len({row[-1] for row in rows}) > 1:  # ours has a root above, which ARX would not publish
            rows = [[*row, "*"] for row in rows]
            limits["highest"] = limits["highest"] if (limits["highest"] or "").isdecimal() else str(height)
        file = f"hierarchy-{len(project.hierarchies) + 1}.csv"
        project.hierarchies[file] = rows
        column["hierarchy"] = {"file": file}
    for limit, level in limits.items():
        if role == "quasi" and level is not None and level.isdecimal():
            project.method.setdefault(limit, {})[name] = int(level)


def _add_types(project: ImportedProject, assigned: list[Element]) -> None:
    """Read texts as texts, and dates in their order."""
    texts = [element.get("name") for element in assigned if element.get("datatype") in ("String", "Ordinal")]
    if texts:
        project.reading["text"] = texts
    for element in assigned:
        name, pattern = element.get("name"), element.get("format")
        if element.get("datatype") == "Ordinal":
            project.left_out.append(f"column '{name}': the order of its values; add ordered = […]")
        elif element.get("datatype") == "Date/Time" and pattern:
            order = "".join(dict.fromkeys(letter for letter in pattern if letter in "dMy")).lower()
            if order in ("dmy", "mdy", "ymd") and project.reading.get("dates", order) == order:
                project.reading["dates"] = order
            else:
                project.left_out.append(f"column '{name}': its date format")
        elif element.get("datatype") == "Decimal" and (element.get("locale") or "EN") not in ("EN", "US"):
            project.left_out.append(
                f"column '{name}': its number format; see decimal and thousands under [input]"
            )


def _add_model(project: ImportedProject, model: str) -> None:
    """Add the guarantee that a privacy model is, or name the model."""
    for pattern, fields in _MODELS.items():
        match = re.fullmatch(pattern, model)
        if match is not None:
            guarantee = fields(*match.groups())
            if guarantee.get("of") not in (None, *project.columns):
                raise InputError("The project has a privacy model for a column that it does not have.")
            project.guarantees.append(guarantee)
            return
    known = re.sub(r"'.*'", "…", model) if len(model) < 200 else "of unknown form"
    reason = (
        "which rows it selects is not in the XML; all rows are taken"
        if model == "Inclusion"
        else "see the docs"
    )
    project.left_out.append(f"privacy model {known}: {reason}")


def _add_settings(project: ImportedProject, config: Element) -> None:
    """Add the suppression limit, the quality measure and the weights of columns."""
    limit = config.get("relativeMaxOutliers")
    if limit is not None:
        project.method["max_suppressed"] = float(limit)
    metric = config.get("metric") or ""
    measure = next((ours for theirs, ours in _MEASURES.items() if metric.startswith(theirs)), None)
    if measure is not None:
        project.method["measure"] = measure
        factors = re.search(rf"\({_NUMBER}/", metric)
        if factors and float(factors[1]) != 0.5:
            project.left_out.append("the balance between generalization and suppression in the measure")
    elif metric:
        project.left_out.append(f"quality measure {metric[:60]}; loss is minimized")
    if measure == "loss":
        project.method["aggregate"] = "geometric"
    taken = "the geometric mean" if measure == "loss" else "the mean"
    project.left_out.append(
        f"the aggregate function, which is not in the XML; {taken}, ARX's default, is taken"
    )
    if config.get("practicalMonotonicity") == "true":
        project.left_out.append("the assumption of monotonicity; every release is checked exactly")
    suppressed = [each.text for group in config.all("suppressedAttributeTypes") for each in group.all("type")]
    if any(kind.strip() != "QUASI_IDENTIFYING_ATTRIBUTE" for kind in suppressed):
        project.left_out.append("suppressed cells of other columns; suppressed rows are left out whole")
    weights = {
        each.get("attribute"): float(each.get("weight") or 0)
        for group in config.all("attributeWeights")
        for each in group.all("attributeWeight")
    }
    weights = {name: weight for name, weight in weights.items() if _is_quasi(project, name)}
    if len({*weights.values()}) > 1:
        for name, weight in weights.items():
            if weight > 0:
                project.columns[str(name)]["weight"] = weight
            else:
                project.left_out.append(f"column '{name}': its weight of 0; weights are above 0")


def _is_quasi(project: ImportedProject, name: str | None) -> bool:
    return project.columns.get(name or "", {}).get("role") == "quasi"


def _job_text(project: ImportedProject, folder: str) -> str:
    """Write the job down; paths are relative to it."""
    lines = [
        "# Made from a project of ARX. Not carried over:",
        *(f"# - {_one_line(each)}" for each in project.left_out),
    ]
    lines += ["", "[input]", f"path = {value(f'{folder}/data.csv')}", *_entries(project.reading)]
    for name, column in project.columns.items():
        hierarchy = column.get("hierarchy", {})
        if "file" in hierarchy:
            column = {**column, "hierarchy": {"file": f"{folder}/{hierarchy['file']}"}}
        lines += ["", f"[columns.{key(name)}]", *_entries(column)]
    for guarantee in project.guarantees:
        lines += ["", "[[guarantee]]", *_entries(guarantee)]
    if not project.guarantees:
        lines += [
            "",
            "# No privacy model could be carried over, so a guarantee is yours to add:",
            "# [[guarantee]]",
        ]
    lines += ["", "[method]", *_entries(project.method), "", "[output]", 'folder = "release"']
    return "\n".join(lines) + "\n"


def _entries(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key(name)} = {value(entry)}" for name, entry in table.items())


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() and "." not in text else number
