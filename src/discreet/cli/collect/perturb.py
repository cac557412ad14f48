"""`discreet perturb`: hide numbers behind public noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _noise_options as noise_options
from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._runs import perform_verb, section
from discreet.core.percentages import percent

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_EPILOG = """\b
Examples:
  discreet perturb people.csv --noise gaussian --privacy 1.0 --columns age --range age=0,100 --out noisy.csv
  discreet perturb people.csv --noise laplace --epsilon 1 --columns age,pay --range age=0,100 \\
      --range pay=0,200000 --out noisy.parquet

\b
Whoever learns from the noisy file must know the noise; discreet reconstruct recovers the distributions."""


@click.command(short_help="Hide numbers behind public noise.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="FILE")
@click.option("--columns", multiple=True, required=True, metavar="COLUMNS", help="The columns to hide.")
@noise_options.NOISE
@noise_options.PRIVACY
@noise_options.SPREAD
@noise_options.EPSILON
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="COLUMN=LOW,HIGH",
    help="The public range of a column; a value outside is refused.",
)
@click.option(
    "--drop",
    multiple=True,
    metavar="COLUMNS",
    help="Columns to leave out; the others are written as they are.",
)
@click.option("--out", type=options.DATA, required=True, metavar="FILE", help="The file to write.")
@options.KEEP_ORDER
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Repeat an experiment; never for real data: who knows it undoes it.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file that is there.")
@options.spreadsheet_safe
@options.reading
@options.printing
def perturb(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Add noise to columns of FILE and write the rows with their noisy numbers, in random order."""
    from discreet.job import PerturbJob

    lists = {name: gather.names_in(values[name]) for name in ("columns", "drop")}
    ranges = gather.pairs("--range", values["ranges"], last=True)
    job = PerturbJob.from_dict(
        {
            "input": {"path": data, **gather.reading(values)},
            "perturb": section(values, "noise", "spread", "privacy", "epsilon")
            | lists
            | {"ranges": {name: noise_options.ends(text) for name, text in ranges.items()}},
            "output": {"file": out, **section(values, "overwrite", "keep_order", "seed", "spreadsheet_safe")},
        }
    )
    perform_verb("perturb", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print which noise hides each column, and what a whole row is worth."""
    from discreet.cli._output import number, print_figures

    figures = result.figures
    print_figures(
        figures,
        [
            ("rows", f"{figures['rows']:,}"),
            *((name, _described(column)) for name, column in figures["columns"].items()),
            ("epsilon", f"{number(figures['epsilon'])} for a whole row"),
            ("written", str(job.out)),
            *options.order_caution(figures["order"]),
            *options.seed_warning(seeded=figures["seeded"]),
            ("next", "pass the noise to discreet reconstruct"),
        ],
    )


def _described(column: dict[str, Any]) -> str:
    privacy = column["privacy"]
    share = "" if privacy is None else f", {percent(privacy)} of the range at 95 % confidence"
    return f"{column['noise']} noise, spread {column['spread']:.6g}{share}"
