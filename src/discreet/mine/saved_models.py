"""Saved models: classifiers and scikit-learn estimators as plain data, which anyone can read and no record is in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from discreet.collect.channels import channel_from_dict
from discreet.core.boundary import public, reads
from discreet.core.errors import DiscreetError, InputError, SchemaError
from discreet.core.params import check_parameters
from discreet.core.validation import LEAST, least_variance, symmetric_matrix
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.decision_tree import ReconstructedTree
from discreet.mine.noisy.grown_tree import GrownTree
from discreet.mine.noisy.mixture import NoisyMixture
from discreet.mine.noisy.naive_bayes import ReconstructedNaiveBayes
from discreet.mine.noisy.statistics import LARGEST

Model = ReconstructedTree | ReconstructedNaiveBayes

FORMAT = "discreet model 1"
_EARLIER = "discreet party model 1"
"""The format that models of several parties once had; only its name differs."""
_NOISY: dict[str, type[Model]] = {"tree": ReconstructedTree, "naive-bayes": ReconstructedNaiveBayes}
_MIXTURE = "mixture"
_WHOLE = 1e-9
_PLAIN = (str, int, float, bool)

_HOMES = {
    "KMeans": "sklearn.cluster",
    "GaussianNB": "sklearn.naive_bayes",
    "CategoricalNB": "sklearn.naive_bayes",
    "Ridge": "sklearn.linear_model",
    "LogisticRegression": "sklearn.linear_model",
    "PCA": "sklearn.decomposition",
}
"""The estimators that parties learn together, and their modules; no other is ever imported by a saved name."""
_LEARNED: dict[str, tuple[str, ...]] = {
    "KMeans": ("cluster_centers_", "n_iter_", "inertia_"),
    "GaussianNB": ("classes_", "class_count_", "class_prior_", "theta_", "var_", "epsilon_"),
    "CategoricalNB": (
        "classes_", "class_count_", "class_log_prior_", "n_categories_", "category_count_", "feature_log_prob_",
    ),
    "Ridge": ("coef_", "intercept_"),
    "LogisticRegression": ("classes_", "coef_", "intercept_", "n_iter_"),
    "PCA": (
        "mean_", "n_samples_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_",
        "noise_variance_", "n_components_",
    ),
}  # fmt: skip
_PARAMETERS = {
    "KMeans": ("n_clusters",),
    "GaussianNB": ("var_smoothing",),
    "CategoricalNB": ("alpha", "min_categories"),
    "Ridge": ("alpha",),
    "LogisticRegression": ("C",),
    "PCA": ("n_components",),
}
_SHAPES = {
    "KMeans": {"cluster_centers_": "kn"},
    "GaussianNB": {"class_count_": "c", "class_prior_": "c", "theta_": "cn", "var_": "cn"},
    "CategoricalNB": {"class_count_": "c", "class_log_prior_": "c", "n_categories_": "n"},
    "Ridge": {"coef_": "n", "intercept_": ""},
    "LogisticRegression": {"coef_": "fn", "intercept_": "f"},
    "PCA": {
        "mean_": "n", "components_": "pn", "explained_variance_": "p", "explained_variance_ratio_": "p",
        "singular_values_": "p",
    },
}  # fmt: skip
"""The dimensions of what estimators learned: classes (c), those with coefficients (f), columns (n), clusters (k),
components (p)."""
_LISTS = ("category_count_", "feature_log_prob_")
_NUMBERS = ("n_iter_", "inertia_", "epsilon_", "intercept_", "n_samples_", "noise_variance_", "n_components_")


@public
def model_to_dict(model: Any) -> dict[str, Any]:
    """Return a fitted model as plain data for JSON.

    A classifier of noisy rows holds its channels, which are public, and what was learned: thresholds and counts of
    leaves, shares of intervals, or centers of clusters. Names of categories are in it, records are not. A
    scikit-learn estimator that parties learned together holds its parameters and learned attributes, and not the
    labels of rows.

    Examples
    --------
    >>> learned = ReconstructedTree(min_leaf=1).fit([[1.0], [2.0], [3.0], [4.0]] * 9, ["a", "a", "b", "b"] * 9)
    >>> plain = model_to_dict(learned)
    >>> plain["tree"]["nodes"][0]
    {'column': 0, 'below': 2.5, 'left': 1, 'right': 2, 'counts': [18, 18]}
    >>> model_from_dict(plain).predict([[0.0], [9.0]]).tolist()
    ['a', 'b']
    """
    kind = type(model).__name__
    if kind in _HOMES and hasattr(model, _LEARNED[kind][0]):
        return {
            "format": FORMAT,
            "model": kind,
            "columns": model.feature_names_in_.tolist(),
            "parameters": {name: _plain(getattr(model, name)) for name in _PARAMETERS[kind]},
            "learned": {name: _plain(getattr(model, name)) for name in _LEARNED[kind]},
        }
    if isinstance(model, NoisyMixture) and hasattr(model, "cluster_centers_"):
        return _mixture_to_dict(model)
    noisy = next((name for name, type_ in _NOISY.items() if isinstance(model, type_)), None)
    if noisy is None or not hasattr(model, "columns_"):
        raise InputError(
            "Only a fitted ReconstructedTree, ReconstructedNaiveBayes or NoisyMixture, or an estimator that parties "
            "learned together, can be saved."
        )
    return _noisy_to_dict(noisy, model)


@public
@reads("The saved model")
def model_from_dict(record: Mapping[str, Any]) -> Any:
    """Read what ``model_to_dict`` returns; the model predicts as the one that was saved."""
    is_saved = isinstance(record, Mapping) and record.get("format") in (FORMAT, _EARLIER)
    if not is_saved or record.get("model") not in [*_NOISY, _MIXTURE, *_HOMES]:
        raise InputError("This is not a model that was saved by Discreet.")
    try:
        if record["model"] == _MIXTURE:
            return _mixture_from_dict(record)
        return _estimator(record) if record["model"] in _HOMES else _noisy_from_dict(record)
    except DiscreetError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise InputError("The saved model is damaged.") from None


def _noisy_to_dict(kind: str, model: Model) -> dict[str, Any]:
    for column in model.columns_:
        if not all(isinstance(category, _PLAIN) for category in column.categories):
            raise SchemaError(f"Column '{column.name}' holds categories that are neither texts nor numbers.")
    parameters = {name: value for name, value in model.get_params().items() if name != "channels"}
    record = {
        "format": FORMAT,
        "model": kind,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "classes": model.classes_.tolist(),
        "named": hasattr(model, "feature_names_in_"),
        "channels": [
            None if column.channel is None else column.channel.to_dict() for column in model.columns_
        ],
    }
    if isinstance(model, ReconstructedTree):
        return record | {"tree": model.tree_.to_dict()}
    return record | {
        "priors": model.class_prior_.tolist(),
        "columns": [
            column.to_dict() | {"shares": shares.tolist()}
            for column, shares in zip(model.columns_, model.shares_, strict=True)
        ],
    }


def _noisy_from_dict(record: Mapping[str, Any]) -> Model:
    channels = [None if channel is None else channel_from_dict(channel) for channel in record["channels"]]
    model = _NOISY[record["model"]](channels, **record["parameters"])
    model.classes_ = np.array(record["classes"])
    if isinstance(model, ReconstructedTree):
        tree = GrownTree.from_dict(record["tree"])
        names, categories = list(tree.names), list(tree.kinds)
        _require_fitting(
            tree.counts.shape[1] == model.classes_.size,
            len(names) == len(channels),
            bool((np.isfinite(tree.counts) & (tree.counts >= 0)).all()),
        )
        model.keep(tree)
    else:
        model.class_prior_ = np.array(record["priors"], np.float64)
        model.columns_ = [NoisyColumn.from_dict(column) for column in record["columns"]]
        model.shares_ = [np.array(column["shares"], np.float64) for column in record["columns"]]
        names = [column.name for column in model.columns_]
        categories = [column.categories for column in model.columns_]
        expected = [(column.n_places, model.classes_.size) for column in model.columns_]
        _require_fitting(
            model.class_prior_.shape == model.classes_.shape,
            [shares.shape for shares in model.shares_] == expected,
            len(names) == len(channels),
            *(bool(((part >= 0) & (part <= 1)).all()) for part in (model.class_prior_, *model.shares_)),
        )
    _require_fitting(
        all(isinstance(name, str) for name in names),
        all(isinstance(category, _PLAIN) for column in categories for category in column),
    )
    model.n_features_in_ = len(names)
    if record["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _mixture_to_dict(model: NoisyMixture) -> dict[str, Any]:
    """Return clusters as plain data; the seed of their search is not among it."""
    # The channels are saved as the covariance of their noise.
    left_out = ("channels", "random_state")
    parameters = {name: value for name, value in model.get_params().items() if name not in left_out}
    names = getattr(model, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "model": _MIXTURE,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "columns": None if names is None else names.tolist(),
        "noise": model.noise_covariance_.tolist(),
        "weights": model.weights_.tolist(),
        "centers": model.cluster_centers_.tolist(),
        "covariances": model.covariances_.tolist(),
    }


def _mixture_from_dict(record: Mapping[str, Any]) -> NoisyMixture:
    noise, weights, centers, covariances = (
        np.array(record[name], np.float64) for name in ("noise", "weights", "centers", "covariances")
    )
    names, width = record["columns"], len(noise)
    _require_fitting(
        noise.shape == (width, width),
        weights.ndim == 1 and centers.shape == (weights.size, width),
        covariances.shape == (weights.size, width, width),
        bool((weights > 0).all()) and abs(weights.sum() - 1) < _WHOLE,
        bool((np.abs(centers) <= LARGEST).all()),
        all(LARGEST**-2 <= variance <= LARGEST**2 for matrix in covariances for variance in np.diag(matrix)),
        names is None or (len(names) == width and all(isinstance(name, str) for name in names)),
        *(symmetric_matrix(matrix) is not None and least_variance(matrix) > 0 for matrix in covariances),
        symmetric_matrix(noise) is not None and least_variance(noise) > -LEAST,
    )
    model = NoisyMixture(noise, **record["parameters"])
    check_parameters(model)
    model.noise_covariance_, model.weights_ = noise, weights
    model.cluster_centers_, model.covariances_, model.n_features_in_ = centers, covariances, width
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _estimator(record: Mapping[str, Any]) -> Any:
    """Return a scikit-learn estimator with the learned attributes that were saved."""
    kind = record["model"]
    parameters = {name: record["parameters"][name] for name in _PARAMETERS[kind]}
    model = getattr(import_module(_HOMES[kind]), kind)(**parameters)
    for name in _LEARNED[kind]:
        setattr(model, name, _learned(name, record["learned"][name]))
    if kind == "KMeans":
        # Predicting asks for both, although labels of rows are never saved.
        model._n_threads, model.labels_ = 1, np.empty(0, np.int32)
    model.feature_names_in_ = np.array(record["columns"], dtype=object)
    model.n_features_in_ = len(record["columns"])
    _require_shapes(kind, model)
    return model


def _require_shapes(kind: str, model: Any) -> None:
    """Raise an InputError unless what was learned has numbers of the shapes that predicting takes for granted."""
    columns, classes = model.feature_names_in_, getattr(model, "classes_", np.arange(1))
    n, c = model.n_features_in_, classes.size
    sizes = {"n": n, "c": c, "f": 1 if c == 2 else c}
    sizes |= {"k": getattr(model, "n_clusters", 0), "p": getattr(model, "n_components_", 0)}
    shapes = {
        name: (np.asarray(getattr(model, name)), tuple(sizes[size] for size in dimensions))
        for name, dimensions in _SHAPES[kind].items()
    }
    listed = [getattr(model, name) for name in _LISTS] if kind == "CategoricalNB" else []
    _require_fitting(
        all(isinstance(name, str) for name in columns) and 0 < n == len(set(columns)),
        classes.ndim == 1 and classes.dtype.kind in "iufUb" and 0 < c == np.unique(classes).size,
        all(array.shape == shape for array, shape in shapes.values()),
        all(array.dtype.kind in "iuf" and np.isfinite(array).all() for array, _ in shapes.values()),
        all(len(entries) == n for entries in listed),
        all(
            entry.shape == (c, number) and np.isfinite(entry).all()
            for entries in listed
            for entry, number in zip(entries, model.n_categories_, strict=True)
        ),
        kind != "LogisticRegression" or c > 1,
        kind != "GaussianNB" or bool((model.var_ > 0).all() and (model.class_prior_ >= 0).all()),
    )
    if kind == "CategoricalNB":
        _require_fitting(*(bool((entry <= 0).all()) for entry in model.feature_log_prob_))


def _require_fitting(*conditions: bool) -> None:
    if not all(conditions):
        raise InputError("The saved model is damaged: its parts do not fit together.")


def _plain(value: Any) -> Any:
    """Return numbers and arrays as JSON writes them; it has no infinity and no NaN."""
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _learned(name: str, value: Any) -> Any:
    if name in _LISTS:
        return [np.array(entry, np.float64) for entry in value]
    if name in _NUMBERS and not isinstance(value, list):
        return float("nan") if value is None else value
    return np.array(value)
