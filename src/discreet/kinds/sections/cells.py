"""Sections on tables of cells: the published table, what can be worked out of it, and who contributes."""

from __future__ import annotations

from itertools import pairwise

from discreet.core.release import Release
from discreet.core.tables.cell_table import CellTable
from discreet.guarantees.cell_protection import AttackerSystem
from discreet.kinds.blocks import Section, TableBlock, Tiles
from discreet.kinds.wording import number, percent

_MOST_ROWS = 400
_MOST_INTERVALS = 60


def cell_summary(release: Release, *, internal: bool) -> Tiles:
    """Return how many cells there are, and how many are suppressed."""
    table: CellTable = release.data
    tiles = [("Cells", f"{table.n_cells:,}", "margins included")]
    if table.base:
        tiles.append(("Base", f"{table.base:,}", "every cell is a multiple of it"))
    else:
        tiles.append(("Suppressed", f"{table.n_suppressed:,}", percent(table.n_suppressed / table.n_cells)))
    if internal:
        details = release.figures.private.to_dict()
        tiles.append(("Lost", percent(details["unpublished_share"]), "of the total, margins not counted"))
        if "primary" in details:
            tiles.append(("Primary", f"{details['primary']:,}", "cells that the rule suppresses"))
            tiles.append(
                ("Least cost", number(details["lower_bound"]), f"of {number(details['cost'])} that it cost")
            )
    return Tiles(tiles)


def published_cells(table: CellTable) -> Section:
    """Return the table as it is published: the last column across where there are several, else a row per cell."""
    cells = [(*labels, text or "suppressed") for *labels, text in table.texts()]
    last = table.dimensions[-1]
    names = [dimension.name for dimension in table.dimensions]
    width = len(last.labels)
    if len(names) > 1 and width <= 12:
        head = [" · ".join(names[:-1]), *last.labels]
        rows = [
            [" · ".join(cells[start][: len(names) - 1]), *(cell[-1] for cell in cells[start : start + width])]
            for start in range(0, len(cells), width)
        ]
    else:
        head = [" · ".join(names), table.value_name]
        rows = [[" · ".join(cell[:-1]), cell[-1]] for cell in cells]
    more = "" if len(rows) <= _MOST_ROWS else f" The first {_MOST_ROWS} of {len(rows):,} rows."
    text = "Sums of " + table.measure if table.measure is not None else "Counts"
    return Section(
        "cells",
        "The published table",
        f"{text}, with margins.{more}",
        [TableBlock(head, rows[:_MOST_ROWS], table.value_name)],
    )


def attacker_intervals(release: Release) -> Section | None:
    """Return what can be worked out of the first few unpublished cells; None where all are published."""
    table: CellTable = release.data
    system = AttackerSystem(table, release.guarantee.small_in(table))  # type: ignore[attr-defined]
    if not system.cells.size:
        return None
    labels = [cell[:-1] for cell in table.texts()]
    rows = []
    for place, cell in enumerate(system.cells[:_MOST_INTERVALS].tolist()):
        low, high = system.interval(place)
        end = "any" if high >= system.unbounded else table.number_text(high)
        rows.append((" · ".join(labels[cell]), table.number_text(low), end))
    more = "" if len(rows) == system.cells.size else f" The first {len(rows)} of {system.cells.size:,} cells."
    return Section(
        "intervals",
        "What can be worked out",
        "The least and the greatest value of each cell over all tables that agree with everything published, and with "
        f"the rule. Values between them need not all be possible.{more}",
        [TableBlock(("Cell", "At least", "At most"), rows, "Intervals")],
    )


def contributors(release: Release) -> Section:
    """Return how many cells have how many contributors."""
    counted = release.original.contributors.reshape(-1)
    ends = (0, 1, 2, 5, 10, 50)
    rows = [
        (
            f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}",
            f"{((counted >= low) & (counted < high)).sum():,}",
        )
        for low, high in pairwise(ends)
    ]
    rows.append((f"{ends[-1]:,} or more", f"{(counted >= ends[-1]).sum():,}"))
    return Section(
        "contributors",
        "Contributors",
        "How many rows or people make up the cells of the true table.",
        [TableBlock(("Contributors", "Cells"), rows, "Contributors", numbers=True)],
    )
