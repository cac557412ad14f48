"""Rules of baskets at several parties: those of the pooled baskets, and nothing else about them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import (
    assert_absent,
    assert_as_revealed,
    assert_indistinguishable,
    received,
)
from tests.parties.open_protocols import AssociationRules

from discreet import Baskets
from discreet.core.errors import InputError, ParameterError
from discreet.mine import Itemsets, rules
from discreet.parties import PartyError, Simulation, simulate
from discreet.parties.errors import LostPartyError
from discreet.parties.simulation import attempted
from discreet.parties.sums import masked_sum

NAMES = ("north", "south", "west", "east")
ITEMS = ("beer", "bread", "chips", "milk", "nappies")
Lists = list[list[str]]


def pooled(shops: dict[str, Lists], protocol: Any) -> Any:
    baskets = Baskets.from_lists([basket for lists in shops.values() for basket in lists])
    return Itemsets(protocol.min_support, max_length=protocol.max_length or None).mine(baskets)


def assert_pooled(run: Any, shops: dict[str, Lists], protocol: Any) -> None:
    expected = pooled(shops, protocol)
    table = rules(expected, metric=protocol.metric, min_threshold=protocol.min_threshold)
    for output in run.outputs.values():
        assert output.itemsets.n == expected.n
        assert list(output.itemsets) == list(expected)
        assert output.rules.to_pylist() == table.to_pylist()
        assert output.parties == tuple(shops)


@st.composite
def splits(draw: st.DrawFn) -> dict[str, Lists]:
    """Random baskets over two to four parties, of whom some have none."""
    basket = st.lists(st.sampled_from(ITEMS), unique=True, max_size=5)
    parties = draw(st.integers(2, 4))
    return {name: draw(st.lists(basket, max_size=6)) for name in NAMES[:parties]}


@settings(max_examples=30, deadline=None)
@given(
    shops=splits(),
    support=st.one_of(st.integers(1, 5), st.sampled_from([0.1, 0.3, 0.5, 1.0, 1 / 3])),
    public=st.booleans(),
    candidates=st.sampled_from(["all", "union"]),
    max_length=st.sampled_from([0, 0, 1, 2]),
    threshold=st.sampled_from([0.0, 0.5, 0.8]),
)
def test_the_result_is_that_of_the_pooled_baskets_and_frames_are_as_declared(
    shops: dict[str, Lists],
    support: float,
    public: bool,
    candidates: str,
    max_length: int,
    threshold: float,
) -> None:
    protocol = AssociationRules(
        support,
        min_threshold=threshold,
        items=ITEMS if public else (),
        candidates=candidates,
        max_length=max_length,
        max_items=10,
    )
    run = simulate(protocol, shops)
    assert_pooled(run, shops, protocol)
    assert_as_revealed(run, protocol, tuple(shops))


SHOPS: dict[str, Lists] = {
    "north": [["beer", "nappies"], ["beer", "bread", "nappies"], ["milk"]] * 3,
    "south": [["beer", "bread", "nappies"], ["bread", "milk"]] * 3,
    "west": [["beer", "chips", "nappies"], ["bread"], ["milk", "bread"]] * 3,
}


def test_items_outside_the_public_list_are_left_out() -> None:
    protocol = AssociationRules(0.1, items=("beer", "milk", "soap"))
    shops = {name: [[x for x in b if x in protocol.items] for b in lists] for name, lists in SHOPS.items()}
    assert_pooled(simulate(protocol, SHOPS), shops, protocol)


def test_names_of_items_may_be_numbers_or_any_text() -> None:
    whole = {name: [[ITEMS.index(item) for item in b] for b in lists] for name, lists in SHOPS.items()}
    run = simulate(AssociationRules(0.2, max_items=20), whole)
    assert ("0", "4") in [names for names, _ in run.outputs["west"].itemsets]
    odd = {"a": [["Müsli 🥣", "été"]], "b": [["Müsli 🥣"], ["été", "Müsli 🥣"]]}
    protocol = AssociationRules(2, max_items=20)
    assert_pooled(simulate(protocol, odd), odd, protocol)


@pytest.mark.parametrize(
    ("lost", "before"), [("east", ("masked", 1)), ("west", ("masked", 1)), ("west", ("shares", 1))]
)
def test_the_rest_count_again_when_a_party_is_lost_during_a_sum(lost: str, before: tuple[str, int]) -> None:
    shops = SHOPS | {"east": [["chips", "milk"], ["beer"]] * 2}
    protocol = AssociationRules(0.3, items=ITEMS)
    run = simulate(protocol, shops, drop={lost: before}, timeout=6.0)
    assert lost not in run.outputs
    assert_pooled(run, {name: lists for name, lists in shops.items() if name != lost}, protocol)


@pytest.mark.parametrize("before", [("masked", 2), ("reveal", 1)])
def test_once_a_sum_is_opened_a_loss_stops_all(before: tuple[str, int]) -> None:
    """Counting again without the lost party would show, by subtraction, what it had."""
    shops = SHOPS | {"east": [["chips", "milk"], ["beer"]] * 2}
    run, failures = attempted(AssociationRules(0.3, items=ITEMS), shops, drop={"west": before}, timeout=6.0)
    assert not run.outputs
    assert {type(error) for error in failures.values()} == {LostPartyError}
    for error in failures.values():
        assert "Run again with the same parties and data only" in str(error), (
            "a run without the lost shows its part"
        )


def test_nothing_is_united_again_when_a_party_is_lost() -> None:
    """A second union would show which items and sets only the lost party had."""
    shops = SHOPS | {"east": [["chips", "milk"], ["beer"]] * 2}
    protocol = AssociationRules(0.3, candidates="union", max_items=20)
    run = simulate(protocol, shops, drop={"west": ("masked", 1)}, timeout=10.0)
    assert_pooled(run, {name: lists for name, lists in shops.items() if name != "west"}, protocol)
    unions = [frame for frame in run.transcript.shapes("east") if frame.kind == "union"]
    assert len(unions) == 3, "one of items, to each of three, before the loss; none after it"


@pytest.mark.parametrize("before", [("masked", 1), ("keys", 1), ("shares", 1)])
def test_the_masker_lost_nothing_is_opened(before: tuple[str, int]) -> None:
    """The second party hides the sum by random words; without them the first party would open the plain counts."""
    shops = SHOPS | {"east": [["chips", "milk"], ["beer"]] * 2}
    seen: list[Any] = []
    unmasked = masked_sum._unmask

    def keep(half: Any, *parts: Any) -> Any:
        total = unmasked(half, *parts)
        seen.append((half.party.names, total.copy()))
        return total

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masked_sum, "_unmask", keep)
        _, failures = attempted(
            AssociationRules(0.3, items=ITEMS), shops, drop={"south": before}, timeout=6.0
        )
    assert not seen, "and nobody else takes its place"
    assert {str(error).split(",")[0] for error in failures.values()} == {
        "One of the first two parties was lost"
    }


def test_below_the_threshold_all_stop() -> None:
    protocol = AssociationRules(0.3, items=ITEMS)
    with pytest.raises(PartyError, match=r"2 of 3 parties remain; the secure sum needs 3"):
        simulate(protocol, SHOPS, drop={"west": "masked"}, timeout=6.0)
    with pytest.raises(PartyError):
        simulate(protocol, SHOPS, drop={"north": "survivors"}, timeout=6.0)


# What each party sees.

BOTH = ["beer", "nappies"]
ONE: dict[str, Lists] = {
    "north": [BOTH, ["milk"], ["bread"]],
    "south": [BOTH, BOTH, ["chips"]],
    "west": [["milk"], ["bread"], []],
}
MOVED: dict[str, dict[str, Lists]] = {
    "north": {"south": [BOTH, [], ["chips"], []], "west": [BOTH, ["chips"]]},
    "south": {"north": [[], ["chips"], [], []], "west": [BOTH, ["milk"]]},
    "west": {"north": [BOTH, BOTH, ["chips"], ["chips"]], "south": [BOTH, []]},
}
"""What the others may hold instead, by the party that looks on: as many baskets, and the same frequent sets."""


PAIRS = AssociationRules(3, items=ITEMS, max_length=2)


@cache
def runs_of_one() -> list[Simulation]:
    """Runs in which every party's view is looked at in turn."""
    return [simulate(PAIRS, ONE, coins=f"one {number}".encode()) for number in range(24)]


@pytest.mark.parametrize("party", ["north", "south", "west"])
def test_inputs_with_the_same_result_cannot_be_told_apart(party: str) -> None:
    other = {name: MOVED[party].get(name, ONE[name]) for name in ONE}
    moved = [simulate(PAIRS, other, coins=f"other {number}".encode()) for number in range(24)]
    results = [runs[0].outputs[party].itemsets for runs in (runs_of_one(), moved)]
    assert (list(results[0]), results[0].n) == (list(results[1]), results[1].n)
    views = [[received(run.transcript, party) for run in runs] for runs in (runs_of_one(), moved)]
    assert_indistinguishable(*views)


def test_canaries_never_travel() -> None:
    canary = "verysecretitem"
    shops = {"a": [[canary, "bread"], ["bread"]], "b": [["bread"]] * 3, "c": [["bread"]]}
    for protocol in (AssociationRules(0.9, items=("bread", canary)), AssociationRules(0.9, max_items=20)):
        run = simulate(protocol, shops)
        assert_absent(canary, b"|".join(frame.payload for frame in run.transcript.frames))


# Mistakes.


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"min_support": 0}, "'min_support'"),
        ({"min_support": 1.5}, "'min_support'"),
        ({"min_support": 0.1, "metric": "beauty"}, "'metric'"),
        ({"min_support": 0.1, "max_length": -1}, "'max_length'"),
        ({"min_support": 0.1, "items": ("a", "a")}, "'items'"),
        ({"min_support": 0.1, "items": ["a"]}, "'items'"),
        ({"min_support": 0.1, "candidates": "some"}, "'candidates'"),
        ({"min_support": 0.1, "max_items": 0}, "'max_items'"),
        ({"min_support": 0.1, "threshold": -1}, "'threshold'"),
        ({"min_support": 0.1, "basket": 3}, "'basket'"),
        ({"min_support": 0.1, "format": "tape"}, "'format'"),
    ],
)
def test_each_parameter_is_checked_by_name(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        AssociationRules(**parameters)


def test_wrong_data_is_refused_without_a_value() -> None:
    for data in (None, 3, [["a", None]], [[1.5]]):
        with pytest.raises(InputError):
            AssociationRules(0.5).check_input(data, ("a", "b"), "a")
    with pytest.raises(InputError, match="more than 4 bytes; raise max_item_bytes") as caught:
        AssociationRules(0.5, max_item_bytes=4).check_input([["secret"]], ("a", "b"), "a")
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="More items are large than the 1 that the session allows"):
        AssociationRules(0.1, max_items=1).check_input([["x", "y"]], ("a", "b"), "a")
    with pytest.raises(InputError, match="More sets of 2 are large than the 3 that the session allows"):
        many = [["x", "y", "z"], ["w", "x", "y", "z"]]
        simulate(
            AssociationRules(1, max_items=3, candidates="union", items=("w", "x", "y", "z")),
            {"a": many, "b": many},
        )
