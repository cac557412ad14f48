"""Job files: a proposal written down as commented TOML. No comment holds a data value."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.core.errors import InputError
from discreet.core.hierarchy.specs import HierarchySpec, Rows
from discreet.core.registry import methods, releasable_guarantees
from discreet.core.schema import Role
from discreet.engines.addresses import Address
from discreet.engines.inputs import STANDARD
from discreet.job.decisions import K, decisions, diversity, guarded
from discreet.job.roles import Proposal

_SIDES = {
    "intervals": "widths",
    "cuts": "levels",
    "rows": "columns",
    "scale": "name",
    "icd": "version",
    "codes": "system",
}
_EDIT = "  # edit it: a line for each value, value;level 1;…;*"
_EXPLAINED = {
    Role.IDENTIFIER: "names a person: dropped",
    Role.PERSON: "whose row it is, where people have several: classes count people; dropped",
    Role.QUASI: "others may know it: generalized",
    Role.SENSITIVE: "must not be learned about a person: published exactly, inside a class",
    Role.OTHER: "published as it is",
    Role.DROP: "nobody needs it: dropped",
}


def job_text(
    data: Path, proposals: Sequence[Proposal], *, folder: Path, reading: Mapping[str, Any] | None = None
) -> str:
    """Write a job for a file down as TOML that `Job.read` accepts, to lie in a folder."""
    n_rows = proposals[0].facts.n_rows
    parts = [
        _decisions(proposals),
        _input(data, folder, reading or {}),
        _columns_comment(),
        *(_column(proposal, folder) for proposal in proposals),
        *_guarantees(proposals, n_rows),
        _method(),
        _OUTPUT,
    ]
    return "\n\n".join(parts) + "\n"


def _decisions(proposals: Sequence[Proposal]) -> str:
    """Write down what a person has to decide; no value is in it."""
    lines = ["# A proposal. Read it, change it, then `discreet run` it. These decisions are yours:"]
    for number, decision in enumerate(decisions(proposals), start=1):
        lines += [f"# {number}. {_plain(decision.question)}", f"#    Proposed: {_plain(decision.proposed)}."]
    return "\n".join(lines)


def _relative(path: Path | Address, folder: Path) -> str:
    if isinstance(path, Address) or str(path) == STANDARD:
        return str(path)
    try:
        text = os.path.relpath(path.resolve(), folder.resolve())
    except ValueError:
        text = str(path.resolve())
    return Path(text).as_posix()


def _input(data: Path, folder: Path, reading: Mapping[str, Any]) -> str:
    lines = ["[input]", f"path = {value(_relative(data, folder))}  # relative to this file"]
    lines += [f"{name} = {value(option)}" for name, option in reading.items()]
    lines += [
        "# delimiter, encoding, quote, header, decimal, thousands, nulls, dates, text, sheet, labels: how to read it.",
        '# rest = "other", "identifier" or "drop" gives columns not named below a role; without it they are refused.',
    ]
    return "\n".join(lines)


def _columns_comment() -> str:
    lines = ["# Every column has a role:"]
    lines += [f"#   {role.value:<11} {meaning}" for role, meaning in _EXPLAINED.items()]
    lines += [
        '# An identifier can be kept as a pseudonym: pseudonym = "env:NAME" or "file:PATH" says where its key is.',
        "# A quasi-identifier's hierarchy says how its values become coarser:",
        '#   {intervals = [5, 10, 20]}, {intervals = ["month", "year"]}, {mask = "right", width = 5},',
        '#   {flat = true}, {scale = "bands"}, {icd = 10}, {codes = "atc"}, {ip = true}, {file = "tree.csv"} (lines',
        "#   of leaf;level 1;…;*; one to edit is made by: discreet hierarchy init DATA --column COLUMN --out",
        "#   tree.csv); without one, numbers become intervals, categories sets.",
        "# weight = 2 keeps a column finer; ordered = [...] gives categories an order instead of a hierarchy.",
    ]
    return "\n".join(lines)


def _column(proposal: Proposal, folder: Path) -> str:
    facts = proposal.facts
    counted = f"{facts.n_distinct:,} different value{'s' * (facts.n_distinct != 1)}"
    lines = [f"[columns.{key(proposal.name)}]  # {counted}, {facts.n_missing:,} missing"]
    if proposal.warning:
        lines.append(f"# Please check: {_plain(proposal.warning)}.")
    lines.append(
        f'role = "{proposal.role.value}"  # {_plain(proposal.reason)} (confidence: {proposal.confidence})'
    )
    if proposal.file is not None:
        lines.append(
            f"hierarchy = {value({'file': _relative(proposal.file, folder)})}{_EDIT if proposal.written else ''}"
        )
    elif isinstance(proposal.hierarchy, Rows):
        levels = [f"    {value(level)}," for level in proposal.hierarchy.columns]
        lines += [f"[columns.{key(proposal.name)}.hierarchy]", "rows = [", *levels, "]"]
    elif proposal.hierarchy is not None:
        lines.append(f"hierarchy = {value(hierarchy_entry(proposal.hierarchy))}")
    return "\n".join(lines)


def _plain(comment: str) -> str:
    """Return a comment on one line, whatever the names of columns and files hold."""
    return "".join(char if char.isprintable() else " " for char in comment)


def hierarchy_entry(spec: HierarchySpec) -> dict[str, Any]:
    """Return a hierarchy as a job file has it, as plain data.

    >>> from discreet import intervals
    >>> hierarchy_entry(intervals(5, 10))
    {'intervals': [5, 10]}
    """
    fields = {name: option for name, option in spec.to_dict().items() if option not in (None, False)}
    kind = fields.pop("kind")
    if kind in ("flat", "ip"):
        return {kind: True}
    if kind == "masked":
        options = {name: fields[name] for name in ("levels", "width") if name in fields}
        return {"mask": fields["from_"]} | options
    first = fields.pop(_SIDES[kind])
    rest = {name: option for name, option in fields.items() if (name, option) != ("origin", 0)}
    return {kind: first} | rest


def _guarantees(proposals: Sequence[Proposal], n_rows: int) -> list[str]:
    return [
        _other_guarantees(),
        f"{_ANONYMITY}\nk = {min(K, n_rows)}",
        *map(_diversity, guarded(proposals)),
    ]


def _diversity(proposal: Proposal) -> str:
    kind, least = diversity(proposal)
    return f'[[guarantee]]\nkind = "{kind}"  # {_DIVERSITY[kind]}\nl = {least}\nof = {value(proposal.name)}'


def _other_guarantees() -> str:
    """Return a comment that names all guarantees about tables with their keys."""
    specs = [spec for spec in releasable_guarantees().values() if spec.about[0] == "classes"]
    named = ", ".join(f"{spec.name} ({', '.join(spec.options())})" for spec in specs)
    return _comment(f"The guarantees; where one cannot be kept, nothing is written. There are: {named}.")


def _method() -> str:
    """Return the section of the method, with a comment that names all others with their keys."""
    others = [method for method in methods(role="publisher", takes="table") if method.name != "mondrian"]
    lines = [
        _comment(f"{method.name}: {method.summary} ({', '.join(method.options())})", indent="#   ")
        for method in others
    ]
    return "\n".join([_METHOD, *lines])


def _comment(text: str, indent: str = "# ") -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


_WIDTH = 110
_ANONYMITY = """\
[[guarantee]]
kind = "k-anonymity"  # everyone shares their quasi-identifiers with at least k - 1 others"""

_DIVERSITY = {
    "distinct-l-diversity": "every class holds at least l different values",
    "entropy-l-diversity": "every class is as mixed as l values of equal share, at least",
}

_METHOD = """\
[method]
name = "mondrian"
strict = true  # equal values stay together; false shares ties out by chance, for smaller classes
summary = "box"  # or "mean", for numbers and dates without a hierarchy
# Other methods, with their keys; `discreet explore` shows what they would cost:"""

_OUTPUT = """\
[output]
folder = "release"  # relative to this file
# format = "csv", "tsv", "parquet", "arrow", "jsonl", "xlsx", "sav" or "dta"; by default the input's.
# overwrite = true replaces an earlier release; report = false leaves the report out.
# name = "Patients, 2030" is the data's name, published in the report; none is otherwise.
# pdf = true prints the report into report.pdf as well; strict = true writes nothing where there is any caution.
# sign = "key.pem" signs release.json with a private key, such as one of `discreet party keys`.
# include = ["bounds", "healthdcat"] adds the ends of intervals as columns, and a description for health catalogues.
# allow = ["notes"] publishes columns of free text, or with identifiers such as e-mail addresses.
# predict = ["readmitted"] names the sensitive columns that the report predicts.
# spreadsheet_safe = true puts an apostrophe before texts that a spreadsheet would run as a formula.
# seed = 7 makes the order of the rows repeatable; keep it secret."""


def key(name: str) -> str:
    """Write a TOML key, quoted where it must be."""
    bare = name.isascii() and name and all(char.isalnum() or char in "-_" for char in name)
    return name if bare else value(name)


def value(data: object) -> str:
    """Write a TOML value.

    >>> value({"intervals": [5, 10], "unit": "year"}), value(True)
    ('{intervals = [5, 10], unit = "year"}', 'true')
    """
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{key(str(name))} = {value(item)}" for name, item in data.items()) + "}"
    if isinstance(data, list | tuple):
        return "[" + ", ".join(value(item) for item in data) + "]"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, int | float):
        return repr(data)
    text = str(data)
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError("A name that is no valid Unicode cannot stand in a job file.")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
