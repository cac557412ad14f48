"""`discreet predict`: predict the classes of new rows by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._command import command
from discreet.cli._runs import command_job, file_output, perform_verb, verb_options

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_EPILOG = """\b
Examples:
  discreet predict model.json new.csv --out predicted.csv
  discreet predict model.json new.csv --keep id --out predicted.parquet"""


@command(short_help="Predict classes with a saved model.", epilog=_EPILOG)
@click.argument("model", type=options.DATA, metavar="MODEL")
@click.argument("data", type=options.DATA, metavar="FILE")
@verb_options("predict", only=("keep",))
@file_output("The predictions to write.")
@options.reading
@options.printing
def predict(model: Path, data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Predict the class of every true row of FILE by MODEL, and how likely it is."""
    job = command_job("predict", values, data=data, out=out, reading=gather.reading(values), model=model)
    perform_verb("predict", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print how many rows were predicted, and where they are."""
    from discreet.cli._output import print_figures

    print_figures(result.figures, [("rows", f"{result.figures['rows']:,}"), ("written", str(job.out))])
