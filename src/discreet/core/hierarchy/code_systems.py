"""Code systems with a tree of their own: countries, states of the United States, regions of Europe, medicines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, build_hierarchy, domain_of
from discreet.core.hierarchy.vocabularies import vocabulary
from discreet.core.params import OneOf, require
from discreet.core.tables.labels import STAR, texts

NO_CODE = "no valid code"
_ATC = re.compile(r"([A-Z])(\d\d)?([A-Z])?([A-Z])?(\d\d)?")
_ATC_LENGTHS = (5, 4, 3, 1)
_NUTS = re.compile(r"[A-Z]{2}[0-9A-Z]{0,3}")
_NUTS_LENGTHS = (4, 3, 2)

Path = tuple[str, ...]


@public
def code_system(system: str) -> Codes:
    """Make the hierarchy of a code system.

    Parameters
    ----------
    system : {"countries", "us-states", "nuts", "atc"}
        Countries by their ISO codes of two or three letters, below subregions and continents; states of the United
        States, by abbreviation or name, below divisions and regions; regions of Europe (NUTS) below larger ones,
        countries and their continent; medicines (ATC) below their chemical, pharmacological, therapeutic and anatomical
        groups.

    Examples
    --------
    >>> code_system("countries").bind(pa.array(["DE", "FR", "JPN"]), column="country").labels[1:3]
    ([None, 'western Europe', 'eastern Asia'], [None, 'Europe', 'Asia'])
    >>> code_system("atc").bind(pa.array(["A10BA02", "A10BB01"]), column="drug").labels[3:]
    ([None, 'A10'], [None, 'A alimentary tract and metabolism'], ['*'])
    """
    require("code_system", "system", system, OneOf(tuple(_PATHS)))
    return Codes(system)


def system_names() -> tuple[str, ...]:
    """Return the names of all code systems."""
    return tuple(_PATHS)


@dataclass(frozen=True)
class Codes(HierarchySpec):
    """Codes below the groups of their system; made by `code_system`. What is no code of it has one label of its own."""

    kind: ClassVar[str] = "codes"

    system: str

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Put every code below its groups."""
        leaves = domain_of(domain)
        paths = [code_path(code, self.system) for code in texts(leaves).to_pylist()]
        depth = len(_PATHS[self.system](""))
        upper = [[path[level] for path in paths] for level in range(depth)]
        return build_hierarchy(leaves, [*upper, [STAR] * len(leaves)], column=column, ordered=False)


def code_path(code: str, system: str) -> Path:
    """Return the groups above a code, the narrowest first.

    >>> code_path("ny", "us-states"), code_path("DE212", "nuts")
    (('Middle Atlantic', 'Northeast'), ('DE21', 'DE2', 'DE', 'Europe'))
    """
    return _PATHS[system](code.strip().upper())


def is_code_of(code: str, system: str) -> bool:
    """Return whether a text is a code of a system."""
    return code_path(code, system)[-1] != NO_CODE


def _country(code: str) -> Path:
    return _regions("countries").get(code, (NO_CODE,) * 2)


def _state(code: str) -> Path:
    return _regions("us-states").get(code, (NO_CODE,) * 2)


def _nuts(code: str) -> Path:
    country = _country(code[:2])
    if _NUTS.fullmatch(code) is None or country[-1] == NO_CODE:
        return (NO_CODE,) * (len(_NUTS_LENGTHS) + 1)
    return (*(code[:length] for length in _NUTS_LENGTHS), country[-1])


def _atc(code: str) -> Path:
    titles = vocabulary("codes")["atc"]
    if _ATC.fullmatch(code) is None or code[:1] not in titles:
        return (NO_CODE,) * len(_ATC_LENGTHS)
    groups = [code[:length] for length in _ATC_LENGTHS]
    return (*groups[:-1], f"{code[0]} {titles[code[0]]}")


_PATHS: dict[str, Callable[[str], Path]] = {
    "countries": _country,
    "us-states": _state,
    "nuts": _nuts,
    "atc": _atc,
}


@cache
def _regions(system: str) -> dict[str, Path]:
    """Return the narrow and the wide region of every code and name of a system."""
    places: dict[str, Path] = {}
    for heading, members in vocabulary("codes")[system].items():
        wide, _, narrow = heading.partition(" / ")
        for member in members.split(", "):
            code, _, name = member.partition(" ")
            places |= dict.fromkeys((code, name.upper()), (narrow, wide))
    return places
