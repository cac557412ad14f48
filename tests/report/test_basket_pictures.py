"""Pictures of baskets: densities counted by hand, small data not shown, and sections where they belong."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from discreet.core.baskets.baskets import Baskets
from discreet.datasets import quest
from discreet.kinds.sections.basket_estimates import density, error_band, kl_curve_of, page_grids, spread_of
from discreet.publish import AprioriAnonymization, Cahd
from discreet.report import render
from discreet.report.basket_pictures import kl_curve, matrices, shades


def shop(n: int = 600) -> Baskets:
    made = quest(f"T6.I3.D{n}.N60.L40", random_state=3)
    return made.keep(made.counts > 0)


def rare(baskets: Baskets, n: int) -> list[int]:
    """Name the rarest items."""
    return [baskets.names[int(code)].as_py() for code in np.argsort(baskets.counts)[:n]]


def test_a_density_is_the_share_of_cells_held() -> None:
    baskets = shop(90)
    rng = np.random.default_rng(1)
    rows, items = rng.permutation(90), rng.permutation(baskets.n_items)
    grid = density(baskets, rows, items, height=7, width=9)
    whole = np.zeros((90, baskets.n_items))
    whole[baskets.rows(), baskets.items] = 1
    whole = whole[rows][:, items]
    down, across = np.arange(90) * 7 // 90, np.arange(baskets.n_items) * 9 // baskets.n_items
    for row in range(7):
        for column in range(9):
            field = whole[down == row][:, across == column]
            assert grid[row, column] == pytest.approx(field.mean())


def test_band_order_lays_like_baskets_together() -> None:
    blocks = [[10 * part + item for item in range(4)] for part in range(5)]
    mixed = Baskets.from_lists([blocks[number % 5] for number in range(50)])
    rows, items = error_band(mixed)
    assert sorted(rows.tolist()) == list(range(50))
    assert sorted(items.tolist()) == list(range(20))
    plain = spread_of(mixed, np.arange(50), np.arange(20))
    assert spread_of(mixed, rows, items) < 0.11 < plain


def test_shades_compare_with_each_other() -> None:
    dark, light = shades([np.full((2, 2), 0.4), np.full((2, 2), 0.1)])
    assert dark.tolist() == [[1, 1], [1, 1]]
    assert light[0, 0] == pytest.approx(0.5)
    assert shades([np.zeros((2, 2))])[0].tolist() == [[0, 0], [0, 0]]


def test_few_baskets_are_not_shown() -> None:
    assert page_grids(shop(100)) is None
    grids = page_grids(shop(600))
    assert grids is not None
    assert grids[0].shape[0] == 30, "a row stands for at least twenty baskets"
    spec = json.dumps(matrices(grids))
    assert len(spec) < 60_000
    assert "in band order" in spec


def test_the_picture_works_for_many_baskets() -> None:
    large = shop(600).take(np.tile(np.arange(600), 170))
    grids = page_grids(large)
    assert grids is not None
    assert grids[0].shape == (80, grids[0].shape[1])


def test_the_curve_is_below_totals_alone() -> None:
    baskets = shop(1500)
    release = Cahd(4, sensitive=rare(baskets, 12), random_state=1).release(baskets)
    curve = kl_curve_of(release)
    assert curve is not None
    assert curve.mean.mean() < curve.totals.mean()
    assert "var(--after," in json.dumps(kl_curve(curve))


def test_a_report_has_the_sections_that_belong_to_it() -> None:
    baskets = shop(600)
    groups = Cahd(3, sensitive=rare(baskets, 12), random_state=1).release(baskets)
    grouped = render(groups, internal=True)
    plain = render(AprioriAnonymization(4, 2, random_state=1).release(baskets), internal=True)
    assert 'id="estimates"' not in render(groups)
    for place in ("matrix", "estimates", "risk", "groups"):
        assert f'id="{place}"' in grouped
    for place in ("items", "risk"):
        assert f'id="{place}"' in plain
    assert 'id="groups"' not in plain
    assert 'href="#matrix"' in grouped
    assert re.search("Re-identification risk", plain)
    small = render(Cahd(2, sensitive=["x"], random_state=1).release(Baskets.from_lists([["a", "x"], ["a"]])))
    assert 'id="matrix"' not in small


def test_a_few_holders_are_not_compared_with_the_truth() -> None:
    few = Baskets.from_lists([["a", "s"], ["b"], ["a", "b"], ["c", "t"], ["c"], ["b", "c"]] * 12)
    release = Cahd(3, sensitive=["s", "t"]).release(few)
    assert release.data.sensitive.counts.sum() == 24
    assert kl_curve_of(release) is None
    assert "Accuracy of estimates" not in render(release, internal=True)
    more = Baskets.from_lists([["a", "s"], ["b"], ["a", "b"], ["c", "t"], ["c"], ["b", "c"]] * 25)
    assert kl_curve_of(Cahd(3, sensitive=["s", "t"]).release(more)) is not None
