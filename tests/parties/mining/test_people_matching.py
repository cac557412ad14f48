"""Matching people: exactly those of all parties, in one order, whatever the spelling of their keys."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import assert_absent, assert_declared
from tests.parties.views_by_kind import require_alike, views_of

from discreet.core.errors import InputError, ParameterError
from discreet.parties import simulate
from discreet.parties.mining import PeopleMatching
from discreet.parties.mining.people_matching import normalized_key

NAMES = ("clinic", "insurer", "lab", "registry")


def table(keys: Any) -> dict[str, Any]:
    return {"id": list(keys), "row": list(range(len(keys)))}


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), min_size=2, max_size=4))
def test_the_people_of_all_parties_are_found_in_one_order(held: list[list[int]]) -> None:
    protocol = PeopleMatching(key="id", max_people=8)
    names = NAMES[: len(held)]
    inputs = {
        name: {"id": pa.array([f"P{key}" for key in keys], pa.string()), "row": list(range(len(keys)))}
        for name, keys in zip(names, held, strict=True)
    }
    run = simulate(protocol, inputs)
    found = [run.outputs[name].column("id").to_pylist() for name in names]
    assert sorted(found[0]) == sorted(f"P{key}" for key in set.intersection(*map(set, held)))
    assert all(one == found[0] for one in found)
    for name, keys in zip(names, held, strict=True):
        output = run.outputs[name]
        assert [f"P{keys[row]}" for row in output.column("row").to_pylist()] == found[0]
    assert_declared(run, protocol.frames(names), names)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada  Byron", " ada byron\n"),
        ("Müller", "MU\u0308LLER"),
        ("Straße 7", "STRASSE 7"),
        ("ﬁne", "FINE"),
        ("１２", "12"),
        ("a\u00a0b", "A b"),
        (7, "7"),
        ("ΌΣΟΣ", "όσος"),
    ],
)
def test_spellings_of_one_key(one: Any, other: Any) -> None:
    assert normalized_key(one) == normalized_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("007", "7"), ("Ann-Lee", "Ann Lee"), ("José", "Jose"), ("a b", "ab")]
)
def test_different_keys_stay_different(one: Any, other: Any) -> None:
    assert normalized_key(one) != normalized_key(other)


@given(st.text(min_size=1))
def test_normalizing_twice_changes_nothing(text: str) -> None:
    try:
        once = normalized_key(text)
    except InputError:
        return
    assert normalized_key(once.decode()) == once


def test_any_frame_is_taken() -> None:
    plain = {"id": ["x", "y"], "row": [0, 1]}
    for frame in (pl.DataFrame(plain), pd.DataFrame(plain), pa.table(plain), plain):
        run = simulate(PeopleMatching(key="id", max_people=3), {"a": frame, "b": {"id": ["Y"]}})
        assert run.outputs["a"].to_pydict() == {"id": ["y"], "row": [1]}


@pytest.mark.parametrize("party", ["clinic", "insurer", "lab"])
def test_people_who_do_not_match_cannot_be_told_apart(party: str) -> None:
    """The others hold different people, and different numbers of them, beside those they have in common."""
    protocol = PeopleMatching(key="id", max_people=40)
    first = {"clinic": table("abcd"), "insurer": table("abef"), "lab": table("abg")}
    # The first party learns whom each of the others holds, one after the other; so that stays the same.
    second = {"clinic": table("abcdxyz"), "insurer": table("abhijklmn"), "lab": table("ab")}
    second |= {party: first[party]}
    require_alike(
        views_of(lambda: simulate(protocol, first), party, 4),
        views_of(lambda: simulate(protocol, second), party, 4),
    )


def test_canaries_never_travel() -> None:
    canary = "erika mustermann"
    run = simulate(
        PeopleMatching(key="id", max_people=5), {"a": table([canary, "x"]), "b": table([canary, "y"])}
    )
    assert_absent(canary, b"|".join(frame.payload for frame in run.transcript.frames))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"id": ["a", "A "]}, r"1 of the 2 keys occur before"),
        ({"id": ["a", None]}, "nulls are refused"),
        ({"id": ["a", " "]}, "A key is empty"),
        ({"id": [1.5]}, "text or whole numbers"),
        ({"id": list("abcdef")}, "has 6 people; the session admits 5"),
        ({"name": ["a"]}, "no column 'id'"),
        (None, "must be a table"),
        ([1, 2], "must be a table"),
        ({"id": ["a"], "x": [1, 2]}, "must be a table"),
    ],
)
def test_wrong_tables_are_refused_without_a_value(data: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        PeopleMatching(key="id", max_people=5).check_input(data, ("a", "b"), "a")


def test_each_parameter_is_checked_by_name() -> None:
    for parameters, words in (
        ({"key": 3, "max_people": 1}, "'key'"),
        ({"key": "id", "max_people": 0}, "'max_people'"),
    ):
        with pytest.raises(ParameterError, match=words):
            PeopleMatching(**parameters)
