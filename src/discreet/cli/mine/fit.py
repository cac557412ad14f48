"""`discreet fit`: learn a classifier from noisy rows, and save it as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.core.percentages import percent

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.collect import Channels
    from discreet.mine.noisy.saved_models import Model

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


@click.command(short_help="Learn a classifier from noisy rows.", epilog=_EPILOG)
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
@click.option("--intervals", type=int, default=50, help="Intervals of a hidden column; 50 by default.")
@click.option("--max-depth", type=int, help="Tree: how deep it may grow.")
@click.option("--drop", multiple=True, metavar="COLUMNS", help="Columns not to learn from.")
@click.option(
    "--test", type=options.DATA, metavar="FILE", help="True rows with their classes, to be judged by."
)
@click.option("--out", type=options.DATA, required=True, metavar="FILE", help="The model to write: .json.")
@click.option("--overwrite", is_flag=True, help="Replace the file that is there.")
@options.reading
@options.printing
def fit(data: Path, out: Path, overwrite: bool, as_json: bool, quiet: bool, **params: Any) -> None:
    """Learn a classifier from the noisy rows of FILE through reconstructed distributions; save it without any row."""
    from discreet.cli import _model_files as model_files
    from discreet.cli._progress import stages
    from discreet.engines.atomic import require_new_file
    from discreet.mine import model_to_dict

    require_new_file(out, overwrite=overwrite)
    channels = None if params["channels"] is None else model_files.channels_of(params["channels"])
    learner = _learner(params, channels)
    with stages(4, quiet=quiet or as_json) as progress:
        progress("Reading")
        rows, labels = _split_target(model_files.rows_of(data, params), data, params)
        _refuse_hidden_target(channels, params["target"])
        progress("Learning")
        learner.fit(rows, labels)
        progress("Judging")
        accuracy = None if params["test"] is None else _accuracy(learner, params)
        progress("Writing")
        model_files.write_plain(model_to_dict(learner), out)
    _print_result(learner, rows, accuracy, out, as_json=as_json, quiet=quiet)


def _learner(params: dict[str, Any], channels: Channels | None) -> Model:
    from discreet.mine import ReconstructedNaiveBayes, ReconstructedTree

    if params["kind"] == "tree":
        strategy: Any = (params["strategy"] or "by-class").replace("-", "_")
        return ReconstructedTree(
            channels, strategy=strategy, intervals=params["intervals"], max_depth=params["max_depth"]
        )
    for name in ("strategy", "max_depth"):
        if params[name] is not None:
            raise gather.mistake(f"--{name.replace('_', '-')} is for a tree.", "--model tree")
    return ReconstructedNaiveBayes(channels, intervals=params["intervals"])


def _split_target(rows: pa.Table, data: Path, params: dict[str, Any]) -> tuple[pa.Table, Any]:
    """Part the rows from their classes."""
    from discreet.cli._model_files import require_columns
    from discreet.core.errors import InputError, SchemaError
    from discreet.core.tables.encoding import require_flat

    target, dropped = params["target"], gather.names_in(params["drop"])
    require_columns(rows, [target, *dropped], data)
    labels = rows[target]
    if labels.null_count:
        raise InputError(f"{labels.null_count} rows of {data} have no class; drop them first.")
    kept = require_flat(rows.drop_columns(list({target, *dropped})))
    if not kept.num_columns or not kept.num_rows:
        raise SchemaError(f"{data} leaves nothing to learn from: it has no rows, or no other columns.")
    return kept, labels.to_numpy(zero_copy_only=False)


def _refuse_hidden_target(channels: Channels | None, target: str) -> None:
    if channels is not None and target in channels.channels:
        raise gather.mistake(f"Column '{target}' is the target, which must not be hidden.")


def _accuracy(learner: Model, params: dict[str, Any]) -> float:
    """Return the share of test rows whose class is predicted correctly."""
    from discreet.cli._model_files import require_columns, rows_of

    test = params["test"]
    whole = rows_of(test, params)
    names = [str(name) for name in learner.feature_names_in_]
    require_columns(whole, [params["target"], *names], test)
    rows, labels = _split_target(whole.select([*names, params["target"]]), test, {**params, "drop": ()})
    predicted = learner.predict(rows)
    if predicted.dtype.kind != labels.dtype.kind:
        predicted, labels = predicted.astype(str), labels.astype(str)
    return float((predicted == labels).mean())


def _print_result(
    learner: Model, rows: pa.Table, accuracy: float | None, out: Path, *, as_json: bool, quiet: bool
) -> None:
    from discreet.cli._output import print_result

    hidden = [column.name for column in learner.columns_ if not column.exact]
    tree = getattr(learner, "tree_", None)
    plain = {
        "model": "naive-bayes" if tree is None else "tree",
        **({} if tree is None else {"leaves": tree.n_leaves, "depth": tree.depth}),
        "rows": rows.num_rows,
        "columns": rows.num_columns,
        "hidden": hidden,
        "classes": int(learner.classes_.size),
        "accuracy": accuracy,
        "file": str(out),
    }
    lines = [
        ("rows", f"{rows.num_rows:,}, {rows.num_columns} columns, {len(hidden)} of them hidden"),
        ("classes", f"{learner.classes_.size:,}"),
        *([] if tree is None else _tree_lines(learner)),
        *([] if accuracy is None else [("accuracy", f"{percent(accuracy)} on the test rows")]),
        ("written", str(out)),
        ("next", f"discreet predict {out} new.csv --out predicted.csv"),
    ]
    print_result("fit", plain, lines, as_json=as_json, quiet=quiet)


def _tree_lines(learner: Any) -> list[tuple[str, str]]:
    size = f"{learner.n_leaves_:,} leaves, {learner.depth_} deep"
    cut = f"; the first {_SHOWN_DEPTH} levels:" if learner.depth_ > _SHOWN_DEPTH else ":"
    tree = learner.describe(max_depth=_SHOWN_DEPTH).splitlines()
    return [("tree", size + cut), *(("", line) for line in tree)]
