"""`discreet synthesize`: publish a synthetic table with differential privacy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, in_group
from discreet.cli._progress import perform
from discreet.cli._spec_options import options_of, parameters_of
from discreet.cli.publish.condense import frame_and_roles
from discreet.core.registry import METHODS

_EPILOG = """\b
Examples:
  discreet synthesize patients.csv --epsilon 1 --identifier name --sensitive disease --rest quasi \\
      --domain age=0:110:5 --domain sex=F,M --domain disease=file:diseases.txt --out release
  discreet synthesize patients.csv --epsilon 1 --method aim --rest quasi --domain age=0:110:5 --domain sex=F,M \\
      --nullable age --out release"""
_METHODS = ("mst", "aim")
_BINS = re.compile(r"[^,:]+:[^,:]+:[^,:]+")


@command(
    short_help="Publish synthetic rows with differential privacy.",
    epilog=_EPILOG,
    essentials=(
        "--epsilon", "--delta", "--domain", "--nullable", "--method", "--quasi", "--identifier", "--sensitive",
        "--rest", "--out", "--overwrite",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@in_group(
    "Guarantee",
    [
        click.option("--epsilon", type=float, required=True, help="How much of a row the release may show."),
        click.option(
            "--delta",
            type=float,
            default=1e-9,
            show_default=True,
            help="The probability with which that may fail; far below one in the number of rows.",
        ),
    ],
)
@in_group(
    "Roles",
    [
        click.option(
            "--quasi", multiple=True, metavar="COLUMNS", help="Quasi-identifiers: what others may know."
        ),
        click.option("--identifier", multiple=True, metavar="COLUMNS", help="What names a person; dropped."),
        click.option(
            "--sensitive", multiple=True, metavar="COLUMNS", help="What must not be learned about a person."
        ),
        click.option(
            "--rest",
            type=click.Choice(["quasi", "sensitive"]),
            help="The role of all columns that no other option names; without it they are an error.",
        ),
    ],
)
@in_group(
    "Method",
    [
        click.option(
            "--method",
            type=click.Choice(_METHODS),
            default="mst",
            help="mst is fast; aim is nearer to the original.",
        ),
        click.option(
            "--domain",
            "domains",
            multiple=True,
            metavar="COLUMN=DOMAIN",
            help="What a column may hold, which is public: LOW:HIGH:WIDTH, a list as in F,M, file:NAME with a value on "
            "each line, or tree for the leaves of its hierarchy.",
        ),
    ],
)
@options_of(lambda: [METHODS[name] for name in _METHODS])
@options.allow_unique
@options.roles_from
@options.output_options
@options.reading
@options.printing
def synthesize(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Count DATA, a table or a job file, with noise, and publish rows drawn from a model that fits the counts."""
    from discreet.cli._described import data_file, description
    from discreet.engines.formats import WRITTEN, output_format
    from discreet.guarantees import DifferentialPrivacy
    from discreet.job import Job
    from discreet.job.parse import output_from

    if values["seed"] is not None:
        raise parse.mistake("--seed would let others draw the noise again; differential privacy takes none.")
    frame, columns = frame_and_roles(data, {**values, "label": None, "k_column": None})
    data = data_file(data, description(data, values))
    written = {"format": output_format(data)} | parse.output(out, values)
    method, methods = METHODS[values["method"]], [METHODS[name] for name in _METHODS]
    domains = parse.key_values("--domain", values["domains"])
    job = Job(
        frame,
        columns,
        DifferentialPrivacy(values["epsilon"], values["delta"]),
        method=method.name,
        options={"domains": {name: _domain(text) for name, text in domains.items()}}
        | parameters_of(method, values, among=methods),
        **output_from(written, Path(), WRITTEN),
        source=data,
    )
    perform("synthesize", job, as_json=as_json, quiet=quiet)


def _domain(text: str) -> str | list[str]:
    """Read what a column may hold.

    >>> _domain("0:110:5"), _domain("F,M"), _domain("tree")
    ('0:110:5', ['F', 'M'], 'tree')
    """
    kind, _, path = text.partition(":")
    if kind == "file" and path:
        try:
            return [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line]
        except (OSError, UnicodeDecodeError):
            raise parse.mistake(f"{path} cannot be read as a text file with a value on each line.") from None
    return text if text == "tree" or _BINS.fullmatch(text) else parse.names_in([text])
