"""Comparison of shares: right results, declared frames, triples used once, views that can be simulated."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import assert_absent, assert_declared, view_bytes
from tests.parties.views_by_kind import require_alike, views_of

from discreet.core.errors import InputError, InternalError, ParameterError
from discreet.parties import Party, Protocol, simulate
from discreet.parties.crypto.ristretto import ristretto
from discreet.parties.shares import comparison
from discreet.parties.shares.bit_products import BitProducts
from discreet.parties.shares.comparison import Comparison
from discreet.parties.transcript import FrameShape, RecordedFrame

EDGES = [0, 1, -1, 2, (1 << 62) - 1, -(1 << 62), (1 << 32), -(1 << 32), (1 << 31) - 1]


def _shares(values: list[int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    first = np.frombuffer(secrets.token_bytes(8 * len(values)), np.uint64)
    return first, np.array([value % (1 << 64) for value in values], np.uint64) - first


@settings(max_examples=25)
@given(st.data())
def test_shares_against_a_threshold(data: st.DataObject) -> None:
    numbers = st.one_of(st.sampled_from(EDGES), st.integers(-(1 << 62), (1 << 62) - 1), st.integers(-5, 5))
    values = data.draw(st.lists(numbers, min_size=1, max_size=40))
    threshold = data.draw(st.one_of(st.integers(-5, 5), st.integers(-(1 << 62), (1 << 62) - 1)))
    output = data.draw(st.sampled_from(["shares", "first", "second", "both"]))
    protocol = Comparison(n=len(values), threshold=threshold, output=output)
    run = simulate(protocol, dict(zip("ab", _shares(values), strict=True)))
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))
    expected = [value >= threshold for value in values]
    if output == "shares":
        assert (run.outputs["a"] ^ run.outputs["b"]).tolist() == expected
    for name, learns in (("a", ("first", "both")), ("b", ("second", "both"))):
        if output in learns:
            assert run.outputs[name].tolist() == expected
        elif output != "shares":
            assert run.outputs[name] is None


@settings(max_examples=10)
@given(st.lists(st.tuples(*[st.integers(-(1 << 61), (1 << 61) - 1)] * 2), min_size=1, max_size=30))
def test_values(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    run = simulate(Comparison(n=len(pairs), of="values"), {"a": first, "b": second})
    assert run.outputs["b"].tolist() == [a >= b for a, b in pairs]


@settings(max_examples=10)
@given(st.data())
def test_fewer_bits_for_smaller_integers(data: st.DataObject) -> None:
    bits = data.draw(st.integers(2, 62))
    numbers = st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
    values = data.draw(st.lists(numbers, min_size=1, max_size=20))
    threshold = data.draw(numbers)
    protocol = Comparison(n=len(values), threshold=threshold, bits=bits)
    run = simulate(protocol, dict(zip("ab", _shares(values), strict=True)))
    assert run.outputs["a"].tolist() == [value >= threshold for value in values]
    assert_declared(run, protocol.frames(("a", "b")), ("a", "b"))
    with pytest.raises(ParameterError, match="'threshold'"):
        Comparison(n=1, threshold=1 << bits, bits=bits)


def test_several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_AT_ONCE", 16)
    values = list(range(-25, 25))
    protocol = Comparison(n=50, threshold=3)
    run = simulate(protocol, dict(zip("ab", _shares(values), strict=True)))
    assert run.outputs["a"].tolist() == [value >= 3 for value in values]
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


class _Products(Protocol):
    """The products of shared bits, opened by the test."""

    name = "products"

    def __init__(self, width: int) -> None:
        self.width = width

    @property
    def leaks(self) -> tuple[str, ...]:
        return ()

    def frames(self, names: Any) -> Any:
        raise NotImplementedError

    def _run(self, party: Party, data: Any) -> Any:
        x, y = data
        products = BitProducts(party, label="test")
        triples = products.triples(2 * x.size, width=self.width)
        found = products.products(triples, x, y, width=self.width)
        again = products.products(triples, x, y, width=self.width)
        cross = products.cross_products(y)
        with pytest.raises(InternalError, match="not enough"):
            products.products(triples, x, y, width=self.width)
        return found, again, cross


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_products_of_bits(width: int) -> None:
    rng = np.random.default_rng(width)
    x, y = (
        rng.integers(0, 1 << width, (2, 500)).astype(np.uint8),
        rng.integers(0, 2, (2, 500)).astype(np.uint8),
    )
    outputs = simulate(_Products(width), {"a": (x[0], y[0]), "b": (x[1], y[1])}).outputs
    expected = (x[0] ^ x[1]) * (y[0] ^ y[1])
    for which in (0, 1):
        assert np.array_equal(outputs["a"][which] ^ outputs["b"][which], expected)
    assert not np.array_equal(outputs["a"][0], outputs["a"][1])
    assert np.array_equal(outputs["a"][2] ^ outputs["b"][2], y[0] * y[1])


def test_two_inputs_with_the_same_output_look_alike() -> None:
    protocol = Comparison(n=200, output="first")
    left, right = (
        dict(zip("ab", (np.full(200, part, np.uint64) for part in parts), strict=True))
        for parts in ((5, 0), (1 << 40, 3))
    )
    for name in ("a", "b"):
        require_alike(*(views_of(lambda x=x: simulate(protocol, x), name, 2) for x in (left, right)))


@pytest.mark.parametrize("party", ["a", "b"])
def test_views_can_be_simulated(party: str) -> None:
    """Points and random bytes alone: all that arrives before the opening is independent of the inputs."""
    protocol = Comparison(n=200, output="shares")
    inputs = {"a": np.full(200, 9, np.uint64), "b": np.zeros(200, np.uint64)}
    group = ristretto()

    def made(shape: FrameShape) -> RecordedFrame:
        points = [group.from_uniform(secrets.token_bytes(64)) for _ in range(shape.size // 32)]
        data = b"".join(points) if "base" in shape.kind else secrets.token_bytes(shape.size)
        return RecordedFrame(shape, data)

    real = views_of(lambda: simulate(protocol, inputs), party, 2)
    require_alike(real, [[made(frame.shape) for frame in view] for view in real])


def test_the_last_frame_is_determined_by_output_and_own_share() -> None:
    inputs = dict(zip("ab", _shares([5, -3, 8, 0, -1]), strict=True))
    shares = simulate(Comparison(n=5, output="shares"), inputs, coins=b"c").outputs
    opened = simulate(Comparison(n=5, output="both"), inputs, coins=b"c")
    for name in ("a", "b"):
        expected = np.packbits(opened.outputs[name] ^ shares[name].view(np.bool_)).tobytes()
        assert opened.transcript.view(name)[-1].payload == expected


def test_no_canary_travels() -> None:
    canaries = [1_234_567_890_123_456, 987_654_321_987_654]
    run = simulate(Comparison(n=30, of="values"), {"a": [canaries[0]] * 30, "b": [canaries[1]] * 30})
    for canary in canaries:
        assert_absent(canary, view_bytes(run.transcript.frames))


@pytest.mark.parametrize(
    ("protocol", "first"),
    [
        (Comparison(n=2), [1]),
        (Comparison(n=2), [1.0, 2.0]),
        (Comparison(n=2), [1, None]),
        (Comparison(n=2), [1, 1 << 64]),
        (Comparison(n=2, of="values"), [1, 1 << 61]),
        (Comparison(n=2, of="values"), [1, -(1 << 61) - 1]),
        (Comparison(n=2, of="values"), []),
    ],
)
def test_bad_inputs(protocol: Comparison, first: Any) -> None:
    for inputs in ({"a": first, "b": [1, 2]}, {"a": [1, 2], "b": first}):
        with pytest.raises(InputError):
            simulate(protocol, inputs, timeout=5)


@pytest.mark.parametrize(
    "parameters", [{"n": 0}, {"n": 1, "threshold": 1 << 62}, {"n": 1, "of": "x"}, {"n": 1, "output": "x"}]
)
def test_bad_parameters(parameters: Any) -> None:
    with pytest.raises(ParameterError, match="parameter of Comparison"):
        Comparison(**parameters)
