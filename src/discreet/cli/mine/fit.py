"""`discreet fit`: learn a classifier or clusters from noisy rows, and save them as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._command import command
from discreet.cli._runs import command_job, file_output, perform_verb, verb_options
from discreet.cli._spec_options import options_of, parameters_of
from discreet.core.registry import METHODS, Method
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_SHOWN_DEPTH = 4
_EPILOG = """\b
Examples:
  discreet fit noisy.csv --target class --channels channels.json --out model.json
  discreet fit noisy.csv --target class --channels channels.toml --strategy local --test test.csv --out model.json
  discreet fit noisy.csv --target class --channels channels.json --model naive-bayes --out model.json
  discreet fit noisy.csv --drop class --channels channels.json --model mixture --n-clusters 3 --out model.json

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
    return [METHODS["tree"], METHODS["naive-bayes"], METHODS["mixture"]]


@command(
    short_help="Learn a classifier or clusters from noisy rows.",
    epilog=_EPILOG,
    essentials=(
        *(
            "--target",
            "--channels",
            "--model",
            "--strategy",
            "--intervals",
            "--max-depth",
            "--n-clusters",
            "--drop",
            "--test",
        ),
        *("--out", "--overwrite"),
    ),
)
@click.argument("data", type=options.DATA, metavar="FILE")
@verb_options("fit", only=("target", "model", "drop"))
@click.option(
    "--channels",
    type=options.DATA,
    metavar="FILE",
    help="What is public about the hidden columns: JSON or TOML.",
)
@click.option(
    "--test",
    type=options.DATA,
    metavar="FILE",
    help="True rows with their classes, to measure the accuracy on.",
)
@click.option(
    "--strategy",
    type=click.Choice(["global", "by-class", "local"]),
    help="Tree: where distributions are reconstructed; by-class by default.",
)
@options_of(_models, without=("channels", "strategy"), group="Model")
@file_output("The model to write: .json.")
@options.reading
@options.printing
def fit(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Learn a classifier or clusters from the noisy rows of FILE through the public noise; save it without any row."""
    model = values["model"] or "tree"
    if model != "tree" and values["strategy"] is not None:
        raise gather.mistake("--strategy is for a tree.", "--model tree")
    keys = parameters_of(
        METHODS[model], values, among=_models(), choice="--model", without=("channels", "strategy")
    )
    keys |= {name: values[name] for name in ("channels", "test", "strategy")}
    job = command_job("fit", values, data=data, out=out, reading=gather.reading(values), **keys)
    perform_verb("fit", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print the size of the model, the first levels of a tree, the clusters, and how it did on the test rows."""
    from discreet.cli._output import print_lines

    figures, accuracy = result.figures, result.figures["accuracy"]
    hidden = f"{figures['columns']} columns, {len(figures['hidden'])} of them hidden"
    print_lines(
        [
            ("rows", f"{figures['rows']:,}, {hidden}"),
            *(
                [("classes", f"{figures['classes']:,}")]
                if "classes" in figures
                else _cluster_lines(result.data)
            ),
            *(_tree_lines(result.data) if figures["model"] == "tree" else []),
            *([] if accuracy is None else [("accuracy", f"{percent(accuracy)} on the test rows")]),
            ("written", str(job.out)),
            ("next", f"discreet predict {job.out} new.csv --out predicted.csv"),
        ]
    )


def _cluster_lines(learner: Any) -> list[tuple[str, str]]:
    settled = "" if learner.converged_ else ", not settled: the best so far"
    shares = ", ".join(percent(float(weight)) for weight in learner.weights_)
    return [("clusters", f"{shares} of the records{settled}")]


def _tree_lines(learner: Any) -> list[tuple[str, str]]:
    size = f"{learner.n_leaves_:,} leaves, {learner.depth_} deep"
    cut = f"; the first {_SHOWN_DEPTH} levels:" if learner.depth_ > _SHOWN_DEPTH else ":"
    tree = learner.describe(max_depth=_SHOWN_DEPTH).splitlines()
    return [("tree", size + cut), *(("", line) for line in tree)]
