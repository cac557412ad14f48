"""`discreet predict`: predict the classes of new rows by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.mine.noisy.saved_models import Model

_PREDICTED, _PROBABILITY = "predicted", "probability"
_EPILOG = """\b
Examples:
  discreet predict model.json new.csv --out predicted.csv
  discreet predict model.json new.csv --keep id --out predicted.parquet"""


@click.command(short_help="Predict classes with a saved model.", epilog=_EPILOG)
@click.argument("model", type=options.DATA, metavar="MODEL")
@click.argument("data", type=options.DATA, metavar="FILE")
@click.option("--keep", multiple=True, metavar="COLUMNS", help="Columns to write beside the predictions.")
@click.option("--out", type=options.DATA, required=True, metavar="FILE", help="The predictions to write.")
@click.option("--overwrite", is_flag=True, help="Replace the file that is there.")
@options.reading
@options.printing
def predict(
    model: Path, data: Path, out: Path, overwrite: bool, as_json: bool, quiet: bool, **params: Any
) -> None:
    """Predict the class of every true row of FILE by MODEL, and how likely it is."""
    from discreet.cli import _model_files as model_files
    from discreet.cli._output import plain_cautions, print_result
    from discreet.cli._progress import stages
    from discreet.engines.atomic import require_new_file
    from discreet.engines.writing import write_frame
    from discreet.mine import model_from_dict

    require_new_file(out, overwrite=overwrite)
    with stages(3, quiet=quiet or as_json) as progress:
        progress("Reading")
        learned = model_from_dict(model_files.plain_of(model))
        rows = model_files.rows_of(data, params)
        progress("Predicting")
        predictions = _predictions(learned, rows, gather.names_in(params["keep"]), data)
        progress("Writing")
        write_frame(predictions, out)
    plain = {"rows": predictions.num_rows, "cautions": plain_cautions(predictions), "file": str(out)}
    lines = [("rows", f"{predictions.num_rows:,}"), ("written", str(out))]
    print_result("predict", plain, lines, as_json=as_json, quiet=quiet)


def _predictions(model: Model, rows: pa.Table, keep: list[str], data: Path) -> pa.Table:
    """Return the kept columns, the likeliest class of each row, and its probability."""
    import pyarrow as pa

    from discreet.cli._model_files import require_columns
    from discreet.core.errors import InputError, SchemaError
    from discreet.core.tables.encoding import require_flat

    if not hasattr(model, "feature_names_in_"):
        raise InputError("The model was learned from columns without names; it can only be used from Python.")
    names = [str(name) for name in model.feature_names_in_]
    require_columns(rows, [*names, *keep], data)
    clash = [name for name in keep if name in (_PREDICTED, _PROBABILITY)]
    if clash:
        raise SchemaError(f"Column '{clash[0]}' cannot be kept: the predictions have a column of that name.")
    require_flat(rows.select([*names, *keep]))
    predictions = rows.select(keep)
    if rows.num_rows:
        chances = model.predict_proba(rows.select(names))
        labels, likely = model.classes_[chances.argmax(axis=1)].tolist(), chances.max(axis=1)
    else:
        labels, likely = [], []
    predictions = (
        predictions.append_column(_PREDICTED, pa.array(labels))
        if keep
        else pa.table({_PREDICTED: pa.array(labels)})
    )
    return predictions.append_column(_PROBABILITY, pa.array(likely, pa.float64()))
