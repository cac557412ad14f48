"""`discreet fit`: learn a classifier from noisy rows, and save it as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._command import command
from discreet.cli._runs import perform_verb, section
from discreet.cli._spec_options import options_of, parameters_of
from discreet.core.percentages import percent
from discreet.core.registry import METHODS, Method

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_SHOWN_DEPTH = 4
_EPILOG = """\b
Examples:
  discreet fit noisy.csv --target class --channels channels.json --out model.json
  discreet fit noisy.csv --target class --channels channels.toml --strategy local --test test.csv --out model.json
  discreet fit noisy.csv --target class --channels channels.json --model naive-bayes --out model.json

\b
The channels are what discreet perturb --json prints, or a table for each hidden column:
  [age]
  noise = "gaussian"
  spread = 15.3
  low = 20
  high = 80

\b
discreet predict uses the model."""


def _models() -> list[Method]:
    """Return what can be learned."""
    return [METHODS["tree"], METHODS["naive-bayes"]]


@command(short_help="Learn a classifier from noisy rows.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="FILE")
@click.option(
    "--target", required=True, metavar="COLUMN", help="The column of the classes; it is not hidden."
)
@click.option(
    "--channels",
    type=options.DATA,
    metavar="FILE",
    help="What is public about the hidden columns: JSON or TOML.",
)
@click.option(
    "--model",
    "kind",
    type=click.Choice(["tree", "naive-bayes"]),
    default="tree",
    help="What to learn; a tree by default.",
)
@click.option(
    "--strategy",
    type=click.Choice(["global", "by-class", "local"]),
    help="Tree: where distributions are reconstructed; by-class by default.",
)
@options_of(_models, without=("channels", "strategy"), group="Model")
@click.option("--drop", multiple=True, metavar="COLUMNS", help="Columns not to learn from.")
@click.option(
    "--test", type=options.DATA, metavar="FILE", help="True rows with their classes, to be judged by."
)
@click.option("--out", type=options.DATA, required=True, metavar="FILE", help="The model to write: .json.")
@click.option("--overwrite", is_flag=True, help="Replace the file that is there.")
@options.reading
@options.printing
def fit(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Learn a classifier from the noisy rows of FILE through reconstructed distributions; save it without any row."""
    from discreet.job import FitJob

    if values["kind"] != "tree" and values["strategy"] is not None:
        raise gather.mistake("--strategy is for a tree.", "--model tree")
    parameters = parameters_of(
        METHODS[values["kind"]], values, among=_models(), choice="--model", without=("channels", "strategy")
    )
    described = {"model": values["kind"], "drop": gather.names_in(values["drop"]), **parameters}
    job = FitJob.from_dict(
        {
            "input": {"path": data, **gather.reading(values)},
            "fit": described | section(values, "target", "channels", "strategy", "test"),
            "output": {"file": out, **section(values, "overwrite")},
        }
    )
    perform_verb("fit", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print the size of the model, the first levels of a tree, and how it did on the test rows."""
    from discreet.cli._output import print_lines

    figures, accuracy = result.figures, result.figures["accuracy"]
    hidden = f"{figures['columns']} columns, {len(figures['hidden'])} of them hidden"
    print_lines(
        [
            ("rows", f"{figures['rows']:,}, {hidden}"),
            ("classes", f"{figures['classes']:,}"),
            *(_tree_lines(result.data) if figures["model"] == "tree" else []),
            *([] if accuracy is None else [("accuracy", f"{percent(accuracy)} on the test rows")]),
            ("written", str(job.out)),
            ("next", f"discreet predict {job.out} new.csv --out predicted.csv"),
        ]
    )


def _tree_lines(learner: Any) -> list[tuple[str, str]]:
    size = f"{learner.n_leaves_:,} leaves, {learner.depth_} deep"
    cut = f"; the first {_SHOWN_DEPTH} levels:" if learner.depth_ > _SHOWN_DEPTH else ":"
    tree = learner.describe(max_depth=_SHOWN_DEPTH).splitlines()
    return [("tree", size + cut), *(("", line) for line in tree)]
