"""Provenance: the columns, the method, how to protect new rows the same way, and code that runs it again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from discreet import __version__
from discreet.core.registry import METHODS, Method
from discreet.core.release import Release
from discreet.core.schema import DROPPED, Role
from discreet.guarantees import AllOf, Guarantee, PerUnit
from discreet.kinds.blocks import Block, Code, Section, Subsection, TableBlock
from discreet.kinds.kind import kind_of
from discreet.kinds.wording import About

_ROLES = {
    Role.IDENTIFIER: "identifier",
    Role.PERSON: "person: groups the rows of one person",
    Role.QUASI: "quasi-identifier",
    Role.SENSITIVE: "sensitive",
    Role.OTHER: "other",
    Role.DROP: "not needed",
}

_APPLY = """from discreet import Recipe, read

new = Recipe.read("release/release.json").apply(read("new.csv"))
new.write("new-release")
"""


def columns(release: Release, cells: Callable[..., str], *, internal: bool = False) -> Section:
    """Return the columns, their roles and, by ``cells`` of the kind of data, what became of their cells."""
    schema = release.original.schema if internal else release.schema
    unique = release.figures.public.singling_out
    singletons = {name: f"{column.n_singletons:,}" for name, column in unique.columns.items()}
    rows = [
        (
            name,
            _ROLES[column.role],
            cells(name, column, release, internal=internal),
            singletons.get(name, "–"),
        )
        for name, column in schema.items()
    ]
    if len(singletons) > 1:
        rows.append(("All other columns together", "other", "exact", f"{unique.together.n_singletons:,}"))
    return Section(
        "columns",
        "Columns and their roles",
        "The guarantee holds for these roles, which are a person's decision: a column that others may know, but that "
        "is not marked as a quasi-identifier, is not protected. A row is singled out by a column of the role other if "
        "no other released row has the same value there.",
        [TableBlock(("Column", "Role", "In the release", "Rows singled out"), rows, "Columns")],
    )


def method(release: Release, *, internal: bool = False, shuffled: bool = True) -> Section:
    """Return what was done, and how to protect new rows the same way; ``shuffled`` where records are released."""
    evidence, recipe = release.evidence, release.recipe
    rows = [
        ("Method", str(recipe.get("method", "–"))),
        ("Guarantee", repr(release.guarantee)),
        *((f"Parameter {name}", value_text(value)) for name, value in _parameters(recipe).items()),
        ("Records in", f"{evidence.n_rows:,}"),
        ("Records suppressed", f"{evidence.suppressed:,}"),
        *([("Order of the records", "shuffled")] if shuffled else []),
        *([("Seed", seed_text(recipe.get("seed"), internal=internal))] if shuffled else []),
        ("Discreet", __version__),
    ]
    content: list[Block] = [TableBlock(("Property", "Value"), rows, "Method")]
    if "levels" in recipe or "cells" in recipe:
        text = "On the command line, or in Python. The guarantee is checked again."
        code = [Code("discreet apply release new.csv --out new-release\n"), Code(_APPLY)]
        content.append(Subsection("Protect new rows the same way", code, text))
    return Section("method", "How it was made", "", content)


def _parameters(recipe: Mapping[str, Any]) -> dict[str, object]:
    parameters = {
        name: value for name, value in dict(recipe.get("parameters", {})).items() if value not in (None, {})
    }
    levels = {
        name: f"{', '.join(level)} by value" if isinstance(level, Mapping) else level
        for name, level in recipe.get("levels", {}).items()
    }
    return parameters | ({"levels": levels} if "levels" in recipe else {})


def seed_text(seed: object, *, internal: bool) -> str:
    """Return the seed in words; only the owner learns which it was, since it undoes the randomness."""
    if seed is None:
        return "none: random bits of the operating system"
    return (
        f"{seed}: keep it secret, it undoes the randomness"
        if internal
        else "set, and known to the owner only"
    )


def value_text(value: object) -> str:
    """Return the value of a parameter as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name}: {inner}" for name, inner in value.items() if inner is not None and inner != {}
        )
    return str(value)


_CONSTRUCTORS = re.compile(r"\b([A-Z][A-Za-z]+)\(")


def rerun(release: Release, about: About) -> Section | None:
    """Return the code that makes the release again; None where it needs records or a key that are gone."""
    written = rerun_code(release, about)
    if written is None:
        return None
    text = "Python, in the folder that holds the data and the release. Results are random unless there was a seed."
    return Section("again", "Run it again", text, [Code(written)])


def rerun_code(release: Release, about: About) -> str | None:
    """Return the code that makes a release again; None where that takes more than the data and the release."""
    name = str(release.recipe.get("method", ""))
    method = next((method for method in METHODS.values() if method.class_name == name), None)
    if method is None or method.role != "publisher":
        return None
    return kind_of(release).rerun(release, about, method)


def code(reading: str, guarantee: str, roles: str, method: Method, data: str, call: str, about: About) -> str:
    """Return a script: the imports for reading and roles, the guarantee's and the method's, then data and call."""
    named = sorted(set(_CONSTRUCTORS.findall(guarantee)))
    guarantees = f"from discreet.guarantees import {', '.join(named)}\n" if named else ""
    return (
        f"{reading}{guarantees}{roles}from discreet.publish import {method.class_name}\n\n{data}"
        f"release = {call}.release(data)\nrelease.write({f'{about.folder}-again'!r})\n"
    )


def table_code(release: Release, about: About, method: Method, guarantee: str, call: str) -> str:
    """Return a script that reads a table with the roles of the release."""
    path = about.source or about.name or "data.csv"
    data = f"data = Table(read({path!r}), roles_of({about.folder!r}{_keys(release)}))\n"
    roles = "from discreet.job import roles_of\n"
    return code("from discreet import Table, read\n", guarantee, roles, method, data, call, about)


def constructor(method: Method, first: str, parameters: Mapping[str, Any]) -> str:
    """Return the call that makes the publisher; ``first`` is its first argument as code."""
    arguments = [first, *(f"{name}={value!r}" for name, value in parameters.items())]
    return f"{method.class_name}({', '.join(arguments)})"


def expression(guarantee: Guarantee) -> str:
    """Write a guarantee as code; units are counted by themselves where a column has the role person."""
    if isinstance(guarantee, AllOf):
        return " & ".join(map(expression, guarantee.parts))
    return repr(guarantee.guarantee if isinstance(guarantee, PerUnit) else guarantee)


def set_parameters(
    values: Mapping[str, Any], parameters: Mapping[str, Any], release: Release
) -> dict[str, Any]:
    """Return the parameters that the constructor has and that differ from its defaults."""
    first = next(iter(parameters))
    chosen = {
        name: value
        for name, value in values.items()
        if name in parameters
        and name != first
        and value not in (None, {})
        and (parameters[name].required or value != parameters[name].default)
    }
    if "random_state" in parameters and release.recipe.get("seed") is not None:
        chosen["random_state"] = release.recipe["seed"]
    return chosen


def _keys(release: Release) -> str:
    """Write where the keys of pseudonyms are read from, if there are any."""
    schema = release.original.schema
    names = [name for name, column in schema.items() if column.role in DROPPED and column.key is not None]
    if not names:
        return ""
    keys = ", ".join(f"{name!r}: open({f'{name}.key'!r}, 'rb').read()" for name in names)
    return f", keys={{{keys}}}"
