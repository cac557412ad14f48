"""Usefulness: what can be predicted from the released rows, and how pairs of columns are associated in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray
from discreet.core.percentages import percent
from discreet.core.release import Release
from discreet.core.tables.encoding import overall
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table
from discreet.kinds.blocks import Block, Section, Subsection
from discreet.kinds.blocks import Table as TableBlock
from discreet.measure import Prediction

_Places = NDArray[np.uint16]
_MOST_LABELS = 3
_MOST_PAIRS = 4
_MOST_ROWS, _MOST_COLUMNS = 8, 5
_KINDS = {"class": "logistic regression, accuracy", "number": "linear regression, variance explained"}


def predictions(after: Sequence[Prediction], before: Sequence[Prediction] | None) -> Section | None:
    """Return how well the sensitive columns are predicted from the release; internally from the original as well."""
    if not after:
        return None
    head = ["Column", "How", "From the release", "Without any column"]
    cells = [[made.column, _KINDS[made.kind], percent(made.score), percent(made.baseline)] for made in after]
    if before is not None:
        head.insert(2, "From the original")
        for row, original in zip(cells, before, strict=True):
            row.insert(2, percent(original.score))
    text = (
        "How well a simple model predicts a sensitive column from the quasi-identifiers: it is trained on 70% of "
        f"{after[0].n_rows:,} rows, and tested on the others. The standard error of a score is up to {_error(after)}."
    )
    return Section("use", "Predictions", text, [TableBlock(head, cells, "Predictions")])


def _error(after: Sequence[Prediction]) -> str:
    """Return two standard errors of a share over the test rows."""
    return percent(float(np.round(1 / np.sqrt(max(0.3 * after[0].n_rows, 1)), 3)))


def pairs(release: Release, fewest: int, *, internal: bool) -> Section | None:
    """Return the released rows by the pairs of columns with the strongest association; internally with that before.

    Values of fewer than ``fewest`` rows are combined.
    """
    chosen = _chosen(release.table, fewest)
    if not chosen:
        return None
    content: list[Block] = [
        Subsection(f"{one.row} and {one.column}", [_crossed(release.table, one, fewest)]) for one in chosen
    ]
    if internal:
        before = {(one.row, one.column): one.strength for one in _all_pairs(release.original, fewest)}
        rows = [
            (f"{one.row} and {one.column}", percent(before[one.row, one.column]), percent(one.strength))
            for one in _all_pairs(release.table, fewest)
        ]
        table = TableBlock(("Columns", "Before", "After"), rows, "Association of pairs")
        content.append(Subsection("All pairs", [table]))
    text = (
        "Released rows by two columns at once, for the pairs with the strongest association (Cramér's V: 0% is "
        "independent, 100% one column determines the other). Rare values are combined."
    )
    return Section("pairs", "Pairs of columns", text, content)


@dataclass(frozen=True)
class _Pair:
    """Two columns, and the strength of their association."""

    row: str
    column: str
    strength: float


def _chosen(one: Table, fewest: int) -> list[_Pair]:
    return sorted(_all_pairs(one, fewest), key=lambda pair: -pair.strength)[:_MOST_PAIRS]


def _all_pairs(one: Table, fewest: int) -> list[_Pair]:
    """Return pairs of a quasi-identifier and a sensitive column, or of quasi-identifiers where none is sensitive."""
    quasi, sensitive = one.schema.quasi, one.schema.sensitive[:_MOST_LABELS]
    couples = (
        [(row, column) for column in sensitive for row in quasi]
        if sensitive
        else [(row, column) for at, row in enumerate(quasi) for column in quasi[at + 1 :]]
    )
    pooled = {
        name: _pooled(one, name, _MOST_ROWS, fewest)[0]
        for name in {name for pair in couples for name in pair}
    }
    return [
        _Pair(row, column, _strength(_counts(one, pooled[row], pooled[column]))) for row, column in couples
    ]


def _pooled(one: Table, name: str, most: int, fewest: int) -> tuple[_Places, tuple[str, ...]]:
    """Return the place of each tuple among the commonest cells of a column, and their names; the rest comes last."""
    book, counts = one.encoded[name], one.overall(name)
    order = np.argsort(-counts, kind="stable")
    kept = order[: most if (counts > 0).sum() <= most else most - 1]
    kept = np.sort(kept[counts[kept] >= fewest])
    place = np.full(book.n_codes, kept.size, np.uint16)
    place[kept] = np.arange(kept.size)
    names = ["missing", *texts(book.values).to_pylist()]
    labels = [names[code] for code in kept]
    n_rest = int(((counts > 0) & (place == kept.size)).sum())
    if n_rest:
        labels.append("others" if labels else "all values")
    return place[one.codes(name)], tuple(labels)


def _counts(one: Table, rows: _Places, columns: _Places) -> FloatArray:
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    keys = (rows * np.uint16(width) + columns).astype(np.int32)
    held = overall(keys, one.tuples.counts, height * width)
    return held.reshape(height, width).astype(np.float64)


def _strength(counts: FloatArray) -> float:
    """Return Cramér's V of a table of counts."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    squared = float(((counts - expected) ** 2 / expected).sum() / counts.sum())
    return float(np.sqrt(squared / (min(counts.shape) - 1)))


def _crossed(one: Table, pair: _Pair, fewest: int) -> TableBlock:
    """Return the rows of a table by two of its columns."""
    rows, row_names = _pooled(one, pair.row, _MOST_ROWS, fewest)
    columns, column_names = _pooled(one, pair.column, _MOST_COLUMNS, fewest)
    counts = _counts(one, rows, columns)
    cells = [(name, *(f"{int(n):,}" for n in line)) for name, line in zip(row_names, counts, strict=True)]
    return TableBlock((pair.row, *column_names), cells, f"{pair.row} and {pair.column}", numbers=True)
