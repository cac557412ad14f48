"""Direct identifiers in what is published: counted by column, cautioned about, and refused unless they are allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.engine import engine_of
from discreet.core.figures import Caution
from discreet.core.identifiers import LIKELY, identifiers_in
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.measure.spelling import formula_cautions, text_frames


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
    """

    column: str
    counts: dict[str, int]
    is_free: bool

    def __str__(self) -> str:
        listed = [f"{noun} in {n:,}" for noun, n in self.counts.items()]
        patterns = f"holds {', '.join(listed)} of its different values" if listed else ""
        free = (
            "is free text, which often names people, places and days that no pattern finds"
            if self.is_free
            else ""
        )
        return f"Column '{self.column}' {' and '.join(part for part in (patterns, free) if part)}"


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
    return tuple(found for data in published for frame in text_frames(data) for found in _found(frame, exact))


def _found(frame: Any, exact: Collection[str] | None) -> Iterator[FoundIdentifiers]:
    for name, values in engine_of(frame).text_values(frame, LIKELY).items():
        counts = {pattern.noun: n for pattern, n in identifiers_in(values.matching)}
        is_free = values.is_free and (exact is None or name in exact)
        if counts or is_free:
            yield FoundIdentifiers(name, counts, is_free)


def identifiers_of(release: Release, published: Sequence[Any]) -> tuple[FoundIdentifiers, ...]:
    """Look for direct identifiers in the texts of a release; only columns that are published exactly are free text."""
    exact = [name for name, column in release.schema.items() if column.role in (Role.OTHER, Role.SENSITIVE)]
    return found_identifiers(*published, exact=exact)


def identifier_cautions(found: Sequence[FoundIdentifiers]) -> Iterator[Caution]:
    """Say of each column what names people in it."""
    for column in found:
        code = "direct-identifier" if column.counts else "free-text"
        yield Caution(code, f"{column}: whoever reads it may know whose record it is. {_WAYS_OUT}")


def published_cautions(*published: Any) -> tuple[Caution, ...]:
    """Return what to say of the texts in published data: formulas of spreadsheets, and what names people."""
    return (*formula_cautions(*published), *identifier_cautions(found_identifiers(*published)))


_WAYS_OUT = "Drop the column, or take out what names people."
