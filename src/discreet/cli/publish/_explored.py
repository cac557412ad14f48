"""What `discreet explore` found: a table of the best ways, and the command that does one of them."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _parse_options as parse
from discreet.cli._errors import one_line
from discreet.core.registry import METHODS
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.job.exploration import Exploration, ExploredMethod, ExploredMethods

_SHOWN = 10


def best_so_far(exploration: Exploration, time_limit: float) -> str:
    """Return a line for people who wait: the estimate of the whole first, then the cheapest way that is known."""
    choices = [choice for part in exploration.parts for choice in part.choices]
    if not choices and not exploration.n_left:
        return "no method keeps it"
    steps = f"{exploration.n_left} steps left" if exploration.n_left else "done"
    if not choices:
        return f"{steps}, about {time_limit:g} seconds at the most; Ctrl-C shows what there is"
    best = min(choices, key=_cost)
    measure, cost = next(iter(best.costs.items()))
    left_out = f"{percent(best.suppressed / exploration.n_rows)} left out"
    return f"{steps}; cheapest so far: {best.method}, {measure} {_written(measure, cost)}, {left_out}"


@dataclass(frozen=True)
class ExploredRow:
    """A choice with the guarantee it keeps, and the command that makes it."""

    part: ExploredMethods
    choice: ExploredMethod
    command: str


def _command(base: list[str], choices: ExploredMethods, choice: ExploredMethod) -> str:
    levels = [
        word for name, level in (choice.levels or {}).items() for word in ("--level", f"{name}={level}")
    ]
    share = choices.max_suppressed if "max_suppressed" in METHODS[choice.method].options() else 0.0
    allowed = ["--max-suppressed", repr(share)] if share else []
    return shlex.join([*base, "--method", choice.method, *levels, *allowed, "--out", _free_folder()])


def _free_folder() -> str:
    """Return a name for the output that nothing here has yet."""
    names = ("release", *(f"release-{number}" for number in range(2, 1000)))
    return next((name for name in names if not Path(name).exists()), names[-1])


def explored_rows(exploration: Exploration, base: list[list[str]]) -> list[ExploredRow]:
    """Return every choice once, guarantee by guarantee, the cheapest first."""
    rows: dict[tuple[Any, ...], ExploredRow] = {}
    for part, words in zip(exploration.parts, base, strict=True):
        for choice in part.choices:
            levels = None if choice.levels is None else tuple(choice.levels.items())
            key = (repr(part.guarantee), choice.method, levels, choice.suppressed)
            rows.setdefault(key, ExploredRow(part, choice, _command(words, part, choice)))
    solutions: dict[tuple[Any, ...], ExploredRow] = {}
    for row in rows.values():
        solution = (repr(row.part.guarantee), row.choice.levels is None, *_reached(row.choice))
        first = solutions.setdefault(solution, row)
        if first is not row and row.choice.levels is None:
            names = f"{first.choice.method} = {row.choice.method}"
            solutions[solution] = replace(first, choice=replace(first.choice, method=names))
        elif first is not row:
            solutions[(*solution, repr(row.choice.levels))] = row
    order = list(dict.fromkeys(repr(part.guarantee) for part in exploration.parts))
    return sorted(
        solutions.values(), key=lambda row: (order.index(repr(row.part.guarantee)), *_cost(row.choice))
    )


def _reached(choice: ExploredMethod) -> tuple[object, ...]:
    """Return what a choice reaches, so that methods which come to the same rows are one solution."""
    costs = tuple(f"{cost:.9g}" for cost in choice.costs.values() if not math.isnan(cost))
    return (costs, choice.suppressed, choice.classes, choice.highest_risk, f"{choice.mean_risk:.9g}")


def _cost(choice: ExploredMethod) -> tuple[bool, float, int]:
    first = next(iter(choice.costs.values()))
    return (math.isnan(first), first, choice.suppressed)


def print_exploration_json(exploration: Exploration, base: list[list[str]], *, stopped: bool) -> None:
    """Print everything as one JSON object."""
    from discreet.cli._output import print_json

    parts = [
        {
            "promise": part.guarantee.describe(),
            "guarantee": part.guarantee.to_dict(),
            "max_suppressed": part.max_suppressed,
            "choices": [
                choice.to_dict() | {"command": _command(words, part, choice)} for choice in part.choices
            ],
        }
        for part, words in zip(exploration.parts, base, strict=True)
    ]
    about = {
        "rows": exploration.n_rows,
        "nodes": exploration.n_nodes,
        "visited_all": exploration.whole,
        "untried": list(exploration.untried),
        "interrupted": stopped,
        "parts": parts,
    }
    print_json({"command": "explore", "ok": True} | about)


def print_exploration(
    exploration: Exploration, rows: list[ExploredRow], *, chosen: int, every: bool, stopped: bool
) -> None:
    """Print the best rows of each guarantee, ten in all, and the command of one."""
    looked = "all of them visited" if exploration.whole else "searched, not all of them visited"
    lines = [
        f"{exploration.n_rows:,} rows; {exploration.n_nodes:,} ways to generalize whole columns, {looked}"
    ]
    guarantees = list(dict.fromkeys(repr(part.guarantee) for part in exploration.parts))
    each = max(_SHOWN // len(guarantees), 1)
    n_shown = 0
    for name in guarantees:
        of_it = [
            (number, row) for number, row in enumerate(rows, start=1) if repr(row.part.guarantee) == name
        ]
        printed = of_it if every else [row for at, row in enumerate(of_it) if at < each or row[0] == chosen]
        n_shown += len(printed)
        lines += ["", name]
        lines += (
            _aligned(printed, exploration)
            if printed
            else ["  no method keeps it; leave out more, or ask for less"]
        )
    if n_shown < len(rows):
        lines += ["", f"{len(rows) - n_shown} more with --all"]
    if exploration.untried:
        why = "Stopped" if stopped else "The time is up"
        more = "" if stopped else "; a longer --time-limit tries them"
        lines += ["", f"{why} before these methods were tried: {', '.join(exploration.untried)}{more}."]
    if rows:
        if chosen > len(rows):
            raise parse.mistake(f"There are {len(rows)} rows.", "--row 1")
        others = "; --row N prints another's" if len(rows) > 1 else ""
        lines += ["", f"The command of row {chosen}{others}:", rows[chosen - 1].command]
    for line in lines:
        click.echo(one_line(line).rstrip())


def _aligned(rows: list[tuple[int, ExploredRow]], exploration: Exploration) -> list[str]:
    measures = list(rows[0][1].choice.costs)
    head = ["row", "method", *measures, "left out", "classes", "highest risk", "mean risk", "levels"]
    cells = [head, *([str(number), *_cells(row.choice, exploration)] for number, row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    texts = (1, len(head) - 1)
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if column in texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    ]


def _cells(choice: ExploredMethod, exploration: Exploration) -> list[str]:
    levels = (
        "row by row"
        if choice.levels is None
        else ", ".join(f"{name} {level}/{exploration.heights[name]}" for name, level in choice.levels.items())
    )
    return [
        choice.method,
        *(_written(measure, cost) for measure, cost in choice.costs.items()),
        percent(choice.suppressed / exploration.n_rows),
        f"{choice.classes:,}",
        percent(choice.highest_risk),
        percent(choice.mean_risk),
        levels,
    ]


def _written(measure: str, cost: float) -> str:
    from discreet.cli._output import number_text

    if math.isnan(cost):
        return "–"
    return percent(cost) if measure in _SHARES else number_text(cost)


_SHARES = ("loss", "precision")
