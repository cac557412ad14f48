"""The secure set unions: right for every family of sets, and silent about who holds what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import assert_absent, assert_declared, assert_indistinguishable, views
from tests.parties.open_protocols import CandidateUnion, SetUnion

from discreet import parties
from discreet.core.errors import ParameterError
from discreet.parties import Party, PartyError, simulate
from discreet.parties.crypto.ristretto import UNIFORM, ristretto, scalar_from
from discreet.parties.sets.private_sets import UnitedItems, in_random_order
from discreet.parties.sets.set_union import embed

CANDIDATES = tuple(f"item {n}" for n in range(20))
texts = st.text(max_size=7).filter(lambda text: text.isprintable())


@settings(max_examples=15)
@given(st.lists(st.lists(texts, max_size=3), min_size=2, max_size=5))
def test_the_union_equals_the_plain_one(sets: list[list[str]]) -> None:
    protocol = SetUnion(max_items=3, max_item_bytes=28)
    run = simulate(protocol, {f"p{i}": items for i, items in enumerate(sets)})
    expected = tuple(sorted(set().union(*sets), key=str.encode))
    assert all(output.items == expected for output in run.outputs.values())
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


@settings(max_examples=25)
@given(st.lists(st.sets(st.sampled_from(CANDIDATES)), min_size=2, max_size=5))
def test_the_union_over_candidates_equals_the_plain_one(sets: list[set[str]]) -> None:
    protocol = CandidateUnion(candidates=CANDIDATES)
    inputs: dict[str, Iterable[str]] = {"helper": (), **{f"p{i}": items for i, items in enumerate(sets)}}
    run = simulate(protocol, inputs)
    expected = tuple(item for item in CANDIDATES if item in set().union(*sets))
    assert all(output.items == expected for output in run.outputs.values())
    assert_declared(run, protocol.frames(tuple(inputs)), tuple(inputs))


def test_empty_sets_have_an_empty_union() -> None:
    assert simulate(SetUnion(max_items=1), {"a": [], "b": [], "c": []}).outputs["a"].items == ()
    run = simulate(CandidateUnion(candidates=("x",)), {"h": (), "a": (), "b": ()})
    assert run.outputs["b"].items == ()


@pytest.mark.parametrize(
    ("kind", "union"), [("keys", ("x",)), ("shares", ("x",)), ("masked", ("x",)), ("reveal", ("x", "y"))]
)
def test_a_drop_out_leaves_the_union_of_the_others(kind: str, union: tuple[str, ...]) -> None:
    protocol = CandidateUnion(candidates=("x", "y"))
    inputs = {"h": (), "a": ("x",), "b": ("y",), "c": ("x",), "d": ()}
    run = simulate(protocol, inputs, drop={"b": kind}, timeout=8.0)
    assert set(run.outputs) == {"h", "a", "c", "d"}
    covered = ("h", "a", "b", "c", "d") if kind == "reveal" else ("h", "a", "c", "d")
    assert all(output == UnitedItems(union, covered) for output in run.outputs.values())


# What parties see.


FIRST = {"a": ["x"], "b": ["x", "y"], "c": ["z"], "d": []}
SECOND = {"a": ["x"], "b": ["x", "z"], "c": ["y"], "d": []}


@pytest.mark.parametrize("party", ["a", "b", "c", "d"])
def test_who_holds_what_does_not_show(party: str) -> None:
    """Both families have one union and overlap alike; c sees them with the same set of its own by renaming."""
    first, second = dict(FIRST), dict(SECOND)
    if party in "bc":
        first, second = {**FIRST, "a": [], "d": ["x"]}, {**FIRST, "a": ["x"], "d": []}
    one = views(SetUnion(max_items=2), first, party, 60, coins="one")
    assert_indistinguishable(one, views(SetUnion(max_items=2), second, party, 60, coins="other"))


def test_the_size_of_a_set_does_not_show() -> None:
    few = {"a": ["x", "y", "z"], "b": ["x"], "c": ["x"]}
    many = {"a": ["x", "y", "z"], "b": ["x"], "c": ["x", "y", "z"]}
    one = views(SetUnion(max_items=3), few, "b", 60, coins="one")
    assert_indistinguishable(one, views(SetUnion(max_items=3), many, "b", 60, coins="other"))


def test_the_overlap_of_the_sets_that_one_party_merges_shows_to_it_alone_as_declared() -> None:
    """The first party merges the sets of b and d, and counts the items they share."""
    seen: list[int] = []

    class Counting(parties.SetUnion):
        def _without_repetitions(self, party: Party, items: list[bytes]) -> list[bytes]:
            if party.name == "a":
                seen.append(len(items) - len(set(items)))
            return super()._without_repetitions(party, items)

    protocol = Counting(max_items=2)
    apart = {"a": [], "b": ["x"], "c": ["x", "y"], "d": ["y"]}
    shared = {"a": [], "b": ["x", "y"], "c": ["x", "y"], "d": ["x", "y"]}
    simulate(protocol, apart)
    simulate(protocol, shared)
    assert seen == [0, 2, 2, 2]
    assert "in common" in protocol.leaks[0]
    one = views(protocol, apart, "c", 60, coins="one")
    assert_indistinguishable(one, views(protocol, shared, "c", 60, coins="other"))


def test_a_simulator_with_input_and_output_alone_reproduces_the_view_of_a_party_that_does_not_merge() -> None:
    """Random elements stand for the sets; the list to decrypt is the union under two keys, one of them the own."""
    protocol, group, union = SetUnion(max_items=2), ristretto(), ("x", "y", "z")
    names, own_place = ("a", "b", "c", "d"), 2

    coins = iter(range(10**9))

    def draw(n_bytes: int) -> bytes:
        return hashlib.shake_256(f"ideal {next(coins)}".encode()).digest(n_bytes)

    def simulated() -> bytes:
        own_key, other_key = (scalar_from(draw(UNIFORM)) for _ in range(2))
        random_set = [group.from_uniform(draw(UNIFORM)) for _ in range(6)]
        texts = [embed(item.encode(), max_bytes=20) for item in union]
        fakes = [group.from_uniform(draw(UNIFORM)) for _ in range(8 - len(union))]
        under = [group.multiply(own_key, group.multiply(other_key, one)) for one in (*texts, *fakes)]
        slots = b"".join((len(x) + 1).to_bytes(2, "big") + x.encode().ljust(20, b"\0") for x in union)
        return b"".join((*random_set, *in_random_order(under, draw))) + slots.ljust(8 * 22, b"\0")

    received = [f for f in protocol.frames(names) if f.receiver == names[own_place]]
    assert len(simulated()) == sum(f.size for f in received)
    real = views(protocol, FIRST, "c", 100, coins="real")
    assert_indistinguishable(real, [simulated() for _ in range(100)])


def test_neither_who_nor_how_many_shows_over_candidates() -> None:
    protocol = CandidateUnion(candidates=("x", "y", "z"))
    one_holder = {"h": (), "a": ("x",), "b": (), "c": ("z",)}
    all_hold = {"h": (), "a": ("x",), "b": ("x", "z"), "c": ("x", "z")}
    one = views(protocol, one_holder, "h", 100, coins="one")
    assert_indistinguishable(one, views(protocol, all_hold, "h", 100, coins="other"))


def test_items_never_travel_readable_before_the_union_is_opened() -> None:
    canary = "CANARY-4711"
    run = simulate(SetUnion(max_items=2), {"a": [canary], "b": ["x"], "c": [canary, "y"]})
    before = b"|".join(f.payload for f in run.transcript.frames if f.shape.kind != "union")
    assert_absent(canary, before)
    readable = embed(canary.encode(), max_bytes=20)
    seen = [f for f in run.transcript.frames if readable in f.payload]
    assert not seen


def test_no_item_travels_over_candidates_at_all() -> None:
    run = simulate(CandidateUnion(candidates=("CANARY-1", "CANARY-2")), {"h": (), "a": ["CANARY-1"], "b": []})
    assert_absent("CANARY-1", b"|".join(f.payload for f in run.transcript.frames))


# Mistakes.


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ("bread", "iterable of texts"),
        (5, "iterable of texts"),
        (["a", None], "texts only"),
        (["a", 3], "texts only"),
        (["a", "b", "c"], "has 3 items; the session allows 2"),
        (["x" * 21], "more than 20 bytes"),
        (["\ud800"], "not valid Unicode"),
    ],
)
def test_wrong_sets_are_refused_without_showing_an_item(items: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        simulate(SetUnion(max_items=2), {"a": items, "b": []})
    assert "xxx" not in str(caught.value)


def test_repeated_items_count_once() -> None:
    assert simulate(SetUnion(max_items=1), {"a": ["x", "x"], "b": []}).outputs["b"].items == ("x",)


def test_wrong_use_of_candidates_is_refused() -> None:
    with pytest.raises(ParameterError, match="not among the candidates"):
        simulate(CandidateUnion(candidates=("x",)), {"h": (), "a": ["secret"], "b": []})
    with pytest.raises(ParameterError, match="contributes nothing"):
        simulate(CandidateUnion(candidates=("x",)), {"h": ["x"], "a": [], "b": []})
    with pytest.raises(ParameterError, match="at least 3 parties"):
        simulate(CandidateUnion(candidates=("x",)), {"h": (), "a": []})
    for candidates in ((), ("x", "x"), (1,), "x"):
        with pytest.raises(ParameterError, match="'candidates'"):
            CandidateUnion(candidates=candidates)  # type: ignore[arg-type]
    assert CandidateUnion(candidates=["x", "y"]) == CandidateUnion(candidates=("x", "y"))


def test_sets_beyond_the_size_of_a_payload_are_refused() -> None:
    with pytest.raises(ParameterError, match="too large"):
        simulate(SetUnion(max_items=1_000_000, max_item_bytes=1000), {"a": [], "b": [], "c": []})
    for parameters in ({"max_items": 0}, {"max_items": 1, "max_item_bytes": 0}):
        with pytest.raises(ParameterError, match="'max_item"):
            SetUnion(**parameters)


def test_an_invalid_element_is_refused() -> None:
    class Cheating(parties.SetUnion):
        def _fakes(self, party: Party, n: int) -> list[bytes]:
            return [b"\xff" * 32] * n

    def powers(scalar: bytes, items: Any) -> list[bytes]:
        return list(items)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("discreet.parties.sets.set_union._powers", powers)
        with pytest.raises(PartyError, match="invalid group element in the set union"):
            simulate(Cheating(max_items=1), {"a": [], "b": [], "c": []})
