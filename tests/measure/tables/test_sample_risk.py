"""Risk by sampling weights and households, and by the log-linear model, against definitions and published figures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom
from tests.measure.tables.test_special_uniques import GUIDE

from discreet import Table, other, quasi
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.measure import log_linear_risk, sample_risk

WEIGHTS = [180, 180, 215, 76, 186, 76, 180, 215, 186, 76]


def table_of(keys: list[object], **columns: list[object]) -> Table:
    roles = {"key": quasi()} | {name: other(allow_unique=True) for name in columns}
    return Table(pa.table({"key": keys} | columns), roles)


def test_published_risks_of_the_practice_guide() -> None:
    risks = sample_risk(table_of([str(row) for row in GUIDE], weight=WEIGHTS), weight="weight")
    published = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert risks.risks.round(4).tolist() == published
    assert round(risks.mean, 5) == 0.01582
    assert risks.expected == pytest.approx(risks.mean * 10)
    assert risks.rows_above == 0


def test_published_risk_of_a_household() -> None:
    """Three people with the risks 0.02, 0.03 and 0.03 have one of 0.078 together."""
    from discreet.measure.tables.sample_risk import _by_household

    home = _by_household(pa.array([7, 7, 7]), "home", np.array([0.02, 0.03, 0.03]), 0.05)
    assert (round(home.highest, 3), home.rows_above, home.n_households) == (0.078, 3, 1)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.floats(1, 50), st.none() | st.integers(0, 2)), min_size=1, max_size=12
    )
)
def test_mean_of_the_reciprocal_by_adding_up(rows: list[tuple[int, float, int | None]]) -> None:
    keys, weights, homes = (list(column) for column in zip(*rows, strict=True))
    table = table_of(keys, weight=weights, home=homes)
    result = sample_risk(table, weight="weight", household="home")
    risks = []
    for key in keys:
        f = keys.count(key)
        p = min(f / sum(w for k, w in zip(keys, weights, strict=True) if k == key), 1.0)
        others = np.arange(20_000)
        risks.append(float((nbinom.pmf(others, f, p) / (f + others)).sum()) if p < 1 else 1 / f)
    assert result.risks == pytest.approx(risks, rel=1e-6)
    together = [
        1 - np.prod([1 - r for r, h in zip(risks, homes, strict=True) if h == home])
        if home is not None
        else own
        for own, home in zip(risks, homes, strict=True)
    ]
    assert result.household is not None
    assert result.household.mean == pytest.approx(np.mean(together), rel=1e-6)
    assert result.household.highest == pytest.approx(max(together), rel=1e-6)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 0.0], "1 sampling weights are below 1"),
        ([1.0, -3.0], "1 sampling weights are below 1"),
        ([1.0, None], "1 sampling weights are missing"),
        (["a", "b"], "holds no numbers"),
        ([True, False], "holds no numbers"),
    ],
)
def test_bad_weights_are_refused_without_a_value(weights: list[object], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        sample_risk(table_of(["x", "y"], weight=weights), weight="weight")
    assert "-3" not in str(caught.value)


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(SchemaError, match="no column 'home'"):
        sample_risk(table_of(["x"], weight=[1]), weight="weight", household="home")


def test_a_census_has_the_risk_of_its_classes() -> None:
    assert sample_risk(table_of(["x", "y", "y"], weight=[1, 1, 1]), weight="weight").risks.tolist() == [
        1,
        0.5,
        0.5,
    ]


def test_log_linear_model_on_an_independent_population() -> None:
    """Columns that are independent are what the model assumes: its expectations come true."""
    rng = np.random.default_rng(8)
    size = 60_000
    columns = [rng.zipf(1.5, size) % 40, rng.zipf(1.4, size) % 30, rng.integers(0, 6, size)]
    population = np.stack(columns, axis=1)
    chosen = rng.choice(size, size // 20, replace=False)
    sample = population[chosen]
    table = Table(pa.table(dict(zip("abc", sample.T, strict=True))), {name: quasi() for name in "abc"})
    keys, counts = np.unique(sample, axis=0, return_counts=True)
    in_population = {
        tuple(key): int(count)
        for key, count in zip(*np.unique(population, axis=0, return_counts=True), strict=True)
    }
    sizes = [in_population[tuple(key)] for key in keys[counts == 1]]
    model = log_linear_risk(table, size)
    assert model.sample_uniques == len(sizes)
    assert model.population_uniques == pytest.approx(sum(one == 1 for one in sizes), rel=0.25)
    assert model.correct_matches == pytest.approx(sum(1 / one for one in sizes), rel=0.15)


def test_log_linear_model_of_a_census_and_of_too_small_a_population() -> None:
    table = table_of(["x", "y", "y"])
    assert log_linear_risk(table, 3).correct_matches == 1
    with pytest.raises(InputError, match="smaller than the sample"):
        log_linear_risk(table, 2)
    with pytest.raises(ParameterError, match="The 'population_size' parameter"):
        log_linear_risk(table, 0)
