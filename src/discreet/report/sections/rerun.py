"""Code that makes a release again, to be run in the folder of the data and the release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.registry import METHODS
from discreet.core.release import Release
from discreet.core.schema import DROPPED
from discreet.guarantees import AllOf, Guarantee, PerUnit
from discreet.report.blocks import Code, Section
from discreet.report.sections.subject import About

_DATA = {"baskets": "baskets.dat"}
_READ = {"baskets": "read_baskets"}
_CONSTRUCTORS = re.compile(r"\b([A-Z][A-Za-z]+)\(")


def rerun(release: Release, about: About) -> Section | None:
    """Return the code that makes the release again; None where it needs records or a key that are gone."""
    written = code_of(release, about)
    if written is None:
        return None
    text = "Python, in the folder that holds the data and the release. Results are random unless there was a seed."
    return Section("again", "Run it again", text, [Code(written)])


def code_of(release: Release, about: About) -> str | None:
    """Return the code that makes a release again; None where that takes more than the data and the release."""
    method = str(release.recipe.get("method", ""))
    known = next((one for one in METHODS.values() if one.class_name == method), None)
    if known is None or known.role != "publisher" or release.kind not in _MAKERS:
        return None
    arguments = _MAKERS[release.kind](release, known.parameters())
    if arguments is None:
        return None
    first, given = arguments
    call = f"{method}({', '.join([first, *(f'{name}={value!r}' for name, value in given.items())])})"
    named = sorted(set(_CONSTRUCTORS.findall(first)))
    guarantees = f"from discreet.guarantees import {', '.join(named)}\n" if named else ""
    path = about.source or about.name or _DATA.get(release.kind, "data.csv")
    if release.kind == "baskets":
        reading, roles, data = "from discreet import read_baskets\n", "", f"data = read_baskets({path!r})\n"
    else:
        reading, roles = "from discreet import Table, read\n", "from discreet.job import roles_of\n"
        data = f"data = Table(read({path!r}), roles_of({about.folder!r}{_keys(release)}))\n"
    return (
        f"{reading}{guarantees}{roles}from discreet.publish import {method}\n\n{data}"
        f"release = {call}.release(data)\nrelease.write({f'{about.folder}-again'!r})\n"
    )


def _table(release: Release, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    given = {**release.recipe.get("parameters", {})}
    if "levels" in parameters:
        given["levels"] = dict(release.recipe.get("levels", {}))
    text = _expression(release.guarantee)
    return None if "KMap(" in text else (text, _given(given, parameters, release))


def _pseudo(release: Release, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    given = {**release.recipe.get("parameters", {})}
    k = given.pop("k", None)
    if release.original is None or k is None or k == "given apart":
        return None
    return repr(k), _given(given, parameters, release)


def _baskets(release: Release, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    given = {**release.recipe.get("parameters", {})}
    if given.pop("hierarchy", "even ranges") != "even ranges":
        return None
    given.pop("m", None)
    found = _given(given, parameters, release)
    if isinstance(release.data, GroupedBaskets):
        found["sensitive"] = release.data.sensitive_names.to_pylist()
    return _expression(release.guarantee), found


def _expression(guarantee: Guarantee) -> str:
    """Write a guarantee as code; units are counted by themselves where a column has the role person."""
    if isinstance(guarantee, AllOf):
        return " & ".join(map(_expression, guarantee.parts))
    return repr(guarantee.guarantee if isinstance(guarantee, PerUnit) else guarantee)


def _given(given: Mapping[str, Any], parameters: Mapping[str, Any], release: Release) -> dict[str, Any]:
    """Return the parameters that the constructor has and that differ from its defaults."""
    first = next(iter(parameters))
    found = {
        name: value
        for name, value in given.items()
        if name in parameters
        and name != first
        and value not in (None, {})
        and (parameters[name].required or value != parameters[name].default)
    }
    if "random_state" in parameters and release.recipe.get("seed") is not None:
        found["random_state"] = release.recipe["seed"]
    return found


def _keys(release: Release) -> str:
    """Write where the keys of pseudonyms are read from, if there are any."""
    schema = release.original.schema
    names = [name for name, column in schema.items() if column.role in DROPPED and column.key is not None]
    if not names:
        return ""
    keys = ", ".join(f"{name!r}: open({f'{name}.key'!r}, 'rb').read()" for name in names)
    return f", keys={{{keys}}}"


_MAKERS = {"table": _table, "grouped-table": _table, "pseudo-data": _pseudo, "baskets": _baskets}
