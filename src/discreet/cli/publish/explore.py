"""`discreet explore`: the best levels under several promises and measures, to choose with open eyes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.job.exploration import Choice, Choices, Exploration

_FLAGS = {
    "l": "-l",
    "diversity": "--diversity",
    "c": "--c",
    "t": "-t",
    "distance": "--distance",
    "alpha": "--alpha",
    "beta": "--beta",
    "likeness": "--likeness",
    "delta": "--delta",
    "k_map": "--k-map",
    "population": "--population",
    "delimiter": "--delimiter",
    "encoding": "--encoding",
    "decimal": "--decimal",
    "thousands": "--thousands",
    "dates": "--dates",
}
_REPEATED = {"hierarchies": "--hierarchy", "nulls": "--null", "text": "--text"}
_EPILOG = """\b
Examples:
  discreet explore patients.csv --quasi age,zip --hierarchy age=intervals:5,10,20 --hierarchy zip=mask -k 2,5,10
  discreet explore patients.csv --quasi age,zip --sensitive disease -k 5 -l 2 --hierarchy zip=mask \\
      --max-suppressed 0,0.02,0.05 --measure loss,discernibility --top 5"""


@click.command(short_help="Compare the best levels under several promises and measures.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@options.roles(rest="identifier")
@options.many_promises
@click.option(
    "--max-suppressed",
    "shares",
    default="0,0.02,0.05",
    metavar="SHARES",
    help="Shares of rows that may be left out; 0,0.02,0.05 by default.",
)
@click.option(
    "--measure",
    "measures",
    default="loss,discernibility",
    metavar="MEASURES",
    help=f"What to minimize, of {', '.join(options.MEASURES)}; loss,discernibility by default.",
)
@click.option("--top", type=click.IntRange(min=1), default=3, help="The best so many of each; 3 by default.")
@click.option(
    "--time-limit",
    type=float,
    default=10.0,
    metavar="SECONDS",
    help="For each search of a lattice too large to visit whole; 10 by default.",
)
@options.reading
@options.telling
def explore(data: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Show the best ways to generalize whole columns of DATA, what each costs, and the command that does it.

    Nothing is written.
    """
    from discreet.cli._progress import stages
    from discreet.cli.measure.check import table_of
    from discreet.job.exploration import explore as explored
    from discreet.job.parse import guarantee_from

    ks = _numbers("-k", given["ks"], int) if given["ks"] else [None]
    shares = _numbers("--max-suppressed", given["shares"], float)
    asked = [gather.promises({**given, "k": k}) for k in ks]
    if not all(asked):
        raise gather.mistake("Choose a privacy guarantee.", "-k 2,5,10")
    with stages(2, quiet=quiet or as_json) as tell:
        tell("Reading")
        table = table_of(data, given)
        guarantees = [guarantee_from(one, table.schema, Path()) for one in asked]
        tell("Exploring")
        measures = gather.names_in([given["measures"]])
        limits = {"top": given["top"], "time_limit": given["time_limit"]}
        found = explored(table, guarantees, shares=shares, measures=measures, **limits)
    base = [[*_base(data, given), *([] if k is None else ["-k", str(k)])] for k in ks for _ in shares]
    _tell(found, base, as_json=as_json, quiet=quiet)


def _numbers(flag: str, given: str, kind: type[int] | type[float]) -> list[Any]:
    try:
        found = [kind(one) for one in given.split(",")]
    except ValueError:
        raise gather.mistake(f"{flag} takes numbers such as 2,5,10.") from None
    return list(dict.fromkeys(found))


def _base(data: Path, given: Mapping[str, Any]) -> list[str]:
    """Return the command that anonymizes the same file, as far as it is the same for all choices."""
    words = ["discreet", "anonymize", str(data)]
    for role in gather.ROLES:
        if names := gather.names_in(given.get(role) or ()):
            words += [f"--{role}", ",".join(f'"{name}"' if "," in name else name for name in names)]
    words += ["--rest", given["rest"]]
    for option, flag in _REPEATED.items():
        for value in given.get(option) or ():
            words += [flag, value]
    for option, flag in _FLAGS.items():
        if given.get(option) is not None:
            words += [flag, f"{given[option]:g}" if isinstance(given[option], float) else str(given[option])]
    return words + ([] if given["header"] is None else ["--no-header"])


def _command(base: list[str], choices: Choices, choice: Choice) -> str:
    levels = [word for name, level in choice.levels.items() for word in ("--level", f"{name}={level}")]
    share = ["--max-suppressed", repr(choices.max_suppressed)] if choices.max_suppressed else []
    return shlex.join([*base, "--method", "generalization", *levels, *share, "--out", "release"])


def _tell(found: Exploration, base: list[list[str]], *, as_json: bool, quiet: bool) -> None:
    from discreet.cli._errors import one_line
    from discreet.cli._output import tell_json

    parts = list(zip(found.parts, base, strict=True))
    if as_json:
        plain = [
            {
                "promise": part.guarantee.describe(),
                "guarantee": part.guarantee.to_dict(),
                "max_suppressed": part.max_suppressed,
                "choices": [one.to_dict() | {"command": _command(words, part, one)} for one in part.choices],
            }
            for part, words in parts
        ]
        about = {"rows": found.n_rows, "nodes": found.n_nodes, "visited_all": found.whole, "parts": plain}
        tell_json({"command": "explore", "ok": True} | about)
    elif not quiet:
        for line in _lines(found, parts):
            click.echo(one_line(line).rstrip())


def _lines(found: Exploration, parts: list[tuple[Choices, list[str]]]) -> Iterable[str]:
    looked = "all of them visited" if found.whole else "searched, not all of them visited"
    yield f"{found.n_rows:,} rows; {found.n_nodes:,} ways to generalize whole columns, {looked}"
    commands: list[str] = []
    for part, words in parts:
        yield " "
        yield f"{part.guarantee}, at most {part.max_suppressed:.2%} of the rows left out"
        if not part.choices:
            yield "  no levels keep it; leave out more, or ask for less"
            continue
        first = len(commands) + 1
        commands += [_command(words, part, choice) for choice in part.choices]
        yield from _aligned(part, found, first)
    if commands:
        yield " "
        yield "The commands that make them:"
        yield from (f"[{number}] {command}" for number, command in enumerate(commands, start=1))


def _aligned(part: Choices, found: Exploration, first: int) -> Iterable[str]:
    from discreet.cli._output import number

    measures = list(part.choices[0].costs)
    head = ["", "best by", *measures, "left out", "classes", "highest risk", "mean risk", "levels"]
    rows = [
        [
            f"[{first + at}]",
            ", ".join(f"{measure} {rank}" for measure, rank in one.ranks.items()),
            *(number(one.costs[measure]) for measure in measures),
            f"{one.suppressed / found.n_rows:.2%}",
            f"{one.classes:,}",
            f"{one.highest_risk:.3g}",
            f"{one.mean_risk:.3g}",
            ", ".join(f"{name} {level}/{found.heights[name]}" for name, level in one.levels.items()),
        ]
        for at, one in enumerate(part.choices)
    ]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        cells = [
            cell.ljust(width) if column in (0, 1, len(head) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  " + "  ".join(cells)
