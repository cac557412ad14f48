"""Validation: covariance matrices in any unit, and scikit-learn's errors without the cells they quote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from discreet.collect import CorrelatedNoise
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.validation import LEAST, finite, least_variance, matrix_of, symmetric_matrix
from discreet.measure.noise.attacks import covariance_of
from discreet.mine.noisy.statistics import noise_covariance
from discreet.publish import Condensation, StreamCondensation

LIKE = np.array([[2.0, 1.0], [1.0, 3.0]])
UNITS = [1e-12, 1e-3, 1.0, 1e12, 1e307]


@pytest.mark.parametrize("unit", UNITS)
def test_every_reader_takes_the_same_matrices_in_any_unit(unit: float) -> None:
    matrix = LIKE * unit
    for found in (CorrelatedNoise(matrix).covariance, covariance_of(matrix, 2), noise_covariance(matrix, 2)):
        assert found.tolist() == matrix.tolist()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "wrong",
    [
        np.array([[2.0, 1.0], [0.9, 3.0]]),
        np.array([[2.0, 9.0], [9.0, 3.0]]),
        np.array([[-2.0, 0.0], [0.0, 3.0]]),
        np.array([[2.0, np.nan], [np.nan, 3.0]]),
        np.ones((2, 3)),
        np.eye(3)[:, :2],
    ],
)
def test_every_reader_refuses_the_same_matrices_in_any_unit(wrong: np.ndarray, unit: float) -> None:
    for read in (CorrelatedNoise, lambda one: covariance_of(one, 2), lambda one: noise_covariance(one, 2)):
        with pytest.raises(ParameterError):
            read(wrong * unit)


def test_noise_may_leave_a_direction_out_only_where_it_is_subtracted() -> None:
    flat = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert noise_covariance(flat, 2).tolist() == flat.tolist()
    assert noise_covariance(np.zeros((2, 2)), 2).tolist() == [[0, 0], [0, 0]]
    for read in (CorrelatedNoise, lambda one: covariance_of(one, 2)):
        with pytest.raises(ParameterError):
            read(flat)


@pytest.mark.parametrize(
    "given",
    [None, "planted", [["planted"]], [["1"]], [[1j]], [[True]], [[1, 2], [3]], 1.0, [1.0], np.empty((0, 0))],
)
def test_what_is_no_matrix_is_none(given: Any) -> None:
    assert symmetric_matrix(given) is None


def test_the_least_variance_is_that_of_columns_of_variance_1() -> None:
    spreads = np.array([1e-6, 1.0, 1e6])
    alike = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
    assert least_variance(alike * np.outer(spreads, spreads)) == pytest.approx(0.5)
    assert abs(least_variance(np.outer(spreads, spreads))) <= LEAST
    assert least_variance(np.diag([1.0, -1e-30])) < 0


@pytest.mark.parametrize("cells", [[["planted", 1.0]], [[1.0 + 7.25j, 2.0]], [7.25, 8.0], 7.25])
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


def test_values_that_are_no_numbers_are_not_shown() -> None:
    with pytest.raises(InputError, match="are no numbers") as raised:
        finite(np.array(["planted"]), "values of 'age'")
    assert "planted" not in str(raised.value)
