"""`discreet risk`: how exposed the people in a table are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, in_group
from discreet.cli.measure import _ratings as ratings
from discreet.cli.measure import _sample_risk as sample
from discreet.kinds.wording import percent, span

if TYPE_CHECKING:
    from discreet.measure import AttackerRisk, Linkage, Risk

_EPILOG = """\b
Examples:
  discreet risk published.csv --quasi age,zip
  discreet risk job.toml
  discreet risk release/
  discreet risk published.csv --quasi age,zip --population voters.csv --threshold 0.1
  discreet risk published.csv --quasi age,zip --sensitive disease --external voters.csv --external-person name
  discreet risk survey.csv --quasi age,zip --population-size 100000 --special 3 --sets 3
  discreet risk baskets.dat --known 1,2,3
  discreet risk ratings.csv --person user --item movie --value rating --error 1 --known 1,2,4,8"""


@command(
    short_help="Measure how exposed the people in a table are.",
    epilog=_EPILOG,
    essentials=(
        "--quasi", "--sensitive", "--rest", "--roles", "--population", "--population-size", "--threshold", "--external",
        "--special", "--sets", "--weight", "--known",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@options.roles(rest="other")
@in_group("Guarantee", [options.POPULATION])
@click.option("--threshold", type=float, default=0.2, help="A risk above it is counted; 0.2 by default.")
@click.option(
    "--external",
    type=options.DATA,
    metavar="FILE",
    help="A table of named people, to try the linkage attack.",
)
@click.option(
    "--external-person",
    metavar="COLUMN",
    help="The external column that names a person, if one has several rows.",
)
@click.option(
    "--known",
    metavar="NUMBERS",
    help="How many items of a basket are known, 1,2,3,4 by default, or ratings of a person, 1,2,3,4,6,8.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Baskets, ratings: seeds what is drawn.")
@sample.options
@ratings.options
@baskets.reading
@options.reading
@options.printing
def risk(
    data: Path, external: Path | None, external_person: str | None, as_json: bool, quiet: bool, **values: Any
) -> None:
    """Measure how likely the people in DATA, a table, baskets or ratings, are to be found again."""
    _refuse_drawn(data)
    if ratings.is_ratings(values):
        ratings.measure_ratings(data, values, as_json=as_json, quiet=quiet)
        return
    if baskets.is_baskets(data, values):
        baskets.measure_risk(data, values, as_json=as_json, quiet=quiet)
        return
    from discreet.cli._described import described_table
    from discreet.cli._output import print_json, print_lines
    from discreet.cli._progress import stages
    from discreet.cli.measure.check import population_of
    from discreet.engines.files import read
    from discreet.measure import linkage
    from discreet.measure import risk as measured

    if external_person is not None and external is None:
        raise parse.mistake("--external-person requires --external.", "--external FILE")
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        table = described_table(data, values)
        population = population_of(table, values)
        progress("Measuring")
        risk_ = measured(table, threshold=values["threshold"], population=population)
        sampled = sample.measured(table, values)
        linked = None
        if external is not None:
            linked = linkage(table, read(external), person=external_person, threshold=values["threshold"])
    if as_json:
        joined = None if linked is None else linked.to_dict()
        figures = {"risk": risk_.to_dict(), "linkage": joined} | sampled.to_dict()
        print_json({"command": "risk", "ok": True} | figures)
    elif not quiet:
        lines = [] if linked is None else _linkage_lines(linked)
        print_lines([*_risk_lines(risk_), *sampled.lines(), *lines])


def _refuse_drawn(data: Path) -> None:
    """Refuse releases whose rows are nobody's own."""
    from discreet.job.descriptions import is_release, read_record, release_folder

    if is_release(data) and (kind := read_record(release_folder(data))["kind"]) in (
        "pseudo-data",
        "synthetic-data",
        "uncertain-records",
        "sketches",
    ):
        raise parse.mistake(
            f"A release of {kind} has no classes of people; how near it comes to them is in its internal report."
        )


def _risk_lines(risk_: Risk) -> list[tuple[str, str]]:
    sizes = f"classes of {span(risk_.smallest_class, risk_.largest_class)} rows"
    lines = [
        ("rows", f"{risk_.n_rows:,} in {risk_.n_classes:,} {sizes}"),
        ("unique", f"{risk_.uniques:,} rows ({percent(risk_.uniques_share)}) are alone in their class"),
        ("prosecutor", _attacker(risk_.prosecutor, risk_.threshold)),
    ]
    if risk_.journalist is not None:
        lines.append(("journalist", _attacker(risk_.journalist, risk_.threshold)))
    lines.append(("marketer", f"{percent(risk_.marketer)} of the rows found again, on average"))
    return lines


def _attacker(attacker: AttackerRisk, threshold: float) -> str:
    return (
        f"highest {percent(attacker.highest)}, mean {percent(attacker.mean)}; "
        f"{attacker.records_above:,} rows ({percent(attacker.share_above)}) above {percent(threshold)}"
    )


def _linkage_lines(linked: Linkage) -> list[tuple[str, str]]:
    pinned = f"{linked.persons_pinned:,} people and {linked.records_pinned:,} rows are pinned down"
    return [
        ("linkage", f"joined on {', '.join(linked.on)} with {linked.n_persons:,} people"),
        ("", f"{linked.persons_matched:,} people fit some of {linked.records_matched:,} rows"),
        ("", f"{pinned}, with a certainty above {percent(linked.threshold)}"),
        ("", f"the highest certainty is {percent(linked.highest)}"),
        *(("", line) for name in linked.attributes for line in _learned(name, linked)),
    ]


def _learned(name: str, linked: Linkage) -> Iterator[str]:
    learned, above = linked.attributes[name], percent(linked.threshold)
    yield (
        f"{name}: learned with a certainty of up to {percent(learned.highest)}, where a guess has "
        f"{percent(learned.prior)}; above {above} for {learned.persons_above:,} people, if they are in the table"
    )
    yield (
        f"{name}, and that the row is theirs: up to {percent(learned.highest_joint)}; above {above} for "
        f"{learned.persons_above_joint:,} people"
    )
