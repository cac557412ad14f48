"""Gather what the options say into plain data, laid out as a job file."""

from __future__ import annotations

import csv
import datetime as dt
import math
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

ROLES = ("quasi", "sensitive", "person", "identifier", "other", "drop")
_READING = (
    "delimiter",
    "encoding",
    "decimal",
    "thousands",
    "dates",
    "header",
    "sheet",
    "labels",
    "engine",
    "master",
    "remote",
)


def mistake(message: str, remedy: str | None = None) -> click.UsageError:
    """Make the error for options that do not fit together."""
    error = click.UsageError(message)
    error.remedy = remedy  # type: ignore[attr-defined]
    return error


def names_in(values: Iterable[str]) -> list[str]:
    """Split lists of column names at commas; a name that holds one is put in double quotes.

    >>> names_in(["age,zip", '"first, last"'])
    ['age', 'zip', 'first, last']
    """
    cells = (cell for row in csv.reader(values, skipinitialspace=True) for cell in row)
    return [cell.strip() for cell in cells if cell.strip()]


def as_flag(names: Iterable[str]) -> str:
    """Write column names as a flag takes them."""
    return shlex.quote(",".join(f'"{name}"' if "," in name else name for name in names))


def key_values(flag: str, values: Iterable[str], *, last: bool = False) -> dict[str, str]:
    """Split COLUMN=VALUE options; a value that is wrong is not repeated, since it may be a secret.

    ``last`` splits at the last equals sign, for values that have none while the names of columns may.
    """
    by_name: dict[str, str] = {}
    for text in values:
        name, equals, value = text.rpartition("=") if last else text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise mistake(f"{flag} takes COLUMN=VALUE.")
        if name.strip() in by_name:
            raise mistake(f"{flag} is given twice for column '{name.strip()}'.")
        by_name[name.strip()] = value.strip()
    return by_name


def numbers(flag: str, values: Iterable[str], kind: type[int] | type[float]) -> dict[str, Any]:
    """Split COLUMN=NUMBER options."""
    try:
        return {name: kind(value) for name, value in key_values(flag, values).items()}
    except ValueError:
        raise mistake(f"{flag} takes COLUMN=NUMBER.") from None


def number_list(flag: str, text: str, kind: Callable[[str], float]) -> list[Any]:
    """Split a list of numbers at commas.

    >>> number_list("--known", "1,2,4", int)
    [1, 2, 4]
    """
    try:
        return [kind(number) for number in text.split(",")]
    except ValueError:
        words = "whole numbers" if kind is int else "numbers"
        raise mistake(f"{flag} takes {words} such as 2,5,10.") from None


def ends(text: str) -> tuple[float, float]:
    """Read LOW,HIGH.

    >>> ends("0,100")
    (0.0, 100.0)
    """
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise mistake("--range takes two numbers, as in 0,100.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise mistake("--range takes a lower and a higher number.")
    return low, high


def support(text: str) -> float:
    """Read a support: with a point or an exponent a share, without a number of baskets.

    >>> support("100"), support("0.01")
    (100, 0.01)
    """
    number = _number(text)
    if isinstance(number, str):
        raise mistake("--min-support takes a number.", "--min-support 0.01")
    return number


def lifetime(flag: str, text: str) -> dt.timedelta:
    """Read a length of time: a whole number of minutes, hours, days or weeks.

    >>> lifetime("--expires", "36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    units = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
    number, unit = text[:-1], text[-1:]
    is_number = number.isascii() and number.isdigit() and len(number) <= 5
    if unit not in units or not is_number or not int(number):
        raise mistake(f"{flag} takes a length of time such as 90m, 12h, 30d or 8w.", f"{flag} 30d")
    return dt.timedelta(**{units[unit]: int(number)})


def reading(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for reading that were named."""
    named = {name: values[name] for name in _READING if values.get(name) is not None}
    if values.get("nulls"):
        from discreet.engines.files import DEFAULT_NULLS

        named["nulls"] = [*DEFAULT_NULLS, *values["nulls"]]
    if values.get("text"):
        named["text"] = names_in(values["text"])
    return {
        name: {"\\t": "\t"}.get(value, value) if isinstance(value, str) else value
        for name, value in named.items()
    }


def columns(options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the columns' roles, hierarchies, weights and pseudonyms."""
    sections: dict[str, dict[str, Any]] = {}
    for role in ROLES:
        for name in names_in(options.get(role) or ()):
            if sections.get(name, {"role": role})["role"] != role:
                raise mistake(f"Column '{name}' is given two roles: {sections[name]['role']} and {role}.")
            sections[name] = {"role": role}
    details = {
        "hierarchy": (
            {
                name: hierarchy_option(how)
                for name, how in key_values("--hierarchy", options.get("hierarchies") or ()).items()
            },
            "quasi or sensitive",
        ),
        "weight": (numbers("--weight", options.get("weights") or (), float), "quasi"),
        "pseudonym": (key_values("--pseudonym", options.get("pseudonyms") or ()), "identifier or person"),
    }
    for key, (values, roles) in details.items():
        for name, value in values.items():
            if name not in sections or sections[name]["role"] not in roles.split(" or "):
                raise mistake(
                    f"--{key} is given for column '{name}', which is not {roles}.",
                    f"--{roles.split()[0]} {as_flag([name])}",
                )
            sections[name][key] = value
    for name in names_in(options.get("allow_unique") or ()):
        if sections.setdefault(name, {"role": "other"})["role"] not in ("other", "quasi"):
            raise mistake(f"--allow-unique is given for column '{name}', which is {sections[name]['role']}.")
        sections[name]["allow_unique"] = True
    return sections


def hierarchy_option(how: str) -> dict[str, Any]:
    """Read how values become coarser: intervals:5,10:top=90, mask, mask:left:5, flat, scale:bands, icd9, ip, or a file.

    >>> hierarchy_option("intervals:5,10:top=90"), hierarchy_option("mask:5"), hierarchy_option("tree.csv")
    ({'intervals': [5, 10], 'top': 90}, {'mask': 'right', 'width': 5}, {'file': 'tree.csv'})
    """
    way, _, rest = how.partition(":")
    if way == "intervals":
        widths, *ends = rest.split(":")
        named = {name: _number(end) for name, _, end in (text.partition("=") for text in ends)}
        return {"intervals": [_number(width.strip()) for width in widths.split(",")]} | named
    if way in ("mask", "masked"):
        side, _, width = ("", "", rest) if rest.isdecimal() else rest.partition(":")
        return {"mask": side or "right"} | ({"width": _number(width)} if width else {})
    if how in ("flat", "ip"):
        return {how: True}
    if how in ("icd9", "icd10"):
        return {"icd": int(how[3:])}
    if way in ("scale", "codes") and rest:
        return {way: rest}
    path = rest if way == "file" else how
    if not Path(path).suffix:
        raise mistake(
            "--hierarchy takes COLUMN=intervals:5,10,20, COLUMN=mask:5, COLUMN=flat, COLUMN=scale:bands, COLUMN=icd10, "
            "COLUMN=codes:atc, COLUMN=ip or COLUMN=FILE.csv."
        )
    return {"file": path}


def output(out: Path | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return where and how to write."""
    section = {"overwrite": values["overwrite"], "report": values["report"]}
    section |= {name: True for name in ("spreadsheet_safe", "strict", "pdf") if values[name]}
    optional = {"folder": out, "format": values["format_"], "seed": values["seed"], "name": values["name"]}
    optional |= {name: values[name] for name in ("sign", "to")}
    optional |= {name: names_in([values[name]]) for name in ("include", "allow", "predict") if values[name]}
    return section | {name: value for name, value in optional.items() if value is not None}


def whole_or_not(text: str) -> int | float:
    """Read a number: an int where it is written as one, else a float.

    >>> whole_or_not("1"), whole_or_not("1.0")
    (1, 1.0)
    """
    try:
        return int(text)
    except ValueError:
        return float(text)


def _number(text: str) -> int | float | str:
    try:
        return whole_or_not(text)
    except ValueError:
        return text
