"""The three attacks on baskets, calibrated on releases whose risk is known: none, half and total."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Baskets, tree
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import ParameterError
from discreet.measure import Attacks, basket_attacks
from discreet.measure.attacks.basket_people import ItemHolders
from discreet.publish import AprioriAnonymization, Cahd


def shoppers(n: int, seed: int, *, items: int = 4_000) -> list[list[str]]:
    """Baskets of six items that nobody else is likely to have together."""
    rng = np.random.default_rng(seed)
    return [[f"i{code:04d}" for code in rng.choice(items, 6, replace=False)] for _ in range(n)]


ORIGINAL, CONTROL = shoppers(400, 1), shoppers(400, 2)
PEOPLE, OTHERS = Baskets.from_lists(ORIGINAL), Baskets.from_lists(CONTROL)


def attacked(released: Baskets | GroupedBaskets, original: Baskets = PEOPLE) -> Attacks:
    return basket_attacks(released, original, control=OTHERS, n_attacks=400, random_state=3)


def test_total_risk() -> None:
    attacks = attacked(PEOPLE)
    assert attacks.linkability is not None
    assert attacks.singling_out.control is not None
    assert attacks.singling_out.rate.share > 0.97
    assert attacks.singling_out.control.share < 0.2
    assert attacks.linkability.rate.share > 0.97
    assert attacks.linkability.low > 0.9
    assert (attacks.inference, attacks.attackers, attacks.n_rows, attacks.n_controls) == ({}, None, 400, 400)


def test_no_risk() -> None:
    """All items are one node: nobody is singled out, and a half fits everybody."""
    release = AprioriAnonymization(400, 2, fan_out=5_000, random_state=0).release(PEOPLE)
    attacks = basket_attacks(release, PEOPLE, control=OTHERS, n_attacks=400, random_state=3)
    assert attacks.linkability is not None
    assert attacks.singling_out.rate.n_right == 0
    assert attacks.linkability.rate.share < 0.02
    assert attacks.linkability.baseline == pytest.approx(1 / 400)
    assert all(success.low == 0 for success in attacks.all)


def test_half_the_risk() -> None:
    """Of every second person the basket is published; the others are those of people who do not exist."""
    attacks = attacked(Baskets.from_lists(ORIGINAL[:200] + shoppers(200, 9)))
    assert attacks.linkability is not None
    assert attacks.singling_out.rate.share == pytest.approx(0.5, abs=0.1)
    assert attacks.linkability.rate.share == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(("size", "right"), [(1, 1.0), (2, 0.5), (10, 0.1), (400, 0.1)])
def test_inference_by_groups_whose_risk_is_known(size: int, right: float) -> None:
    """One basket in ten holds one of ten sensitive items; groups have none, or the item of one in ``size``."""
    held = [[f"s{at // 10 % 10}"] if at % 10 == 0 else [] for at in range(400)]
    original = Baskets.from_lists([[*items, *secret] for items, secret in zip(ORIGINAL, held, strict=True)])
    group = {1: lambda at: at, 2: lambda at: at // 2, 10: lambda at: at // 10, 400: lambda _: 0}[size]
    released = GroupedBaskets.of(PEOPLE, [group(at) for at in range(400)], Baskets.from_lists(held))
    inferred = attacked(released, original).inference["a sensitive item"]
    # Where all are in one group, the commonest item is all that is learned: one in a hundred holds it.
    expected = right if size < 400 else 0.01
    assert inferred.rate.share == pytest.approx(expected, abs=0.05 if size > 1 else 0)
    assert inferred.baseline == pytest.approx(0.01)
    assert inferred.control is not None
    assert inferred.control.share == 0  # nobody of the control group holds any
    assert (inferred.low > 0.3) == (size <= 2)


def test_a_privacy_degree_bounds_the_inference() -> None:
    rng = np.random.default_rng(0)
    lists = [[*items, *(["secret"] if rng.random() < 0.04 else [])] for items in ORIGINAL]
    original = Baskets.from_lists(lists)
    release = Cahd(8, sensitive=["secret"], random_state=0).release(original)
    inferred = basket_attacks(release, original, random_state=0).inference["a sensitive item"]
    assert inferred.rate.share == pytest.approx(1 / 8, abs=0.05)
    assert inferred.rate.share > inferred.baseline > 0.02


def test_generalized_items_are_read_by_their_tree() -> None:
    lists = [["apple", "rye"], ["pear", "rye"], ["apple", "oat"], ["pear", "oat"]] * 5
    foods = tree({"fruit": ["apple", "pear"], "grain": ["rye", "oat"]})
    original = Baskets.from_lists(lists)
    release = AprioriAnonymization(20, 2, hierarchy=foods, random_state=0).release(original)
    assert release.data.lists()[0] == ["fruit", "grain"]
    attacks = basket_attacks(release, original, hierarchy=foods, n_attacks=20, random_state=0)
    assert attacks.linkability is not None
    assert attacks.linkability.rate.n_attempts == 20
    assert attacks.singling_out.rate.n_right == 0
    with pytest.raises(ParameterError, match="name it"):
        basket_attacks(release, original)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=12), st.sets(st.integers(0, 6), max_size=4))
def test_holders_are_those_that_hold_all(lists: list[set[int]], wanted: set[int]) -> None:
    baskets = Baskets.from_lists([[*range(7)], *lists])
    holders = ItemHolders.of(baskets)
    expected = [0, *(at + 1 for at, items in enumerate(lists) if wanted <= items)]
    assert sorted(holders.holding(wanted).tolist()) == expected
    if wanted:
        assert holders.count(np.array([sorted(wanted)], np.int32)).tolist() == [len(expected)]


@pytest.mark.parametrize("lists", [[[]], [["a"]], [["a"], []], [["a", "b"]]])
def test_small_baskets(lists: list[list[str]]) -> None:
    baskets = Baskets.from_lists(lists)
    attacks = basket_attacks(baskets, baskets, control=baskets, m=2, n_attacks=10, random_state=0)
    assert (attacks.linkability is None) == (len(lists[0]) < 2)
    grouped = GroupedBaskets.of(
        baskets, [0] * len(lists), Baskets.from_lists([["s"]] + [[]] * (len(lists) - 1))
    )
    assert basket_attacks(grouped, baskets, random_state=0).inference["a sensitive item"].rate.n_right == 0


def test_same_seed_same_attack_and_no_item_in_figures() -> None:
    figures = attacked(PEOPLE).to_dict()
    assert figures == attacked(PEOPLE).to_dict()
    assert not any(f"i{code:04d}" in json.dumps(figures) for code in range(4_000))


def test_bad_input_is_one_line() -> None:
    with pytest.raises(ParameterError, match="The 'm' parameter of basket_attacks"):
        basket_attacks(PEOPLE, PEOPLE, m=0)
    with pytest.raises(ParameterError, match="The 'original' parameter"):
        basket_attacks(PEOPLE, ORIGINAL)  # type: ignore[arg-type]


def test_release_folders(tmp_path: Path) -> None:
    from discreet.job.evidence.attacking import attack_release

    for name, lists in (("original", ORIGINAL), ("control", CONTROL)):
        (tmp_path / f"{name}.dat").write_text("".join(" ".join(items) + "\n" for items in lists))
    AprioriAnonymization(3, 2, random_state=0).release(PEOPLE).write(tmp_path / "km")
    original, control = tmp_path / "original.dat", tmp_path / "control.dat"
    attacks = attack_release(tmp_path / "km", original, control=control, n_attacks=50, seed=1)
    assert isinstance(attacks, Attacks)
    assert attacks.linkability is not None
    assert attacks.linkability.rate.n_attempts == 50
    assert attacks.linkability.rate.share < 0.5
