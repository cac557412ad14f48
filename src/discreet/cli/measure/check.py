"""`discreet check`: judge any table, whoever made it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli import _rules as rules

if TYPE_CHECKING:
    from discreet.core.tables.table import Table
    from discreet.job.checking import Judgment, Measure

_WORDS = {">=": "up to", "<=": "from", "<": "above"}
_EPILOG = """\b
Examples:
  discreet check published.csv --quasi age,zip --sensitive disease
  discreet check published.csv --quasi age,zip --sensitive disease -k 3 -l 2 --diversity entropy -t 0.3
  discreet check published.csv --quasi age,zip --population voters.csv --k-map 5
  discreet check release -p 10
  discreet check release --rule "diapers => beer" --min-support 0.01
  discreet check baskets.dat --km 5,2

\b
Exit codes: 0 every guarantee holds, 1 one is broken, 2 user error."""


@click.command(short_help="Judge any table.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@options.roles(rest="other")
@options.promises
@click.option(
    "--suppressed",
    type=click.Choice(["judged", "exempt"]),
    default="judged",
    help="Whether fully suppressed rows are a class like any other; judged by default.",
)
@baskets.judging
@rules.naming(required=False)
@options.reading
@options.telling
def check(data: Path, suppressed: Any, as_json: bool, quiet: bool, **given: Any) -> None:
    """Judge DATA, a table or baskets, by the promises asked for, and measure it by all others."""
    from discreet.job.sanitized_checking import is_sanitized

    if is_sanitized(data):
        from discreet.cli.measure import _sanitized

        kept = _sanitized.check(data, given, as_json=as_json, quiet=quiet)
        click.get_current_context().exit(0 if kept else 1)
    if baskets.is_baskets(data, given):
        kept = baskets.check(data, given, as_json=as_json, quiet=quiet)
        click.get_current_context().exit(0 if kept else 1)
    from discreet.cli._progress import stages
    from discreet.guarantees import RulesHidden
    from discreet.job.checking import judge
    from discreet.job.parse import guarantee_from
    from discreet.job.sanitized_checking import with_reading

    asked = gather.promises(given)
    if asked and rules.asked(given):
        raise gather.mistake("Hidden rules are judged by themselves; leave the other guarantees out.")
    hidden = guarantee_from([rules.promise(given)], {}, Path()) if rules.asked(given) else None
    with stages(2, quiet=quiet or as_json) as tell:
        tell("Reading")
        table = table_of(data, given)
        population = population_of(table, given)
        promised = guarantee_from(asked, table.schema, Path()) if asked else None
        if isinstance(hidden, RulesHidden):
            promised = with_reading(hidden, table)
        tell("Judging")
        judgment = judge(table, promised, suppressed=suppressed, population=population)
    _tell(judgment, as_json=as_json, quiet=quiet)
    click.get_current_context().exit(0 if judgment.ok else 1)


def table_of(data: Path, given: dict[str, Any]) -> Table:
    """Read a file as a table with the roles that the options give."""
    from discreet.core.tables.table import Table
    from discreet.engines.files import read
    from discreet.job.kinds import column_from, complete
    from discreet.job.parse import reading_from, rest_from

    plain = gather.columns(given)
    if not any(column["role"] == "quasi" for column in plain.values()):
        raise gather.mistake("Say which columns others may know.", "--quasi age,zip")
    columns = {name: column_from(name, column, Path()) for name, column in plain.items()}
    frame = read(data, **reading_from(gather.reading(given)))
    return Table(frame, complete(columns, frame.columns, rest=rest_from(given["rest"])))


def population_of(table: Table, given: dict[str, Any]) -> Table | None:
    """Read the population, if one is named."""
    from discreet.job.parse import population

    return None if given["population"] is None else population(given["population"], table.schema.quasi)


def _tell(judgment: Judgment, *, as_json: bool, quiet: bool) -> None:
    from discreet.cli._output import plain_judgment, tell_json, tell_lines, verdict_lines

    if as_json:
        tell_json(plain_judgment(judgment, rows=judgment.n_rows, classes=judgment.n_classes))
    elif not quiet:
        verdict = judgment.verdict
        tell_lines([*(() if verdict is None else verdict_lines(verdict)), *measure_lines(judgment)])


def measure_lines(judgment: Judgment) -> list[tuple[str, str]]:
    """Describe what a table reaches in every measure."""
    return [
        ("rows", f"{judgment.n_rows:,} in {judgment.n_classes:,} classes"),
        ("reaches", "the promises this table keeps, asked for or not:"),
        *(("", f"{_measure(measure):<50} {_reached(measure)}") for measure in judgment.measures),
    ]


def _measure(measure: Measure) -> str:
    return measure.name if measure.column is None else f"{measure.name}, of {measure.column}"


def _reached(measure: Measure) -> str:
    from discreet.cli._output import number

    if math.isinf(measure.worst):
        return "none"
    return f"{_WORDS[measure.relation]} {number(measure.worst)}"
