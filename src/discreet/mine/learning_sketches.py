"""Learning from sketches: sketches as they are, or the rows of an array as sketches of equal length."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from discreet.core.errors import InputError
from discreet.core.sketches import Sketches


def sketches_of(estimator: Any, X: Any, *, reset: bool) -> Sketches:
    """Take sketches, or make them of an array's rows; what is fitted is remembered or compared."""
    if not isinstance(X, Sketches):
        given = Sketches.from_dense(validate_data(estimator, X, reset=reset, dtype=np.float64))
    else:
        given = X
        if reset:
            if not len(given) or given.suppressed.all():
                raise InputError("There is no sketch to learn from.")
            estimator.n_features_in_ = given.longest
    if reset:
        estimator.family_ = given.family
    elif given.family != estimator.family_:
        raise InputError("The sketches were made with another key than those learnt from.")
    return given
