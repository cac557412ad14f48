"""Jobs of mining: find itemsets and rules, learn a classifier from noisy rows, predict by a saved model."""

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
from discreet.core.params import BOOL, NONE, Constraint, Constraints, FloatIn, InstanceOf, OneOf
from discreet.core.registry import METHODS
from discreet.job.collecting import require_columns
from discreet.job.verbs import PATH, TEXT, TEXTS, Made, Progress, VerbJob
from discreet.kinds.baskets import BasketKind
from discreet.kinds.tables import TableKind

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.core.baskets.grouped import GroupedBaskets
    from discreet.mine.itemsets.found import FoundItemsets
    from discreet.mine.saved_models import Model

_TOP = 10
_PREDICTED, _PROBABILITY = "predicted", "probability"


@public
@dataclass(frozen=True, kw_only=True)
class MineJob(VerbJob):
    """Find the itemsets, or the rules, of baskets: true ones, distorted ones, or a release of baskets.

    Parameters
    ----------
    min_support
        The least support: a share of the baskets, or a whole number of them.
    p
        The baskets were distorted: the probability that an item in the basket stayed.
    q
        The probability that an item not in the basket stayed away.
    rules
        Return association rules instead of itemsets.
    metric
        The measure of a rule: confidence (the default), lift, leverage, conviction, jaccard, …
    min_threshold
        The least measure of a rule; 0.8 by default.
    options
        The other parameters of `Itemsets`, or of `MaskedItemsets` for distorted baskets, by name.

    Examples
    --------
    >>> MineJob("shop.dat", min_support=0.01, options={"kind": "closed"}).miner().kind
    'closed'
    """

    min_support: float
    p: float | None = None
    q: float | None = None
    rules: bool = False
    metric: str | None = None
    min_threshold: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    verb = "mine"
    stages = ("Reading", "Mining", "Writing")
    reading_keys: ClassVar[Mapping[str, Constraint]] = BasketKind.reading
    constraints: ClassVar[Constraints] = {
        "p": (FloatIn(), NONE),
        "q": (FloatIn(), NONE),
        "rules": BOOL,
        "min_threshold": (FloatIn(), NONE),
    }

    @classmethod
    def option_names(cls) -> Iterable[str]:
        """Return the parameters of both miners; the one that is used refuses what is not its own."""
        return _own_options("itemsets", "masked-itemsets")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.p is None) != (self.q is None):
            raise ParameterError("Distorted baskets need both probabilities.", fix={"p": 0.5, "q": 0.97})
        if self.p is None and "margin" in self.options:
            raise ParameterError("A margin is for distorted baskets.", fix={"p": 0.5, "q": 0.97, "margin": 2})
        if self.p is not None and "kind" in self.options:
            raise ParameterError("The kind of itemsets is for baskets that were not distorted.")
        if not self.rules and (self.metric is not None or self.min_threshold is not None):
            raise ParameterError("A metric and its threshold are for rules.", fix={"rules": True})

    def miner(self, names: pa.Array | None = None) -> Any:
        """Return the miner; where the names of the baskets' items are numbers, so are those of the options."""
        from discreet.collect import EMask
        from discreet.mine import Itemsets, MaskedItemsets

        options = dict(self.options)
        for name in ("include", "exclude"):
            if options.get(name) is not None and names is not None:
                options[name] = _items(options[name], names, name)
        if self.p is None or self.q is None:
            return Itemsets(self.min_support, **options)
        return MaskedItemsets(EMask(self.p, self.q), self.min_support, **options)

    def make(self, begin: Progress) -> Made:
        """Return the itemsets or the table of rules."""
        from discreet.core.baskets.grouped import GroupedBaskets

        begin("Reading")
        baskets = self._baskets()
        grouped = isinstance(baskets, GroupedBaskets)
        if grouped and self.p is not None:
            raise ParameterError("Probabilities are for distorted baskets; these are published in groups.")
        begin("Mining")
        itemsets = self.miner(baskets.sensitive_names if grouped else baskets.names).mine(baskets)
        table = self._rules(itemsets) if self.rules else itemsets.table
        figures = {
            "baskets": itemsets.n,
            "itemsets": len(itemsets),
            "by_length": _by_length(itemsets),
            "kind": itemsets.kind,
            "written": None if self.out is None else str(self.out),
        }
        if self.p is not None and len(itemsets):
            uncertain = int((~itemsets.frequent).sum()), int(itemsets.ill_conditioned.sum())
            figures["unsure"] = dict(zip(("only_may_be_frequent", "ill_conditioned"), uncertain, strict=True))
        if self.rules:
            figures["rules"] = table.num_rows
            if not table.num_rows:
                figures["highest"] = self._highest(itemsets)
        figures["top"] = self._top(table).to_pylist()
        kind = "rules" if self.rules else "itemsets"
        return Made(kind, table if self.rules else itemsets, figures, self.written(self._writable(table)))

    def _baskets(self) -> Any:
        """Read the baskets; bit columns are mined as they lie in their file, a folder is a release of baskets."""
        from discreet.engines.baskets.bits import is_bit_file, read_bits
        from discreet.engines.baskets.files import read_baskets
        from discreet.engines.baskets.published import read_published

        path = Path(self.data)
        if path.is_dir():
            published: GroupedBaskets | Any = read_published(path)
            return published
        if self.reading.get("format") in (None, "bits") and path.is_file() and is_bit_file(path):
            return read_bits(path)
        return read_baskets(path, **self.reading)

    def _rules(self, itemsets: FoundItemsets) -> pa.Table:
        from discreet.mine import rules

        threshold = 0.8 if self.min_threshold is None else self.min_threshold
        metric = self.metric or "confidence"
        table = rules(itemsets, metric=metric, min_threshold=threshold)
        return table.sort_by([(metric, "descending"), ("support", "descending")])

    def _highest(self, itemsets: FoundItemsets) -> float | None:
        """Return the highest metric that any rule reaches; None where there is no rule at all."""
        import pyarrow.compute as pc

        from discreet.mine import rules

        metric = self.metric or "confidence"
        every = rules(itemsets, metric=metric, min_threshold=-1e9)
        return pc.max(every[metric]).as_py() if every.num_rows else None

    def _top(self, table: pa.Table) -> pa.Table:
        """Return the first rules as they come, or itemsets of several items by their support first."""
        import pyarrow.compute as pc

        if self.rules:
            return table.slice(0, _TOP)
        several = table.append_column("several", pc.greater(table["length"], 1))
        ordered = several.sort_by([("several", "descending"), ("support", "descending")])
        return ordered.drop_columns("several").slice(0, _TOP)

    def _writable(self, table: pa.Table) -> pa.Table:
        """Return the table for a file: text has no lists and gets them as JSON; JSON has no infinity and gets null."""
        from discreet.engines.formats import format_of, without_lists

        form = None if self.out is None else format_of(Path(self.out))
        if form is not None and form.reader in ("text", "sheets"):
            return without_lists(table)
        return _finite(table) if form is not None and form.reader == "json" else table


@public
@dataclass(frozen=True, kw_only=True)
class FitJob(VerbJob):
    """Learn a classifier from noisy rows through reconstructed distributions, and save it without any row.

    Parameters
    ----------
    target
        The column of the classes; it is not hidden.
    channels
        What is public about the hidden columns: the path of a JSON or TOML file, or a table for each column.
    model
        What to learn: tree or naive-bayes.
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

    target: str
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
        "target": TEXT,
        "channels": (PATH, InstanceOf((Mapping,), "a table for each hidden column"), NONE),
        "model": OneOf(("tree", "naive-bayes")),
        "drop": TEXTS,
        "test": (PATH, NONE),
    }

    @classmethod
    def option_names(cls) -> Iterable[str]:
        """Return the parameters of both models; the one that is learned refuses what is not its own."""
        return _own_options("tree", "naive-bayes")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.options:
            if name not in _own_options(self.model):
                other = "tree" if self.model == "naive-bayes" else "naive-bayes"
                raise ParameterError(f"'{name}' is for a {other}.", fix={"model": other})

    def learner(self) -> Any:
        """Return the classifier that will be fitted."""
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
        """Return the fitted classifier."""
        from discreet.engines.results import json_text
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
            "hidden": [column.name for column in learner.columns_ if not column.exact],
            "classes": int(learner.classes_.size),
            "accuracy": accuracy,
            "file": None if self.out is None else str(self.out),
        }
        return Made("model", learner, figures, self.written(json_text(model_to_dict(learner))))

    def _split(self, rows: pa.Table, data: Path, drop: Sequence[str]) -> tuple[pa.Table, Any]:
        """Part the rows from their classes."""
        from discreet.core.tables.encoding import require_flat

        require_columns(rows.column_names, [self.target, *drop], data)
        labels = rows[self.target]
        if labels.null_count:
            raise InputError(f"{labels.null_count} rows of {data} have no class; drop them first.")
        features = require_flat(rows.drop_columns(list({self.target, *drop})))
        if not features.num_columns or not features.num_rows:
            raise SchemaError(f"{data} leaves nothing to learn from: it has no rows, or no other columns.")
        return features, labels.to_numpy(zero_copy_only=False)

    def _accuracy(self, learner: Model, test: Path) -> float:
        """Return the share of test rows whose class is predicted correctly."""
        rows = _rows(test, self.reading)
        names = [str(name) for name in learner.feature_names_in_]
        require_columns(rows.column_names, [self.target, *names], test)
        features, labels = self._split(rows.select([*names, self.target]), test, ())
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
        from discreet.measure.formulas import formula_cautions
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
            "cautions": [caution.to_dict() for caution in formula_cautions(predictions)],
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
        require_columns(rows.column_names, [*names, *self.keep], self.data)
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
            labels = [] if chances is None else model.classes_[chances.argmax(axis=1)].tolist()
            columns[_PREDICTED] = pa.array(labels)
            columns[_PROBABILITY] = pa.array([] if chances is None else chances.max(axis=1), pa.float64())
        else:
            columns[_PREDICTED] = pa.array(model.predict(features) if rows.num_rows else [])
        return pa.table(columns)


def _own_options(*methods: str) -> list[str]:
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


def _items(values: Any, names: pa.Array, key: str) -> list[Any]:
    """Return names of items; where the baskets' items are numbers, so are these."""
    import pyarrow as pa

    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ParameterError(f"'{key}' takes a list of items.")
    if not pa.types.is_integer(names.type):
        return list(values)
    try:
        return [int(value) for value in values]
    except (TypeError, ValueError):
        raise ParameterError(f"'{key}' takes whole numbers, since the items are.") from None


def _finite(table: pa.Table) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for index, column in enumerate(table.schema):
        if pa.types.is_floating(column.type):
            values = table.column(index)
            finite = pc.if_else(pc.is_finite(values), values, pa.scalar(None, column.type))
            table = table.set_column(index, column.name, finite)
    return table


def _by_length(itemsets: FoundItemsets) -> dict[str, int]:
    """Count the sets of each length."""
    counts = dict.fromkeys(map(str, sorted(set(itemsets.lengths.tolist()))), 0)
    for length in itemsets.lengths.tolist():
        counts[str(length)] += 1
    return counts
