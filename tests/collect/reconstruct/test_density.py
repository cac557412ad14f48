"""Densities: quantiles undo the cdf, moments are those of many points wherever they lie, what is none is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.collect import Density
from discreet.core.errors import InputError


@given(st.floats(-1e9, 1e9), st.lists(st.floats(0.01, 1), min_size=1, max_size=6), st.integers(0, 4))
def test_moments_do_not_depend_on_where_the_values_lie(origin: float, shares, order: int) -> None:
    whole = np.array(shares) / sum(shares)
    near = Density(np.arange(whole.size + 1.0), whole)
    moved = Density(origin + np.arange(whole.size + 1.0), whole)
    assert moved.mean - origin == pytest.approx(near.mean, abs=1e-5)
    assert moved.variance == pytest.approx(near.variance, abs=1e-4)
    slow = sum(
        share * ((at + 1) ** (order + 1) - at ** (order + 1)) / (order + 1) for at, share in enumerate(whole)
    )
    assert near.moment(order) == pytest.approx(slow)


shares = st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda one: sum(one) > 0.1)


@given(shares, st.floats(0, 1), st.integers(0, 9))
def test_quantiles_undo_the_cdf_and_skip_what_is_empty(shares, asked: float, seed: int) -> None:
    density = Density(np.arange(len(shares) + 1.0), np.array(shares) / sum(shares))
    value = density.ppf(asked)
    assert np.isclose(density.cdf(value), asked, atol=1e-9)
    drawn = density.sample(50, random_state=seed)
    assert (density.pdf(drawn) > 0).all()


@given(shares)
def test_moments_are_those_of_many_points(shares) -> None:
    density = Density(np.arange(len(shares) + 1.0) * 2 - 3, np.array(shares) / sum(shares))
    points = density.ppf((np.arange(200_000) + 0.5) / 200_000)
    assert np.isclose(density.mean, points.mean(), atol=1e-3)
    assert np.isclose(density.variance, points.var(), atol=1e-2)
    assert density.distance(density) == 0
    assert np.isclose(np.sum(density.pdf(density.middles) * density.widths), 1)


@pytest.mark.parametrize(
    ("edges", "shares"),
    [
        ([0, 1], [0.5]),
        ([1, 0], [1]),
        ([0, 1, 2], [1]),
        ([0, 1], [math.nan]),
        ([0, 1, 2], [-0.5, 1.5]),
        ([0], []),
    ],
)
def test_what_is_no_density_is_refused(edges, shares) -> None:
    with pytest.raises(InputError):
        Density(np.array(edges, float), np.array(shares, float))
