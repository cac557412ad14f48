"""HIPAA's Safe Harbor method (45 CFR 164.514(b)(2)): which of the eighteen identifiers columns still hold."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.engine import Facts, engine_of
from discreet.core.errors import InputError
from discreet.core.hierarchy.knowledge import names_units, speaks_of, tokens
from discreet.core.identifiers import DIRECT, LETTERS, identifiers_in, named_letter
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.core.tables.labels import Any_, SetOf, parse_label, texts
from discreet.measure.dates import YEARS, ages_why, dates_why, fineness_of
from discreet.measure.spelling import LIKELY, text_frames

FEWEST_PEOPLE = 20_000
_FEW, _UNIQUE, _MOSTLY = 20, 0.9, 0.9
_CALENDAR = (YEARS[1] - YEARS[0]) * 10_000
"""How far apart whole numbers such as 20240501 are at most that are days of these years."""
_ALWAYS = "ADEFGPQ"
_LISTS = (["item"], ["label"])
"""Items of baskets and labels of cells: each stands once in a list, so that none is anybody's own."""
_BORN = {"birth", "birthdate", "birthday", "born", "yob", "dob"}
_PARTS_OF_YEARS = {"month", "weekday", "quarter"}
_ZIP = re.compile(r"(\d{0,5})(?:-\d{4})?[*xX]*")
ACTUAL_KNOWLEDGE = (
    "Safe Harbor also requires that you have no actual knowledge that the information could be used, alone or with "
    "other information, to identify an individual. No program can judge that."
)
NO_POPULATIONS = (
    "its first three digits may stay only where more than 20,000 people live: name a file of populations"
)


@dataclass(frozen=True)
class SafeHarborFinding:
    """An identifier that a column holds, or may hold: its letter in the rule, and why; it names no value.

    ``is_sure`` is False where the data alone cannot settle it.
    """

    letter: str
    column: str
    why: str
    is_sure: bool = True

    def __str__(self) -> str:
        return f"({self.letter}) {LETTERS[self.letter]}: column '{self.column}': {self.why}"


@public
@dataclass(frozen=True)
class SafeHarbor:
    """What the columns of data still hold of the eighteen identifiers.

    Attributes
    ----------
    findings
        The identifiers, by column.
    allowed
        The columns that were not judged, because they were allowed.
    n_columns
        How many columns were looked at.
    """

    findings: tuple[SafeHarborFinding, ...]
    allowed: tuple[str, ...]
    n_columns: int

    @property
    def ok(self) -> bool:
        """Whether none of the eighteen was found, and nothing is left open."""
        return not self.findings

    @property
    def word(self) -> str:
        """The judgment in a word: met, open or not met."""
        if self.ok:
            return "met"
        return "not met" if any(finding.is_sure for finding in self.findings) else "open"

    def to_dict(self) -> dict[str, Any]:
        """Return the judgment as plain data for JSON."""
        findings = [asdict(finding) | {"identifier": LETTERS[finding.letter]} for finding in self.findings]
        return {
            "safe_harbor": self.word,
            "columns": self.n_columns,
            "findings": findings,
            "allowed": list(self.allowed),
        }


@public
def safe_harbor(
    data: Any,
    *,
    zip3_populations: Any = None,
    allow: Collection[str] = (),
    year: int | None = None,
) -> SafeHarbor:
    """Look for the eighteen identifiers of HIPAA's Safe Harbor method in the names and values of all columns.

    Columns are judged as they lie there, whatever their role: labels of groups, masked codes and intervals too. Free
    text is a finding by itself, since names in it cannot be excluded.

    Parameters
    ----------
    data
        A frame, a `Table`, a release or its data.
    zip3_populations
        A frame whose first column holds ZIP codes, of three or five digits, and whose last one people. The first three
        digits of a ZIP code may stay where more than 20,000 people live; without it they are left open.
    allow
        Columns that are not judged.
    year
        The year in which ages are counted; this year by default.

    Examples
    --------
    >>> import pyarrow as pa
    >>> judged = safe_harbor(pa.table({"age": [34, 91], "zip": ["021**", "024**"], "disease": ["flu", "cold"]}))
    >>> judged.word, [(each.letter, each.column, each.is_sure) for each in judged.findings]
    ('not met', [('C', 'age', True), ('B', 'zip', False)])
    """
    require("safe_harbor", "year", year, InstanceOf((int, type(None)), "None or a year"))
    look = _Look(
        None if zip3_populations is None else _populations(zip3_populations),
        _pseudonyms(data),
        dt.datetime.now(dt.UTC).year if year is None else year,
    )
    findings: list[SafeHarborFinding] = []
    allowed, n_columns = [], 0
    for frame in text_frames(data.source.rows if hasattr(data, "source") else data):
        engine = engine_of(frame)
        likely = {facts.name: texts for facts, texts in engine.matching_texts(frame, LIKELY)}
        columns = engine.facts(frame)
        is_list = frame is not data and [facts.name for facts in columns] in _LISTS
        for facts in columns:
            n_columns += 1
            if facts.name in allow:
                allowed.append(facts.name)
            elif facts.n_known:
                judged = look.at(facts, likely.get(facts.name), _values_of(frame, facts.name))
                findings += [finding for finding in judged if not (is_list and finding.letter == "R")]
    return SafeHarbor(tuple(findings), tuple(allowed), n_columns)


def _pseudonyms(data: Any) -> frozenset[str]:
    """Return the columns of a release that hold pseudonyms, which are derived from identifiers."""
    entries = data.recipe.get("columns", ()) if isinstance(data, Release) else ()
    return frozenset(entry["name"] for entry in entries if entry.get("pseudonym"))


def _values_of(frame: Any, name: str) -> Callable[[], pa.Array]:
    return lambda: engine_of(frame).value_counts(frame, name)[0]


@dataclass(frozen=True, repr=False)
class _Look:
    """What a column is judged by beside its name and values."""

    populations: Mapping[str, int] | None
    pseudonyms: frozenset[str]
    year: int

    def at(
        self, facts: Facts, likely: pa.Array | None, values: Callable[[], pa.Array]
    ) -> Iterator[SafeHarborFinding]:
        """Find the identifiers of one column; the first that its name and values show, and all in its texts."""
        of_texts = [] if likely is None else list(identifiers_in(likely))
        for pattern, n in of_texts:
            yield SafeHarborFinding(
                pattern.letter, facts.name, f"{n:,} of its different values hold {pattern.noun}"
            )
        if facts.is_free_text:
            yield SafeHarborFinding("A", facts.name, "it is free text, in which names cannot be excluded")
            return
        if facts.type == "nested":
            yield SafeHarborFinding("R", facts.name, "nested values or bytes cannot be judged", is_sure=False)
            return
        is_postal = speaks_of(tokens(facts.name), "postal")
        finding = (
            self._zip_codes(facts.name, _shown(values()), is_number=facts.is_number)
            if is_postal
            else self._by_values_or_name(facts, values)
        )
        if finding is not None and finding.letter not in {pattern.letter for pattern, _ in of_texts}:
            yield finding

    def _by_values_or_name(self, facts: Facts, values: Callable[[], pa.Array]) -> SafeHarborFinding | None:
        """Find what the values show; what they leave open, the name may settle."""
        by_values = self._by_values(facts, values)
        if by_values is not None and by_values.is_sure:
            return by_values
        return self._by_name(facts, values) or by_values

    def _by_values(self, facts: Facts, values: Callable[[], pa.Array]) -> SafeHarborFinding | None:
        """Judge ages and dates by their values, whatever else their names speak of."""
        words = tokens(facts.name)
        is_dated = facts.type == "date" or named_letter(facts.name) == "C"
        is_short = facts.is_text and facts.length <= 2 * len("[2020-01-01, 2020-12-31]")
        is_near = facts.is_whole and facts.span is not None and facts.span <= _CALENDAR
        if not (is_dated or is_short or is_near):
            return None
        labels = _shown(values())
        if not is_dated:
            days = sum(fineness_of(text, is_dated=False) == "finer" for text in labels)
            is_sure = days >= _MOSTLY * len(labels)
            if not days or (is_near and not is_sure):
                return None
            why = (
                f"{days:,} of its different values {'are' if is_sure else 'may hold'} dates finer than a year"
            )
            return SafeHarborFinding("C", facts.name, why, is_sure)
        if speaks_of(words, "age"):
            judged = ages_why(labels)
        else:
            judged = dates_why(labels, year=self.year, is_birth=bool(_BORN & {*words}))
            if labels and _PARTS_OF_YEARS & {*words} and not (judged and judged[1]):
                judged = "its name is that of a part of a year", True
        return None if judged is None else SafeHarborFinding("C", facts.name, *judged)

    def _by_name(self, facts: Facts, values: Callable[[], pa.Array]) -> SafeHarborFinding | None:
        """Judge a column by what it is called, and by whether nearly every row has a value of its own."""
        letter = named_letter(facts.name)
        many = facts.n_distinct > _FEW or facts.uniqueness > _UNIQUE
        if facts.name in self.pseudonyms:
            return SafeHarborFinding("R", facts.name, "pseudonyms that are derived from an identifier")
        if letter == "B" or (letter is not None and letter in DIRECT and (letter in _ALWAYS or many)):
            return SafeHarborFinding(letter, facts.name, "its name says so") if _shown(values()) else None
        perhaps = next((each for each in "BPQ" if speaks_of(tokens(facts.name), f"perhaps-{each}")), None)
        if perhaps is not None and _shown(values()):
            return SafeHarborFinding(perhaps, facts.name, "its name may say so", is_sure=False)
        if names_units(facts.name) and many:
            return SafeHarborFinding("R", facts.name, "its name is that of a key of people or other units")
        is_own = facts.uniqueness > _UNIQUE and facts.n_known > _FEW
        if is_own and (facts.is_text or facts.is_whole or facts.type == "uuid"):
            return SafeHarborFinding("R", facts.name, "nearly every row has a value of its own")
        return None

    def _zip_codes(self, name: str, labels: Sequence[str], *, is_number: bool) -> SafeHarborFinding | None:
        """Judge ZIP codes: three digits at most, and those only where more than 20,000 people live.

        Numbers have lost the zeros that they began with.
        """
        wide = 0 if not is_number else 3 if max(map(len, labels), default=0) <= 3 else 5
        prefixes = [_prefix(code.zfill(wide)) for text in labels for code in _codes(text)]
        fine = sum(prefix is None or len(prefix) > 3 for prefix in prefixes)
        if fine:
            return SafeHarborFinding(
                "B", name, f"{fine:,} of its different values are finer than the first three digits"
            )
        # 000 is what the rule writes where few people live.
        digits = {
            prefix for prefix in prefixes if prefix is not None and len(prefix) == 3 and prefix != "000"
        }
        if digits and self.populations is None:
            return SafeHarborFinding("B", name, NO_POPULATIONS, is_sure=False)
        few = sum((self.populations or {}).get(prefix, 0) <= FEWEST_PEOPLE for prefix in digits)
        if few:
            why = f"{few:,} of {len(digits):,} areas of three digits have 20,000 people or fewer, or are not listed"
            return SafeHarborFinding("B", name, why)
        return None


def _shown(values: pa.Array) -> list[str]:
    """Return the texts that say anything: no stars and no empty ones."""
    written = texts(values).to_pylist()
    return [text for text in written if text.strip() and not isinstance(parse_label(text), Any_)]


def _codes(text: str) -> tuple[str, ...]:
    label = parse_label(text)
    return label.items if isinstance(label, SetOf) else (text,)


def _prefix(code: str) -> str | None:
    """Return the digits of a ZIP code that are there; None where it is not written as one."""
    match = _ZIP.fullmatch(code.strip().removesuffix(".0"))
    return None if match is None else match[1]


def _populations(frame: Any) -> dict[str, int]:
    """Add up people by the first three digits of ZIP codes."""
    rows = engine_of(frame).arrow(frame)
    if rows.num_columns < 2 or not rows.num_rows:
        raise InputError("A file of populations has ZIP codes in its first column, and people in its last.")
    codes = texts(rows.column(0).combine_chunks()).to_pylist()
    wide = 5 if any(code is not None and len(code) > 3 for code in codes) else 3
    people: dict[str, int] = {}
    try:
        for code, n in zip(codes, rows.column(rows.num_columns - 1).to_pylist(), strict=True):
            three = str(code).zfill(wide)[:3]
            people[three] = people.get(three, 0) + int(n or 0)
    except (TypeError, ValueError):
        raise InputError("The last column of a file of populations must hold whole numbers.") from None
    if not all(three.isdigit() for three in people):
        raise InputError(
            "The first column of a file of populations must hold ZIP codes of three or five digits."
        )
    return people
