"""Guarantees that compare classes with the whole table: as it was released, or as it was before suppression."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.guarantee import SensitiveGuarantee
from discreet.core.params import OneOf
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.verdict import Verdict

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook
    from discreet.core.tables.table import Table

REFERENCE = OneOf(("released", "original"))
"""What the ``reference`` of a guarantee must be."""


_NOT_SHOWN = (
    "the files cannot show it: it compares with the table before rows were left out, which was not published"
)


class RelativeGuarantee(SensitiveGuarantee):
    """A guarantee that compares the values of a class with those of the whole table.

    With ``reference="original"`` that is the table before rows were left out, as in ARX. Publishers bind the guarantee
    to their table; what they release is judged by these counts, which stay private, since beside the released rows
    they show the values of suppressed people. So such a verdict is by construction, and claimed to everybody else.
    """

    reference: Literal["released", "original"]
    _original: Mapping[str, tuple[Codebook, IntArray]] | None = None

    @property
    def relative(self) -> bool:  # type: ignore[override]  # as the reference is
        """Whether leaving rows out may change the measure of others: not where the original stays the reference."""
        return self.reference == "released"

    @property
    def needs_original(self) -> bool:  # type: ignore[override]  # as the reference is
        """Whether no table alone can show the guarantee."""
        return self.reference == "original"

    @property
    def not_shown(self) -> str:  # type: ignore[override]  # as the reference is
        """Why rows alone cannot show the guarantee."""
        return _NOT_SHOWN if self.needs_original else ""

    def with_original(self, table: Table) -> RelativeGuarantee:
        """Return the guarantee with the counts of a table, from which rows may then be left out."""
        if not self.needs_original:
            return self
        bound = copy.copy(self)
        names = self.columns(table.schema.sensitive)
        original = {name: (table.encoded[name], table.overall(name)) for name in names}
        object.__setattr__(bound, "_original", original)
        return bound

    def _counts(self, groups: Groups) -> list[SensitiveCounts]:
        counted = super()._counts(groups)
        return [self._compared(counts) for counts in counted] if self.needs_original else counted

    def _compared(self, counts: SensitiveCounts) -> SensitiveCounts:
        """Return the counts in the codes of the original, beside its counts."""
        if self._original is None:
            raise SchemaError(
                f"{self!r} compares with the table before rows were left out, which no table shows: judge the release "
                "where it is made, or by reference='released'."
            )
        book, overall = self._original[counts.name]
        if counts.book is None or counts.book is book:
            return replace(counts, overall=overall)
        codes = np.concatenate([np.zeros(1, np.int32), book.encode(counts.book.values)])
        values = codes[counts.values]
        unseen = int(np.count_nonzero((values == 0) & (counts.values > 0)))
        if unseen or (overall[values] == 0).any():
            raise SchemaError(f"Column '{counts.name}' holds values that the original table does not have.")
        # Entries of a class lie in the order of their codes.
        order = np.lexsort((values, counts.group))
        return replace(
            counts,
            values=values[order],
            counts=counts.counts[order],
            overall=overall,
            hierarchy=book.hierarchy,
            book=book,
        )

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        verdict, holds = super()._judge(groups, judged)
        return (verdict.by_construction() if self.needs_original else verdict), holds

    @property
    def _whole(self) -> str:
        """The table that classes are compared with, in words."""
        return "the whole table before rows were left out" if self.needs_original else "the whole table"
