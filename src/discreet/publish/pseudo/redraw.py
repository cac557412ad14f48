"""Redrawing: pseudo-records that look like one person alone are drawn again, from the same group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.errors import InfeasibleError
from discreet.core.records.vectors import Vectors
from discreet.core.tables.table import Table
from discreet.measure.pseudo.copies import RecordIndex
from discreet.publish.pseudo.pseudo_data import Drawn

_ROUNDS = 24
_MOST_TRIES = 64
"""How often, and how many times for each row in a round, draws are repeated before a row is left out."""


class UnavoidableCopiesError(InfeasibleError):
    """Whatever is drawn looks like one person alone."""

    def __init__(self) -> None:
        super().__init__(
            "Every pseudo-record that was drawn has the quasi-identifiers of a single record. Round or drop "
            "quasi-identifiers, or do not avoid copies."
        )


class DrawFor(Protocol):
    """Draw one pseudo-record for each group that is named."""

    def __call__(self, groups: IntArray) -> Drawn: ...  # noqa: D102


@dataclass(frozen=True, repr=False)
class SingledOut:
    """The quasi-identifiers of records that nobody else shares, and whose level is above 1.

    Only quasi-identifiers are compared, never a sensitive value nor the label. An attacker knows the quasi-identifiers
    of a person; were the sensitive value compared as well, a published row with another value would prove that the
    person does not have that one.
    """

    vectors: Vectors
    index: RecordIndex
    avoided: BoolArray

    @classmethod
    def of(cls, table: Table, names: Sequence[str], vectors: Vectors, levels: IntArray) -> SingledOut | None:
        """Look for such records by the columns that the vectors hold; None where there are none."""
        index = RecordIndex.of(table.source.columns(names))
        avoided = np.zeros(index.counts.size, np.bool_)
        avoided[index.places[levels > 1]] = True
        avoided &= index.counts == 1
        return cls(vectors, index, avoided) if avoided.any() else None

    def among(self, places: FloatArray, codes: CodeArray) -> BoolArray:
        """Whether each pseudo-record, as it would be published, has the quasi-identifiers of such a record."""
        records = self.index.find(_columns(self.vectors, places, codes, self.index.names))
        # No record (-1) reads the last entry, and the first condition rules it out.
        return (records >= 0) & self.avoided[records]


@dataclass(frozen=True, repr=False)
class Redrawn:
    """Pseudo-records none of which looks like one person alone; how many were drawn again, how many left out."""

    drawn: Drawn
    n_redrawn: int
    n_left_out: int


def redrawn(drawn: Drawn, singled_out: SingledOut, draw_for: DrawFor) -> Redrawn:
    """Draw again what looks like one person alone, each row from its own group; leave out what cannot be avoided.

    The rows are drawn by the compared columns alone, so nothing else decides what becomes of them.
    """
    places, codes, steps = drawn.places.copy(), drawn.codes.copy(), drawn.steps.copy()
    pending = np.flatnonzero(singled_out.among(places, codes))
    n_redrawn = pending.size
    for _ in range(_ROUNDS):
        if not pending.size:
            break
        # As many tries as draw about the number of rows anew in each round.
        tries = int(np.clip(len(places) // pending.size, 1, _MOST_TRIES))
        fresh = draw_for(np.repeat(drawn.groups[pending], tries))
        fine = ~singled_out.among(fresh.places, fresh.codes).reshape(pending.size, tries)
        first = np.arange(pending.size) * tries + fine.argmax(axis=1)
        done = fine.any(axis=1)
        places[pending[done]] = fresh.places[first[done]]
        codes[pending[done]] = fresh.codes[first[done]]
        steps[pending[done]] = fresh.steps[first[done]]
        pending = pending[~done]
    if pending.size and pending.size == len(places):
        raise UnavoidableCopiesError
    published = np.ones(len(places), np.bool_)
    published[pending] = False
    result = Drawn(drawn.groups, places, codes, steps).take(published)
    return Redrawn(result, n_redrawn, pending.size)


def _columns(vectors: Vectors, places: FloatArray, codes: CodeArray, names: Sequence[str]) -> dict[str, Any]:
    """Return the cells that would be published in some columns."""
    frame = vectors.frame(places, codes, names)
    return {name: frame[name] for name in names}
