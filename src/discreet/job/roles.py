"""Roles: what the name and the counts of a column suggest about what it could do to a person."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.engine import Facts
from discreet.core.hierarchy.bound import HierarchySpec
from discreet.core.hierarchy.knowledge import Confidence, names_units, tokens, words_for
from discreet.core.identifiers import DIRECT
from discreet.core.schema import Role

_SENSITIVE = re.compile(
    "diseases?|diagnos[ie]s|diag|dx|icd|conditions?|illness|disorder|symptoms?|treatments?|medications?|meds?|drugs?"
    "|dose|dosage|therap(y|ies)|prescriptions?|surgery|allerg(y|ies)|hiv|cancer|insulin|glucose|glu|serum|cresult"
    "|cholesterol|hba|readmitted|readmission|outcome|genotype|mutation|pregnan(t|cy)|psychiatric|addiction|smoker"
    "|salary|wages?|income|earnings|pay|debt|loan|credit|bankruptcy|religion|faith|belief|politics|party|vote"
    "|orientation|disability|crime|offen[cs]e|conviction|verdict"
)
_NAMES = re.compile(
    "|".join(["address", "street", *(words_for(f"safe-harbor-{each}").pattern for each in DIRECT)])
)
_KNOWN = re.compile(
    "age|sex|gender|race|ethnicity|birth|birthdate|dob|born|yob|zip|zipcode|postcode|postal|plz|city|town|village"
    "|county|state|region|country|district|nationality|citizenship|origin|marital|education|degree|occupation|job"
    "|profession|employer|workclass|industry|household|children|family|relationship|language|height|weight|date"
    "|admission|discharge|ip|latitude|longitude|location|residence|hospital|ward|school"
)
_LABELS = re.compile("class|target|label|outcome|response|y")
_COUNTING = re.compile("num|number|n|nbr|count|total|times")
KEYS, UNITS, CODED, QUANTITY = map(words_for, ("key", "unit", "coded", "quantity"))
_HEADINGS = (_SENSITIVE, _NAMES, _KNOWN, _LABELS, _COUNTING, KEYS, UNITS, CODED, QUANTITY)
"""Words that name columns."""
_OFTEN_REPEATED = 10
_MOST_NAMED = 20
_UNIQUE = 0.9
_MANY = 0.5
_EMPTY = 0.9
_MOST_CODES = 200
_OFTEN_OWN = 0.2
_LARGEST_BLOCK_SET = 6
_SMALLEST_BLOCK = 5


@dataclass(frozen=True)
class Proposal:
    """A role for one column, why and how surely, and how to generalize it.

    ``person`` marks the column that says whose row it is. ``cautious`` marks a quasi-identifier that is one only
    because nothing better is known. ``block`` marks one of many columns with the same few values, ``surplus`` one that
    is dropped only because there are too many. ``file`` is the hierarchy file to be used, ``written`` whether it is one
    that the proposal comes with. ``effective`` is the number of values that the entropy of a column stands for.
    """

    facts: Facts
    role: Role
    reason: str
    warning: str | None = None
    hierarchy: HierarchySpec | None = None
    confidence: Confidence = "medium"
    person: bool = False
    cautious: bool = False
    block: bool = False
    surplus: bool = False
    file: Path | None = None
    written: bool = False
    effective: float | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.facts.name


def role_of(facts: Facts) -> Proposal:
    """Propose a role for a column; what is not clearly anything else is a quasi-identifier, the safe reading."""
    words = tokens(facts.name)
    if facts.type == "nested":
        return Proposal(facts, Role.IDENTIFIER, "nested values or bytes: never published", confidence="high")
    if facts.n_distinct + bool(facts.n_missing) <= 1:
        return Proposal(facts, Role.OTHER, "the same in every row", confidence="high")
    counting = bool(words) and bool(_COUNTING.fullmatch(words[0])) and facts.is_number
    if is_person(facts):
        reason = f"it looks like a person's id: {facts.n_distinct:,} values in {facts.n_known:,} rows"
        return Proposal(facts, Role.PERSON, reason, confidence="high", person=True)
    if not counting and any(map(_SENSITIVE.fullmatch, words)):
        return Proposal(facts, Role.SENSITIVE, "its name sounds sensitive", confidence="high")
    return _identifier(facts, words) or _quasi(facts, words)


def may_be_records(facts: Sequence[Facts]) -> bool:
    """Return whether nothing tells the names of columns from values, so that the first line of a file may be a record.

    Names above numbers or dates are names, since a first line with a number is no header. So are names above texts of
    which each comes again and again, where a record's own would too. Otherwise half of them must be words that name
    columns.
    """
    if any(not word.is_text or word.n_distinct * _OFTEN_REPEATED <= word.n_known for word in facts):
        return False
    n_recognized = sum(
        any(word.fullmatch(token) for token in tokens(word.name) for word in _HEADINGS) for word in facts
    )
    return 2 * n_recognized < len(facts)


def is_person(facts: Facts) -> bool:
    """Return whether a column looks like the id of a person, or of another unit, that has several rows."""
    word = facts.is_whole or facts.is_text or facts.type == "uuid"
    repeated = facts.n_distinct < 0.98 * facts.n_known
    return (
        names_units(facts.name) and word and repeated and facts.n_distinct > _MOST_NAMED and facts.words < 1
    )


def is_label(facts: Facts) -> bool:
    """Return whether a column looks like the class that a table is about."""
    words = tokens(facts.name)
    return len(words) == 1 and bool(_LABELS.fullmatch(words[0])) and facts.n_distinct <= _MOST_NAMED


def blocks(proposals: Sequence[Proposal], values: Mapping[str, frozenset[Any]]) -> list[Proposal]:
    """Mark many columns with the same few values, such as answers or drugs; beside a diagnosis they are sensitive."""
    open_ones = [
        word.name for word in proposals if word.role is Role.QUASI and word.cautious and word.name in values
    ]
    widest = sorted((values[name] for name in open_ones), key=len, reverse=True)
    for shared in dict.fromkeys(widest):
        inside = {name for name in open_ones if values[name] <= shared}
        if len(inside) >= _SMALLEST_BLOCK:
            medical = any(word.role is Role.SENSITIVE for word in proposals)
            return [
                _blocked(word, len(inside), medical=medical) if word.name in inside else word
                for word in proposals
            ]
    return list(proposals)


def few_values(proposals: Sequence[Proposal]) -> list[str]:
    """Return the columns whose values could make them part of a block."""
    return [
        value.name
        for value in proposals
        if value.cautious and value.facts.is_text and value.facts.n_distinct <= _LARGEST_BLOCK_SET
    ]


def _blocked(proposal: Proposal, size: int, *, medical: bool) -> Proposal:
    reason = f"one of {size} columns with the same few values"
    if not medical:
        return replace(proposal, reason=reason, block=True, confidence="low")
    return replace(
        proposal, role=Role.SENSITIVE, reason=f"{reason}, beside a sensitive column", block=True,
        cautious=False, confidence="low",
    )  # fmt: skip


def _identifier(facts: Facts, words: Sequence[str]) -> Proposal | None:
    many = facts.n_distinct > _MOST_NAMED or (facts.uniqueness > _UNIQUE and facts.n_rows > 1)
    if facts.missing > _EMPTY:
        reason = f"{facts.missing:.0%} missing: a value that is there stands out"
        return Proposal(facts, Role.DROP, reason, confidence="medium")
    if not many or "ip" in words:
        return None
    if any(map(_NAMES.fullmatch, words)):
        reason = "its name sounds like one, and it has many values"
        return Proposal(facts, Role.IDENTIFIER, reason, confidence="high")
    keyed = bool(words) and bool(KEYS.fullmatch(words[-1])) and not _COUNTING.fullmatch(words[0])
    keyed = (keyed and not any(map(_KNOWN.fullmatch, words))) or any(map(UNITS.fullmatch, words))
    if keyed and (facts.n_distinct > _MOST_CODES or facts.uniqueness > _OFTEN_OWN):
        if facts.uniqueness > _UNIQUE:
            return Proposal(facts, Role.IDENTIFIER, "a key: almost every row has its own", confidence="high")
        return Proposal(
            facts, Role.IDENTIFIER, "a key with many values", "its values repeat; if it says whose row it is, "
            "people should be counted by it", confidence="low",
        )  # fmt: skip
    if facts.is_wordy:
        warning = "it looks like free text, which often names people; it will be dropped"
        return Proposal(facts, Role.IDENTIFIER, "free text", warning)
    if facts.is_numbered or ((facts.is_text or facts.type == "uuid") and facts.uniqueness > _UNIQUE):
        return Proposal(facts, Role.IDENTIFIER, "almost every row has a value of its own", confidence="high")
    if facts.is_text and facts.uniqueness > _MANY:
        warning = "most of its values occur once; it will be dropped"
        return Proposal(facts, Role.IDENTIFIER, "most rows have a value of their own", warning)
    return None


def _quasi(facts: Facts, words: Sequence[str]) -> Proposal:
    if any(map(_KNOWN.fullmatch, words)) or facts.type == "date":
        return Proposal(facts, Role.QUASI, "others may know it", confidence="high")
    return Proposal(
        facts, Role.QUASI, "others may know it; taken so to be safe", confidence="low", cautious=True
    )
