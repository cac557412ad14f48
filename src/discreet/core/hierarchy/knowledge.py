"""What is known about columns: ages, birth years, postal codes, addresses, diagnoses, scales, codes for categories."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.hierarchy.bound import HierarchySpec
from discreet.core.hierarchy.code_systems import code_system, is_code_of
from discreet.core.hierarchy.ranges import intervals
from discreet.core.hierarchy.scales import scale, scale_of
from discreet.core.hierarchy.structured_codes import icd, ip_addresses, is_address, is_code
from discreet.core.hierarchy.trees import masked
from discreet.core.hierarchy.vocabularies import vocabulary
from discreet.core.tables.labels import texts, value_kind

Confidence = Literal["high", "medium", "low"]
_BIRTH_YEAR = {("birth", "year"), ("year", "birth"), ("year", "of", "birth"), ("yob",), ("geburtsjahr",)}
_FEW_CODES = 10
_MOST_CODES = 200
_LARGEST_CODE = 999
_OLDEST = 130
_TOP_AGE = 90
_MOSTLY = 0.9
_MOST_LOOKED_AT = 20_000
_MANY_CODES, _MOST_STATES, _WHOLE_ATC = 5, 40, 7
_SYSTEMS = {
    "countries": "country codes (ISO 3166), below subregions and continents",
    "us-states": "states of the United States, below divisions and regions",
    "nuts": "regions of Europe (NUTS)",
    "atc": "codes of medicines (ATC)",
}


@dataclass(frozen=True)
class Known:
    """What a column was recognized as: the words for it, how to generalize it, and how sure that is."""

    what: str
    spec: HierarchySpec
    confidence: Confidence


def recognized(name: str | None, values: pa.Array) -> Known | None:
    """Recognize a column by its name and its distinct values; None where nothing is known about it."""
    kind = value_kind(values.type)
    words = tokens(name or "")
    if len(values) < 2 or len(values) > _MOST_LOOKED_AT:
        return None
    if kind == "number":
        return _number(words, values)
    return _text(words, texts(values).to_pylist()) if kind == "text" else None


def is_coded(name: str, values: pa.Array) -> Confidence | None:
    """Return how sure it is that whole numbers are codes for categories; None where they are quantities.

    >>> import pyarrow as pa
    >>> is_coded("admission_type_id", pa.array(range(1, 9))), is_coded("number_inpatient", pa.array(range(20)))
    ('high', None)
    """
    if not 1 < len(values) <= _MOST_CODES or not is_whole(values):
        return None
    low, high = pc.min(values).as_py(), pc.max(values).as_py()
    if low < -9 or high > _LARGEST_CODE * 10:
        return None
    words = tokens(name)
    if words and words_for("coded").fullmatch(words[-1]) and not speaks_of(words, "age"):
        return "high"
    if len(values) == 2 and high - low == 1:
        return "high"
    if speaks_of(words, "quantity") or len(values) > _FEW_CODES or high > _LARGEST_CODE:
        return None
    return "low"


def is_whole(values: pa.Array) -> bool:
    """Return whether numbers are whole, whatever their type.

    >>> import pyarrow as pa
    >>> is_whole(pa.array([1.0, 4.0])), is_whole(pa.array([1.5])), is_whole(pa.array(["1"]))
    (True, False, False)
    """
    if pa.types.is_floating(values.type):
        finite = values.filter(pc.is_finite(values))
        return len(finite) == len(values) and bool(
            pc.all(pc.equal(finite, pc.round(finite))).as_py() is not False
        )
    return bool(pa.types.is_integer(values.type))


@cache
def words_for(topic: str) -> re.Pattern[str]:
    """Return the words of column names that speak of a topic.

    >>> bool(words_for("unit").fullmatch("patients")), bool(words_for("key").fullmatch("age"))
    (True, False)
    """
    return re.compile("|".join(vocabulary("column_names")[topic]))


def speaks_of(words: list[str], topic: str) -> bool:
    """Return whether a word of a column's name speaks of a topic."""
    return any(map(words_for(topic).fullmatch, words))


def tokens(name: str) -> list[str]:
    """Split a column's name into words.

    >>> tokens("patientID_number"), tokens("Date of birth"), tokens("A1Cresult")
    (['patient', 'id', 'number'], ['date', 'of', 'birth'], ['a', 'cresult'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W\d_]+", spaced.casefold())


def names_units(name: str) -> bool:
    """Return whether the name of a column is that of a key of people, or of other units.

    >>> names_units("patient_nbr"), names_units("customer"), names_units("patient_name"), names_units("age")
    (True, True, False, False)
    """
    words = tokens(name)
    keyed = len(words) == 1 or speaks_of(words, "key")
    return speaks_of(words, "unit") and keyed and not any(word.endswith("name") for word in words)


def _number(words: list[str], values: pa.Array) -> Known | None:
    low, high = pc.min(values).as_py(), pc.max(values).as_py()
    if speaks_of(words, "age") and low >= 0 and high <= _OLDEST:
        return Known("ages", intervals(5, 10, 20, top=_TOP_AGE), "high")
    if tuple(words) in _BIRTH_YEAR and low >= 1850 and high <= 2100:
        return Known("years of birth", intervals(5, 10, 20), "high")
    integral = is_whole(values)
    if integral and speaks_of(words, "postal") and low >= 0:
        return Known("postal codes", masked().fixed(values), "high")
    if integral and words and words[-1] in ("month", "months", "monat") and low >= 1 and high <= 12:
        return Known("months", scale("months"), "high")
    return None


def _text(words: list[str], values: list[str]) -> Known | None:
    if _share(values, is_address) >= _MOSTLY:
        return Known("IP addresses", ip_addresses(), "high")
    if name := scale_of(values):
        what = "ordered bands" if name == "bands" else f"a scale ({name})"
        return Known(what, scale(name), "high")
    if (version := _icd_version(words, values)) is not None:
        return Known(f"ICD-{version} codes", icd(version), "high")
    if (system := _code_system(words, values)) is not None:
        return Known(_SYSTEMS[system], code_system(system), "high")
    if speaks_of(words, "postal") and _share(values, lambda value: any(map(str.isdigit, value))) >= _MOSTLY:
        return Known("postal codes", masked().fixed(pa.array(values, pa.string())), "high")
    return None


def _code_system(words: list[str], values: list[str]) -> str | None:
    """Return the code system of texts; two letters may stand for many things, so the column's name must speak of it.

    Without such a name, medicines are known by their whole codes, and states where nearly all of them occur.
    """
    for system, topic in (
        ("nuts", "nuts"),
        ("us-states", "state"),
        ("countries", "country"),
        ("atc", "medicine"),
    ):
        if (
            speaks_of(words, topic)
            and _share(values, lambda value, s=system: is_code_of(value, s)) >= _MOSTLY
        ):
            return system
    if len(values) >= _MANY_CODES:
        if _share(values, lambda value: len(value) == _WHOLE_ATC and is_code_of(value, "atc")) >= _MOSTLY:
            return "atc"
        if (
            len(values) >= _MOST_STATES
            and _share(values, lambda value: is_code_of(value, "us-states")) >= _MOSTLY
        ):
            return "us-states"
    return None


def _icd_version(words: list[str], values: list[str]) -> int | None:
    """Return the version of diagnosis codes; without a name that speaks of them, letters and dots must."""
    named = speaks_of(words, "diagnosis")
    ninth, tenth = (_share(values, lambda value, v=version: is_code(value, v)) for version in (9, 10))
    dotted = sum("." in value for value in values) / len(values)
    if tenth >= _MOSTLY and tenth >= ninth and (named or (dotted > 0.5 and len(values) >= 5)):
        return 10
    return 9 if ninth >= _MOSTLY and named else None


def _share(values: list[str], fits: object) -> float:
    return sum(bool(fits(value)) for value in values) / len(values)  # type: ignore[operator]
