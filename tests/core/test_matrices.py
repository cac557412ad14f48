"""Matrices for estimators: what scikit-learn would say with a cell in it is said without."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from discreet.core.errors import SchemaError
from discreet.core.matrices import matrix_of
from discreet.publish import Condensation, StreamCondensation


@pytest.mark.parametrize("cells", [[["planted", 1.0]], [[1.0 + 7.25j, 2.0]]])
@pytest.mark.parametrize(
    "take", [lambda X: matrix_of(BaseEstimator(), X), Condensation(1).fit, StreamCondensation(1).partial_fit]
)
def test_no_error_shows_a_cell(cells, take) -> None:
    with pytest.raises(SchemaError) as raised:
        take(np.array(cells))
    assert "planted" not in str(raised.value)
    assert "7.25" not in str(raised.value)
    assert raised.value.__context__ is None


def test_other_errors_and_numbers_pass() -> None:
    with pytest.raises(ValueError, match="NaN"):
        matrix_of(BaseEstimator(), [[np.nan]])
    assert matrix_of(BaseEstimator(), [[1, 2]]).tolist() == [[1.0, 2.0]]
