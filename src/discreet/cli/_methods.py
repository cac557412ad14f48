"""Gather what the options say about the method, and refuse what does not belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.cli import _parse_options as gather

_SEARCHES = ("optimal", "samarati", "incognito", "local")
_BELONGS = {
    "relaxed": ("mondrian",),
    "means": ("mondrian",),
    "levels": ("generalization",),
    "max_suppressed": ("generalization", *_SEARCHES),
    "measure": _SEARCHES,
    "aggregate": ("optimal", "local"),
    "lowest": ("optimal", "local"),
    "highest": ("optimal", "local"),
    "time_limit": ("optimal", "local"),
    "visit_all": ("optimal",),
}
_NAMED = {"mondrian": "Mondrian"}


def method(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the method and its parameters, laid out as in a job file."""
    name = given["method"] or ("generalization" if given["levels"] else "mondrian")
    asked = {option: given.get(option) for option in _BELONGS}
    named = {
        option: value
        for option, value in asked.items()
        if not (value is None or value is False or value == ())
    }
    for option in named:
        if name not in _BELONGS[option]:
            raise _misplaced(option)
    plain: dict[str, Any] = {"name": name}
    if name == "generalization":
        plain["levels"] = gather.numbers("--level", given["levels"], int)
    for option, value in named.items():
        if option in ("lowest", "highest"):
            plain[option] = gather.numbers(f"--{option}", value, int)
        elif option in ("max_suppressed", "measure", "aggregate", "time_limit"):
            plain[option] = value
    said: dict[str, dict[str, Any]] = {
        "relaxed": {"strict": False},
        "means": {"summary": "mean"},
        "visit_all": {"visit": "all"},
    }
    for option, meaning in said.items():
        plain |= meaning if option in named else {}
    return plain


def _misplaced(option: str) -> Exception:
    methods = _BELONGS[option]
    flag = "--level" if option == "levels" else f"--{option.replace('_', '-')}"
    belongs = " and ".join(filter(None, [", ".join(map(_named, methods[:-1])), _named(methods[-1])]))
    return gather.mistake(f"{flag} belongs to {belongs}.", f"--method {methods[0]}")


def _named(method_: str) -> str:
    return _NAMED.get(method_, method_)
