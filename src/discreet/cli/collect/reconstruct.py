"""`discreet reconstruct`: the distribution of true values, from a file of noisy ones."""

from __future__ import annotations

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
  discreet reconstruct noisy.csv --column age --noise gaussian --privacy 1.0 --range 0,100 --out density.csv
  discreet reconstruct noisy.csv --column age --noise laplace --spread 12 --band 0.95 --out density.csv \\
      --picture density.html
  discreet reconstruct noisy.csv --column age --noise laplace --spread 12 --method kernel --bandwidth cv
  discreet reconstruct redrawn.csv --column town --channels channels.json --by sex --out shares.csv"""

_MOST_SHOWN = 8


@command(
    short_help="Recover a distribution from noisy numbers.",
    epilog=_EPILOG,
    essentials=(
        *(
            "--column",
            "--channels",
            "--by",
            "--noise",
            "--spread",
            "--privacy",
            "--epsilon",
            "--range",
            "--intervals",
            "--out",
        ),
        *("--picture", "--overwrite"),
    ),
)
@click.argument("data", type=options.DATA, metavar="FILE")
@verb_options("reconstruct", without=("overwrite", "low", "high", "bandwidth", "channels"))
@click.option(
    "--channels",
    type=options.DATA,
    metavar="FILE",
    help="How columns were hidden, in place of the noise: what perturb --json prints, or JSON or TOML by column.",
)
@click.option(
    "--range", "range_", metavar="LOW,HIGH", help="The range of the true values, where it is known."
)
@click.option(
    "--bandwidth",
    metavar="NUMBER",
    help="Kernel: how far it smooths, a number, silverman or cv; silverman by default.",
)
@file_output("Write the intervals to a file.", required=False)
@click.option("--picture", type=options.DATA, metavar="FILE", help="Draw the density: .html, .svg or .png.")
@options.reading
@options.printing
def reconstruct(data: Path, out: Path | None, as_json: bool, quiet: bool, **values: Any) -> None:
    """Recover the distribution of the true values of a column of FILE; memory does not grow with FILE."""
    low, high = (None, None) if values["range_"] is None else gather.ends(values["range_"])
    ends = {"low": low, "high": high, "picture": values["picture"], "bandwidth": _bandwidth(values)}
    ends |= {"channels": values["channels"]}
    job = command_job("reconstruct", values, data=data, out=out, reading=gather.reading(values), **ends)
    perform_verb("reconstruct", job, as_json=as_json, quiet=quiet)


def _bandwidth(values: dict[str, Any]) -> str | float | None:
    """Return the bandwidth, a word or a number; it is for a kernel density alone."""
    text: str | None = values["bandwidth"]
    if text is not None and values["method"] != "kernel":
        raise gather.mistake("--bandwidth is for a kernel density.", "--method kernel")
    if text in (None, "silverman", "cv"):
        return text
    try:
        return float(text)
    except ValueError:
        raise gather.mistake("--bandwidth takes a number, silverman or cv.") from None


def show(job: VerbJob, result: Made) -> None:
    """Print the shape of the distribution, and whether its steps converged."""
    from discreet.cli._output import number_text, print_lines

    figures = result.figures
    if result.kind == "shares":
        print_lines(_shares(figures))
        return
    settled = "" if figures["converged"] else ", not settled: the best so far"
    files = (("written", figures["file"]), ("picture", figures["picture"]))
    print_lines(
        [
            ("values", f"{figures['values']:,} noisy ones, on {figures['intervals']} intervals"),
            ("steps", f"{figures['steps']:,}{settled}" if figures["steps"] else "none: a kernel density"),
            ("mean", f"{number_text(figures['mean'])}, standard deviation {number_text(figures['sd'])}"),
            ("quartiles", ", ".join(number_text(value) for value in figures["quartiles"])),
            *((label, path) for label, path in files if path is not None),
        ]
    )


def _shares(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the shares of categories, where these are few, and whether the steps converged."""
    lines = [("values", f"{figures['values']:,} reports of {len(figures['categories']):,} categories")]
    for entry in figures["shares"]:
        label = "shares" if figures["by"] is None else f"{figures['by']} {entry['value']}"
        rows = zip(figures["categories"], entry["shares"], entry["standard_errors"], strict=True)
        texts = [f"{category} {percent(share)} ± {percent(error)}" for category, share, error in rows]
        lines.append((label, ", ".join(texts[:_MOST_SHOWN]) + (" …" if len(texts) > _MOST_SHOWN else "")))
    if not figures["converged"]:
        lines.append(("steps", "not settled: the best so far"))
    return lines + ([("written", figures["file"])] if figures["file"] else [])
