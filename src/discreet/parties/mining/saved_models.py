"""Saved models: fitted scikit-learn estimators as plain data, which anyone can read; no code is in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from discreet.core.boundary import public, reads
from discreet.core.errors import InputError

FORMAT = "discreet party model 1"
_HOMES = {
    "KMeans": "sklearn.cluster",
    "GaussianNB": "sklearn.naive_bayes",
    "CategoricalNB": "sklearn.naive_bayes",
    "Ridge": "sklearn.linear_model",
    "LogisticRegression": "sklearn.linear_model",
    "PCA": "sklearn.decomposition",
}
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
_LISTS = ("category_count_", "feature_log_prob_")
_NUMBERS = ("n_iter_", "inertia_", "epsilon_", "intercept_", "n_samples_", "noise_variance_", "n_components_")


@public
def model_to_dict(model: Any) -> dict[str, Any]:
    """Return a fitted estimator as plain data for JSON: its class, parameters and learned attributes.

    Labels of rows are not in it. A decision tree is saved as ``discreet.mine`` saves trees.

    >>> from discreet.parties.mining.models.fitted import ridge
    >>> plain = model_to_dict(ridge(np.array([1.0, 2.0]), np.full((2, 2), 2.0), ["x"], alpha=0.0))
    >>> plain["learned"]["coef_"]
    [1.0]
    >>> model_from_dict(plain)
    Ridge(alpha=0.0)
    """
    kind = type(model).__name__
    if kind == "ReconstructedTree":
        from discreet.mine.noisy.saved_models import model_to_dict as tree_to_dict

        return tree_to_dict(model)
    if kind not in _HOMES or not hasattr(model, _LEARNED[kind][0]):
        raise InputError("Only a fitted model that parties learned together can be saved.")
    return {
        "format": FORMAT,
        "model": kind,
        "columns": model.feature_names_in_.tolist(),
        "parameters": {name: _plain(getattr(model, name)) for name in _PARAMETERS[kind]},
        "learned": {name: _plain(getattr(model, name)) for name in _LEARNED[kind]},
    }


@public
@reads("The saved model")
def model_from_dict(plain: Mapping[str, Any]) -> Any:
    """Read what ``model_to_dict`` returns; the estimator predicts as the one that was saved."""
    if isinstance(plain, Mapping) and plain.get("format") != FORMAT:
        from discreet.mine.noisy.saved_models import model_from_dict as tree_from_dict

        return tree_from_dict(plain)
    kind = plain["model"]
    if kind not in _HOMES:
        raise InputError("The saved model is of a kind that parties do not learn.")
    model = getattr(import_module(_HOMES[kind]), kind)(
        **{name: plain["parameters"][name] for name in _PARAMETERS[kind]}
    )
    for name in _LEARNED[kind]:
        setattr(model, name, _learned(name, plain["learned"][name]))
    if kind == "KMeans":
        model._n_threads, model.labels_ = 1, np.empty(0, np.int32)
    model.feature_names_in_ = np.array(plain["columns"], dtype=object)
    model.n_features_in_ = len(plain["columns"])
    return model


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _learned(name: str, value: Any) -> Any:
    if name in _LISTS:
        return [np.array(one, np.float64) for one in value]
    if name in _NUMBERS and not isinstance(value, list):
        return float("nan") if value is None else value
    return np.array(value)
