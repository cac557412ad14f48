"""`discreet perturb`: hide numbers behind public noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._command import command
from discreet.cli._runs import command_job, file_output, perform_verb, verb_options
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_EPILOG = """\b
Examples:
  discreet perturb people.csv --noise gaussian --privacy 1.0 --columns age --range age=0,100 --out noisy.csv
  discreet perturb people.csv --noise laplace --epsilon 1 --columns age,pay --range age=0,100 \\
      --range pay=0,200000 --out noisy.parquet
  discreet perturb people.csv --noise gaussian --spread 0.5 --multiplicative --columns pay --out noisy.csv

\b
Whoever learns from the noisy file must know the noise; discreet reconstruct recovers the distributions."""


@command(
    short_help="Hide numbers behind public noise.",
    epilog=_EPILOG,
    essentials=(
        "--columns",
        "--noise",
        "--spread",
        "--privacy",
        "--epsilon",
        "--range",
        "--drop",
        "--out",
        "--seed",
    ),
)
@click.argument("data", type=options.DATA, metavar="FILE")
@verb_options("perturb", without=("overwrite",))
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="COLUMN=LOW,HIGH",
    help="The public range of a column; a value outside is refused.",
)
@file_output("The file to write.")
@options.reading
@options.printing
def perturb(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Add noise to columns of FILE and write the rows with their noisy numbers, in random order."""
    pairs = gather.key_values("--range", values["ranges"], last=True)
    ranges = {name: gather.ends(text) for name, text in pairs.items()}
    reading = gather.reading(values)
    job = command_job("perturb", values, data=data, out=out, reading=reading, ranges=ranges)
    perform_verb("perturb", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print which noise hides each column, what that of a row is worth, and which columns have none."""
    from discreet.cli._output import print_figures

    figures = result.figures
    print_figures(
        figures,
        [
            ("rows", f"{figures['rows']:,}"),
            *((name, _described(column)) for name, column in figures["columns"].items()),
            ("epsilon", _epsilon(figures)),
            ("written", str(job.out)),
            *options.order_caution(figures["order"]),
            *options.seed_warning(seeded=figures["seeded"]),
            ("next", "pass the noise to discreet reconstruct"),
        ],
    )


def _epsilon(figures: Mapping[str, Any]) -> str:
    """Return what the noise of a row is worth; columns without noise are not in it."""
    from discreet.cli._output import number_text

    epsilon = figures["epsilon"]
    if math.isinf(epsilon):
        return (
            "infinite: noise of this kind has no epsilon, since a far value can betray its row. Judge it by the "
            "widths above; for an epsilon take --noise laplace with --range"
        )
    return f"{number_text(epsilon)} for the hidden columns of a row together"


def _described(column: dict[str, Any]) -> str:
    privacy = column["privacy"]
    logs = " of logarithms" if column.get("multiplicative") else ""
    share = "" if privacy is None else f", {percent(privacy)} of the range{logs} at 95 % confidence"
    return f"{column['noise']} noise{logs}, spread {column['spread']:.6g}{share}"
