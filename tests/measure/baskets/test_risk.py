"""Being found again by a few known items, against all sets of items counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.km import found_again
from tests.strategies.baskets import baskets

from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InputError, ParameterError
from discreet.measure import basket_risk, reidentification
from discreet.publish import AprioriAnonymization, Cahd


@given(baskets(min_baskets=1), st.integers(1, 4))
def test_exact_figures_are_the_definition(data: Baskets, r: int) -> None:
    if data.lengths.max(initial=0) < r:
        with pytest.raises(InputError, match=f"No basket holds {r}"):
            reidentification(data, r)
        return
    found = reidentification(data, r)
    probability, unique = found_again(data.lists(), r)
    assert found.exact
    assert found.probability == pytest.approx(float(probability))
    assert found.unique == pytest.approx(float(unique))
    assert found.n_baskets == sum(len(one) >= r for one in data.lists())


def shop() -> Baskets:
    rng = np.random.default_rng(3)
    return Baskets.from_lists(
        [rng.choice(30, rng.integers(0, 8), replace=False).tolist() for _ in range(300)]
    )


@pytest.mark.parametrize("r", [1, 2, 3])
def test_sampled_figures_lie_around_the_exact_ones(r: int) -> None:
    exact = reidentification(shop(), r)
    hits = 0
    for seed in range(40):
        found = reidentification(shop(), r, method="sampled", n_samples=800, random_state=seed)
        low, high = found.probability_interval
        below, above = found.unique_interval
        hits += (low <= exact.probability <= high) + (below <= exact.unique <= above)
        assert low < found.probability < high
    assert hits >= 68, "95 % intervals held the truth in fewer than 85 % of the draws"


def test_every_set_of_items_is_drawn_alike() -> None:
    from discreet.measure.baskets.risk import drawn_sets

    data = Baskets.from_lists([["a", "b", "c", "d"]])
    drawn = np.sort(drawn_sets(data, 2, np.zeros(12_000, np.int64), np.random.default_rng(1)), axis=1)
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert counts.size == 6
    assert abs(counts - 2000).max() < 250


def test_a_seed_gives_the_same_figures_and_touches_nothing() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    several = [reidentification(shop(), 3, method="sampled", random_state=4) for _ in range(2)]
    assert several[0] == several[1]
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_grouping_leaves_ordinary_items_to_be_found_but_ties_nobody() -> None:
    data = shop()
    rare = np.argsort(data.counts)[:2].tolist()
    release = Cahd(4, sensitive=rare, random_state=1).release(data)
    found = basket_risk(release, known=(1, 2, 9), random_state=1)
    assert [one.r for one in found.before] == [1, 2] == [one.r for one in found.after]
    ordinary = [[item for item in one if item not in rare] for one in data.lists()]
    assert found.after[1].probability == pytest.approx(float(found_again(ordinary, 2)[0]))
    assert found.tie is not None
    assert found.tie.before == 1
    assert 0 < found.tie.mean <= found.tie.highest <= 1 / 4


def test_generalizing_makes_nobody_easier_to_find_than_one_in_k() -> None:
    release = AprioriAnonymization(5, 2, random_state=1).release(shop())
    found = basket_risk(release, known=(1, 2))
    assert found.tie is None
    assert all(one.probability <= 1 / 5 and one.unique == 0 for one in found.after)
    assert found.before[1].probability > found.after[1].probability


def test_parameters_are_named() -> None:
    for bad in ({"r": 0}, {"method": "guess"}, {"n_samples": 1}, {"confidence": 1.0}, {"subject": 3}):
        with pytest.raises(ParameterError, match=f"The '{next(iter(bad))}' parameter of reidentification"):
            reidentification(**{"subject": shop(), "r": 1, **bad})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("BMS-WebView-1", (0.3, 5.3, 15.4, 25.8)), ("BMS-WebView-2", (0.9, 20.0, 49.5, 67.9))],
)
def test_the_click_streams(shared_data: Path, name: str, expected: tuple[float, ...]) -> None:
    from discreet.engines.baskets.files import read_baskets

    data = read_baskets(shared_data / name.lower() / f"{name}.dat.gz")
    for r, percent in enumerate(expected, start=1):
        found = reidentification(data, r, random_state=1)
        assert found.exact is (r < 4)
        assert 100 * found.probability == pytest.approx(percent, abs=0.6)


def test_sets_beyond_any_number_aredrawn_sets() -> None:
    found = reidentification(Baskets.from_lists([list(range(4000))]), 300, n_samples=20, random_state=0)
    assert not found.exact
    assert found.probability == 1.0
