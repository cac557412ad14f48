"""`discreet hide`: publish baskets or a table in which sensitive rules are no longer found."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._baskets import reading
from discreet.core.precision import percent

if TYPE_CHECKING:
    from discreet.job.hiding import HidingJob
    from discreet.output.hiding import Compared

METHODS = (
    "exact", "inline", "menon", "hybrid", "maxmin2", "maxmin1", "bba", "blocking", "remove_transactions", "1.a", "1.b",
    "2.a", "2.b", "2.c", "minfia", "maxfia", "iga", "swa", "wsda",
)  # fmt: skip
_SHOWN = {
    "lost": "itemsets lost",
    "changed_baskets": "baskets changed",
    "removed_items": "entries deleted",
    "removed_baskets": "baskets left out",
    "added_baskets": "baskets added",
    "unknown_items": "entries unknown",
}
_EPILOG = """\b
Examples:
  discreet hide baskets.dat --rule "diapers=>beer" --min-support 0.01 --min-confidence 0.3 --out release
  discreet hide baskets.dat --rule "12, 47" --min-support 100 --method exact --time-limit 30 --anytime --out release
  discreet hide baskets.dat --rules-file rules.txt --min-support 0.01 --compare
  discreet hide patients.csv --quasi age,zip --sensitive disease --rule "age=26, zip=10562 => disease=HIV"
      --min-support 5 --min-confidence 0.5 --out release

\b
A support with a point is a share of the baskets (1.0: all), one without is a number of them (1: one).
The release names neither rules nor thresholds; the report in DIR.private does, and is for the owner alone."""


@click.command(short_help="Hide sensitive rules before data is handed over.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help='A sensitive rule "a, b => c", or itemset "a, b".'
)
@click.option("--rules-file", type=options.DATA, metavar="FILE", help="A text file with one rule a line.")
@click.option(
    "--min-support", required=True, metavar="SUPPORT", help="The least support: 0.01, or 100 baskets."
)
@click.option(
    "--min-confidence", type=float, help="The least confidence of rules; without it support alone counts."
)
@click.option(
    "--margin", type=float, default=0.0, help="How far below the thresholds to hide too, as a share."
)
@click.option("--method", type=click.Choice(METHODS), default="exact", help="How to hide; exact by default.")
@click.option(
    "--time-limit", type=float, metavar="SECONDS", help="exact, inline: take the best after that time."
)
@click.option("--anytime", is_flag=True, help="exact: Ctrl-C takes the best so far that keeps the promise.")
@click.option("--compare", is_flag=True, help="Try every method and show what each loses; writes nothing.")
@click.option("--quasi", multiple=True, metavar="COLUMNS", help="Tables: columns whose values are items.")
@click.option("--sensitive", multiple=True, metavar="COLUMNS", help="Tables: more such columns.")
@click.option("--identifier", multiple=True, metavar="COLUMNS", help="Tables: what names a person; dropped.")
@click.option(
    "--hierarchy", "hierarchies", multiple=True, metavar="COLUMN=HOW", help="Tables: intervals:5,10, mask, …"
)
@click.option(
    "--level", "levels", multiple=True, metavar="COLUMN=LEVEL", help="Tables: the level of a column's items."
)
@click.option(
    "--cells", type=click.Choice(["null", "coarser"]), default="null", help="Tables: what cells become."
)
@click.option("--out", type=options.DATA, metavar="DIR", help="The folder to write.")
@click.option(
    "--format", "format_", type=click.Choice(["csv", "tsv", "parquet", "arrow"]), help="Of the data."
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier release.")
@click.option("--no-report", "report", flag_value=False, default=True, type=bool, help="Write no report.")
@click.option("--seed", type=click.IntRange(min=0), help="Make it repeatable; keep it secret.")
@click.option("--delimiter", metavar="CHAR", help="What separates the cells; found by itself otherwise.")
@reading
@options.telling
def hide(data: Path, out: Path | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Change DATA, baskets or a table, so that sensitive rules are no longer found in it."""
    if out is None and not given["compare"]:
        raise gather.mistake(
            "Say where to write the release, or compare the methods.", "--out release, or --compare"
        )
    if given["anytime"] and given["method"] != "exact":
        raise gather.mistake("--anytime belongs to --method exact; the others are quick.")
    job = _job(data, out, given)
    if given["compare"]:
        _compare(job, given, as_json=as_json, quiet=quiet)
        return
    perform("hide", job, anytime=given["anytime"], as_json=as_json, quiet=quiet)


def perform(command: str, job: HidingJob, *, anytime: bool = False, as_json: bool, quiet: bool) -> None:
    """Run a job that hides rules and say what it came to."""
    from dataclasses import replace

    from discreet.cli._progress import stages
    from discreet.job.hiding import run_hiding

    silent = quiet or as_json
    with _gap(silent=silent, anytime=anytime) as watch, stages(4, quiet=True) as tell:
        release = run_hiding(replace(job, options={**job.options, "progress": watch}), tell)
    if as_json or not quiet:
        _tell(command, release, job, as_json=as_json)


@contextmanager
def _gap(*, silent: bool, anytime: bool) -> Iterator[Callable[[float, float], None]]:
    """Show the best so far and its gap on a terminal; with ``anytime`` an interruption stops the solver only."""
    from discreet.cli._interruption import stop_if_asked
    from discreet.output.hiding import Stop

    asked = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    shown = not silent and sys.stderr.isatty()

    def watch(value: float, bound: float) -> None:
        stop_if_asked()
        if asked.is_set():
            raise Stop
        if shown and math.isfinite(value) and value < 1e29:
            least = max(bound, 0.0)
            gap = 0.0 if value <= 0 else (value - least) / value
            click.echo(
                f"\r\x1b[2Ksolving: best {value:,.0f}, at least {least:,.0f}, gap {gap:.1%}",
                err=True,
                nl=False,
            )

    if anytime:
        signal.signal(signal.SIGINT, lambda number, frame: asked.set())
    try:
        yield watch
    finally:
        if anytime:
            signal.signal(signal.SIGINT, before)
        if shown:
            click.echo("\r\x1b[2K", err=True, nl=False)


def _job(data: Path, out: Path | None, given: dict[str, Any]) -> HidingJob:
    """Build the job that the options describe."""
    from discreet.job.hiding import hiding_job_from_dict

    columns = gather.columns(given)
    about = {
        "rules": _rules(given),
        "min_support": _support(given["min_support"]),
        "min_confidence": given["min_confidence"],
        "margin": given["margin"],
        "method": given["method"],
        "time_limit": given["time_limit"],
        "cells": given["cells"],
        "levels": gather.numbers("--level", given["levels"], int) or None,
    }
    reading_ = {name: given[name] for name in ("basket", "item", "delimiter")} | {
        "format": given["basket_format"]
    }
    if columns:
        reading_ = {"delimiter": given["delimiter"], "rest": "other"}
    written = {"folder": out, "format": given["format_"], "seed": given["seed"], "report": given["report"]}
    more = {"overwrite": given["overwrite"]}
    return hiding_job_from_dict(
        {
            "input": {"path": data, **_named(reading_)},
            "columns": columns,
            "hiding": _named(about),
            "output": _named({**written, **more}),
        }
    )


def _named(given: dict[str, Any]) -> dict[str, Any]:
    return {name: {"\\t": "\t"}.get(value, value) if isinstance(value, str) else value
            for name, value in given.items() if value is not None}  # fmt: skip


def _rules(given: dict[str, Any]) -> list[str]:
    from discreet.core.errors import InputError

    rules = list(given["rules"])
    if given["rules_file"] is not None:
        try:
            text = given["rules_file"].read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise InputError(
                f"{given['rules_file']} cannot be read as a text file with one rule a line."
            ) from None
        rules += [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not rules:
        raise gather.mistake("Say which rules are sensitive.", '--rule "diapers => beer"')
    return rules


def _support(text: str) -> float:
    """Read a support: with a point or an exponent a share, without a number of baskets."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise gather.mistake("--min-support takes a number.", "--min-support 0.01")


def _tell(command: str, release: Any, job: HidingJob, *, as_json: bool) -> None:
    """Say what hiding came to."""
    from discreet.cli._output import tell_json, tell_lines, verdict_lines

    details = dict(release.evidence.details)
    if as_json:
        plain = {"command": command, "ok": release.verdict.ok, "method": job.method, "details": details}
        tell_json({**plain, "verdict": release.verdict.to_dict(), "folder": str(job.out)})
        return
    hidden = len(job.guarantee.rules) - int(str(details["already_hidden"]))
    lines = [
        *verdict_lines(release.verdict),
        ("rules", f"{hidden:,} hidden, {details['already_hidden']} not found before"),
    ]
    if details.get("covered"):
        lines.append(("", f"{details['covered']} of them hidden with a smaller one"))
    lines += [
        (label, f"{details[name]:,}") for name, label in _SHOWN.items() if details.get(name) is not None
    ]
    if "gap" in details:
        state = (
            "optimal"
            if details["optimal"]
            else f"at least {details['lost_bound']:,} lost, gap {percent(details['gap'])}"
        )
        lines.append(("solver", state))
    lines.append(("written", str(job.out)))
    if job.out is not None:
        from discreet.report.folder import private_folder

        lines.append(("private", f"{private_folder(job.out)}: names the rules, do not hand it over"))
    tell_lines(lines)


def _compare(job: HidingJob, given: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Try every method on the same data, and print what each came to."""
    from discreet.cli._interruption import stop_if_asked
    from discreet.cli._output import tell_json
    from discreet.cli._progress import stages
    from discreet.core.baskets.row_items import row_items
    from discreet.core.tables.table import Table
    from discreet.output.hiding import compare_methods

    read = job.read()
    if isinstance(read, Table):
        named = [str(name) for rule in job.guarantee.rules for name in rule.items]
        read = row_items(read, job.levels, named, owner="hide").baskets(read)
    with stages(len(METHODS), quiet=quiet or as_json) as tell:
        found = compare_methods(
            read, job.guarantee, methods=METHODS, time_limit=given["time_limit"] or 30.0, random_state=job.seed or 0,
            tell=tell,
        )  # fmt: skip
    stop_if_asked()
    if as_json:
        tell_json({"command": "hide", "ok": True, "methods": [one.to_dict() for one in found]})
    elif not quiet:
        _show(found)


def _show(found: list[Compared]) -> None:
    """Print the methods with a bar for what each lost."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from discreet.cli._errors import one_line

    most = max((one.quality.lost_itemsets for one in found if one.quality), default=0) or 1
    printed = Table(box=box.SIMPLE_HEAD)
    printed.add_column("method")
    for name in ("lost itemsets", "lost rules", "ghosts", "dissimilarity", "changed", "CPU s"):
        printed.add_column(name, justify="right")
    printed.add_column("what each lost", min_width=24)
    for one in found:
        quality = one.quality
        if quality is None:
            printed.add_row(one.method, *["–"] * 6, one_line(one.problem or ""))
            continue
        changed = "–" if quality.changed_cells is None else f"{quality.changed_cells:,}"
        name = one.method if one.solved else f"{one.method} (not solved in time: as maxmin2)"
        bar = "█" * round(24 * quality.lost_itemsets / most) or ("▏" if quality.lost_itemsets else "")
        printed.add_row(
            name, f"{quality.lost_itemsets:,}", f"{quality.lost_rules:,}",
            f"{quality.ghost_itemsets + quality.ghost_rules:,}", percent(quality.dissimilarity), changed,
            f"{one.seconds:.2f}", bar,
        )  # fmt: skip
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 150).print(printed)
