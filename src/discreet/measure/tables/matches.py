"""Matches: which people of an external table may have records in which classes of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.boundary import in_memory
from discreet.core.errors import SchemaError
from discreet.core.schema import Column, Role, other, quasi
from discreet.core.tables.encoding import Codebook, cleaned
from discreet.core.tables.label_coverage import described_values
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table

BLOCK = 1 << 24
"""How many bytes of matches are looked at in one go."""


@dataclass(frozen=True, repr=False)
class Matches:
    """Which owners may have records in which classes, as pairs in ascending order of owners.

    Owners are sets of people who match alike; ``people`` counts them, ``of_person`` gives each person's owner and
    ``rows`` their first row.
    """

    owner: IntArray
    group: IntArray
    people: IntArray
    of_person: IntArray
    rows: IntArray


def collected(external: Any) -> nw.DataFrame[Any]:
    """Return the external table as a frame in memory."""
    return in_memory(external.frame if isinstance(external, Table) else external)


def joined_columns(
    released: Table, frame: nw.DataFrame[Any], on: Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    """Return the joined columns: the release's name, and the external table's."""
    quasi = released.schema.quasi
    if on is None:
        columns = {name: name for name in quasi if name in frame.columns}
    elif isinstance(on, Mapping):
        columns = dict(on)
    else:
        columns = {name: name for name in ([on] if isinstance(on, str) else on)}
    for name, external_name in columns.items():
        if name not in quasi:
            raise SchemaError(
                f"The release cannot be joined on '{name}', which is not one of its quasi-identifiers."
            )
        if external_name not in frame.columns:
            raise SchemaError(f"The external table has no column '{external_name}' to join on.")
    if not columns:
        raise SchemaError(
            "The external table has none of the release's quasi-identifiers; name the columns with 'on'."
        )
    return columns


def people_of(frame: nw.DataFrame[Any], external: Any, columns: Mapping[str, str]) -> Table:
    """Encode the joined columns of the external table, with the hierarchies its schema brings."""
    roles: dict[str, Column] = {name: other() for name in frame.columns}
    for name in columns.values():
        column = external.schema[name] if isinstance(external, Table) else quasi()
        roles[name] = Column(Role.QUASI, column.hierarchy, ordered=column.ordered)
    return Table(frame.to_native(), roles)


def persons_of(frame: nw.DataFrame[Any], person: str) -> pa.Array:
    """Return the column that names people."""
    if person not in frame.columns:
        raise SchemaError(f"The external table has no column '{person}' that names people.")
    return cleaned(frame.get_column(person).to_arrow(), person)


def table_matches(
    released: Table,
    people: Table,
    columns: Mapping[str, str],
    original: Table | None,
    persons: pa.Array | None,
) -> Matches:
    """Find the pairs of owners and classes whose cells all fit, with bit sets over the classes."""
    tuples = people.tuples
    rows = np.asarray(tuples.rows, np.int64)
    fitting, codes = [], []
    for name, external_name in columns.items():
        book = released.encoded[name]
        described = _described(book, people.encoded[external_name], original)
        labels = released.classes[1][:, released.schema.quasi.index(name)]
        fitting.append(_packed(described, labels))
        codes.append(people.codes(external_name))
    pairs = list(_pairs(fitting, codes))
    owner = np.concatenate([pair[0] for pair in pairs])
    group = np.concatenate([pair[1] for pair in pairs])
    if persons is None:
        return Matches(owner, group, tuples.counts, rows, np.arange(rows.size))
    return _by_person(owner, group, rows, persons, released.groups().n_groups)


def _described(labels: Codebook, values: Codebook, original: Table | None) -> BoolArray:
    """Return which external values each label may stand for, by its text, and by the release's own hierarchy."""
    described = described_values(labels, values)
    book = None if original is None else original.encoded[labels.name]
    if book is None or book.hierarchy is None:
        return described
    at = pc.index_in(texts(values.values), value_set=texts(book.values)).fill_null(-1).to_numpy()
    by_tree = described_values(labels, book)
    described[:, 1:][:, at >= 0] |= by_tree[:, 1:][:, at[at >= 0]]
    return described


def _packed(described: BoolArray, labels: CodeArray) -> NDArray[np.uint8]:
    """Return the bit set of fitting classes for each external value."""
    step = max(BLOCK // max(labels.size, 1), 1)
    blocks = [
        np.packbits(described[:, start : start + step][labels].T, axis=1, bitorder="little")
        for start in range(0, described.shape[1], step)
    ]
    return np.concatenate(blocks)


def _pairs(fitting: list[NDArray[np.uint8]], codes: list[CodeArray]) -> Iterator[tuple[IntArray, IntArray]]:
    """Return the pairs of tuples and classes that fit in every column, block by block."""
    step = max(BLOCK // fitting[0].shape[1], 1)
    for start in range(0, codes[0].size, step):
        common = fitting[0][codes[0][start : start + step]]
        for bits, code in zip(fitting[1:], codes[1:], strict=True):
            common &= bits[code[start : start + step]]
        # Only bytes that hold a bit are unpacked.
        row, byte = np.nonzero(common)
        entry, bit = np.nonzero(np.unpackbits(common[row, byte][:, None], axis=1, bitorder="little"))
        yield row[entry] + start, byte[entry] * 8 + bit


def _by_person(owner: IntArray, group: IntArray, rows: IntArray, persons: pa.Array, n_groups: int) -> Matches:
    """Bring the rows of a person together: every person an owner, and a null a person of its own."""
    coded = persons.dictionary_encode().indices
    numbers = coded.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    unnamed = numbers < 0
    numbers[unnamed] = numbers.max(initial=0) + 1 + np.arange(int(unnamed.sum()))
    _, first, number = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    # The argsort of a permutation is its inverse.
    first, number = first[order], np.argsort(order)[number]
    start = np.searchsorted(owner, rows)
    length = np.searchsorted(owner, rows, side="right") - start
    keys = np.unique(np.repeat(number, length) * n_groups + group[spans(start, length)])
    one_each = np.ones(first.size, np.int64)
    return Matches(keys // n_groups, keys % n_groups, one_each, np.arange(first.size), first)


def spans(start: IntArray, length: IntArray) -> IntArray:
    """Return the positions of spans laid end to end."""
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(int(length.sum()))
