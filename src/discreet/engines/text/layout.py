"""Layout: how delimited text is written, kept with the connection that read it, so that output can look the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from discreet.engines.duckdb.connection import keep_with, kept_with

_VARIABLE = "discreet_layout"


@dataclass(frozen=True)
class Layout:
    """What separates and encloses cells, and the decimal mark."""

    delimiter: str = ","
    quote: str = '"'
    decimal: str = "."

    def safe(self) -> Layout:
        """Return the layout if it can be written, its marks being plain and different; else the usual one."""
        marks = (self.delimiter, self.quote)
        plain = all(len(mark) == 1 and (mark == "\t" or "!" <= mark <= "~" or mark == " ") for mark in marks)
        fits = plain and marks[0] != marks[1] and not any(mark.isalnum() for mark in marks)
        return self if fits and self.decimal in (".", ",") else Layout()


def keep_layout(connection: Any, layout: Layout) -> None:
    """Keep the layout of a file with the connection that holds its rows."""
    keep_with(connection, _VARIABLE, asdict(layout.safe()))


def layout_of(frame: Any) -> Layout | None:
    """Return the layout of the text file that a relation, or what was made from it, comes from; None for others."""
    kept = kept_with(frame, _VARIABLE)
    return None if kept is None else Layout(**kept)
