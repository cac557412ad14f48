"""Proposals: look at a table and propose a role and a hierarchy for every column. A start, never a decision."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.errors import DiscreetError
from discreet.core.hierarchy.specs import HierarchySpec, Rows, suggest
from discreet.core.schema import Role
from discreet.engines.duckdb.connection import identifier
from discreet.engines.files import describe

if TYPE_CHECKING:
    import duckdb

_SENSITIVE = re.compile(
    "disease|diagnos[ie]s|diag|icd|condition|illness|disorder|symptom|treatment|medication|drug|therapy|prescription"
    "|hiv|cancer|salary|wage|income|earnings|pay|debt|loan|religion|faith|belief|politics|party|vote|orientation"
    "|disability|crime|offen[cs]e|conviction|verdict"
)
_NAMING = re.compile(
    "ids?|identifier|uuid|guid|ssn|nin|name|surname|firstname|lastname|fullname|forename|e?mail|phone|mobile"
    "|telephone|fax|passport|licen[cs]e|account|iban|card|mrn|nhs|insurance|ip|mac|address|street|username|user"
    "|login|url|plate|serial|record|patient"
)
_EXACT_ROWS = 1_000_000
_MOST_VALUES = 20_000
_MOST_CATEGORIES = 20
_MOST_NAMED = 20
_UNIQUE = 0.9
_MANY = 0.5
_LONG_TEXT = 40
_WORDY = 3


@dataclass(frozen=True)
class Facts:
    """What can be said about a column without showing any of it."""

    name: str
    type: str
    n_rows: int
    n_missing: int
    n_distinct: int
    length: float = 0.0
    words: float = 0.0
    span: float | None = None

    @property
    def is_text(self) -> bool:
        """Whether the column holds text."""
        return self.type == "VARCHAR"

    @property
    def uniqueness(self) -> float:
        """The share of different values among those that are there."""
        return self.n_distinct / max(self.n_rows - self.n_missing, 1)

    @property
    def is_numbered(self) -> bool:
        """Whether the column counts the rows: whole numbers, all different, with hardly a gap."""
        whole = self.type in ("BIGINT", "INTEGER", "UBIGINT", "UINTEGER", "HUGEINT")
        return whole and self.uniqueness > _UNIQUE and self.span is not None and self.span < 2 * self.n_rows


@dataclass(frozen=True)
class Proposal:
    """A role for one column, why, and how to generalize it."""

    facts: Facts
    role: Role
    reason: str
    warning: str | None = None
    hierarchy: HierarchySpec | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.facts.name


def propose(relation: duckdb.DuckDBPyRelation) -> list[Proposal]:
    """Propose a role, and for quasi-identifiers a hierarchy, for every column of a table."""
    proposals = [role_of(facts) for facts in look(relation)]
    if not any(one.role is Role.QUASI for one in proposals):
        proposals = _with_some_quasi(proposals)
    return [_with_hierarchy(one, relation) for one in proposals]


def look(relation: duckdb.DuckDBPyRelation) -> list[Facts]:
    """Count what can be said about each column, in one pass."""
    columns = describe(relation)
    (n_rows,) = relation.aggregate("count(*)").fetchall()[0]
    asked = [
        part
        for name, type_ in columns
        for part in _questions(identifier(name), type_, exact=n_rows <= _EXACT_ROWS)
    ]
    found = relation.aggregate(", ".join(asked)).fetchall()[0]
    return [
        Facts(name, type_, n_rows, n_rows - answers[0], answers[1], *answers[2:])
        for (name, type_), answers in zip(columns, zip(*[iter(found)] * 5, strict=True), strict=True)
    ]


def _questions(column: str, type_: str, *, exact: bool) -> list[str]:
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    text = ["0.0", "0.0"]
    span = "NULL"
    if type_ == "VARCHAR":
        text = [
            f"coalesce(avg(length({column})), 0)",
            f"coalesce(avg(length({column}) - length(replace({column}, ' ', ''))), 0)",
        ]
    elif type_.endswith(("INT", "INTEGER")):
        span = f"max({column})::DOUBLE - min({column})::DOUBLE"
    return [f"count({column})", distinct, *text, span]


def role_of(facts: Facts) -> Proposal:
    """Propose a role for a column; what is not clearly anything else is a quasi-identifier, the safe reading."""
    words = _tokens(facts.name)
    many = facts.n_distinct > _MOST_NAMED or (facts.uniqueness > _UNIQUE and facts.n_rows > 1)
    if facts.n_distinct <= 1:
        return Proposal(facts, Role.OTHER, "the same in every row")
    if any(map(_SENSITIVE.fullmatch, words)):
        return Proposal(facts, Role.SENSITIVE, "its name sounds sensitive")
    if many and any(map(_NAMING.fullmatch, words)):
        return Proposal(facts, Role.IDENTIFIER, "its name sounds like one, and it has many values")
    if facts.is_text and (facts.length > _LONG_TEXT or facts.words >= _WORDY) and many:
        return Proposal(
            facts,
            Role.IDENTIFIER,
            "free text",
            "it looks like free text, which often names people; it will be dropped",
        )
    if facts.is_numbered or ((facts.is_text or facts.type == "UUID") and facts.uniqueness > _UNIQUE and many):
        return Proposal(facts, Role.IDENTIFIER, "almost every row has a value of its own")
    if facts.is_text and facts.uniqueness > _MANY and many:
        return Proposal(
            facts,
            Role.IDENTIFIER,
            "most rows have a value of their own",
            "most of its values occur once; it will be dropped",
        )
    return Proposal(facts, Role.QUASI, "others may know it")


def _tokens(name: str) -> list[str]:
    """Split a column's name into words.

    >>> _tokens("patientID_number"), _tokens("Date of birth")
    (['patient', 'id', 'number'], ['date', 'of', 'birth'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W\d_]+", spaced.casefold())


def _with_some_quasi(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Make the least telling column a quasi-identifier, since a table without any cannot be protected."""
    open_ones = [one for one in proposals if one.role is not Role.SENSITIVE] or list(proposals)
    chosen = min(open_ones, key=lambda one: one.facts.n_distinct)
    warning = "no column looked like a quasi-identifier, and one is needed; please look again"
    return [
        Proposal(one.facts, Role.QUASI, "one is needed", warning) if one is chosen else one
        for one in proposals
    ]


def _with_hierarchy(proposal: Proposal, relation: duckdb.DuckDBPyRelation) -> Proposal:
    if proposal.role is not Role.QUASI or not 1 < proposal.facts.n_distinct <= _MOST_VALUES:
        return proposal
    spec = _suggested(proposal.facts, relation)
    return Proposal(proposal.facts, proposal.role, proposal.reason, proposal.warning, spec)


def _suggested(facts: Facts, relation: duckdb.DuckDBPyRelation) -> HierarchySpec | None:
    column = identifier(facts.name)
    counted = relation.aggregate(f"{column} AS value, count(*)::BIGINT AS rows", column).to_arrow_table()
    values: Any = counted["value"].combine_chunks()
    numeric = not facts.is_text and facts.type != "BOOLEAN" and not facts.type.startswith(("DATE", "TIME"))
    try:
        spec = suggest(values, counts=counted["rows"].to_numpy(), method="equal-width" if numeric else None)
    except DiscreetError:
        return None
    return None if isinstance(spec, Rows) and facts.n_distinct > _MOST_CATEGORIES else spec
