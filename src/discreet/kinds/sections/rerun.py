"""Code that makes a release again, to be run in the folder of the data and the release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from discreet.core.registry import METHODS, Method
from discreet.core.release import Release
from discreet.core.schema import DROPPED
from discreet.guarantees import AllOf, Guarantee, PerUnit
from discreet.kinds.about import About
from discreet.kinds.blocks import Code, Section
from discreet.kinds.kind import kind_of

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
