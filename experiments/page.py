"""The page of an experiment: tables as CSV and Markdown, pictures as SVG, PNG and HTML, and an index of all."""

from __future__ import annotations

import csv
import math
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discreet.engines.atomic import atomic_file
from discreet.kinds.blocks import Block, Code, Figure, Paragraph, Section, TableBlock
from discreet.report.page import page
from discreet.report.pictures import encoded, write_picture

Cell = str | int | float | None


class Page:
    """Collects the results of an experiment and writes them into a folder as they come.

    Parameters
    ----------
    folder
        Where everything is written; created if it does not exist.
    command
        The command that makes the page again, shown on it.
    log
        Called with a line about each step.
    """

    def __init__(self, folder: Path, *, command: str, log: Callable[[str], None] | None = None) -> None:
        self.folder = folder
        self.command = command
        self.title = "Experiment"
        self.about = ""
        self._log = log
        self._sections: list[tuple[str, str, list[Block]]] = []

    def log(self, line: str) -> None:
        """Report a step, if somebody listens."""
        if self._log is not None:
            self._log(line)

    def introduce(self, title: str, about: str) -> None:
        """Set the title of the page, and describe what was done, on what data."""
        self.title, self.about = title, about

    def section(self, title: str, text: str = "") -> None:
        """Begin a section."""
        self._sections.append((title, text, []))

    def note(self, text: str) -> None:
        """Add a paragraph."""
        self._add(Paragraph(text))

    def table(
        self, name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, note: str = ""
    ) -> None:
        """Write a table to ``name.csv`` and ``name.md`` and show it; numbers are written short, None as nothing."""
        self.log(f"table: {title}")
        with (
            atomic_file(self.folder / f"{name}.csv") as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerows([columns, *([_plain(cell) for cell in row] for row in rows)])
        shown = [[written(cell) for cell in row] for row in rows]
        numbers = not any(isinstance(cell, str) for row in rows for cell in row[1:])
        with atomic_file(self.folder / f"{name}.md") as temporary:
            temporary.write_text(markdown(title, columns, shown, note), encoding="utf-8")
        self._add(
            Figure(
                title,
                note,
                table=TableBlock(columns, shown, title, numbers),
                files=[f"{name}.csv", f"{name}.md"],
            )
        )

    def claims(self, rows: Sequence[Sequence[Cell]], *, note: str = "") -> None:
        """Show each claim of the paper beside the result, and whether it holds; a fourth cell in front is the set."""
        columns = ("set", "the paper", "ours", "as claimed")[-len(rows[0]) :]
        self.section("What the paper says, and what came out")
        self.table("claims", "The paper's claims", columns, rows, note=note)

    def picture(self, name: str, title: str, spec: dict[str, Any], *, note: str = "") -> None:
        """Write a picture to ``name.svg``, ``name.png`` and ``name.html``, and show it."""
        self.log(f"picture: {title}")
        names = [f"{name}{kind}" for kind in (".svg", ".png", ".html")]
        for one in names:
            write_picture(spec, self.folder / one)
        # On white, in the colors and at the width that it was drawn for: an image knows neither those of the page.
        bare = {key: value for key, value in spec.items() if key != "title"}
        image = f"data:image/svg+xml;base64,{b64encode(encoded(bare, '.svg')).decode()}"
        description, subtitle = str(spec.get("description", title)), spec["title"].get("subtitle", "")
        text = " ".join(filter(None, (note, subtitle and f"({subtitle})")))
        self._add(Figure(title, text, image=image, description=description, files=names))

    def finish(self) -> Path:
        """Write ``index.html`` and return its path."""
        head = Section("experiment", self.title, self.about, [Code(self.command)])
        sections = [
            Section(f"part-{at}", title, text, content, link=re.split("[:,(]", title)[0].strip())
            for at, (title, text, content) in enumerate(self._sections, start=1)
        ]
        footer = "Tables and pictures are also files in the folder of this page."
        with atomic_file(self.folder / "index.html") as temporary:
            temporary.write_text(page([head, *sections], title=self.title, footer=footer), encoding="utf-8")
        return self.folder / "index.html"

    def _add(self, block: Block) -> None:
        if not self._sections:
            self.section("Results")
        self._sections[-1][2].append(block)


def written(cell: Cell) -> str:
    """Write a cell short: whole numbers whole, others with four digits, nothing for None and nan.

    >>> [written(cell) for cell in (3, 0.123456, 92.54, None, float("nan"), "a", 1234567)]
    ['3', '0.1235', '92.54', '', '', 'a', '1,234,567']
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Format the mean of several runs and their standard deviation; large numbers get fewer digits.

    >>> spread([1.0, 2.0, 3.0]), spread([2.5]), spread([]), spread([1234.56, 1236.78])
    ('2.00 ± 1.00', '2.50', '', '1,236 ± 2')
    """
    kept = [value for value in values if not math.isnan(value)]
    if not kept:
        return ""
    mean = math.fsum(kept) / len(kept)
    places = max(0, digits - max(0, int(math.log10(max(abs(mean), 1))) - 1))
    if len(kept) == 1:
        return f"{mean:,.{places}f}"
    off = math.sqrt(math.fsum((value - mean) ** 2 for value in kept) / (len(kept) - 1))
    return f"{mean:,.{places}f} ± {off:,.{places}f}"


def markdown(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> str:
    """Write a table in Markdown, under its title."""
    lines = [columns, ["---"] * len(columns), *rows]
    table = "\n".join(
        f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in line)} |" for line in lines
    )
    return f"# {title}\n\n{table}\n" + (f"\n{note}\n" if note else "")


def _plain(cell: Cell) -> Cell:
    return "" if cell is None or (isinstance(cell, float) and math.isnan(cell)) else cell
