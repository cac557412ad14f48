"""`discreet explore`: the best ways of all methods under several guarantees and measures, side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, group_of, in_group
from discreet.cli._errors import one_line
from discreet.cli._log import log
from discreet.cli._options import guarantees_of
from discreet.cli._startup import INTERRUPTED, stop_if_interrupted, was_interrupted
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.core.tables.table import Table
    from discreet.guarantees import Guarantee
    from discreet.job.exploration import Exploration
    from discreet.publish import AddedColumn

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
    default=60.0,
    metavar="SECONDS",
    help="For all methods and guarantees together; 60 by default. Ctrl-C shows what there is so far.",
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
def explore(data: Path, as_json: bool, quiet: bool, **values: Any) -> int:
    """Show the best ways to publish DATA, a table or a job file, what each costs, and the command that does it.

    All methods for tables are compared: Mondrian, local recoding, and levels for whole columns. Nothing is written.
    """
    from discreet.cli._described import described_table
    from discreet.cli._progress import stages
    from discreet.cli.publish._explored import explored_rows, print_exploration, print_exploration_json

    if values["dimensions"] is not None:
        _show_dimensions(data, values, as_json=as_json, quiet=quiet)
        return 0
    ks = _distinct("-k", values["ks"], int) if values["ks"] else [None]
    shares = _distinct("--max-suppressed", values["shares"], parse.whole_or_not)
    with stages(1, quiet=quiet or as_json) as progress:
        progress("Reading")
        table = described_table(data, values, judged=False)
        guarantees = _guarantees(data, values, ks, table)
    measures = parse.names_in([values["measures"]])
    exploration, stopped = _explored(
        table,
        guarantees,
        speaks=not (quiet or as_json) and sys.stderr.isatty(),
        shares=shares,
        measures=measures,
        top=values["top"],
        time_limit=values["time_limit"],
    )
    base = [[*_base(data, values), *([] if k is None else ["-k", str(k)])] for k in ks for _ in shares]
    if as_json:
        print_exploration_json(exploration, base, stopped=stopped)
    elif not quiet:
        rows = explored_rows(exploration, base)
        print_exploration(exploration, rows, chosen=values["row"], every=values["every"], stopped=stopped)
    return INTERRUPTED if stopped else 0


def _explored(
    table: Table, guarantees: list[Guarantee], *, speaks: bool, **settings: Any
) -> tuple[Exploration, bool]:
    """Explore step by step; return what is known at the end, or when somebody stopped, and whether somebody did.

    On a terminal the estimate of the whole comes first, and each step is a line once it is done.
    """
    from discreet.cli.publish._explored import best_so_far
    from discreet.job.exploration import explorations

    exploration: Exploration | None = None
    try:
        for exploration in explorations(table, guarantees, **settings):
            log("info", "stage", stage="Exploring", steps_left=exploration.n_left)
            if speaks:
                click.echo(one_line(best_so_far(exploration, settings["time_limit"])), err=True)
            stop_if_interrupted()
    except BaseException as error:
        # An engine may report the interruption as an error of its own.
        if exploration is None or not (was_interrupted() or isinstance(error, KeyboardInterrupt)):
            raise
        return exploration, True
    assert exploration is not None
    return exploration, False


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
    limit = values["time_limit"]
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
            click.echo(f"stopped after {limit:g} seconds, as --time-limit says")


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
