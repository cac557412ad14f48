"""`discreet condense`: publish pseudo-records drawn from statistics of groups, with a privacy level for everyone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, in_group
from discreet.cli._progress import perform
from discreet.cli._spec_options import options_of, parameters_of
from discreet.core.registry import METHODS

if TYPE_CHECKING:
    from discreet.core.schema import Column

_EPILOG = """\b
Examples:
  discreet condense patients.csv -k 10 --identifier name,ssn --sensitive disease --rest quasi --out release
  discreet condense job.toml -k 10 --out release
  discreet condense patients.csv --k-column wanted --identifier name --label disease --rest quasi --out release
  discreet condense visits.parquet -k 20 --rest quasi --alpha 2 --spread gaussian --seed 7 --out release"""


@command(
    short_help="Publish pseudo-records of the same shape.",
    epilog=_EPILOG,
    essentials=(
        "-k", "--k-column", "--quasi", "--identifier", "--sensitive", "--rest", "--label", "--segment",
        "--avoid-copies", "--out", "--overwrite", "--seed",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@in_group(
    "Guarantee",
    [
        click.option(
            "-k", type=int, help="The privacy level of every record: it is condensed with k − 1 others."
        ),
        click.option(
            "--k-column", metavar="COLUMN", help="The column with each record's own level; not published."
        ),
    ],
)
@in_group(
    "Roles",
    [
        click.option(
            "--quasi", multiple=True, metavar="COLUMNS", help="Quasi-identifiers: what others may know."
        ),
        click.option("--identifier", multiple=True, metavar="COLUMNS", help="What names a person. Dropped."),
        click.option(
            "--sensitive",
            multiple=True,
            metavar="COLUMNS",
            help="What must not be learned about a person; not compared when copies are avoided.",
        ),
        click.option(
            "--rest",
            type=click.Choice(["quasi", "sensitive"]),
            help="The role of all columns that no other option names; without it they are an error.",
        ),
    ],
)
@options_of(lambda: [METHODS["condensation"]])
@options.allow_unique
@options.roles_from
@options.output_options
@options.reading
@options.printing
def condense(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Condense DATA, a table or a job file, into groups and publish pseudo-records drawn from their statistics."""
    from discreet.cli._described import data_file, description
    from discreet.engines.formats import WRITTEN, output_format
    from discreet.guarantees import Indistinguishability
    from discreet.job import Job
    from discreet.job.parse import output_from
    from discreet.publish.pseudo.redraw import UnavoidableCopiesError

    frame, columns = frame_and_roles(data, values)
    data = data_file(data, description(data, values))
    written = {"format": output_format(data)} | parse.output(out, values)
    job = Job(
        frame,
        columns,
        Indistinguishability(level_of(values)),
        method="condensation",
        options=parameters_of(METHODS["condensation"], values),
        **output_from(written, Path(), WRITTEN),
        source=data,
    )
    try:
        perform("condense", job, as_json=as_json, quiet=quiet)
    except UnavoidableCopiesError as error:
        error.remedy = "--allow-copies"
        raise


def level_of(values: dict[str, Any]) -> int | str:
    """Return the level of all records, or the column of each record's own."""
    k, column = values["k"], values["k_column"]
    if (k is None) == (column is None):
        raise parse.mistake(
            "Say the privacy level: one for all, or the column of each record's own.", "-k 10"
        )
    return column if k is None else int(k)


def frame_and_roles(data: Path, values: dict[str, Any]) -> tuple[Any, dict[str, Column]]:
    """Read a file and put roles on its columns; the label and the levels need none."""
    from dataclasses import replace

    from discreet.cli._described import described_frame, description
    from discreet.core.schema import identifier, quasi, sensitive
    from discreet.engines.files import read
    from discreet.job import MissingRoleError
    from discreet.job.parse import reading_from

    described = description(data, values)
    roles = {
        role: parse.names_in(values[role]) for role in ("quasi", "identifier", "sensitive", "allow_unique")
    }
    if described is None:
        frame = read(data, **reading_from(parse.reading(values)))
        columns = {name: quasi() for name in (values["label"], values["k_column"]) if name in frame.columns}
    else:
        unnamed = {**values, **dict.fromkeys(roles, ()), "rest": None}
        frame, columns = described_frame(data, unnamed, described, judged=True)
    for role, names in roles.items():
        for name in names:
            if name not in frame.columns:
                flag = role.replace("_", "-")
                raise parse.mistake(f"--{flag} names column '{name}', which the file does not have.")
    columns |= {name: quasi() for name in roles["quasi"]}
    columns |= {name: sensitive() for name in roles["sensitive"]}
    columns |= {name: identifier() for name in roles["identifier"]}
    rest = sensitive() if values["rest"] == "sensitive" else quasi()
    bare = [name for name in frame.columns if name not in columns]
    if bare and described is None and values["rest"] is None:
        error = MissingRoleError(bare)
        error.remedy = "--sensitive for what must not be learned, and --rest quasi for the others"
        raise error
    columns |= dict.fromkeys(bare, rest)
    columns |= {name: replace(columns[name], allow_unique=True) for name in roles["allow_unique"]}
    return frame, {name: columns[name] for name in frame.columns}
