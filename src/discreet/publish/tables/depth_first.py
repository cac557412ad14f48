"""Strict Mondrian in one compiled run, for guarantees that kernels can judge: of size, and rules about values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import CodeArray
from discreet.core.guarantee import Guarantee
from discreet.core.tables.table import Table
from discreet.publish.lattice.value_cells import ValueCells
from discreet.publish.tables.boxes import Segments
from discreet.publish.tables.partition import segment_groups
from discreet.publish.tables.publisher import refuse_infeasible

if TYPE_CHECKING:
    from discreet.kernels.tables.cuts import Geometry

_WORD = 8
_MOST_BYTES = 32
"""The bytes of a row's codes that a kernel compares at once."""


def can_divide(guarantee: Guarantee, table: Table) -> bool:
    """Return whether rows fit into words, and the guarantee is a size and rules that hold for joined classes too."""
    rules = guarantee.class_rules(table.schema.sensitive)
    if rules is None or not guarantee.joinable or table.n_rows >= 2**31:
        return False
    codes = _code_type(table)
    return len(table.encoded) * codes.itemsize <= _MOST_BYTES and ValueCells.fits(table, rules)


def divided(guarantee: Guarantee, table: Table, geometry: Geometry) -> tuple[Segments, CodeArray, bool]:
    """Return the segments, the tuple behind each row, and whether sensitive values refused some cut."""
    from discreet.kernels.tables.depth_first import divide

    cells = ValueCells(table, guarantee.class_rules(table.schema.sensitive) or ())
    words = _words(table)
    codes = words.view(_code_type(table))
    weights = table.tuples.counts.astype(np.int32)
    tuples = np.arange(weights.size, dtype=np.int32)
    table_segment = Segments(codes, weights, np.zeros(1, np.int32), np.array([weights.size], np.int32))
    refuse_infeasible(guarantee, table, segment_groups(guarantee, table, table_segment))
    names = list(table.encoded)
    low, refused = divide(
        codes,
        words,
        weights,
        tuples,
        table.n_rows,
        max(guarantee.smallest, 1),
        geometry,
        np.array([names.index(name) for name in cells.first], np.int64),
        np.array(list(cells.first.values()), np.int64),
        cells.overall,
        cells.rules(table.n_rows, 0),
    )
    segments = Segments(codes, weights, low, np.append(low[1:], np.int32(weights.size)))
    return segments, tuples, bool(refused)


def _code_type(table: Table) -> np.dtype[np.unsignedinteger]:
    """Return the smallest type of every code."""
    return np.min_scalar_type(max(book.n_codes for book in table.encoded.values()))


def _words(table: Table) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """Return the codes of the tuples in rows of 1, 2 or 4 words; what no column needs is zero."""
    codes, of_codes = table.tuples.codes, _code_type(table)
    n_words = -(-codes.shape[1] * of_codes.itemsize // _WORD)
    words = np.zeros((len(codes), 1 << (n_words - 1).bit_length()), np.uint64)
    words.view(of_codes)[:, : codes.shape[1]] = codes
    return words
