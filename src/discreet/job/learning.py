"""Jobs of models: learn a classifier or clusters from noisy rows, and predict by a saved model."""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.params import NONE, Constraint, Constraints, InstanceOf, OneOf
from discreet.core.registry import METHODS
from discreet.job.collecting import require_named_columns
from discreet.job.verbs import PATH, TEXT, TEXTS, Made, Progress, VerbJob
from discreet.kinds.tables import TableKind

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.mine.saved_models import Model

_MODELS = ("tree", "naive-bayes", "mixture")
_PREDICTED, _PROBABILITY = "predicted", "probability"


@public
@dataclass(frozen=True, kw_only=True)
class FitJob(VerbJob):
    """Learn a classifier or clusters from noisy rows, and save them without any row.

    Parameters
    ----------
    target
        The column of the classes, which is not hidden; a mixture has none.
    channels
        What is public about the hidden columns: the path of a JSON or TOML file, or a table for each column.
    model
        What to learn: tree, naive-bayes or mixture.
    drop
        Columns not to learn from.
    test
        A file of true rows with their classes, to be judged by.
    options
        The model's own parameters by name.

    Examples
    --------
    >>> channels = {"age": {"noise": "gaussian", "spread": 15.0, "low": 20, "high": 80}}
    >>> FitJob("noisy.csv", target="class", channels=channels, options={"max_depth": 3}).learner().max_depth
    3
    """

    target: str | None = None
    channels: Path | Mapping[str, Any] | None = None
    model: str = "tree"
    drop: Sequence[str] = ()
    test: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    verb = "fit"
    stages = ("Reading", "Learning", "Judging", "Writing")
    reading_keys: ClassVar[Mapping[str, Constraint]] = TableKind.reading
    path_keys = ("channels", "test")
    constraints: ClassVar[Constraints] = {
        "target": (TEXT, NONE),
        "channels": (PATH, InstanceOf((Mapping,), "a table for each hidden column"), NONE),
        "model": OneOf(_MODELS),
        "drop": TEXTS,
        "test": (PATH, NONE),
    }

    @classmethod
    def option_names(cls) -> Iterable[str]:
        """Return the parameters of all models; the one that is learned refuses what is not its own."""
        return own_options(*_MODELS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.options:
            if name not in own_options(self.model):
                other = next(model for model in _MODELS if name in own_options(model))
                raise ParameterError(f"'{name}' is for a {other}.", fix={"model": other})

        clusters = self.model == "mixture"
        if self.target is None and not clusters:
            raise ParameterError("The column of the classes is missing.", fix={"target": "COLUMN"})
        if clusters and (self.target is not None or self.test is not None):
            raise ParameterError(
                "A mixture has no target and is not tested; drop the columns of classes instead."
            )

    def learner(self) -> Any:
        """Return the estimator that will be fitted."""
        from discreet.collect.channels import channels_from_dict

        if self.channels is None:
            channels = None
        elif isinstance(self.channels, Mapping):
            channels = channels_from_dict(self.channels)
        else:
            channels = channels_from_dict(plain_of(Path(self.channels)))
        if channels is not None and self.target in channels.channels:
            raise ParameterError(f"Column '{self.target}' is the target, which must not be hidden.")
        options = dict(self.options)
        if isinstance(options.get("strategy"), str):
            options["strategy"] = options["strategy"].replace("-", "_")
        return METHODS[self.model].make(channels, **options)

    def make(self, begin: Progress) -> Made:
        """Return the fitted estimator."""
        from discreet.engines.writing import json_text
        from discreet.mine import model_to_dict

        learner = self.learner()
        begin("Reading")
        rows, labels = self._split(_rows(self.data, self.reading), Path(self.data), self.drop)
        begin("Learning")
        learner.fit(rows, labels)
        begin("Judging")
        accuracy = None if self.test is None else self._accuracy(learner, Path(self.test))
        tree = getattr(learner, "tree_", None)
        figures = {
            "model": self.model,
            **({} if tree is None else {"leaves": tree.n_leaves, "depth": tree.depth}),
            "rows": rows.num_rows,
            "columns": rows.num_columns,
            "hidden": [
                name for name in rows.column_names if name in getattr(learner.channels, "channels", ())
            ],
            **(
                {"clusters": learner.n_clusters, "log_likelihood": learner.log_likelihood_}
                if self.target is None
                else {"classes": int(learner.classes_.size)}
            ),
            "accuracy": accuracy,
            "file": None if self.out is None else str(self.out),
        }
        return Made("model", learner, figures, self.written(json_text(model_to_dict(learner))))

    def _split(self, rows: pa.Table, data: Path, drop: Sequence[str]) -> tuple[pa.Table, Any]:
        """Part the rows from their classes, where they have some."""
        from discreet.core.tables.encoding import require_flat

        classes = [] if self.target is None else [self.target]
        require_named_columns(rows.column_names, [*classes, *drop], data)
        labels = rows[self.target] if self.target is not None else None
        if labels is not None and labels.null_count:
            raise InputError(f"{labels.null_count} rows of {data} have no class; drop them first.")
        features = require_flat(rows.drop_columns(list({*classes, *drop})))
        if not features.num_columns or not features.num_rows:
            raise SchemaError(f"{data} leaves nothing to learn from: it has no rows, or no other columns.")
        return features, None if labels is None else labels.to_numpy(zero_copy_only=False)

    def _accuracy(self, learner: Model, test: Path) -> float:
        """Return the share of test rows whose class is predicted correctly."""
        rows = _rows(test, self.reading)
        names = [str(name) for name in learner.feature_names_in_]
        columns = [*names, str(self.target)]
        require_named_columns(rows.column_names, columns, test)
        features, labels = self._split(rows.select(columns), test, ())
        predicted = learner.predict(features)
        if predicted.dtype.kind != labels.dtype.kind:
            predicted, labels = predicted.astype(str), labels.astype(str)
        return float((predicted == labels).mean())


@public
@dataclass(frozen=True, kw_only=True)
class PredictJob(VerbJob):
    """Predict the class, number or cluster of every row of a file by a saved model, and how likely the class is.

    Parameters
    ----------
    model
        The file of the model, as `FitJob` or a run between parties wrote it.
    keep
        Columns to write beside the predictions.

    Examples
    --------
    >>> PredictJob("new.csv", model="model.json", keep=["id"]).verb
    'predict'
    """

    model: Path
    keep: Sequence[str] = ()

    verb = "predict"
    stages = ("Reading", "Predicting", "Writing")
    reading_keys: ClassVar[Mapping[str, Constraint]] = TableKind.reading
    path_keys = ("model",)
    constraints: ClassVar[Constraints] = {"model": PATH, "keep": TEXTS}

    def make(self, begin: Progress) -> Made:
        """Return the predictions as an Arrow table."""
        from discreet.measure.spelling import published_cautions
        from discreet.mine import model_from_dict

        begin("Reading")
        model = model_from_dict(plain_of(Path(self.model)))
        rows = _rows(self.data, self.reading)
        begin("Predicting")
        with warnings.catch_warnings():
            # Rows reach estimators as arrays, in the order of the model's columns, and scikit-learn misses their names.
            warnings.simplefilter("ignore", UserWarning)
            predictions = self._predictions(model, rows)
        figures = {
            "rows": predictions.num_rows,
            "cautions": [caution.to_dict() for caution in published_cautions(predictions)],
            "file": None if self.out is None else str(self.out),
        }
        return Made("predictions", predictions, figures, self.written(predictions))

    def _predictions(self, model: Any, rows: pa.Table) -> pa.Table:
        """Return the kept columns, what is predicted for each row, and where there are classes, its probability."""
        import pyarrow as pa

        from discreet.core.tables.encoding import require_flat

        if not hasattr(model, "feature_names_in_"):
            raise InputError(
                "The model was learned from columns without names; it can only be used from Python."
            )
        if not hasattr(model, "predict"):
            raise InputError(
                "The model describes columns and predicts nothing; it can only be used from Python."
            )
        names = [str(name) for name in model.feature_names_in_]
        require_named_columns(rows.column_names, [*names, *self.keep], self.data)
        for name in self.keep:
            if name in (_PREDICTED, _PROBABILITY):
                raise SchemaError(
                    f"Column '{name}' cannot be kept: the predictions have a column of that name."
                )
        require_flat(rows.select([*names, *self.keep]))
        columns = {name: rows[name] for name in self.keep}
        features = _features(model, rows.select(names))
        if hasattr(model, "predict_proba"):
            chances = model.predict_proba(features) if rows.num_rows else None
            likeliest = [] if chances is None else chances.argmax(axis=1)
            labels = model.classes_[likeliest].tolist() if hasattr(model, "classes_") else likeliest
            columns[_PREDICTED] = pa.array(labels if rows.num_rows else [])
            columns[_PROBABILITY] = pa.array([] if chances is None else chances.max(axis=1), pa.float64())
        else:
            columns[_PREDICTED] = pa.array(model.predict(features) if rows.num_rows else [])
        return pa.table(columns)


def own_options(*methods: str) -> list[str]:
    """Return the parameters of methods that no key of their job stands for."""
    named = {name for method in methods for name in METHODS[method].options()}
    return sorted(named - {"min_support", "channel", "channels"})


def plain_of(path: Path) -> dict[str, Any]:
    """Read a file of plain data, JSON or, where its name ends so, TOML; its contents are never shown."""
    try:
        text = path.read_text(encoding="utf-8")
        record = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path} cannot be read as JSON, or as TOML where its name ends in .toml.") from None
    if not isinstance(record, dict):
        raise InputError(f"{path} holds no table of names and values.")
    return record


def _rows(data: Any, reading: Mapping[str, Any]) -> pa.Table:
    from discreet.core.engine import arrow_table
    from discreet.engines.files import read

    return arrow_table(read(data, **reading))


def _features(model: Any, rows: pa.Table) -> Any:
    """Return rows as the model takes them: estimators of scikit-learn take numbers, others the columns as they are."""
    import numpy as np
    import pyarrow as pa

    if type(model).__module__.split(".")[0] != "sklearn":
        return rows
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not is_number or column.null_count:
            raise SchemaError(f"Column '{name}' must hold numbers, with none missing, for this model.")
    return np.column_stack([column.to_numpy() for column in rows.columns])
