"""The secure sum: right for every input, silent about it, and whole when parties drop out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import (
    assert_absent,
    assert_declared,
    assert_indistinguishable,
    auc,
    view_bytes,
    views,
)
from tests.parties.open_protocols import SecureSum

from discreet.core.errors import ParameterError
from discreet.core.verdict import Basis
from discreet.parties import PartyError, PeerLostError, simulate
from discreet.parties.crypto.masks import public_key
from discreet.parties.crypto.shamir import SHARE_BYTES, combine_shares
from discreet.parties.sums import masked_sum
from discreet.parties.sums.secure_sum import largest

NAMES = ("a", "b", "c", "d", "e")
METHODS = ("masks", "ring")


def inputs(n: int, length: int = 3) -> dict[str, list[int]]:
    return {f"p{i}": [(-1) ** i * (10**i + j) for j in range(length)] for i in range(n)}


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(data=st.data())
def test_the_sum_equals_the_plain_one(method: str, data: st.DataObject) -> None:
    n, length = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 4))
    limit = largest(n)
    vectors = data.draw(
        st.lists(
            st.lists(st.integers(-limit, limit), min_size=length, max_size=length), min_size=n, max_size=n
        )
    )
    run = simulate(SecureSum(length=length, method=method), {f"p{i}": v for i, v in enumerate(vectors)})
    expected = [sum(column) for column in zip(*vectors, strict=True)]
    assert len(run.outputs) == n
    for output in run.outputs.values():
        assert output.values.tolist() == expected
        assert output.parties == tuple(run.outputs)


@pytest.mark.parametrize("method", METHODS)
def test_modular_sums_wrap(method: str) -> None:
    high = np.array([2**64 - 1, 5], np.uint64)
    run = simulate(SecureSum(length=2, kind="modular", method=method), {"a": high, "b": high, "c": high})
    assert run.outputs["a"].values.tolist() == [(3 * (2**64 - 1)) % 2**64, 15]


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), min_size=2, max_size=5),
    st.integers(0, 40),
)
@settings(max_examples=25)
def test_reals_are_summed_to_the_stated_precision(vectors: list[list[float]], bits: int) -> None:
    if max(abs(x) for v in vectors for x in v) * 2.0**bits >= largest(len(vectors)):
        bits = 20
    protocol = SecureSum(length=2, kind="real", fraction_bits=bits)
    found = simulate(protocol, {f"p{i}": v for i, v in enumerate(vectors)}).outputs["p0"].values
    for at in range(2):
        exact = sum(vector[at] for vector in vectors)
        assert abs(found[at] - exact) <= len(vectors) * 2.0 ** -(bits + 1) + 1e-8


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3, 8, 9])
def test_frames_are_as_declared(method: str, n: int) -> None:
    protocol = SecureSum(length=7, method=method)
    run = simulate(protocol, inputs(n, 7))
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


@pytest.mark.parametrize("kind", ["keys", "shares", "masked", "reveal"])
@pytest.mark.parametrize("gone", [("b",), ("b", "e")])
def test_the_sum_of_those_who_remain_survives_drop_outs(kind: str, gone: tuple[str, ...]) -> None:
    vectors = {name: [10**at, at] for at, name in enumerate(NAMES)}
    protocol = SecureSum(length=2)
    drop = dict.fromkeys(gone, kind)
    run = simulate(protocol, vectors, drop=drop, timeout=4.0)
    included = [name for name in NAMES if name not in gone or kind == "reveal"]
    assert set(run.outputs) == set(NAMES) - set(gone)
    for output in run.outputs.values():
        assert output.parties == tuple(included)
        assert output.values.tolist() == np.sum([vectors[name] for name in included], axis=0).tolist()
    assert_declared(run, protocol.frames(NAMES, dropped=drop), NAMES, absent=gone if kind == "keys" else ())


def test_drop_outs_in_different_rounds_are_survived() -> None:
    names = tuple(f"p{i}" for i in range(9))
    drop = {"p2": "shares", "p5": "masked", "p8": "reveal"}
    protocol = SecureSum(length=1)
    run = simulate(protocol, {name: [10**at] for at, name in enumerate(names)}, drop=drop)
    assert run.outputs["p0"].values.tolist() == [sum(10**at for at in range(9) if at not in (2, 5))]
    assert_declared(run, protocol.frames(names, dropped=drop), names)


@pytest.mark.parametrize("kind", ["shares", "masked", "reveal"])
def test_below_the_threshold_everybody_stops_and_nothing_is_opened(kind: str) -> None:
    vectors = {name: [1] for name in NAMES}
    with pytest.raises(PartyError, match=r"2 of 5 parties remain; the secure sum needs 3.*Lost: b, c, d\."):
        simulate(SecureSum(length=1), vectors, drop=dict.fromkeys("bcd", kind), timeout=4.0)


def test_a_lost_collector_stops_everybody() -> None:
    for kind in ("relay", "survivors", "result"):
        with pytest.raises(PeerLostError, match="Party 'a' closed the connection"):
            simulate(SecureSum(length=1), {name: [1] for name in NAMES}, drop={"a": kind}, timeout=4.0)


def test_fifty_parties() -> None:
    vectors = {f"p{i}": [i, 1] for i in range(50)}
    run = simulate(SecureSum(length=2), vectors, drop={"p7": "masked"})
    assert run.outputs["p49"].values.tolist() == [sum(range(50)) - 7, 49]


def test_the_sum_can_be_opened_to_the_collector_alone() -> None:
    protocol = SecureSum(length=1, collector="b", open_to="collector")
    run = simulate(protocol, {"a": [1], "b": [2], "c": [3]})
    assert run.outputs["b"].values.tolist() == [6]
    assert run.outputs["a"].values is None
    assert run.outputs["c"].values is None
    assert_declared(run, protocol.frames(("a", "b", "c")), ("a", "b", "c"))


# What each party sees.


FIRST: Mapping[str, Any] = {"a": [5, 5], "b": [0, 0], "c": [1000, -1000], "d": [0, 0]}
SECOND: Mapping[str, Any] = {"a": [5, 5], "b": [700, -(10**12)], "c": [1000, -1000], "d": [-700, 10**12]}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("party", ["a", "c"])
def test_inputs_with_one_sum_cannot_be_told_apart(method: str, party: str) -> None:
    protocol = SecureSum(length=2, method=method)
    one = views(protocol, FIRST, party, 120, coins="one")
    assert_indistinguishable(one, views(protocol, SECOND, party, 120, coins="other"))


def test_the_inspector_sees_an_unmasked_vector() -> None:
    """Without masks the same inspector must be certain: a check that cannot fail proves nothing."""
    small = [np.arange(8, dtype=np.uint64).tobytes() for _ in range(80)]
    masked = [np.random.default_rng(i).bytes(64) for i in range(80)]
    assert auc(small, masked) > 0.99


def test_a_simulator_with_input_and_output_alone_reproduces_the_view_bit_by_bit() -> None:
    """Who does not collect receives nothing that depends on the others' vectors, but their sum."""
    protocol = SecureSum(length=2)
    real = simulate(protocol, FIRST, coins=b"coins")
    for party in "bd":
        own, total = FIRST[party], real.outputs[party].values
        invented = {name: [0, 0] for name in "abcd"} | {party: own}
        invented["c"] = (total - np.array(own)).tolist()
        ideal = simulate(protocol, invented, coins=b"coins")
        assert _by_sender(real, party) == _by_sender(ideal, party)


def test_the_first_party_of_a_ring_can_compute_its_view_from_the_sum_and_its_coins() -> None:
    protocol = SecureSum(length=2, method="ring")
    run = simulate(protocol, FIRST, coins=b"coins")
    sent = next(f for f in run.transcript.frames if f.shape.sender == "a" and f.shape.kind == "running")
    start = np.frombuffer(sent.payload, np.uint64) - np.array([5, 5], np.uint64)
    total = run.outputs["a"].values.view(np.uint64)
    assert view_bytes(run.transcript.view("a")) == (total + start).tobytes()


def test_canaries_never_travel() -> None:
    canary = 0x1122334455667788 // 8
    for method in METHODS:
        run = simulate(SecureSum(length=2, method=method), {"a": [canary, 0], "b": [0, canary], "c": [7, 7]})
        assert_absent(canary, b"|".join(f.payload for f in run.transcript.frames))


def _by_sender(run: Any, party: str) -> list[tuple[Any, bytes]]:
    frames = sorted(run.transcript.view(party), key=lambda f: f.shape.sender)
    return [(f.shape, f.payload) for f in frames]


# Collusion.


def test_the_neighbors_on_a_ring_learn_a_vector_as_declared() -> None:
    protocol = SecureSum(length=2, method="ring")
    run = simulate(protocol, FIRST)
    running = {f.shape.sender: np.frombuffer(f.payload, np.int64) for f in run.transcript.frames[:4]}
    assert (running["c"] - running["b"]).tolist() == [1000, -1000]
    assert "neighbors" in protocol.leaks[0]


def test_with_masks_the_neighbors_learn_nothing_and_neither_do_fewer_than_the_threshold() -> None:
    """The collector and one more of five pool all they received; the threshold is three."""

    first = {"a": [0], "b": [0], "c": [0], "d": [10**9], "e": [0]}
    second = first | {"c": [10**9], "d": [0]}
    one = views(SecureSum(length=1), first, ("a", "b"), 100, coins="one")
    assert_indistinguishable(one, views(SecureSum(length=1), second, ("a", "b"), 100, coins="other"))


def test_a_collector_that_lies_about_a_drop_out_still_cannot_unmask_its_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The collector has b's masked vector, says that b left, and learns b's pair secret: b's own mask remains."""
    announced = masked_sum._announce

    def lie(half: Any, sharing: Any, arrived: Any) -> Any:
        return announced(
            half, sharing, [place for place in arrived if place != 1] if half.collects else arrived
        )

    seen: dict[str, Any] = {}
    unmasked = masked_sum._unmask

    def keep(half: Any, arrived: Any, revealed: Any, sharing: Any, included: Any) -> Any:
        seen.update(half=half, arrived=arrived, revealed=revealed)
        return unmasked(half, arrived, revealed, sharing, included)

    monkeypatch.setattr(masked_sum, "_announce", lie)
    monkeypatch.setattr(masked_sum, "_unmask", keep)
    vectors = {name: [at] * 500 for at, name in enumerate(NAMES)}
    with pytest.raises(PeerLostError):
        simulate(SecureSum(length=500), vectors, timeout=1.0)
    shares = {place: piece[SHARE_BYTES : 2 * SHARE_BYTES] for place, piece in seen["revealed"].items()}
    secret = combine_shares(shares, threshold=3)
    assert public_key(secret) == seen["half"].keys[1][32:]
    vector = np.frombuffer(seen["arrived"][1], np.uint64).copy()
    for other in (0, 2, 3, 4):
        negative = np.zeros(500, np.uint64)
        masked_sum._add_pair_mask(negative, secret, seen["half"], 1, other)
        vector -= negative
    assert not (vector == 1).any()
    counts = np.bincount(vector.view(np.uint8), minlength=256)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 400


def test_the_verdict_is_assumed_and_counts_the_colluders_it_withstands() -> None:
    verdict = SecureSum(length=1).verdict(NAMES)
    assert verdict.ok
    assert verdict.basis is Basis.ASSUMED
    assert verdict.worst == 1
    assert SecureSum(length=1, method="ring").verdict(NAMES).worst == 1
    assert SecureSum(length=1, threshold=5).verdict(NAMES).worst == 3


# Mistakes.


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        ([1], "must have 2 values. Got 1 values"),
        ([[1, 2]], "2 dimensions"),
        ([1.5, 2.0], "must hold integers"),
        (["x", "y"], "must hold integers"),
        ([None, 1], "must hold integers"),
        ([2**62, 0], "out of range"),
        ([[1], [2, 3]], "sequence of numbers"),
    ],
)
def test_wrong_vectors_are_refused_before_anything_is_sent(vector: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        simulate(SecureSum(length=2), {"a": vector, "b": [0, 0], "c": [0, 0]})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e18, 1e308])
def test_reals_out_of_range_are_refused(value: float) -> None:
    with pytest.raises(ParameterError, match=r"finite|out of range"):
        simulate(SecureSum(length=1, kind="real"), {"a": [value], "b": [0.0]})
    with pytest.raises(ParameterError, match="dtype uint64"):
        simulate(SecureSum(length=1, kind="modular"), {"a": [1], "b": [0]})


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"length": 0}, "'length'"),
        ({"length": 1, "method": "rings"}, "'method'"),
        ({"length": 1, "kind": "complex"}, "'kind'"),
        ({"length": 1, "fraction_bits": 60}, "'fraction_bits'"),
        ({"length": 1, "threshold": -1}, "'threshold'"),
        ({"length": 1, "open_to": "b"}, "'open_to'"),
        ({"length": 2, "labels": ("x",)}, "'labels'"),
        ({"length": 1, "method": "ring", "threshold": 2}, "The ring takes no 'threshold'"),
    ],
)
def test_each_parameter_is_checked_by_name(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        SecureSum(**parameters)


def test_parameters_that_do_not_fit_the_parties_are_refused() -> None:
    for protocol, words in (
        (SecureSum(length=1, collector="z"), "'collector'"),
        (SecureSum(length=1, threshold=3), "'threshold'"),
        (SecureSum(length=1, threshold=1), "'threshold'"),
    ):
        with pytest.raises(ParameterError, match=words):
            simulate(protocol, {"a": [1], "b": [1]})
