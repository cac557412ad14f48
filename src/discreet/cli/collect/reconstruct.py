"""`discreet reconstruct`: the distribution of true values, from a file of noisy ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _noise_options as noise_options
from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._runs import perform_verb, section

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_EPILOG = """\b
Examples:
  discreet reconstruct noisy.csv --column age --noise gaussian --privacy 1.0 --range 0,100 --out density.csv
  discreet reconstruct noisy.csv --column age --noise laplace --spread 12 --band 0.95 --out density.csv \\
      --picture density.html"""


@click.command(short_help="Recover a distribution from noisy numbers.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="FILE")
@click.option("--column", required=True, metavar="COLUMN", help="The column of noisy numbers.")
@noise_options.NOISE
@noise_options.SPREAD
@noise_options.PRIVACY
@noise_options.EPSILON
@click.option(
    "--range", "range_", metavar="LOW,HIGH", help="The range of the true values, where it is known."
)
@click.option("--intervals", type=int, default=50, help="How many intervals; 50 by default.")
@click.option("--method", type=click.Choice(["em", "bayes"]), default="em", help="The steps; em by default.")
@click.option(
    "--stop",
    type=click.Choice(["chi2", "change", "likelihood"]),
    default="chi2",
    help="The rule that ends the steps; chi2 by default.",
)
@click.option("--tolerance", type=float, help="The rule's threshold.")
@click.option("--max-steps", type=int, default=5_000, help="The most steps; 5000 by default.")
@click.option("--band", type=float, metavar="SHARE", help="Also a confidence band, e.g. 0.95.")
@click.option("--seed", type=click.IntRange(min=0), help="Make the band repeatable.")
@click.option("--out", type=options.DATA, metavar="FILE", help="Write the intervals to a file.")
@click.option("--picture", type=options.DATA, metavar="FILE", help="Draw the density: .html, .svg or .png.")
@click.option("--overwrite", is_flag=True, help="Replace the files that are there.")
@options.reading
@options.printing
def reconstruct(data: Path, out: Path | None, as_json: bool, quiet: bool, **values: Any) -> None:
    """Recover the distribution of the true values of a column of FILE; memory does not grow with FILE."""
    from discreet.job import ReconstructJob

    named = section(
        values, "column", "noise", "spread", "privacy", "epsilon", "intervals", "method", "stop", "tolerance",
        "max_steps", "band", "seed",
    )  # fmt: skip
    if values["range_"] is not None:
        named["low"], named["high"] = noise_options.ends(values["range_"])
    job = ReconstructJob.from_dict(
        {
            "input": {"path": data, **gather.reading(values)},
            "reconstruct": named,
            "output": {"file": out, **section(values, "picture", "overwrite")},
        }
    )
    perform_verb("reconstruct", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print the shape of the distribution, and whether its steps converged."""
    from discreet.cli._output import number, print_lines

    figures = result.figures
    settled = "" if figures["converged"] else ", not settled: the best so far"
    files = (("written", figures["file"]), ("picture", figures["picture"]))
    print_lines(
        [
            ("values", f"{figures['values']:,} noisy ones, on {figures['intervals']} intervals"),
            ("steps", f"{figures['steps']:,}{settled}"),
            ("mean", f"{number(figures['mean'])}, standard deviation {number(figures['sd'])}"),
            ("quartiles", ", ".join(number(value) for value in figures["quartiles"])),
            *((label, path) for label, path in files if path is not None),
        ]
    )
