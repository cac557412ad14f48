"""Set intersection and its size: right results, declared frames, views that can be simulated."""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import assert_absent, assert_declared, view_bytes
from tests.parties.views_by_kind import require_alike, views_of

from discreet.core.errors import InputError, ParameterError
from discreet.kernels.parties.cuckoo import cuckoo_table
from discreet.parties import simulate
from discreet.parties.crypto.ristretto import ELEMENT, UNIFORM, ristretto, scalar_from
from discreet.parties.sets import private_sets, set_intersection
from discreet.parties.sets.intersection_size import IntersectionSize
from discreet.parties.sets.set_intersection import SetIntersection
from discreet.parties.transcript import RecordedFrame

ELEMENTS = st.one_of(
    st.integers(-20, 20), st.text(max_size=3), st.binary(max_size=3), st.sampled_from("abcdef")
)


def _bytes(values: list[Any]) -> set[bytes]:
    return {
        value
        if isinstance(value, bytes)
        else str(value).encode()
        if isinstance(value, int)
        else value.encode()
        for value in values
    }


@settings(max_examples=15)
@given(st.data())
def test_intersections(data: st.DataObject) -> None:
    first, second = (data.draw(st.lists(ELEMENTS, max_size=30)) for _ in range(2))
    sizes = [len(_bytes(one)) + data.draw(st.integers(0, 5)) or 1 for one in (first, second)]
    expected = sorted(_bytes(first) & _bytes(second))
    output = data.draw(st.sampled_from(["first", "both"]))
    protocol = SetIntersection(*sizes, output=output)
    run = simulate(protocol, {"a": first, "b": second})
    assert sorted(_bytes(run.outputs["a"])) == expected
    assert run.outputs["b"] is None if output == "first" else sorted(_bytes(run.outputs["b"])) == expected
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))
    counting = IntersectionSize(*sizes, output=output)
    run = simulate(counting, {"a": first, "b": second})
    assert run.outputs == {"a": len(expected), "b": len(expected) if output == "both" else None}
    assert_declared(run, counting.frames(tuple(run.outputs)), tuple(run.outputs))


def test_larger_sets_in_several_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_intersection, "_CHUNK", 7)
    monkeypatch.setattr(private_sets, "_AT_ONCE", 1000)
    first, second = [f"p{i}" for i in range(3000)], [f"p{i}" for i in range(2000, 4500)]
    protocol = SetIntersection(3000, 2600, output="both")
    run = simulate(protocol, {"a": first, "b": second})
    expected = sorted(f"p{i}" for i in range(2000, 3000))
    assert run.outputs == {"a": expected, "b": expected}
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


def test_sets_of_equal_and_disjoint_elements() -> None:
    same, other = [f"x{i}" for i in range(200)], [f"y{i}" for i in range(200)]
    for second, size in ((same, 200), (other, 0), ([], 0)):
        assert len(simulate(SetIntersection(200, 200), {"a": same, "b": second}).outputs["a"]) == size
        assert simulate(IntersectionSize(200, 200), {"a": same, "b": second}).outputs["a"] == size


def test_numbers_of_arrays_and_their_digits_are_equal() -> None:
    run = simulate(SetIntersection(5, 5), {"a": np.arange(5), "b": ["3", b"4", 77, "é", -1]})
    assert run.outputs["a"] == [3, 4]


@pytest.mark.parametrize("protocol", [SetIntersection(40, 40), IntersectionSize(40, 40)])
def test_two_inputs_with_the_same_output_look_alike(protocol: Any) -> None:
    left = {"a": [f"a{i}" for i in range(40)], "b": ["a1", "a2", *(f"b{i}" for i in range(38))]}
    right = {"a": [*left["a"]], "b": ["a1", "a2"]}
    for name in ("a", "b"):
        require_alike(*(views_of(lambda x=x: simulate(protocol, x), name, 3) for x in (left, right)))
    swapped = {"a": ["a1", "a2", "zz"], "b": left["b"]}
    require_alike(*(views_of(lambda x=x: simulate(protocol, x), "b", 3) for x in (left, swapped)))


def _points(n: int) -> list[bytes]:
    return [ristretto().from_uniform(secrets.token_bytes(UNIFORM)) for _ in range(n)]


def test_views_of_the_intersection_can_be_simulated() -> None:
    """From the frames' shapes alone: matches hide among tags that all look random."""
    protocol = SetIntersection(200, 200)
    inputs = {"a": [f"a{i}" for i in range(200)], "b": [f"a{i}" for i in range(200)]}

    def made(frame: RecordedFrame) -> RecordedFrame:
        size = frame.shape.size
        data = b"".join(_points(size // 32)) if "base" in frame.shape.kind else secrets.token_bytes(size)
        return RecordedFrame(frame.shape, data)

    for name in ("a", "b"):
        real = views_of(lambda: simulate(protocol, inputs), name, 4)
        require_alike(real, [[made(frame) for frame in view] for view in real])


def test_views_of_the_size_can_be_simulated_and_give_the_size() -> None:
    protocol = IntersectionSize(60, 60)
    inputs = {"a": [f"a{i}" for i in range(60)], "b": [f"a{i}" for i in range(20, 80)]}
    runs = [simulate(protocol, inputs) for _ in range(8)]
    assert {run.outputs["a"] for run in runs} == {40}
    group, simulated = ristretto(), []
    for run in runs:
        power = scalar_from(secrets.token_bytes(UNIFORM))
        both = _points(60)
        second = [group.multiply(group.invert(power), one) for one in both[:40]] + _points(20)
        assert len({group.multiply(power, one) for one in second} & set(both)) == 40
        order = sorted(range(60), key=lambda _: secrets.randbits(64))
        payloads = b"".join(both), b"".join(second[at] for at in order)
        shapes = [frame.shape for frame in run.transcript.view("a")]
        simulated.append([RecordedFrame(*pair) for pair in zip(shapes, payloads, strict=True)])
    require_alike([run.transcript.view("a") for run in runs], simulated)


def test_the_order_of_the_own_set_does_not_show_in_the_size() -> None:
    """The second party returns the first one's elements in an order the first cannot follow."""
    protocol = IntersectionSize(30, 30)
    positions = set()
    for _ in range(6):
        run = simulate(protocol, {"a": [f"a{i}" for i in range(30)], "b": ["a3"]})
        first, both, second = (frame.payload for frame in run.transcript.frames)
        assert len(first) == len(both) == len(second) == 30 * ELEMENT
        assert run.outputs["a"] == 1
        positions.add(both)
    assert len(positions) == 6


def test_matches_are_determined_by_the_output() -> None:
    run = simulate(SetIntersection(9, 9, output="both"), {"a": ["x", "y"], "b": ["y", "z"]})
    matches = np.unpackbits(np.frombuffer(run.transcript.view("b")[-1].payload, np.uint8))
    assert matches.sum() == len(run.outputs["b"]) == 1


@pytest.mark.parametrize("protocol", [SetIntersection(9, 9, output="both"), IntersectionSize(9, 9)])
def test_no_canary_travels(protocol: Any) -> None:
    run = simulate(protocol, {"a": ["canary-0815", "canary-4711"], "b": ["canary-4711", "other-12345"]})
    for value in ["canary-0815", "canary-4711", "other-12345"]:
        assert_absent(value, view_bytes(run.transcript.frames))


@settings(max_examples=40)
@given(st.integers(0, 300), st.integers(0, 2**64 - 1))
def test_cuckoo_tables_hold_every_item_once(n: int, seed: int) -> None:
    bins = set_intersection.n_bins(max(n, 1))
    third = bins // 3
    places = np.random.default_rng(seed).integers(0, third, (n, 3)) + third * np.arange(3)
    table = cuckoo_table(places, bins, seed)
    assert table is not None
    held = table[table >= 0]
    assert sorted(held.tolist()) == list(range(n))
    assert all(place in places[item] for place, item in enumerate(table.tolist()) if item >= 0)


def test_a_table_that_cannot_hold_the_items() -> None:
    assert cuckoo_table(np.zeros((4, 3), np.int64) + np.arange(3), 3, 1) is None


def test_bins_and_tags_keep_errors_below_2_to_the_minus_40() -> None:
    for size in (1, 2, 5, 30, 100, 256, 1000, 10**4, 10**6):
        bins = set_intersection.n_bins(size)
        assert bins >= 1.3 * size
        four_in_three = math.comb(size, 4) * (bins / 3) ** -9
        assert four_in_three < 2**-40
        assert size * size * 256.0 ** -set_intersection.tag_bytes(size, size) <= 2**-40


@pytest.mark.parametrize("data", ["text", b"bytes", 7, None, [None], [1.5], [True], ["\ud800"], [("a",)]])
@pytest.mark.parametrize("protocol", [SetIntersection(4, 4), IntersectionSize(4, 4)])
def test_bad_inputs(protocol: Any, data: Any) -> None:
    with pytest.raises(InputError) as error:
        simulate(protocol, {"a": data, "b": ["x"]}, timeout=5)
    assert error.value.__cause__ is None


def test_sets_above_the_agreed_size() -> None:
    for protocol in (SetIntersection(2, 2), IntersectionSize(2, 2)):
        with pytest.raises(InputError, match="more elements than the 2"):
            simulate(protocol, {"a": ["secret1", "secret2", "secret3"], "b": ["x"]}, timeout=5)
        assert simulate(protocol, {"a": ["a", "a", "a", "b"], "b": ["a"]}).outputs["a"] in (1, ["a"])


@pytest.mark.parametrize("kind", [SetIntersection, IntersectionSize])
def test_bad_parameters(kind: Any) -> None:
    for parameters in ((0, 1), (1, 0), (1, True), (1, 1 << 40), (1, 1, "second")):
        with pytest.raises(ParameterError, match=f"parameter of {kind.__name__}"):
            kind(*parameters)
