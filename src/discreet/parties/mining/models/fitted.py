"""Fitted models: ordinary scikit-learn estimators, made from counts, sums and products instead of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError

Floats = NDArray[np.float64]


def named(model: Any, names: Sequence[str]) -> Any:
    """Return a model with the number and names of its columns set."""
    model.n_features_in_ = len(names)
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def kmeans(centers: Floats, names: Sequence[str], *, n_iter: int, inertia: float, labels: Any) -> Any:
    """Return a KMeans with these centers; the labels are those of the party's own rows."""
    from sklearn.cluster import KMeans

    model = KMeans(n_clusters=len(centers), n_init=1)
    model.cluster_centers_ = np.ascontiguousarray(centers, np.float64)
    model.n_iter_, model.inertia_, model.labels_ = n_iter, float(inertia), labels
    model._n_threads = 1
    return named(model, names)


def gaussian_bayes(
    counts: Floats,
    sums: Floats,
    squares: Floats,
    classes: Sequence[Any],
    names: Sequence[str],
    smoothing: float,
) -> Any:
    """Return a GaussianNB from the rows of each class, and the sums and sums of squares of each column in it.

    Classes without rows are left out, as scikit-learn does not see them either. ``smoothing`` times the largest
    variance of a column is added to all variances.
    """
    from sklearn.naive_bayes import GaussianNB

    present = require_classes(counts)
    n = counts.sum()
    # As scikit-learn has it: the smoothing is a share of the
    # largest variance over all rows, not within a class.
    overall = squares.sum(axis=0) / n - (sums.sum(axis=0) / n) ** 2
    means = sums[present] / counts[present, None]
    model = GaussianNB(var_smoothing=smoothing)
    model.classes_ = np.array(classes)[present]
    model.class_count_ = counts[present]
    model.class_prior_ = counts[present] / n
    model.epsilon_ = smoothing * float(np.maximum(overall, 0).max())
    model.theta_ = means
    model.var_ = np.maximum(squares[present] / counts[present, None] - means**2, 0) + model.epsilon_
    return named(model, names)


def categorical_bayes(
    counts: Floats, tables: Sequence[Floats], classes: Sequence[Any], names: Sequence[str], alpha: float
) -> Any:
    """Return a CategoricalNB from the rows of each class, and for each column the counts of class and category."""
    from sklearn.naive_bayes import CategoricalNB

    present = require_classes(counts)
    model = CategoricalNB(alpha=alpha, min_categories=[table.shape[1] for table in tables])
    model.classes_ = np.array(classes)[present]
    model.class_count_ = counts[present]
    model.class_log_prior_ = np.log(counts[present]) - np.log(counts.sum())
    model.n_categories_ = np.array([table.shape[1] for table in tables])
    model.category_count_ = [table[present] for table in tables]
    smoothed = [table[present] + alpha for table in tables]
    model.feature_log_prob_ = [np.log(table) - np.log(table.sum(axis=1, keepdims=True)) for table in smoothed]
    return named(model, names)


def require_classes(counts: Floats) -> NDArray[np.intp]:
    """Return the classes that have rows; refuse where none has."""
    present = np.flatnonzero(counts > 0)
    if not present.size:
        raise InputError(
            "No party has a row, or too few for 'min_count' or the noise; there is nothing to learn from."
        )
    return present


def ridge(mean: Floats, centered: Floats, names: Sequence[str], *, alpha: float) -> Any:
    """Return a Ridge from the means of columns and target, which is last, and their products about the means.

    >>> ridge(np.array([1.0, 2.0]), np.array([[2.0, 2.0], [2.0, 2.0]]), ["x"], alpha=0.0).coef_
    array([1.])
    """
    from sklearn.linear_model import Ridge

    inner, target = centered[:-1, :-1], centered[:-1, -1]
    model = Ridge(alpha=alpha)
    model.coef_ = np.linalg.lstsq(inner + alpha * np.eye(len(inner)), target, rcond=None)[0]
    model.intercept_ = float(mean[-1] - mean[:-1] @ model.coef_)
    model.n_iter_, model.solver_ = None, "cholesky"
    return named(model, names)


def logistic(
    coefficients: Floats, classes: Sequence[Any], names: Sequence[str], *, C: float, n_iter: int
) -> Any:
    """Return a LogisticRegression; ``coefficients`` has the intercept in the first column, a row for each class."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C)
    model.classes_ = np.array(classes)
    model.coef_, model.intercept_ = coefficients[:, 1:].copy(), coefficients[:, 0].copy()
    model.n_iter_ = np.array([n_iter], np.int32)
    return named(model, names)


def pca(n: float, mean: Floats, covariance: Floats, names: Sequence[str], *, n_components: int) -> Any:
    """Return a PCA from the mean and the covariance (of n − 1); signs make the largest weight of each axis positive."""
    from sklearn.decomposition import PCA

    values, vectors = np.linalg.eigh(covariance)
    values, axes = np.maximum(values[::-1], 0), vectors[:, ::-1].T
    largest = np.abs(axes).argmax(axis=1)
    # An axis is determined up to its sign only.
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    model = PCA(n_components=n_components)
    model.mean_, model.n_samples_ = mean, round(n)
    model.components_ = np.ascontiguousarray(axes[:n_components])
    model.explained_variance_ = values[:n_components]
    total = values.sum()
    model.explained_variance_ratio_ = values[:n_components] / total if total else np.zeros(n_components)
    model.singular_values_ = np.sqrt(values[:n_components] * max(n - 1, 0))
    # The mean of the variances that are left out, as scikit-learn estimates it.
    model.noise_variance_ = float(values[n_components:].mean()) if n_components < len(values) else 0.0
    model.n_components_ = n_components
    return named(model, names)
