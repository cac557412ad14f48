"""Write the results of runs, as ``run.py --json`` saved them, as the Markdown tables of docs/benchmarks.md."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

from rows import Row
from run import benchmarks


def main(files: list[str]) -> None:
    """Print a heading, the command and a table for each benchmark in the files."""
    known = benchmarks()
    for file in files:
        for name, rows in json.loads(Path(file).read_text(encoding="utf-8")).items():
            title = (import_module(known[name]).__doc__ or name).splitlines()[0]
            print(f"## {name}\n\n{title} `make benchmarks ONLY={name}`\n")
            print(table([Row(**row) for row in rows]), end="\n\n")


def table(rows: list[Row]) -> str:
    """Return rows as a Markdown table; what fell short is marked.

    >>> print(table([Row("a job", 2.0, "×", 3.0, at_least=True, ours="2 s", peer="4 s", state="FAIL")]))
    | what | ours | peer | value | floor or limit |
    |---|---|---|---|---|
    | a job | 2 s | 4 s | 2.00× | ≥ 3.00×, short |
    """
    lines = ["| what | ours | peer | value | floor or limit |", "|---|---|---|---|---|"]
    for row in rows:
        short = ", short" if row.state == "FAIL" else ""
        what = f"{row.what}; {row.note}" if row.note else row.what
        cells = (what, row.ours, row.peer, row.shown, f"{row.asked}{short}")
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
