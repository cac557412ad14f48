"""Cost and usefulness: loss by column, and what the released rows predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray
from discreet.core.release import Release
from discreet.core.tables.encoding import overall
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table
from discreet.kinds.blocks import Block, Section, Subsection, TableBlock, share_figure
from discreet.kinds.wording import number, percent
from discreet.measure import Loss, Prediction

_Places = NDArray[np.uint16]
_MOST_LABELS = 3
_MOST_PAIRS = 4
_MOST_ROWS, _MOST_COLUMNS = 8, 5
_KINDS = {"class": "logistic regression, accuracy", "number": "linear regression, variance explained"}


def predictions(after: Sequence[Prediction], before: Sequence[Prediction] | None) -> Section | None:
    """Return how well the sensitive columns are predicted from the release; internally from the original as well."""
    if not after:
        return None
    head = ["Column", "How", "From the release", "By guessing alone"]
    cells = [
        [predicted.column, _KINDS[predicted.kind], percent(predicted.score), percent(predicted.baseline)]
        for predicted in after
    ]
    if before is not None:
        head.insert(2, "From the original")
        for row, original in zip(cells, before, strict=True):
            row.insert(2, percent(original.score))
    text = (
        "How well a simple model predicts a sensitive column from the quasi-identifiers: it is trained on 70% of "
        f"{after[0].n_rows:,} rows, and tested on the others. Two standard errors of a score are up to {_error(after)}."
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
        Subsection(f"{pair.row} and {pair.column}", [_crossed(release.table, pair, fewest)])
        for pair in chosen
    ]
    if internal and not release.original.exceeds_memory:
        before = {(pair.row, pair.column): pair.strength for pair in _all_pairs(release.original, fewest)}
        rows = [
            (f"{pair.row} and {pair.column}", percent(before[pair.row, pair.column]), percent(pair.strength))
            for pair in _all_pairs(release.table, fewest)
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


def _chosen(table: Table, fewest: int) -> list[_Pair]:
    return sorted(_all_pairs(table, fewest), key=lambda pair: -pair.strength)[:_MOST_PAIRS]


def _all_pairs(table: Table, fewest: int) -> list[_Pair]:
    """Return pairs of a quasi-identifier and a sensitive column, or of quasi-identifiers where none is sensitive."""
    quasi, sensitive = table.schema.quasi, table.schema.sensitive[:_MOST_LABELS]
    couples = (
        [(row, column) for column in sensitive for row in quasi]
        if sensitive
        else [(row, column) for at, row in enumerate(quasi) for column in quasi[at + 1 :]]
    )
    pooled = {
        name: _pooled(table, name, _MOST_ROWS, fewest)[0]
        for name in {name for pair in couples for name in pair}
    }
    return [
        _Pair(row, column, _strength(_counts(table, pooled[row], pooled[column]))) for row, column in couples
    ]


def _pooled(table: Table, name: str, most: int, fewest: int) -> tuple[_Places, tuple[str, ...]]:
    """Return the place of each tuple among the commonest cells of a column, and their names; the rest comes last."""
    book, counts = table.encoded[name], table.overall(name)
    order = np.argsort(-counts, kind="stable")
    # One place is left for the others, where there are any.
    common = order[: most if (counts > 0).sum() <= most else most - 1]
    common = np.sort(common[counts[common] >= fewest])
    position = np.full(book.n_codes, common.size, np.uint16)
    position[common] = np.arange(common.size)
    names = ["missing", *texts(book.values).to_pylist()]
    labels = [names[code] for code in common]
    n_rest = int(((counts > 0) & (position == common.size)).sum())
    if n_rest:
        labels.append("others" if labels else "all values")
    return position[table.codes(name)], tuple(labels)


def _counts(table: Table, rows: _Places, columns: _Places) -> FloatArray:
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    keys = (rows * np.uint16(width) + columns).astype(np.int32)
    cell_counts = overall(keys, table.tuples.counts, height * width)
    return cell_counts.reshape(height, width).astype(np.float64)


def _strength(counts: FloatArray) -> float:
    """Return Cramér's V of a table of counts."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    squared = float(((counts - expected) ** 2 / expected).sum() / counts.sum())
    return float(np.sqrt(squared / (min(counts.shape) - 1)))


def _crossed(table: Table, pair: _Pair, fewest: int) -> TableBlock:
    """Return the rows of a table by two of its columns."""
    rows, row_names = _pooled(table, pair.row, _MOST_ROWS, fewest)
    columns, column_names = _pooled(table, pair.column, _MOST_COLUMNS, fewest)
    counts = _counts(table, rows, columns)
    cells = [(name, *(f"{int(n):,}" for n in line)) for name, line in zip(row_names, counts, strict=True)]
    return TableBlock((pair.row, *column_names), cells, f"{pair.row} and {pair.column}", numbers=True)


def cost(loss: Loss) -> Section:
    """Return the loss by column and in total."""
    columns = sorted(loss.columns, key=lambda name: -loss.columns[name])
    measures = [
        ("Generalized loss, mean of the columns", percent(loss.total)),
        ("Non-uniform entropy lost", percent(loss.entropy.total_normalized)),
        ("Discernibility", number(loss.discernibility)),
        ("Average class size", number(loss.average_class_size)),
        ("Rows suppressed", f"{loss.suppressed:,}"),
    ]
    if loss.precision is not None:
        measures.insert(2, ("Generalization levels used, of all", percent(loss.precision)))
    return Section(
        "cost",
        "Loss of detail",
        "How much detail each quasi-identifier lost: 0% is exact values, 100% is no information.",
        [
            share_figure(
                "Loss by column",
                ("Column", "Loss"),
                columns,
                [loss.columns[name] for name in columns],
            ),
            TableBlock(("Measure", "Value"), measures, "Total loss"),
        ],
    )
