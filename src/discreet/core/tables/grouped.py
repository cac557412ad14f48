"""GroupedTable: rows with exact quasi-identifiers and a group, and the sensitive values as counts per group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import InputError
from discreet.core.schema import other, quasi
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.tables.source import source_of
from discreet.core.tables.table import Table
from discreet.kernels.ragged import bounds


@dataclass(frozen=True, repr=False, eq=False)
class GroupedTable:
    """Two published frames: rows with the number of their group, and how often a group holds each sensitive value.

    Parameters
    ----------
    frame
        The rows; any kind of frame.
    counts
        Three columns, in this order: the group, the sensitive value, and how many of the group's rows have it.
    group
        The name of the column that holds the group's number in both frames.
    """

    frame: Any
    counts: pa.Table
    group: str

    def groups(self) -> Groups:
        """Return the groups as guarantees judge them; frames that do not fit each other are refused."""
        source = source_of(self.frame)
        roles = {name: quasi() if name == self.group else other() for name in source.names}
        table = Table(source, roles)
        numbers, sizes = table.encoded[self.group].values, table.groups().sizes
        at = pc.index_in(self.counts[self.group].combine_chunks(), value_set=numbers.cast(self._kind))
        _, name, count = self.counts.column_names
        counts = self.counts[count].to_numpy()
        if at.null_count or len(numbers) < sizes.size or (counts < 1).any():
            raise InputError("The two frames do not describe the same groups.")
        group = at.to_numpy(zero_copy_only=False).astype(np.int64)
        if (np.bincount(group, weights=counts, minlength=sizes.size) != sizes).any():
            raise InputError("The sensitive counts of a group do not add up to its rows.")
        book = self.counts[name].combine_chunks().dictionary_encode(null_encoding="encode")
        values = np.asarray(book.indices.to_numpy(zero_copy_only=False), np.int64)
        keys, entry = np.unique(group * max(len(book.dictionary), 1) + values, return_inverse=True)
        summed = np.bincount(entry, weights=counts).astype(np.int64)
        groups, codes = np.divmod(keys, max(len(book.dictionary), 1))
        indptr = bounds(np.bincount(groups, minlength=sizes.size))
        overall = np.bincount(codes, weights=summed).astype(np.int64)
        return Groups(sizes, {name: SensitiveCounts(name, indptr, codes.astype(np.int32), summed, overall)})

    def likeliest(self) -> pa.Table:
        """Return the rows with the most frequent sensitive value of their group, which is the best guess at theirs."""
        from discreet.core.engine import arrow_table

        group, name, count = self.counts.column_names
        ordered = self.counts.sort_by([(group, "ascending"), (count, "descending"), (name, "ascending")])
        first = np.unique(ordered[group].to_numpy(), return_index=True)[1]
        best = ordered.take(first)
        rows = arrow_table(self.frame)
        at = pc.index_in(rows[self.group].cast(self._kind), value_set=best[group].combine_chunks())
        if at.null_count:
            raise InputError("The two frames do not describe the same groups.")
        return rows.drop_columns([self.group]).append_column(name, best[name].take(at))

    def text_frames(self) -> Iterator[Any]:
        """Iterate over the frames that hold every text."""
        yield self.frame
        yield self.counts

    @property
    def _kind(self) -> pa.DataType:
        return self.counts.schema.field(self.group).type

    def __repr__(self) -> str:
        return f"GroupedTable({self.counts.num_rows} sensitive counts)"
