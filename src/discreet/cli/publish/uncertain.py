"""`discreet uncertain`: publish every record as a probability distribution that k records explain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, in_group
from discreet.cli._progress import perform
from discreet.cli._spec_options import options_of, parameters_of
from discreet.cli.publish.condense import frame_and_roles, level_of
from discreet.core.registry import METHODS

_EPILOG = """\b
Examples:
  discreet uncertain measures.csv -k 10 --identifier name --out release
  discreet uncertain measures.csv -k 10 --identifier name --label disease --spread uniform --out release
  discreet uncertain job.toml --k-column wanted --out release"""


@command(
    short_help="Publish numbers as probability distributions.",
    epilog=_EPILOG,
    essentials=(
        "-k", "--k-column", "--attacker", "--identifier", "--sensitive", "--label", "--spread", "--out", "--overwrite",
        "--seed",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@in_group(
    "Guarantee",
    [
        click.option("-k", type=int, help="How many records explain each published one, on average."),
        click.option(
            "--k-column", metavar="COLUMN", help="The column with each record's own level; not published."
        ),
        click.option(
            "--attacker",
            type=click.Choice(["informed", "naive"]),
            default="informed",
            help="Whether the attacker works out the spread of every record; naive is the paper's, and assumed.",
        ),
    ],
)
@in_group(
    "Roles",
    [
        click.option("--identifier", multiple=True, metavar="COLUMNS", help="What names a person; dropped."),
        click.option(
            "--sensitive", multiple=True, metavar="COLUMNS", help="Marked as sensitive in the release."
        ),
    ],
)
@options_of(lambda: [METHODS["uncertain"]])
@options.roles_from
@options.output_options
@options.reading
@options.printing
def uncertain(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Publish DATA, a table of numbers or a job file, as one probability distribution for each record."""
    from discreet.cli._described import data_file, description
    from discreet.engines.formats import WRITTEN, output_format
    from discreet.guarantees import ExpectedAnonymity
    from discreet.job import Job
    from discreet.job.parse import output_from

    frame, columns = frame_and_roles(data, {**values, "quasi": (), "allow_unique": (), "rest": "quasi"})
    data = data_file(data, description(data, values))
    written = {"format": output_format(data)} | parse.output(out, values)
    job = Job(
        frame,
        columns,
        ExpectedAnonymity(level_of(values), values["attacker"]),
        method="uncertain",
        options=parameters_of(METHODS["uncertain"], values),
        **output_from(written, Path(), WRITTEN),
        source=data,
    )
    perform("uncertain", job, as_json=as_json, quiet=quiet)
