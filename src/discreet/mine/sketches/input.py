"""Learning from sketches: sketches as they are, or the rows of an array as sketches of equal length."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.errors import InputError
from discreet.core.records.sketches import Sketches
from discreet.core.records.sparse_rows import LARGEST
from discreet.core.release import Release
from discreet.core.validation import matrix_of


def sketches_of(estimator: Any, X: Any, *, reset: bool) -> Sketches:
    """Take sketches, or make them of an array's rows; what is fitted is remembered or compared."""
    if isinstance(X, Release):
        raise InputError("A release is more than its sketches; learn from release.data.")
    if not isinstance(X, Sketches):
        sketches = Sketches.from_dense(matrix_of(estimator, X, reset=reset))
    else:
        sketches = X
        if reset:
            if not len(sketches) or sketches.suppressed.all():
                raise InputError("There is no sketch to learn from.")
            estimator.n_features_in_ = sketches.longest
    if np.abs(sketches.values, dtype=np.float64).max(initial=0) > LARGEST:
        raise InputError(
            "Some components are so large that their squares overflow; scale the sketches first."
        )
    if reset:
        estimator.family_ = sketches.family
    elif sketches.family != estimator.family_:
        raise InputError("The sketches were made with another key than those learned from.")
    return sketches
