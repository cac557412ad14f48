"""`discreet distort`: flip the bits of baskets, so that nobody's are known for sure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli._basket_reading import FORMATS, basket_reading, reading_of
from discreet.cli._command import command
from discreet.cli._runs import command_job, file_output, perform_verb, verb_options

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_EPILOG = """\b
Examples:
  discreet distort shop.dat --p 0.5 --q 0.97 --out distorted.dat
  discreet distort sales.csv --format long --basket receipt --item product --p 0.5 --q 0.97 --out distorted.bits

\b
The miner must know p and q; discreet choose-pq proposes them."""


@command(short_help="Flip the bits of baskets.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="FILE")
@verb_options("distort", without=("overwrite", "format"))
@click.option(
    "--items",
    type=options.DATA,
    metavar="FILE",
    help="The public list of items, one a line; by default the items of the baskets, which shows what occurs at all.",
)
@file_output("The file to write: .dat, .bits, .npz …")
@click.option(
    "--out-format",
    type=click.Choice([form for form in FORMATS if form != "long"]),
    help="How to write the baskets; by default the ending decides. A long table cannot hold empty baskets.",
)
@basket_reading
@options.printing
def distort(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Flip the items of the baskets in FILE with known probabilities, and write the result in random order."""
    reading = reading_of(values)
    job = command_job(
        "distort",
        values,
        data=data,
        out=out,
        reading=reading,
        format=values["out_format"],
        items=values["items"],
    )
    perform_verb("distort", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print how much the distortion hides, and by which probabilities it is mined."""
    from discreet.cli._output import number_text, print_figures

    figures = result.figures
    epsilon, privacy, entries = (figures[name] for name in ("epsilon", "basic_privacy", "entries"))
    bit, record, of_longest = (number_text(epsilon[name]) for name in ("bit", "record", "record_of_longest"))
    print_figures(
        figures,
        [
            ("baskets", f"{figures['baskets']:,} of {figures['items']:,} items"),
            ("entries", f"{entries['in']:,} → {entries['out']:,}"),
            ("epsilon", f"{bit} for one bit; {record} for a whole basket,"),
            ("", f"{of_longest} where no basket may hold more than {epsilon['longest']:,}"),
            ("privacy", f"{privacy['ones']:.1f} % basic privacy of the items in a basket, exactly;"),
            ("", f"{privacy['ones_by_average_support']:.1f} % by the average support, as papers have it"),
            ("written", str(job.out)),
            *options.order_caution(figures["order"]),
            *options.seed_warning(seeded=figures["seeded"]),
            ("next", f"mine it with p = {figures['p']:g} and q = {figures['q']:g}"),
        ],
    )
