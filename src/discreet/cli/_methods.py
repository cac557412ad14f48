"""Gather what the options say about the method, and refuse what does not belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.cli import _parse_options as gather
from discreet.core.registry import METHODS, methods

_MEANINGS: dict[str, tuple[str, Any]] = {
    "relaxed": ("strict", False),
    "means": ("summary", "mean"),
    "visit_all": ("visit", "all"),
}
"""The flags that stand for a value of a parameter."""
_BY_COLUMN = {"levels": "--level", "lowest": "--lowest", "highest": "--highest"}
_PARAMETERS = (*_MEANINGS, *_BY_COLUMN, "max_suppressed", "measure", "aggregate", "time_limit")


def method(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the method and its parameters, laid out as in a job file."""
    name = given["method"] or ("generalization" if given["levels"] else "mondrian")
    known = METHODS[name].options()
    plain: dict[str, Any] = {"name": name}
    for option in _PARAMETERS:
        value = given.get(option)
        if value is None or value is False or value == ():
            continue
        parameter, meaning = _MEANINGS.get(option, (option, value))
        if parameter not in known:
            raise _misplaced(option, parameter)
        plain[parameter] = gather.numbers(_BY_COLUMN[option], value, int) if option in _BY_COLUMN else meaning
    return {"levels": {}} | plain if name == "generalization" else plain


def _misplaced(option: str, parameter: str) -> Exception:
    """Name the methods that have a parameter."""
    fitting = [one.name for one in methods(role="publisher", takes="table") if parameter in one.options()]
    flag = _BY_COLUMN.get(option, f"--{option.replace('_', '-')}")
    belongs = " and ".join(filter(None, [", ".join(fitting[:-1]), fitting[-1]]))
    return gather.mistake(f"{flag} belongs to {belongs}.", f"--method {fitting[0]}")
