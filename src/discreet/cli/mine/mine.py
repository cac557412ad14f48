"""`discreet mine`: itemsets and rules, of true baskets or of distorted ones."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._basket_reading import basket_reading, reading_of
from discreet.cli._command import command
from discreet.cli._runs import command_job, file_output, perform_verb, verb_options
from discreet.cli._spec_options import options_of
from discreet.core.registry import METHODS, Method
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_SHARES = ("confidence", "support", "jaccard", "kulczynski")
_EPILOG = """\b
Examples:
  discreet mine shop.dat --min-support 0.01
  discreet mine shop.dat --min-support 100 --kind closed --out closed.csv
  discreet mine shop.csv --format lines --min-support 0.01 --rules --metric lift --min-threshold 2
  discreet mine release --min-support 0.01
  discreet mine distorted.bits --p 0.5 --q 0.97 --min-support 0.003 --margin 2 --out itemsets.parquet

\b
A support with a point is a share of the baskets (1.0: all), one without is a number of them (1: one)."""


def _miners() -> list[Method]:
    """Return the miners of true and of distorted baskets."""
    return [METHODS["itemsets"], METHODS["masked-itemsets"]]


@command(
    short_help="Find itemsets and rules in baskets.",
    epilog=_EPILOG,
    essentials=(
        *(
            "--min-support",
            "--kind",
            "--max-length",
            "--rules",
            "--metric",
            "--min-threshold",
            "--p",
            "--q",
            "--margin",
        ),
        *("--format", "--out", "--overwrite"),
    ),
)
@click.argument("data", type=options.DATA)
@click.option(
    "--min-support", required=True, metavar="SUPPORT", help="The least support: 0.01, or 100 baskets."
)
@options_of(_miners, without=("min_support", "channel"), group="Itemsets")
@verb_options("mine", without=("overwrite", "min_support"), group="Rules")
@basket_reading
@file_output("Write what was found: .csv, .tsv, .parquet, .arrow or .jsonl.", required=False)
@options.printing
def mine(data: Path, out: Path | None, as_json: bool, quiet: bool, **values: Any) -> None:
    """Find the itemsets, or the rules, of the baskets in DATA."""
    keys = {name: values[name] for name in ("kind", "max_length", "margin")}
    keys |= {name: gather.names_in(values[name]) or None for name in ("include", "exclude")}
    keys["min_support"] = gather.support(values["min_support"])
    job = command_job("mine", values, data=data, out=out, reading=reading_of(values), **keys)
    perform_verb("mine", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print the number of sets or rules and the first of them; for rules their metric, too."""
    from discreet.cli._output import print_lines

    figures = result.figures
    lengths = ", ".join(f"{count:,} of {length}" for length, count in figures["by_length"].items())
    lines = [
        ("baskets", f"{figures['baskets']:,}"),
        ("itemsets", f"{figures['itemsets']:,} {figures['kind']}: {lengths or 'none'}"),
    ]
    lines += [("rules", f"{figures['rules']:,}")] if result.kind == "rules" else []
    lines += [("unsure", text)] if (text := _unsure(figures)) else []
    lines += [] if job.out is None else [("written", str(job.out))]
    print_lines(lines)
    metric = getattr(job, "metric", None) or "confidence"
    if figures["top"]:
        _print_table(figures["top"], metric if result.kind == "rules" else None)
    elif result.kind == "rules":
        _print_none(metric, figures["highest"])


def _print_table(rows: list[dict[str, Any]], metric: str | None) -> None:
    """Print the first sets, or the first rules with their metric."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from discreet.cli._errors import one_line

    columns = [name for name in rows[0] if name not in ("length", "representativity")]
    if metric is not None:
        columns = [name for index, name in enumerate(columns) if index < 7 or name == metric]
    printed = Table(box=box.SIMPLE_HEAD)
    for name in columns:
        words = name in ("itemsets", "antecedents", "consequents", "frequent", "ill_conditioned")
        printed.add_column(name, overflow="fold", justify="left" if words else "right")
    for row in rows:
        printed.add_row(*(one_line(_cell(row[name])) for name in columns))
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 120).print(printed)


def _print_none(metric: str, highest: float | None) -> None:
    """Print why there are no rules."""
    from discreet.cli._output import number_text, print_lines

    if highest is None:
        print_lines(
            [("hint", "no itemset has several items, so there is no rule; try a lower --min-support")]
        )
        return
    reached = percent(highest) if metric in _SHARES else number_text(highest)
    low = math.floor(100 * highest) / 100
    print_lines([("hint", f"the highest {metric} there is: {reached}; try --min-threshold {low:g}")])


def _unsure(figures: Mapping[str, Any]) -> str:
    """Return how many estimates are not to be relied on."""
    unsure = figures.get("unsure")
    if not unsure:
        return ""
    only_may_be, drowned = unsure["only_may_be_frequent"], unsure["ill_conditioned"]
    return f"{only_may_be:,} only may be frequent, {drowned:,} have an error above half of their support"


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f'"{name}"' if "," in str(name) else str(name) for name in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"
