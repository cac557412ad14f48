"""Reconstructed attributes: sketches as a matrix of estimated values, for any other scikit-learn model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import Constraints, FloatIn, InstanceOf, check_parameters, require
from discreet.core.records.sketches import Signs, Sketches

_BATCH = 4096


@public
class SketchReconstruction(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Estimate chosen attributes from sketches, as a matrix that any scikit-learn model takes.

    This is the weaker way to mine sketches: every estimate carries the noise that the guarantee requires. Estimates
    that may be noise can be dropped, which also makes the matrix sparse.

    Parameters
    ----------
    family
        The ``SketchFamily`` that made the sketches.
    items
        The names of the items to estimate.
    min_errors
        Estimates below this many standard errors become 0, and the matrix is sparse (CSR); 0 keeps them all, in an
        array. A sketch of one component shows no standard error, and keeps all or, if any are dropped, none.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> family = SketchFamily("shared key", components=1000)
    >>> sketches = family.sketch([{"tea": 2, "milk": 1}, {"beer": 1}])
    >>> SketchReconstruction(family, ["tea", "beer"]).fit_transform(sketches).round().astype(int).tolist()
    [[2, 0], [0, 1]]
    """

    constraints: ClassVar[Constraints] = {"min_errors": FloatIn(0)}

    def __init__(self, family: Signs, items: Sequence[Any], *, min_errors: float = 0.0) -> None:
        self.family = family
        self.items = items
        self.min_errors = min_errors

    def fit(self, X: Any, y: Any = None) -> SketchReconstruction:
        """Check the parameters; nothing is learned."""
        del y
        check_parameters(self)
        require(self, "X", X, InstanceOf((Sketches,), "Sketches"))
        X.require_signs(self.family)
        self.n_features_in_ = X.longest
        return self

    def transform(self, X: Any) -> Any:
        """Return the estimates: a row for each record, a column for each item."""
        require(self, "X", X, InstanceOf((Sketches,), "Sketches"))
        if X.suppressed.any():
            raise InputError(f"{int(X.suppressed.sum())} records are suppressed; leave them out first.")
        if not self.min_errors:
            return X.reconstruct(self.items, self.family).values
        from scipy.sparse import csr_array, vstack

        parts = [csr_array((0, len(self.items)))]
        for start in range(0, len(X), _BATCH):
            # Batch by batch, since the dense estimates of all records
            # may not fit into memory where the sparse ones do.
            estimates = X.take(slice(start, start + _BATCH)).reconstruct(self.items, self.family)
            clear = np.abs(estimates.values) >= self.min_errors * estimates.standard_errors
            parts.append(csr_array(np.where(clear, estimates.values, 0.0)))
        return vstack(parts, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Return the names of the items."""
        del input_features
        return np.array([str(name) for name in self.items], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True
