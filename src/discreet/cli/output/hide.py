"""`discreet hide`: publish baskets or a table in which sensitive rules are no longer found."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli import _rules as rules
from discreet.cli._baskets import basket_input, reading
from discreet.cli._command import command, in_group
from discreet.cli._progress import perform
from discreet.cli._spec_options import options_of, parameters_of
from discreet.core.registry import METHODS, methods
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.job import Job
    from discreet.output.hiding import Compared

HIDERS = tuple(method.name for method in methods(role="hider"))
_COMPARED_SECONDS = 30.0
_EPILOG = """\b
Examples:
  discreet hide baskets.dat --rule "diapers=>beer" --min-support 0.01 --min-confidence 0.3 --out release
  discreet hide baskets.dat --rule "12, 47" --min-support 100 --method exact --time-limit 30 --anytime --out release
  discreet hide baskets.dat --rules-file rules.txt --min-support 0.01 --compare
  discreet hide patients.csv --quasi age,zip --sensitive disease --identifier name \\
      --rule "age=26, zip=10562 => disease=HIV" --min-support 5 --min-confidence 0.5 --out release

\b
A support with a point is a share of the baskets (1.0: all), one without is a number of them (1: one).
The release names neither rules nor thresholds; the report in DIR.private does, and is for the owner alone."""


@command(
    short_help="Hide sensitive rules before data is handed over.",
    epilog=_EPILOG,
    essentials=(
        "--rule", "--rules-file", "--min-support", "--min-confidence", "--method", "--time-limit", "--compare",
        "--quasi", "--sensitive", "--out", "--overwrite",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@rules.naming(required=True)
@in_group(
    "Method",
    [
        click.option(
            "--method", type=click.Choice(HIDERS), default="exact", help="How to hide; exact by default."
        )
    ],
)
@options_of(lambda: methods(role="hider"))
@click.option("--anytime", is_flag=True, help="exact: Ctrl-C takes the best so far that keeps the guarantee.")
@click.option("--compare", is_flag=True, help="Try every method and show what each loses; writes nothing.")
@options.roles(rest=None)
@options.pseudonym
@options.allow_unique
@partial(options.output_options, required=False)
@reading
@options.reading
@options.printing
def hide(data: Path, out: Path | None, as_json: bool, quiet: bool, **values: Any) -> None:
    """Change DATA, baskets or a table, so that sensitive rules are no longer found in it."""
    from discreet.job import Job

    if out is None and not values["compare"]:
        raise parse.mistake(
            "Say where to write the release, or compare the methods.", "--out release, or --compare"
        )
    if values["anytime"] and values["method"] != "exact":
        raise parse.mistake("--anytime belongs to --method exact; the others are quick.")
    job = Job.from_dict(_plain(data, out, values))
    if values["roles"] is not None:
        from discreet.cli._described import with_roles

        job = with_roles(job, values["roles"])
    if values["compare"]:
        _compare(job, values, as_json=as_json, quiet=quiet)
        return
    perform("hide", job, anytime=values["anytime"], as_json=as_json, quiet=quiet)


def _plain(data: Path, out: Path | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job that the options describe, laid out as a job file."""
    columns = parse.columns(values)
    if columns or values["roles"] is not None:
        rest = {} if values["rest"] is None else {"rest": values["rest"]}
        about = {"input": {"path": data, **parse.reading(values), **rest}, "columns": columns}
    else:
        about = {"input": {"path": data, **basket_input(values)}, "baskets": {}}
    return {
        **about,
        "guarantee": [rules.rules_guarantee(values)],
        "method": _method(values),
        "output": parse.output(out, values),
    }


def _method(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the method and its parameters; one that it has no use for is refused, but for the time of a comparison."""
    spec = METHODS[values["method"]]
    limit = {"time_limit": None} if values["compare"] and "time_limit" not in spec.options() else {}
    return {"name": spec.name} | parameters_of(spec, {**values, **limit}, among=methods(role="hider"))


def _compare(job: Job, values: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Try every method on the same data, and print what each came to."""
    from discreet.cli._output import print_json
    from discreet.cli._progress import stages
    from discreet.cli._startup import stop_if_interrupted
    from discreet.core.baskets.row_items import row_items
    from discreet.core.tables.table import Table
    from discreet.output.hiding import compare_methods

    guarantee: Any = job.promise
    data = job.kind.read(job.input)
    if isinstance(data, Table):
        named = [str(name) for rule in guarantee.rules for name in rule.items]
        data = row_items(data, job.options.get("levels"), named, owner="hide").baskets(data)
    with stages(len(HIDERS), quiet=quiet or as_json) as progress:
        results = compare_methods(
            data,
            guarantee,
            time_limit=values["time_limit"] or _COMPARED_SECONDS,
            random_state=job.seed or 0,
            progress=progress,
        )
    stop_if_interrupted()
    if as_json:
        print_json({"command": "hide", "ok": True, "methods": [result.to_dict() for result in results]})
    elif not quiet:
        _show(results)


def _show(results: list[Compared]) -> None:
    """Print the methods with a bar for what each lost."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from discreet.cli._errors import one_line

    most = max((result.quality.lost_itemsets for result in results if result.quality), default=0) or 1
    printed = Table(box=box.SIMPLE_HEAD)
    printed.add_column("method")
    for name in ("lost itemsets", "lost rules", "ghosts", "dissimilarity", "changed", "CPU s"):
        printed.add_column(name, justify="right")
    printed.add_column("what each lost", min_width=24)
    for result in results:
        quality = result.quality
        if quality is None:
            printed.add_row(result.method, *["–"] * 6, one_line(result.problem or ""))
            continue
        changed = "–" if quality.changed_cells is None else f"{quality.changed_cells:,}"
        name = result.method if result.solved else f"{result.method} (not solved in time: as maxmin2)"
        bar = "█" * round(24 * quality.lost_itemsets / most) or ("▏" if quality.lost_itemsets else "")
        printed.add_row(
            name, f"{quality.lost_itemsets:,}", f"{quality.lost_rules:,}",
            f"{quality.ghost_itemsets + quality.ghost_rules:,}", percent(quality.dissimilarity), changed,
            f"{result.seconds:.2f}", bar,
        )  # fmt: skip
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 150).print(printed)
