"""The chooser of p and q: the paper's shortlists come out, and every point says what it is worth."""

from __future__ import annotations

import math

import pytest
from tests.oracles import mask as oracles_mask

from discreet.collect import EMask, choose_pq
from discreet.core.errors import ParameterError
from experiments.emask.paper import TABLE_1, TABLE_2, TABLE_6


def points(support: float, n: int, **asked: float) -> set[tuple[float, float]]:
    return {(one.p, one.q) for one in choose_pq(support, n, **asked).good}


def test_the_papers_shortlists_are_in_the_list_with_a_tolerance_of_5_percent() -> None:
    assert points(0.01, 1_000_000, tolerance=0.05) == set(TABLE_1)
    found = points(0.005, 600_000, tolerance=0.05)
    assert set(TABLE_2) | {(row.p, row.q) for row in TABLE_6} <= found


def test_strictly_only_one_point_passes_at_a_support_of_1_percent() -> None:
    assert points(0.01, 1_000_000) == {(0.6, 0.96)}
    missed = next(one for one in choose_pq(0.01, 1_000_000).points if (one.p, one.q) == (0.3, 0.99))
    assert missed.error_ratio == pytest.approx(1.003, abs=5e-4)


def test_every_point_says_what_it_is_worth() -> None:
    support, n = 0.02, 5_000
    choices = choose_pq(support, n, tolerance=0.1)
    assert len(choices.points) == 9 * 99 - 9
    for one in choices.points:
        p, q = one.p, one.q
        error = (
            math.sqrt((support * p * (1 - p) + (1 - support) * q * (1 - q)) / n) / support / abs(p + q - 1)
        )
        mask = math.sqrt(0.09 / n) / support / 0.8
        assert one.basic_privacy == pytest.approx(
            100 * (1 - oracles_mask.reconstruction_of_ones(support, p, q))
        )
        assert one.error == pytest.approx(error)
        assert one.error_ratio == pytest.approx(error / mask)
        assert one.epsilon == pytest.approx(oracles_mask.epsilon_of_bit(p, q))
        assert one.growth * support == pytest.approx(support * p + (1 - support) * (1 - q))
        assert one.private == (one.basic_privacy >= 90)
        assert one.accurate == (one.error_ratio <= 1.1)
        assert one.fast == (q > 0.955)
        assert one.good == (one.private and one.accurate and one.fast)
        assert one.channel() == EMask(p, q)


def test_the_table_holds_the_good_points_or_all() -> None:
    choices = choose_pq(0.01, 1_000_000, tolerance=0.05)
    assert choices.table().num_rows == 4
    assert choices.table(every=True).num_rows == len(choices.points)
    privacy = choices.table()["basic_privacy"].to_pylist()
    assert privacy == sorted(privacy, reverse=True)


def test_steps_are_adjustable() -> None:
    fine = choose_pq(0.01, 1_000_000, p_step=0.05, q_step=0.005, tolerance=0.05)
    assert {(one.p, one.q) for one in fine.good} > set(TABLE_1)
    assert (0.45, 0.975) in {(one.p, one.q) for one in fine.points}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("support", 0),
        ("support", 1.5),
        ("n_baskets", 0),
        ("at_least", 101),
        ("tolerance", -0.1),
        ("above_q", 2),
        ("p_step", 0),
        ("q_step", 0.7),
    ],
)
def test_a_violated_constraint_names_its_parameter(name: str, value: float) -> None:
    asked = {"support": 0.01, "n_baskets": 1000} | {name: value}
    with pytest.raises(ParameterError, match=f"'{name}' parameter of choose_pq"):
        choose_pq(**asked)  # type: ignore[arg-type]
