"""The page of an experiment: tables as CSV and Markdown, pictures as SVG, PNG and HTML, and an index of all."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.engines.atomic import atomic_file
from discreet.report.markup import Markup, tag
from discreet.report.pictures import write_picture

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
        self._parts: list[Markup] = []

    def log(self, line: str) -> None:
        """Report a step, if somebody listens."""
        if self._log is not None:
            self._log(line)

    def introduce(self, title: str, about: str) -> None:
        """Set the title of the page, and describe what was done, on what data."""
        self.title, self.about = title, about

    def section(self, title: str, text: str = "") -> None:
        """Begin a section."""
        self._parts.append(tag("h2", title))
        if text:
            self.note(text)

    def note(self, text: str) -> None:
        """Write a paragraph."""
        self._parts.append(tag("p", text))

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
        with atomic_file(self.folder / f"{name}.md") as temporary:
            temporary.write_text(markdown(title, columns, shown, note), encoding="utf-8")
        head = tag("tr", *(tag("th", column, scope="col") for column in columns))
        body = [tag("tr", *(tag("td", cell) for cell in row)) for row in shown]
        self._figure(
            title,
            tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="wide"),
            note,
            [f"{name}.csv", f"{name}.md"],
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
        alt = str(spec.get("description", title))
        self._figure(title, tag("a", tag("img", src=names[0], alt=alt), href=names[2]), note, names)

    def finish(self) -> Path:
        """Write ``index.html`` and return its path."""
        made = tag(
            "p", "Made by ", tag("code", self.command), f" with Discreet {__version__}.", class_="made"
        )
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", self.title),
            tag(
                "style",
                Markup(files("discreet.experiments").joinpath("page.css").read_text(encoding="utf-8")),
            ),
        )
        main = tag("main", tag("h1", self.title), tag("p", self.about, class_="about"), made, *self._parts)
        with atomic_file(self.folder / "index.html") as temporary:
            temporary.write_text(
                f"<!DOCTYPE html>\n{tag('html', head, tag('body', main), lang='en')}\n", encoding="utf-8"
            )
        return self.folder / "index.html"

    def _figure(self, title: str, shown: Markup, note: str, names: Sequence[str]) -> None:
        links = Markup(" · ".join(tag("a", name, href=name) for name in names))
        caption = [tag("p", note)] if note else []
        self._parts.append(tag("figure", tag("h3", title), shown, *caption, tag("p", links, class_="files")))


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
