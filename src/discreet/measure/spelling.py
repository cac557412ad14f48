"""What a data officer would say of published text: look-alikes, formulas, what names people, all cautions."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.adapters import KIND_OF, load
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.boundary import public
from discreet.core.engine import Facts, engine_of
from discreet.core.figures import Caution
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.labels import value_kind
from discreet.core.tables.publication import formula_cells, matching_values

_BUT_FOR = "but for case, blanks, forms of letters or invisible characters"
LIKELY = (
    r"@|://|[Ww]{3}\.|\+[1-9]|[0-9][ ()./:-]+[0-9]+[ ()./:-]+[0-9]|([0-9][ -]?){12}[0-9]|:[0-9A-Fa-f]{0,4}:"
    r"|[-:][0-9A-Fa-f]{2}[-:]|[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}|[A-Za-z][^A-Za-z0-9]{0,4}[0-9]{4}"
    r"|([Tt][Ee][Ll]|[Pp][Hh][Oo][Nn][Ee]|[Ff][Aa][Xx]|[Mm][Oo][Bb][Ii][Ll][Ee])[A-Za-z]*[.:]{0,2} ?[+(]?[0-9]"
)
"""What every text with an identifier has: one pass leaves out nearly all others. PostgreSQL reads it too."""
_MANY_NAMED = 20
_WAYS_OUT = "Drop the column, or take out what names people."
_MOST_VALUES = 100_000
"""A column of more different texts is no list of categories, and is not looked through."""
_IGNORED = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0") | set(
    map(chr, range(0xFE00, 0xFE10))
)
"""Characters that are not shown although they are neither format nor control characters."""


def spelling(name: str) -> str:
    r"""Return what is left of a name without case, blanks, forms of letters and invisible characters.

    >>> {spelling(name) for name in ("HIV", "hiv ", "H\u200bIV", "\uff28\uff29\uff36")}
    {'hiv'}
    """
    if not (name.isascii() and name.isprintable()):
        name = unicodedata.normalize("NFKC", "".join(filter(_is_visible, name)))
        # Once more: folding case may leave forms of letters that are one.
        name = unicodedata.normalize("NFKC", name.casefold())
    return "".join(name.casefold().split())


def _is_visible(char: str) -> bool:
    return char.isspace() or not (char in _IGNORED or unicodedata.category(char) in ("Cc", "Cf"))


def twins_of_sensitive(data: GroupedBaskets) -> Iterator[Caution]:
    """Count the items of grouped baskets that are spelled like a sensitive one, without naming any."""
    secret = Counter(map(spelling, _held(data.sensitive_names, np.unique(data.sensitive.values))))
    ordinary = _held(data.baskets.names, np.flatnonzero(data.baskets.counts))
    n_twins = sum(spelling(name) in secret for name in ordinary) if secret else 0
    if n_twins:
        yield Caution(
            "spelled-like-sensitive",
            f"{n_twins:,} ordinary items are spelled like a sensitive one {_BUT_FOR}, and they are published exactly. "
            "Where they mean the same, spell them alike in the data, or add them to the sensitive items.",
        )
    alike = sum(count for count in secret.values() if count > 1)
    if alike:
        yield Caution(
            "sensitive-spelled-alike",
            f"{alike:,} sensitive items are spelled like another one {_BUT_FOR}. The guarantee takes them for "
            "different items, so where they mean the same a person is tied to it with more than the guaranteed "
            "probability. Spell them alike in the data.",
        )


def twins_of_values(release: Release) -> Iterator[Caution]:
    """Count the sensitive values of a table that are spelled like another one of their column, without naming any."""
    for name, values in _sensitive_texts(release):
        spellings = Counter(map(spelling, values)) if len(values) <= _MOST_VALUES else Counter()
        alike = sum(count for count in spellings.values() if count > 1)
        if alike:
            yield Caution(
                "sensitive-spelled-alike",
                f"{alike:,} values of '{name}' are spelled like another one {_BUT_FOR}. Guarantees take them for "
                "different values, so where they mean the same, a class that seems diverse may not be. Spell them "
                "alike in the data.",
            )


def _sensitive_texts(release: Release) -> Iterator[tuple[str, list[str]]]:
    """Return the different texts of each sensitive column, or of the counts that are published in its place."""
    if isinstance(release.data, GroupedTable):
        name = release.data.counts.column_names[1]
        columns = {name: pc.unique(release.data.counts[name])}
    else:
        columns = {name: release.table.encoded[name].values for name in release.schema.sensitive}
    for name, values in columns.items():
        if value_kind(values.type) == "text":
            yield name, values.drop_null().to_pylist()


def twins_of_rules(release: Release) -> Iterator[Caution]:
    """Count the items of a release that are spelled like one of a hidden rule; which rules there are is private.

    Where the release was read without its owner's folder they are not known.
    """
    guarantee: Any = release.guarantee
    if not hasattr(guarantee, "rules"):
        return
    data = release.data
    baskets: Baskets = data if isinstance(data, Baskets) else guarantee.reading.baskets(release.table)
    named = {str(name) for rule in guarantee.rules for name in rule.items}
    secret = set(map(spelling, named))
    items = _held(baskets.names, np.flatnonzero(baskets.counts))
    n_twins = sum(spelling(name) in secret and name not in named for name in items)
    if n_twins:
        yield Caution(
            "spelled-like-rules",
            f"{n_twins:,} items are spelled like one of a sensitive rule {_BUT_FOR}, and no rule names them: the same "
            "may still be found by them. Where they mean the same, spell them alike in the data, or name rules with "
            "them too.",
            public=False,
        )


def _held(names: pa.Array, held: Any) -> Iterable[str]:
    """Return the names of items that somebody has; whole numbers are written in one way only."""
    if pa.types.is_integer(names.type):
        return ()
    found: list[str] = names.take(pa.array(held)).to_pylist()
    return found


def published_formulas(published: Any, judged: Mapping[str, tuple[pa.Array, Any]] | None = None) -> int:
    """Count the cells, items and names of columns in published data that a spreadsheet would run.

    Everything that leaves is counted here: releases, frames and baskets. An item counts once, however many baskets
    hold it. ``judged`` holds values and counts of columns that need not be read again, null first.

    >>> published_formulas(Baskets.from_lists([["=1+1", "milk"], ["=1+1"], ["-5"]]))
    1
    """
    return sum(formula_cells(frame, judged or {}) for frame in text_frames(published))


def formula_cautions(
    *published: Any, judged: Mapping[str, tuple[pa.Array, Any]] | None = None
) -> tuple[Caution, ...]:
    """Return what to say of published data that a spreadsheet would run; nothing where there is none."""
    n_formulas = sum(published_formulas(data, judged) for data in published)
    if not n_formulas:
        return ()
    return (
        Caution(
            "formula-cells",
            f"{n_formulas:,} cells, items or names of columns start as a formula of a spreadsheet does, and would be "
            "run by one. A spreadsheet-safe release puts an apostrophe before cells and items; columns are to be "
            "renamed.",
        ),
    )


@dataclass(frozen=True)
class FoundIdentifiers:
    """What names people in the texts of one published column.

    Attributes
    ----------
    column
        The column; ``item`` and ``label`` stand for the items of baskets and the labels of cells.
    counts
        How many different values hold an identifier, by what it is.
    is_free
        Whether the column is free text.
    named
        What the column is named after, if it has many values and is published exactly; only a caution.
    """

    column: str
    counts: dict[str, int]
    is_free: bool
    named: str = ""

    @property
    def code(self) -> str:
        """The code of the caution; what is only named after an identifier is not refused."""
        return "direct-identifier" if self.counts else "free-text" if self.is_free else "named-identifier"

    def __str__(self) -> str:
        listed = ", ".join(f"{noun} in {n:,}" for noun, n in self.counts.items())
        parts = [f"holds {listed} of its different values"] if listed else []
        if self.is_free:
            parts.append("is free text, which often names people, places and days that no pattern finds")
        return f"Column '{self.column}' {' and '.join(parts) or f'is called as if it held {self.named}'}"


def found_identifiers(*published: Any, exact: Collection[str] | None = None) -> tuple[FoundIdentifiers, ...]:
    """Look for direct identifiers in every text of published data.

    Parameters
    ----------
    published
        Frames, baskets or releases.
    exact
        The columns that may be free text; None takes all. Labels of groups are not.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found_identifiers(pa.table({"contact": ["a@b.org", "none", "c@d.org"]}))[0].counts
    {'e-mail addresses': 2}
    """
    frames = [frame for data in published for frame in text_frames(data)]
    return tuple(
        _identifiers(
            (each for frame in frames for each in engine_of(frame).matching_texts(frame, LIKELY)), exact
        )
    )


def _identifiers(
    columns: Iterable[tuple[Facts, pa.Array]], exact: Collection[str] | None
) -> Iterator[FoundIdentifiers]:
    for facts, likely in columns:
        is_exact = exact is None or facts.name in exact
        is_free, many = is_exact and facts.is_free_text, is_exact and facts.n_distinct > _MANY_NAMED
        if not (len(likely) or is_free or many):
            continue
        from discreet.core.identifiers import DIRECT, LETTERS, identifiers_in, named_letter

        counts = {pattern.noun: n for pattern, n in identifiers_in(likely)}
        letter = named_letter(facts.name) if many else None
        named = LETTERS[letter] if letter is not None and letter in DIRECT else ""
        if counts or is_free or named:
            yield FoundIdentifiers(facts.name, counts, is_free, named)


def identifiers_of(
    release: Release, published: Sequence[Any], judged: Mapping[str, tuple[pa.Array, Any]]
) -> tuple[FoundIdentifiers, ...]:
    """Look for direct identifiers in the texts of a release; only columns that are published exactly are free text.

    ``judged`` holds values and counts of columns that need not be read again, null first.
    """
    exact = [name for name, column in release.schema.items() if column.role in (Role.OTHER, Role.SENSITIVE)]
    columns = [
        matching_values(name, values, counts[1:], int(counts[0]), LIKELY)
        for name, (values, counts) in judged.items()
        if value_kind(values.type) == "text" or pa.types.is_integer(values.type)
    ]
    for data in published:
        for frame in text_frames(data):
            columns += engine_of(frame).matching_texts(frame, LIKELY, judged)
    return tuple(_identifiers(columns, exact))


def identifier_cautions(columns: Sequence[FoundIdentifiers]) -> Iterator[Caution]:
    """Say of each column what names people in it."""
    for column in columns:
        yield Caution(column.code, f"{column}: whoever reads it may know whose record it is. {_WAYS_OUT}")


def published_cautions(*published: Any) -> tuple[Caution, ...]:
    """Return what to say of the texts in published data: formulas of spreadsheets, and what names people."""
    return (*formula_cautions(*published), *identifier_cautions(found_identifiers(*published)))


def text_frames(data: Any) -> Iterator[Any]:
    """Return the frames that hold every text of published data."""
    if isinstance(data, Release):
        for part in load(KIND_OF)(data).published_texts(data):
            yield from text_frames(part)
    else:
        # A frame on a cluster has every attribute: it takes their names for columns.
        yield from data.text_frames() if hasattr(type(data), "text_frames") else (data,)


@public
def cautions(release: Release) -> tuple[Caution, ...]:
    """Return what a careful data officer would say about a release before it is handed on.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Mondrian
    >>> table = Table(pa.table({"age": [20, 20, 30, 30], "disease": ["flu", "flu", "cold", "cold"]}),
    ...     {"age": quasi(), "disease": sensitive()})
    >>> [caution.code for caution in cautions(Mondrian(KAnonymity(2)).release(table))]
    ['dominated-class']
    """
    return release.cautions
