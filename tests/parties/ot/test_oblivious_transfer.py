"""Oblivious transfer: right messages, declared frames, views that can be simulated, and cheats that are caught."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import assert_absent, assert_declared, view_bytes
from tests.parties.views_by_kind import auc, require_alike, views_of

from discreet.core.errors import InputError, ParameterError
from discreet.parties import FrameError, Party, PartyError, simulate
from discreet.parties.channel import memory_pair
from discreet.parties.crypto.ristretto import IDENTITY, ristretto
from discreet.parties.ot import base, extension
from discreet.parties.ot.k_of_n_transfer import KOfNTransfer
from discreet.parties.ot.oblivious_transfer import ObliviousTransfer
from discreet.parties.transcript import FrameShape, RecordedFrame

NAMES = ("sender", "receiver")


def _messages(n: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(secrets.token_bytes(2 * n * size), np.uint8).reshape(n, 2, size)


def _choices(n: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(secrets.token_bytes(n), np.uint8) & 1


@settings(max_examples=15)
@given(st.integers(1, 300), st.integers(1, 70), st.booleans())
def test_chosen_messages(n: int, size: int, malicious: bool) -> None:
    protocol = ObliviousTransfer(n=n, message_bytes=size, malicious=malicious)
    messages, choices = _messages(n, size), _choices(n)
    run = simulate(protocol, {"sender": messages, "receiver": choices})
    assert np.array_equal(run.outputs["receiver"], messages[np.arange(n), choices])
    assert run.outputs["sender"] is None
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


@settings(max_examples=10)
@given(st.integers(1, 200), st.booleans())
def test_random_and_correlated_messages(n: int, malicious: bool) -> None:
    choices = _choices(n)
    protocol = ObliviousTransfer(n=n, form="random", malicious=malicious)
    run = simulate(protocol, {"sender": None, "receiver": choices})
    pairs, found = run.outputs["sender"], run.outputs["receiver"]
    assert np.array_equal(found, pairs[np.arange(n), choices])
    assert not (found == pairs[np.arange(n), 1 - choices]).all(axis=1).any()
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))
    differences = np.frombuffer(secrets.token_bytes(8 * n), np.uint64)
    protocol = ObliviousTransfer(n=n, form="correlated", malicious=malicious)
    run = simulate(protocol, {"sender": differences, "receiver": choices})
    assert np.array_equal(run.outputs["receiver"] - run.outputs["sender"], differences * choices)
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


@pytest.mark.parametrize("malicious", [False, True])
def test_several_frames_and_batches(monkeypatch: pytest.MonkeyPatch, malicious: bool) -> None:
    monkeypatch.setattr(extension, "CHUNK", 2)
    monkeypatch.setattr(extension, "BATCH", 320)
    for n in (64, 65, 320, 321, 1000):
        protocol = ObliviousTransfer(n=n, message_bytes=33, malicious=malicious)
        messages, choices = _messages(n, 33), _choices(n)
        run = simulate(protocol, {"sender": messages, "receiver": choices})
        assert np.array_equal(run.outputs["receiver"], messages[np.arange(n), choices])
        assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


def test_the_receiver_waits_where_it_is_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "BATCH", 64)
    monkeypatch.setattr(extension, "WINDOW", 2)
    protocol = ObliviousTransfer(n=300, form="random")
    choices = _choices(300)
    run = simulate(protocol, {"sender": None, "receiver": choices})
    assert np.array_equal(run.outputs["receiver"], run.outputs["sender"][np.arange(300), choices])
    assert sum(shape.kind == "ot.next" for shape in run.transcript.shapes("sender")) == 2
    assert_declared(run, protocol.frames(NAMES), NAMES)


def test_messages_of_one_extension_are_never_repeated() -> None:
    def half(party: Party, transfers: Any) -> Any:
        return [transfers() for _ in range(3)]

    class Twice(ObliviousTransfer):
        def run(self, party: Party, data: Any) -> Any:
            if party.index == 0:
                sender = extension.TransferSender(party, party.peer, label="x")
                return half(party, lambda: sender.random(64))
            receiver = extension.TransferReceiver(party, party.peer, label="x")
            return half(party, lambda: receiver.random(np.zeros(64, np.bool_)))

    run = simulate(Twice(n=64), {"sender": None, "receiver": None})
    rows = np.concatenate([part.reshape(-1, 2) for part in run.outputs["sender"]])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_two_inputs_look_alike() -> None:
    protocol = ObliviousTransfer(n=2000, message_bytes=16)
    kept = _messages(2000, 16)
    views = {}
    for which in (0, 1):
        choices = np.full(2000, which, np.uint8)
        runs = [simulate(protocol, {"sender": kept, "receiver": choices}) for _ in range(2)]
        views[which] = [run.transcript.view("sender") for run in runs]
    require_alike(views[0], views[1])
    other = kept.copy()
    other[:, 1] = 0
    zeros = np.zeros(2000, np.uint8)
    one, two = (
        views_of(lambda sent=sent: simulate(protocol, {"sender": sent, "receiver": zeros}), "receiver", 2)
        for sent in (kept, other)
    )
    require_alike(one, two)


def test_the_inspector_catches_a_leak() -> None:
    rng = np.random.default_rng(0)
    one = rng.integers(0, 256, (1000, 32)).astype(np.uint8)
    two = rng.integers(0, 256, (1000, 32)).astype(np.uint8)
    two[:, 5] &= 0xFE
    assert auc(one, two) > 0.6
    shape = FrameShape("a", "b", "leak", one.size)
    with pytest.raises(AssertionError, match="leak"):
        require_alike([[RecordedFrame(shape, one.tobytes())]], [[RecordedFrame(shape, two.tobytes())]])


def simulated_sender_view(protocol: ObliviousTransfer) -> list[RecordedFrame]:
    """The view of the sender, made from nothing but public parameters."""
    group, view = ristretto(), []
    for shape in protocol.frames(NAMES):
        if shape.receiver != "sender":
            continue
        if shape.kind == "ot.base.point":
            view.append(RecordedFrame(shape, group.from_uniform(secrets.token_bytes(64))))
        else:
            view.append(RecordedFrame(shape, secrets.token_bytes(shape.size)))
    return view


def test_the_senders_view_can_be_simulated() -> None:
    protocol = ObliviousTransfer(n=2000, message_bytes=16)
    inputs = {"sender": _messages(2000, 16), "receiver": np.ones(2000, np.uint8)}
    real = views_of(lambda: simulate(protocol, inputs), "sender", 3)
    require_alike(real, [simulated_sender_view(protocol) for _ in range(3)])


def test_the_receivers_view_can_be_simulated_from_its_output() -> None:
    """The simulator knows choices and chosen messages alone, and makes up the others."""
    protocol = ObliviousTransfer(n=2000, message_bytes=16)
    messages, choices = np.zeros((2000, 2, 16), np.uint8), _choices(2000)
    real = views_of(lambda: simulate(protocol, {"sender": messages, "receiver": choices}), "receiver", 3)
    output = messages[np.arange(2000), choices]

    def simulator() -> Any:
        made_up = _messages(2000, 16).copy()
        made_up[np.arange(2000), choices] = output
        return simulate(protocol, {"sender": made_up, "receiver": choices})

    require_alike(real, views_of(simulator, "receiver", 3))


def test_fixed_coins_give_the_same_bytes() -> None:
    protocol = ObliviousTransfer(n=100, malicious=True)
    inputs = {"sender": _messages(100, 16), "receiver": _choices(100)}
    one, two = (simulate(protocol, inputs, coins=b"1").transcript.view("receiver") for _ in range(2))
    assert one == two
    assert one != simulate(protocol, inputs, coins=b"2").transcript.view("receiver")


def test_no_canary_travels() -> None:
    canary = b"canary-4711-0815"
    protocol = ObliviousTransfer(n=64, message_bytes=16)
    run = simulate(protocol, {"sender": [[canary, canary[::-1]]] * 64, "receiver": [0, 1] * 32})
    for value in [canary.decode(), canary[:8].decode(), canary[8:].decode()]:
        assert_absent(value, view_bytes(run.transcript.frames))
    protocol_n = KOfNTransfer(n=20, k=2, message_bytes=16)
    run = simulate(protocol_n, {"sender": [canary] * 20, "receiver": [3, 7]})
    for value in [canary.decode(), canary[:8].decode(), canary[8:].decode()]:
        assert_absent(value, view_bytes(run.transcript.frames))


@pytest.mark.parametrize("n", [1, 64, 65, 128, 129, 1000])
def test_the_mask_of_the_choices_hides_their_hash(n: int) -> None:
    """The hash is a one-to-one function of the mask: the tags of its 128 bits are linearly independent."""
    n_words = extension.batch_words(n, malicious=True)
    key = secrets.token_bytes(16)
    masks = np.zeros((129, n_words), np.uint64)
    for bit in range(128):
        masks[bit, n_words - 2 + bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    tags = extension._tags(key, [masks])
    rows = [int.from_bytes((tag ^ tags[128]).tobytes(), "little") for tag in tags[:128]]
    rank = 0
    while any(rows):
        pivot = max(rows)
        rows = [min(row, row ^ pivot) for row in rows if row != pivot]
        rank += 1
    assert rank == 128


class _InconsistentColumns(base.ReceiverColumns):
    """A receiver that chooses differently in one column."""

    flipped = slice(0, 40)

    def extend(self, chosen: Any) -> Any:
        kept, sent = super().extend(chosen)
        sent[self.flipped, 0] ^= np.uint64(1)
        return kept, sent


def test_an_inconsistent_receiver_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "ReceiverColumns", _InconsistentColumns)
    inputs = {"sender": _messages(64, 16), "receiver": _choices(64)}
    with pytest.raises(PartyError, match="consistency check"):
        simulate(ObliviousTransfer(n=64, malicious=True), inputs)
    simulate(ObliviousTransfer(n=64), inputs)


def test_a_single_flipped_column_is_caught_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_InconsistentColumns, "flipped", slice(7, 8))
    monkeypatch.setattr(extension, "ReceiverColumns", _InconsistentColumns)
    caught = 0
    for trial in range(24):
        try:
            inputs = {"sender": _messages(1, 16), "receiver": [1]}
            simulate(ObliviousTransfer(n=1, malicious=True), inputs, coins=bytes([trial]))
        except PartyError:
            caught += 1
    assert 3 <= caught <= 21


def _pair() -> tuple[Party, Party, Any, Any]:
    session = secrets.token_bytes(32)
    ends = memory_pair("a", "b", session=session, timeout=5)
    parties = [
        Party(name, {peer: end}, names=("a", "b"), session=session)
        for name, peer, end in (("a", "b", ends[0]), ("b", "a", ends[1]))
    ]
    return parties[0], parties[1], *ends


@pytest.mark.parametrize("bad", [IDENTITY, b"\x01" + bytes(31), b"\xff" * 32])
def test_bad_elements_are_refused(bad: bytes) -> None:
    first, second, _, _ = _pair()
    second.send("a", "ot.base.point", bad)
    with pytest.raises(PartyError, match="invalid group element"):
        base.receive_base(first, "b", [0, 1], label="x")
    first, second, _, _ = _pair()
    second.send("a", "ot.base.choices", ristretto().multiply_base(b"\x02" + bytes(31)) + bad)
    with pytest.raises(PartyError, match="invalid group element"):
        base.send_base(first, "b", 2, label="x")


def test_frames_of_wrong_size_or_kind_are_refused() -> None:
    first, second, _, _ = _pair()
    second.send("a", "ot.base.point", bytes(31))
    with pytest.raises(FrameError):
        base.receive_base(first, "b", [0], label="x")
    first, second, _, _ = _pair()
    second.send("a", "ot.base.choices", bytes(32))
    with pytest.raises(FrameError):
        base.receive_base(first, "b", [0], label="x")


def test_labels_and_sessions_separate_keys() -> None:
    first, second, _, _ = _pair()
    coins = b"\x07" * 64
    first._random_bytes = second._random_bytes = lambda n: coins[:n]
    keys = set()
    for label in ("x", "y"):
        second.send("a", "ot.base.point", ristretto().multiply_base(b"\x05" + bytes(31)))
        keys |= set(base.receive_base(first, "b", [0, 0], label=label))
    assert len(keys) == 4


@settings(max_examples=10)
@given(st.data())
def test_k_of_n(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 25))
    indices = data.draw(st.lists(st.integers(0, n - 1), unique=True, min_size=1))
    size = data.draw(st.integers(1, 50))
    messages = [secrets.token_bytes(size) for _ in range(n)]
    protocol = KOfNTransfer(n=n, k=len(indices), message_bytes=size)
    run = simulate(protocol, {"sender": messages, "receiver": indices})
    assert run.outputs == {"sender": None, "receiver": [messages[index] for index in indices]}
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


def test_views_of_k_of_n_can_be_simulated() -> None:
    protocol = KOfNTransfer(n=40, k=20, message_bytes=32)
    messages, indices = [bytes(32)] * 40, list(range(20))
    run = [simulate(protocol, {"sender": messages, "receiver": indices}) for _ in range(12)]
    group = ristretto()
    elements = [b"".join(group.from_uniform(secrets.token_bytes(64)) for _ in range(20)) for _ in range(12)]
    shape = FrameShape("receiver", "sender", "ot.blinded", 640)
    require_alike(
        [one.transcript.view("sender") for one in run], [[RecordedFrame(shape, data)] for data in elements]
    )
    made_up = [
        simulate(
            protocol,
            {"sender": messages[:20] + [secrets.token_bytes(32) for _ in range(20)], "receiver": indices},
        )
        for _ in range(12)
    ]
    require_alike(
        [one.transcript.view("receiver") for one in run], [one.transcript.view("receiver") for one in made_up]
    )


@pytest.mark.parametrize(
    ("protocol", "sender", "receiver"),
    [
        (ObliviousTransfer(n=2), [[b"a" * 16] * 2] * 2, [0, 2]),
        (ObliviousTransfer(n=2), [[b"a" * 16] * 2] * 2, [0]),
        (ObliviousTransfer(n=2), [[b"a" * 16] * 2] * 2, [0.5, 1.0]),
        (ObliviousTransfer(n=2), [[b"a" * 16] * 2] * 2, [None, 1]),
        (ObliviousTransfer(n=2), [[b"a" * 15, b"b" * 16]] * 2, [0, 1]),
        (ObliviousTransfer(n=2), [[b"a" * 16] * 3] * 2, [0, 1]),
        (ObliviousTransfer(n=1, form="correlated"), [1 << 64], [0]),
        (KOfNTransfer(n=3, k=2, message_bytes=1), [b"a", b"b", b"c"], [0, 3]),
        (KOfNTransfer(n=3, k=2, message_bytes=1), [b"a", b"b", b"c"], [-1, 0]),
        (KOfNTransfer(n=3, k=2, message_bytes=1), [b"a", b"b", b"c"], [1, 1]),
        (KOfNTransfer(n=3, k=2, message_bytes=1), [b"a", b"b", b"c"], [1]),
        (KOfNTransfer(n=3, k=2, message_bytes=1), [b"a", b"b"], [0, 1]),
        (KOfNTransfer(n=3, k=2, message_bytes=1), [b"a", b"b", b"cc"], [0, 1]),
    ],
)
def test_bad_inputs(protocol: Any, sender: Any, receiver: Any) -> None:
    with pytest.raises(InputError) as error:
        simulate(protocol, {"sender": sender, "receiver": receiver}, timeout=5)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"n": 0},
        {"n": True},
        {"n": 1, "form": "other"},
        {"n": 1, "message_bytes": 0},
        {"n": 1, "malicious": 1},
    ],
)
def test_bad_parameters(parameters: Any) -> None:
    with pytest.raises(ParameterError, match="parameter of ObliviousTransfer"):
        ObliviousTransfer(**parameters)


def test_bad_parameters_of_k_of_n() -> None:
    for parameters in ({"n": 3, "k": 4}, {"n": 0}, {"n": 3, "k": 0}, {"n": 2, "message_bytes": 1 << 26}):
        with pytest.raises(ParameterError, match="parameter of KOfNTransfer"):
            KOfNTransfer(**parameters)


def test_three_parties_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most 2"):
        simulate(ObliviousTransfer(n=1), {"a": None, "b": None, "c": None})
