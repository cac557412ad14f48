"""`discreet experiments`: make a paper's tables and figures again."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli import _options as options

_EPILOG = """\b
Examples:
  discreet experiments
  discreet experiments emask --out emask --seeds 5
  discreet experiments randomization --quick

\b
Public data sets are looked for in the folder that DISCREET_DATA names; what is not there is skipped."""


@click.command(short_help="Make a paper's tables and figures again.", epilog=_EPILOG)
@click.argument("name", required=False)
@click.option(
    "--out", type=options.DATA, metavar="DIR", help="The folder to write; experiments/NAME by default."
)
@click.option("--quick", is_flag=True, help="Take smaller data: seconds, not minutes.")
@click.option("--seeds", type=int, default=3, help="How many seeds to run, for the spread; 3 by default.")
@options.printing
def experiments(
    name: str | None, out: Path | None, quick: bool, seeds: int, as_json: bool, quiet: bool
) -> None:
    """Run the experiment NAME and write its tables and pictures beside the paper's; without a NAME, list them."""
    from discreet.cli._output import print_json, print_lines
    from discreet.experiments import EXPERIMENTS, perform

    if name is None:
        if as_json:
            print_json({"command": "experiments", "ok": True, "experiments": EXPERIMENTS})
        elif not quiet:
            print_lines(EXPERIMENTS.items())
        return
    silent = quiet or as_json
    page = perform(
        name,
        Path("experiments") / name if out is None else out,
        quick=quick,
        seeds=seeds,
        log=None if silent else click.echo,
    )
    if as_json:
        files = sorted(path.name for path in page.parent.iterdir())
        print_json({"command": "experiments", "ok": True, "name": name, "page": str(page), "files": files})
    elif not quiet:
        print_lines([("written", str(page))])
