"""`discreet perturb`: hide columns behind public noise, by redrawn categories, or by swapping."""

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
  discreet perturb people.csv --method pram --redraw 0.3 --columns town --out redrawn.csv --json > channels.json
  discreet perturb people.csv --method rank-swapping --window 0.05 --columns age,pay --within town --out swapped.csv

\b
Whoever learns from the file must know the noise, or the matrix; discreet reconstruct recovers the distributions.
Swapping guarantees nothing; the lines about it are for the owner."""
_NEXT = {
    "noise": "pass the noise to discreet reconstruct",
    "pram": "pass what --json prints to discreet reconstruct --channels",
}


@command(
    short_help="Hide columns behind public noise.",
    epilog=_EPILOG,
    essentials=(
        "--columns",
        "--method",
        "--noise",
        "--spread",
        "--privacy",
        "--epsilon",
        "--range",
        "--redraw",
        "--window",
        "--within",
        "--drop",
        "--out",
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
@click.option(
    "--shares",
    type=options.DATA,
    metavar="FILE",
    help="Pram: two columns, categories and their shares, public anyway; by default counted in FILE, and the matrix "
    "shows them.",
)
@file_output("The file to write.")
@options.reading
@options.printing
def perturb(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Hide columns of FILE by noise, by redrawing categories or by swapping, and write the rows in random order."""
    pairs = gather.key_values("--range", values["ranges"], last=True)
    ranges = {name: gather.ends(text) for name, text in pairs.items()}
    reading = gather.reading(values)
    job = command_job(
        "perturb", values, data=data, out=out, reading=reading, ranges=ranges, shares=values["shares"]
    )
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
            *_attack(figures.get("private", {})),
            ("written", str(job.out)),
            *options.order_caution(figures["order"]),
            *options.seed_warning(seeded=figures["seeded"]),
            *([] if figures["epsilon"] is None else [("next", _NEXT[figures["method"]])]),
        ],
    )


def _epsilon(figures: Mapping[str, Any]) -> str:
    """Return what the noise of a row is worth; columns without noise are not in it."""
    from discreet.cli._output import number_text

    epsilon = figures["epsilon"]
    if epsilon is None:
        return "none: swapping guarantees nothing"
    if math.isinf(epsilon):
        return (
            "infinite: noise of this kind has no epsilon, since a far value can betray its row. Judge it by the "
            "widths above; for an epsilon take --noise laplace with --range"
        )
    return f"{number_text(epsilon)} for the hidden columns of a row together"


def _attack(private: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what somebody finds who knows the true values of the columns, before and after swapping."""
    if not private:
        return []
    before, after = private["before"], private["after"]
    known = ", ".join(private["known"])
    shares = (percent(share) for share in (before["alone"], after["alone"], after["right"]))
    words = "finds exactly one equal row for {} of the people before, {} after, and for {} their own"
    lines = [
        ("changed", f"{percent(private['changed']['rows'])} of the rows"),
        ("known values", f"who knows {known} {words.format(*shares)}"),
    ]
    if after["nearest"] is not None:
        ranks = f"{percent(before['nearest'])} before, {percent(after['nearest'])} after"
        lines.append(("nearest row", f"somebody's own for {ranks}"))
    return lines


def _described(column: dict[str, Any]) -> str:
    if column.get("swapped"):
        return f"swapped within {percent(column['window'])} of the rows"
    if "matrix" in column:
        return (
            f"{len(column['categories']):,} categories, redrawn with probability {column['redraw']:.6g}; "
            f"{percent(column['unchanged'])} are expected to stay, and a published one is the true one with at most "
            f"{percent(column['highest_belief'])}"
        )
    privacy = column["privacy"]
    logs = " of logarithms" if column.get("multiplicative") else ""
    share = "" if privacy is None else f", {percent(privacy)} of the range{logs} at 95 % confidence"
    return f"{column['noise']} noise{logs}, spread {column['spread']:.6g}{share}"
