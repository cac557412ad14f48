"""`discreet explore`: the best ways of all methods under several guarantees and measures, side by side."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, group_of, in_group
from discreet.cli._errors import one_line
from discreet.cli._options import guarantees_of
from discreet.core.registry import METHODS
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.core.tables.table import Table
    from discreet.guarantees import Guarantee
    from discreet.job.exploration import Exploration, ExploredMethod, ExploredMethods
    from discreet.publish import AddedColumn

_SHOWN = 10
_EPILOG = """\b
Examples:
  discreet explore job.toml
  discreet explore job.toml -k 2,5,10 --row 3
  discreet explore patients.csv --quasi age,zip --hierarchy age=intervals:5,10,20 --hierarchy zip=mask -k 2,5,10
  discreet explore patients.csv --quasi age,zip --sensitive disease -k 5 -l 2 --hierarchy zip=mask \\
      --max-suppressed 0,0.02,0.05 --measure loss,discernibility --top 5 --all
  discreet explore patients.csv --quasi age,zip -k 5 --dimensions named"""


@command(
    short_help="Compare what all methods would cost.",
    epilog=_EPILOG,
    essentials=(
        "--quasi", "--sensitive", "--rest", "--hierarchy", "-k", "-l", "-t", "--max-suppressed", "--measure", "--row",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@options.roles(rest="identifier")
@in_group(
    "Guarantee",
    [
        click.option(
            "-k",
            "ks",
            metavar="NUMBERS",
            help="k-anonymity: the least number of rows that share all quasi-identifying values; or several: 2,5,10.",
        )
    ],
)
@options.guarantees
@click.option(
    "--max-suppressed",
    "shares",
    default="0,0.02,0.05",
    metavar="SHARES",
    help="Shares of rows that may be left out, or whole numbers of rows; 0,0.02,0.05 by default.",
)
@click.option(
    "--measure",
    "measures",
    default="loss,discernibility",
    metavar="MEASURES",
    help="What to minimize, as with --method optimal; loss,discernibility by default. The first is the order.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=3,
    help="The levels looked at for each measure; 3 by default.",
)
@click.option(
    "--time-limit",
    type=float,
    default=10.0,
    metavar="SECONDS",
    help="For each search of a lattice too large to visit whole; 10 by default.",
)
@click.option(
    "--dimensions",
    type=click.Choice(["named", "uniqueness"]),
    help="Show instead what is lost as quasi-identifiers are added one by one: as named, or next the one that makes "
    "most rows unique.",
)
@click.option("--all", "every", is_flag=True, help="Print all rows, not the ten best.")
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    help="The row whose command is printed; the best by default.",
)
@options.reading
@options.printing
def explore(data: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Show the best ways to publish DATA, a table or a job file, what each costs, and the command that does it.

    All methods for tables are compared: Mondrian, local recoding, and levels for whole columns. Nothing is written.
    """
    from discreet.cli._described import described_table
    from discreet.cli._progress import stages
    from discreet.job.exploration import explore as explored

    if values["dimensions"] is not None:
        _show_dimensions(data, values, as_json=as_json, quiet=quiet)
        return
    ks = _distinct("-k", values["ks"], int) if values["ks"] else [None]
    shares = _distinct("--max-suppressed", values["shares"], parse.whole_or_not)
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        table = described_table(data, values, judged=False)
        guarantees = _guarantees(data, values, ks, table)
        progress("Exploring")
        measures = parse.names_in([values["measures"]])
        limits = {"top": values["top"], "time_limit": values["time_limit"]}
        exploration = explored(table, guarantees, shares=shares, measures=measures, **limits)
    base = [[*_base(data, values), *([] if k is None else ["-k", str(k)])] for k in ks for _ in shares]
    rows = _rows(exploration, base)
    if as_json:
        _print_json(exploration, base)
    elif not quiet:
        _print(exploration, rows, chosen=values["row"], every=values["every"])


def _show_dimensions(data: Path, values: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Print the cost of a guarantee by the number of quasi-identifiers, each line once it is known."""
    from discreet.cli._described import described_table
    from discreet.cli._output import print_json
    from discreet.publish import dimensions

    ks = _distinct("-k", values["ks"], int) if values["ks"] else [None]
    if len(ks) > 1:
        raise parse.mistake("--dimensions takes one k.", "-k 5")
    table = described_table(data, values, judged=False)
    guarantee = _guarantees(data, values, ks, table)[0]
    limit = values["time_limit"] * len(table.schema.quasi)
    steps: list[AddedColumn] = []
    for step in dimensions(table, guarantee, order=values["dimensions"], time_limit=limit):
        if not steps and not (quiet or as_json):
            click.echo("columns     loss  left out   unique  (k/n)^(1/d)  added")
        steps.append(step)
        if not (quiet or as_json):
            lost = "none" if step.loss is None else percent(step.loss)
            cells = f"{step.n_columns:>7}  {lost:>7}  {percent(step.failing):>8}  {percent(step.unique):>7}"
            click.echo(one_line(f"{cells}  {percent(step.volume):>11}  {step.column}"))
    if as_json:
        content = {"rows": table.n_rows, "dimensions": [step.to_dict() for step in steps]}
        print_json({"command": "explore", "ok": True, **content})
    elif not quiet:
        click.echo("loss by Mondrian; left out and unique if nothing is generalized")
        if len(steps) < len(table.schema.quasi):
            click.echo(f"stopped after {limit:g} seconds, as --time-limit for each column says")


def _guarantees(data: Path, values: Mapping[str, Any], ks: list[Any], table: Table) -> list[Guarantee]:
    """Return the guarantees to compare: those of the options, or those of the job, with each k in turn."""
    from discreet.cli._described import promised
    from discreet.job.exploration import with_k
    from discreet.job.parse import guarantee_from

    of_job = promised(data, values)
    if of_job is not None:
        if guarantees_of({**values, "k": None}):
            raise parse.mistake(
                "The job names the guarantees; of them only k can be changed here.", "-k 2,5,10"
            )
        return [of_job if k is None else with_k(of_job, k) for k in ks]
    sections = [guarantees_of({**values, "k": k}) for k in ks]
    if not all(sections):
        raise parse.mistake("Choose a privacy guarantee.", "-k 2,5,10")
    return [guarantee_from(section, table.schema, Path()) for section in sections]


def _distinct(flag: str, text: str, kind: Callable[[str], float]) -> list[Any]:
    # 1 may be a row and 1.0 all of them, although the two are equal.
    return list({(type(number), number): number for number in parse.number_list(flag, text, kind)}.values())


def _base(data: Path, values: Mapping[str, Any]) -> list[str]:
    """Return the command that publishes the same file, as far as it is the same for all choices."""
    from discreet.job.descriptions import is_job

    if is_job(data):
        return ["discreet", "run", str(data)]
    words = ["discreet", "anonymize", str(data)]
    if values["roles"] is not None:
        words += ["--roles", str(values["roles"])]
    for role in parse.ROLES:
        if names := parse.names_in(values.get(role) or ()):
            words += [f"--{role}", ",".join(f'"{name}"' if "," in name else name for name in names)]
    words += ["--rest", values["rest"]]
    for value in values["hierarchies"]:
        words += ["--hierarchy", value]
    return [*words, *_repeated(values)]


def _repeated(values: Mapping[str, Any]) -> Iterator[str]:
    """Return the options about guarantees and reading as they were set, but for k, which the choices differ in."""
    context = click.get_current_context()
    for option in context.command.get_params(context):
        value = values.get(option.name or "")
        if group_of(option) not in ("Guarantee", "Reading") or option.name == "ks" or value in (None, ()):
            continue
        if option.secondary_opts or option.name == "labels":
            yield option.opts[0] if value or option.name == "labels" else option.secondary_opts[0]
        else:
            for item in value if isinstance(value, tuple) else (value,):
                yield from (option.opts[0], f"{item:g}" if isinstance(item, float) else str(item))


@dataclass(frozen=True)
class _Row:
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


def _rows(exploration: Exploration, base: list[list[str]]) -> list[_Row]:
    """Return every choice once, guarantee by guarantee, the cheapest first."""
    rows: dict[tuple[Any, ...], _Row] = {}
    for part, words in zip(exploration.parts, base, strict=True):
        for choice in part.choices:
            levels = None if choice.levels is None else tuple(choice.levels.items())
            key = (repr(part.guarantee), choice.method, levels, choice.suppressed)
            rows.setdefault(key, _Row(part, choice, _command(words, part, choice)))
    solutions: dict[tuple[Any, ...], _Row] = {}
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


def _print_json(exploration: Exploration, base: list[list[str]]) -> None:
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
        "parts": parts,
    }
    print_json({"command": "explore", "ok": True} | about)


def _print(exploration: Exploration, rows: list[_Row], *, chosen: int, every: bool) -> None:
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
    if rows:
        if chosen > len(rows):
            raise parse.mistake(f"There are {len(rows)} rows.", "--row 1")
        others = "; --row N prints another's" if len(rows) > 1 else ""
        lines += ["", f"The command of row {chosen}{others}:", rows[chosen - 1].command]
    for line in lines:
        click.echo(one_line(line).rstrip())


def _aligned(rows: list[tuple[int, _Row]], exploration: Exploration) -> list[str]:
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
