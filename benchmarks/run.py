"""Run the benchmarks: every file beside this one that has a ``run``, one table, non-zero when one falls short."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from measuring import HERE, DataMissingError, PeerMissingError
from reference import SECONDS, reference
from rows import Row, failed, near, settled, skipped

REPEATED = 3
"""How often a benchmark is run in all when a row lies near its bound."""
_STYLES = {"pass": "green", "FAIL": "bold red", "skipped": "yellow", "info": "dim"}


def main() -> int:
    """Run what the command line asks for; gives the exit code."""
    asked = _arguments()
    known = benchmarks()
    if asked.list:
        for name in known:
            print(f"{name:<16} {(import_module(known[name]).__doc__ or '').splitlines()[0]}")
        return 0
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        print(f"No benchmark is called {unknown[0]!r}. There are: {', '.join(known)}.", file=sys.stderr)
        return 2
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    rows: dict[str, list[Row]] = {}
    for name in asked.names or known:
        console.print(f"{name} ...", style="dim")
        rows[name] = measured(name, known[name])
    console.print(_table(rows))
    every = [row for found in rows.values() for row in found]
    counts = {state: sum(row.state == state for row in every) for state in _STYLES}
    now = reference()
    console.print(
        f"The reference job takes {now.cpu:.3f} s of CPU here, {now.wall:.3f} s by the clock; "
        f"limits are stated for {SECONDS} s."
    )
    console.print(f"{counts['pass']} kept, {counts['FAIL']} short, {counts['skipped']} skipped.")
    if asked.json:
        plain = {name: [row.to_dict() for row in found] for name, found in rows.items()}
        Path(asked.json).write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if counts["FAIL"] else 0


def benchmarks() -> dict[str, str]:
    """Find the benchmarks: the name of each, and its module."""
    found = sorted(path.stem for path in HERE.glob("*.py") if "\ndef run(" in path.read_text())
    return {stem.replace("_", "-"): stem for stem in found}


def measured(name: str, module: str) -> list[Row]:
    """Run one benchmark; where a row falls short near its bound, run it again and judge by the median."""
    rows = once(name, module)
    if not any(row.state == "FAIL" and near(row) for row in rows):
        return rows
    runs = [rows, *(once(name, module) for _ in range(REPEATED - 1))]
    if any([row.what for row in run] != [row.what for row in rows] for run in runs):
        return runs[-1]
    return [settled(list(each)) if near(each[0]) else each[0] for each in zip(*runs, strict=True)]


def once(name: str, module: str) -> list[Row]:
    """Run one benchmark; missing data skips it, a missing peer or any other failure fails it."""
    try:
        rows: list[Row] = import_module(module).run()
    except DataMissingError as error:
        return [skipped(name, str(error))]
    except PeerMissingError as error:
        return [failed(name, f"the peer cannot be run: {error}")]
    except Exception as error:  # noqa: BLE001  # one broken benchmark must not hide the others
        return [failed(name, f"{type(error).__name__}: {error}")]
    return rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="the benchmarks to run; all by default")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    parser.add_argument("--json", metavar="FILE", help="also write the rows as JSON")
    return parser.parse_args()


def _table(rows: dict[str, list[Row]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("what", "ours", "peer", "value", "asked", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right", overflow="fold")
    for name, found in rows.items():
        table.add_row(Text(name, style="bold"))
        for row in found:
            what = Text(f"  {row.what}")
            if row.note:
                what.append(f"\n    {row.note}", style="dim")
            state = Text("" if row.state == "info" else row.state, style=_STYLES[row.state])
            table.add_row(what, row.ours, row.peer, row.shown, row.asked, state)
    return table


if __name__ == "__main__":
    sys.exit(main())
