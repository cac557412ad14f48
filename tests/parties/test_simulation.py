"""The interfaces: frames, channels, the meter and the simulation."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from discreet.core.errors import ParameterError
from discreet.parties.channel import MAX_FRAME, FrameChannel, encode_header, memory_pair, payload_size
from discreet.parties.errors import FrameError, PartyError, PeerLostError
from discreet.parties.protocol import Party, Protocol
from discreet.parties.simulation import simulate
from discreet.parties.transcript import FrameShape, Meter


@dataclass(frozen=True)
class Swap(Protocol):
    """Both parties send a text of a public length and read the other's."""

    size: int
    name: ClassVar[str] = "swap"
    max_parties: ClassVar[int | None] = 2

    @property
    def leaks(self) -> tuple[str, ...]:
        return ("Everything.",)

    def frames(self, names: Any) -> tuple[FrameShape, ...]:
        return tuple(FrameShape(a, b, "text", self.size) for a, b in (tuple(names), tuple(names)[::-1]))

    def _run(self, party: Party, data: bytes) -> bytes:
        with party.step("swap"):
            party.send(party.peer, "text", data)
            return party.recv(party.peer, "text", self.size)


def ends() -> tuple[FrameChannel, FrameChannel]:
    return memory_pair("a", "b", session=b"s" * 32, timeout=0.2)


def test_a_simulation_runs_each_half_and_records_what_was_declared() -> None:
    swap = Swap(5)
    run = simulate(swap, {"a": b"hello", "b": b"world"})
    assert run.outputs == {"a": b"world", "b": b"hello"}
    assert sorted(map(repr, run.transcript.shapes())) == sorted(map(repr, swap.frames(("a", "b"))))
    assert run.meters["a"].rounds == 1
    assert run.meters["a"].bytes_sent == run.meters["b"].bytes_received == 17 + 4 + 5


def test_the_root_cause_is_raised_rather_than_the_loss_it_leads_to() -> None:
    with pytest.raises(FrameError, match="sent 4 bytes in a frame 'text' where 5 were expected"):
        simulate(Swap(5), {"a": b"hell", "b": b"world"})


def test_a_party_that_drops_out_is_lost_to_the_others() -> None:
    with pytest.raises(PeerLostError, match="Party 'b' closed the connection"):
        simulate(Swap(5), {"a": b"hello", "b": b"world"}, drop={"b": "text"})
    with pytest.raises(PartyError, match="Every party dropped out"):
        simulate(Swap(5), {"a": b"hello", "b": b"world"}, drop={"a": "text", "b": "text"})


def test_too_many_parties_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"at most 2\. Got 3"):
        simulate(Swap(1), dict.fromkeys("abc", b"x"))
    with pytest.raises(ParameterError, match="at least 2"):
        simulate(Swap(1), {"a": b"x"})
    with pytest.raises(ParameterError, match="same name"):
        Swap(1).check_parties(("a", "a"))


def test_a_frame_of_another_kind_session_or_place_is_refused() -> None:
    left, right = ends()
    left.send("keys", b"12")
    with pytest.raises(FrameError, match="a frame 'keys' where 'mask' was expected"):
        right.recv("mask")
    left, right = ends()
    left.session = b"t" * 32
    left.send("keys")
    with pytest.raises(FrameError, match="another session"):
        right.recv("keys")
    left, right = ends()
    left._n_sent = 3
    left.send("keys")
    with pytest.raises(FrameError, match="frame 3 where 0 was expected"):
        right.recv("keys")


def test_a_silent_peer_is_given_up_after_the_time_out() -> None:
    with pytest.raises(PeerLostError, match=r"did not answer within 0\.2 seconds"):
        ends()[0].recv("keys")


def test_a_closed_channel_delivers_what_was_sent_and_then_says_so() -> None:
    left, right = ends()
    left.send("keys", b"1")
    left.close()
    assert right.recv("keys") == b"1"
    for _ in range(2):
        with pytest.raises(PeerLostError, match="closed the connection"):
            right.recv("keys")
    with pytest.raises(PeerLostError, match="the channel is closed"):
        left.send("keys")


def test_the_reason_of_an_abort_names_the_party_that_was_lost() -> None:
    left, right = ends()
    left.abort("lost", "c")
    with pytest.raises(PeerLostError, match="Party 'a' stopped: it lost party 'c'") as caught:
        right.recv("keys")
    assert (caught.value.peer, caught.value.cause) == ("a", "c")


def test_sizes_out_of_range_are_refused_on_both_sides() -> None:
    for kind in ("", "k" * 41):
        with pytest.raises(FrameError, match="between 1 and 40 characters"):
            encode_header(kind, 0, 0, bytes(8))
    good = encode_header("k", MAX_FRAME, 0, bytes(8))[:17]
    assert payload_size(good) == (1, MAX_FRAME)
    with pytest.raises(FrameError, match="larger than the limit"):
        payload_size((MAX_FRAME + 1).to_bytes(4, "big") + good[4:])
    with pytest.raises(FrameError, match="out of range"):
        payload_size(good[:4] + b"\xff" + good[5:])


def test_fixed_coins_repeat_and_differ_between_parties() -> None:
    @dataclass(frozen=True)
    class Draw(Swap):
        def _run(self, party: Party, data: bytes) -> bytes:
            return party.random(8) + party.random(8) + party.session

    first = simulate(Draw(0), {"a": b"", "b": b""}, coins=b"1").outputs
    assert first == simulate(Draw(0), {"a": b"", "b": b""}, coins=b"1").outputs
    assert len({first["a"][:8], first["a"][8:16], first["b"][:8], first["b"][8:16]}) == 4
    assert simulate(Draw(0), {"a": b"", "b": b""}).outputs["a"] != first["a"]


def test_without_the_extra_everything_imports_and_one_line_names_it() -> None:
    code = """
import sys
import time

class Refused:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in ("cryptography", "rbcl"):
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Refused)
from discreet.parties import PartyError, SecureSum, simulate
from discreet.parties.network.keys import make_keys
from discreet.parties.network.session import PartySession

for work in (
    lambda: simulate(SecureSum(length=1), {"a": [1], "b": [1]}),
    lambda: make_keys("a"),
    lambda: PartySession.from_dict({}),
):
    try:
        work()
    except PartyError as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    line = "Protocols between parties need cryptographic libraries: pip install 'discreet[parties]'."
    assert ran.stdout.splitlines() == [line] * 3


def test_a_step_inside_another_one_is_counted_once() -> None:
    meter = Meter()
    with meter.step("outer"):
        meter.sent("a", 1)
        with meter.step("inner"):
            time.sleep(0.02)
            meter.sent("b", 2)
        meter.sent("c", 3)
    outer, inner = meter.steps
    assert (outer.frames_sent, inner.frames_sent) == (2, 1)
    assert inner.seconds >= 0.02 > outer.seconds
