"""A limit on estimated population uniqueness, against the definition, known populations, and in every search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guarantees.test_max_risk import ages
from tests.oracles.uniques import zayatz_share

from discreet import Table, person, quasi
from discreet.core.errors import ParameterError
from discreet.core.tables.groups import Groups
from discreet.guarantees import (
    AllOf,
    DistinctDiversity,
    Guarantee,
    KAnonymity,
    MaxRisk,
    PopulationUniqueness,
    guarantee_from_dict,
)
from discreet.measure import population_uniques
from discreet.publish import GlobalRecoding, Incognito, LocalRecoding, Mondrian, OptimalLattice, Samarati

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=9)
SHARES = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.5, 1.0])
SAMPLING = st.sampled_from([0.02, 0.1, 0.3, 0.7, 1.0])


def kept_alone(sizes: list[int], highest: float, sampling: float) -> int:
    """The most rows alone that may stay, by trying all numbers of them."""
    others, alone = [size for size in sizes if size > 1], sizes.count(1)
    fits = [
        zayatz_share([1] * n + others, max(round((n + sum(others)) / sampling), n + sum(others)))
        <= highest * (1 + 1e-9)
        for n in range(alone + 1)
    ]
    return max(n for n, is_kept in enumerate(fits) if is_kept)


@given(SIZES, SHARES, SAMPLING)
def test_verdict_and_kept_classes_by_definition(sizes: list[int], highest: float, sampling: float) -> None:
    guarantee = PopulationUniqueness(highest, sampling=sampling, model="zayatz")
    groups = Groups(np.array(sizes))
    verdict, kept = guarantee.check(groups), guarantee.together(groups)
    share = zayatz_share(sizes, max(round(sum(sizes) / sampling), sum(sizes)))
    assert verdict.worst == pytest.approx(share, abs=1e-9)
    assert verdict.ok is bool(kept.all()) is (share <= highest * (1 + 1e-9))
    assert (groups.sizes[~kept] == 1).all()
    assert int((groups.sizes[kept] == 1).sum()) == kept_alone(sizes, highest, sampling)
    if kept.any():
        assert guarantee.check(groups.only(kept)).ok


@given(SIZES, SHARES, SAMPLING, st.sampled_from(["dankar", "pitman", "zayatz", "snb"]))
def test_any_model_keeps_what_it_promises(
    sizes: list[int], highest: float, sampling: float, model: Any
) -> None:
    guarantee = PopulationUniqueness(highest, sampling=sampling, model=model)
    groups = Groups(np.array(sizes))
    kept = guarantee.together(groups)
    assert guarantee.estimate(groups.only(kept)) <= highest * (1 + 1e-9)
    assert bool(kept.all()) is guarantee.check(groups).ok
    # Whatever the model, a row that is not alone among those released is not unique.
    assert guarantee.estimate(groups) <= sizes.count(1) / sum(sizes)
    alone = guarantee.holds(groups)
    assert not (alone & ~kept).any()
    assert guarantee.estimate(groups.only(alone)) <= highest


@pytest.mark.parametrize(
    ("sampling", "model"), [(0.05, "dankar"), (0.05, "pitman"), (0.5, "dankar"), (0.5, "snb")]
)
def test_known_populations(sampling: float, model: Any) -> None:
    """The estimate is near the true share, and is that of ``population_uniques``."""
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(1, 30_001) ** 0.9
    population = rng.choice(30_000, 30_000, p=shares / shares.sum())
    sample = rng.choice(population, int(sampling * 30_000), replace=False)
    table = Table(pa.table({"key": sample}), {"key": quasi()})
    values, counts = np.unique(population, return_counts=True)
    truth = float(np.isin(sample, values[counts == 1]).mean())
    guarantee = PopulationUniqueness(0.5, sampling=sampling, model=model)
    share = guarantee.check(table).worst
    assert 0.5 <= share / truth <= 2
    if model == "dankar":
        assert share == pytest.approx(population_uniques(table, 30_000).share)
    assert PopulationUniqueness(share * 1.01, sampling=sampling, model=model).check(table).ok
    assert not PopulationUniqueness(share * 0.99, sampling=sampling, model=model).check(table).ok


def test_a_whole_population_is_max_risk() -> None:
    groups = Groups(np.array([1, 1, 8]))
    whole, limit = PopulationUniqueness(0.1, sampling=1.0), MaxRisk(1, unique=0.1)
    assert whole.check(groups).worst == 0.2
    assert whole.check(groups).failing_rows == limit.check(groups).failing_rows == 2


def test_conjunction_sees_only_what_the_other_parts_keep() -> None:
    groups = Groups(np.array([1, 1, 6, 2]))
    both = AllOf((PopulationUniqueness(0.01, sampling=0.1), KAnonymity(2)))
    assert both.table_wide
    assert both.together(groups).tolist() == [False, False, True, True]
    assert both.check(groups.only(both.together(groups))).ok


@pytest.mark.parametrize(
    ("name", "value"), [("highest", -0.1), ("sampling", 0), ("sampling", 1.1), ("model", "arx")]
)
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of PopulationUniqueness must be"):
        PopulationUniqueness(**{"highest": 0.2, "sampling": 0.1, name: value})


def test_is_read_from_its_own_record() -> None:
    guarantee = PopulationUniqueness(0.01, sampling=0.05, model="snb")
    assert guarantee_from_dict(guarantee.to_dict()) == guarantee
    assert "the shifted negative binomial estimates" in guarantee.describe()


@pytest.mark.parametrize(
    "publisher", [OptimalLattice, Samarati, Incognito, GlobalRecoding, LocalRecoding, Mondrian]
)
@pytest.mark.parametrize("more", [None, DistinctDiversity(2)])
def test_every_search_keeps_it(publisher: Any, more: Guarantee | None) -> None:
    alone = PopulationUniqueness(0.002, sampling=0.05)
    guarantee = alone if more is None else alone & more
    assert not guarantee.check(ages()).ok
    limits = {} if publisher is Mondrian else {"max_suppressed": 0.1}
    release = publisher(guarantee, random_state=0, **limits).release(ages())
    assert release.verdict.ok
    assert alone.estimate(release.groups()) <= 0.002


def test_lattice_keeps_rows_that_are_likely_not_unique() -> None:
    release = OptimalLattice(PopulationUniqueness(0.01, sampling=0.05), random_state=0).release(ages())
    strict = OptimalLattice(KAnonymity(2), random_state=0).release(ages())
    assert release.figures.private.loss.total <= strict.figures.private.loss.total
    assert int((release.groups().sizes == 1).sum()) > 0


def test_people_are_counted() -> None:
    table = Table(
        pa.table({"who": [1, 1, 1, 2, 3], "age": [30, 30, 30, 40, 40]}), {"who": person(), "age": quasi()}
    )
    verdict = PopulationUniqueness(0.1, sampling=1.0).check(table)
    assert not verdict.ok
    assert verdict.worst == pytest.approx(1 / 3)
    assert "per 'who'" in str(verdict)
