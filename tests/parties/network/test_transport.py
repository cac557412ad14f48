"""The transport over loopback TLS: who is let in, and what is refused."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.parties.sessions import Proxy, free_port, meet, reach, sum_of, write_session

from discreet.parties import FrameError, PartyError, PeerLostError, SessionError, channel
from discreet.parties.channel import MAX_FRAME
from discreet.parties.network import handshake, mesh
from discreet.parties.network.keys import make_keys
from discreet.parties.network.network_channel import NetworkChannel
from discreet.parties.network.session import PartySession
from discreet.parties.network.transport import open_session

THREE = {"a": [1, 2], "b": [10, 20], "c": [100, 200]}
TWO = {"a": [1, 2], "b": [10, 20]}


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return write_session(tmp_path, ("a", "b", "c"), sum_of(2))


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return write_session(tmp_path, ("a", "b"), sum_of(2))


@pytest.fixture
def short(two: Path) -> Path:
    """A session whose parties do not wait long for each other to appear."""
    two.write_text(two.read_text().replace("connect_timeout = 20", "connect_timeout = 3"))
    return two


def messages(found: dict[str, Any]) -> dict[str, str]:
    assert all(isinstance(one, PartyError) for one in found.values()), found
    return {name: str(one) for name, one in found.items()}


def test_three_parties_sum_over_tls(three: Path) -> None:
    found = meet(three, THREE)
    assert [found[name].values.tolist() for name in "abc"] == [[111, 222]] * 3


def test_who_has_the_result_is_cautioned_where_another_may_lack_it(three: Path) -> None:
    parties: dict[str, Any] = {}

    def breaks(party: Any) -> None:
        channel = party._channels["a"]
        channel.end = channel._stream.transport.abort

    before = {
        "a": lambda party: parties.update(a=party),
        "b": lambda party: parties.update(b=party),
        "c": breaks,
    }
    found = meet(three, THREE, before=before)
    assert found["a"].values.tolist() == [111, 222]
    protocol = PartySession.read(three).protocol
    assert protocol.cautions_of_run(found["b"], parties["b"]) == protocol.cautions(found["b"])
    assert protocol.cautions_of_run(found["a"], parties["a"])[-1] == (
        "Party 'c' did not confirm that it has the result, which it may lack; its data is in the result."
    )


@pytest.mark.parametrize("method", ['method = "ring"', 'kind = "real"'])
def test_large_vectors_travel(tmp_path: Path, method: str) -> None:
    path = write_session(tmp_path, ("a", "b"), sum_of(300_000, method))
    found = meet(path, {"a": [1] * 300_000, "b": [2] * 300_000})
    assert found["a"].values.sum() == 900_000


def test_both_may_send_a_lot_at_once(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b"), sum_of(2), head="timeout = 30\n")

    def swap(party: Any) -> None:
        for _ in range(4):
            party.send(party.peer, "much", bytes(MAX_FRAME // 4))
        for _ in range(4):
            assert len(party.recv(party.peer, "much")) == MAX_FRAME // 4

    found = meet(path, TWO, before={"a": swap, "b": swap})
    assert found["b"].values.tolist() == [11, 22]


@pytest.mark.parametrize("length", [999, 1000, 1001, 2000, 4321])
def test_large_payloads_travel_in_parts(two: Path, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(channel, "MAX_FRAME", 1000)
    monkeypatch.setattr("discreet.parties.network.frame_stream.MAX_FRAME", 1000)
    content = bytes(at % 251 for at in range(length))
    arrived: list[bytes] = []

    def give(party: Any) -> None:
        party.send(party.peer, "much", content)
        party.send(party.peer, "much", content)
        assert party.meter.bytes_sent == 2 * channel.frame_bytes("much", length) + channel.frame_bytes(
            "ready", 32
        )

    def take(party: Any) -> None:
        arrived.append(party.recv(party.peer, "much"))
        arrived.append(bytes(party.recv_view(party.peer, "much", length)))

    found = meet(two, TWO, before={"a": give, "b": take})
    assert found["b"].values.tolist() == [11, 22]
    assert arrived == [content, content]


def test_parts_beyond_the_limit_are_refused_as_they_come(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "MAX_FRAME", 1000)
    monkeypatch.setattr("discreet.parties.network.frame_stream.MAX_FRAME", 1000)
    sizes: dict[str, int | None] = {"a": 2500}

    def take(party: Any) -> None:
        party.recv(party.peer, "much", sizes["a"])

    give = {"a": take, "b": lambda party: party.send(party.peer, "much", bytes(4000))}
    assert "more than the 2500 bytes that were expected" in str(meet(two, TWO, before=give)["a"])
    sizes["a"] = None
    monkeypatch.setattr(channel, "MAX_PAYLOAD", 3000)
    assert "larger than the limit of 3000 bytes" in str(meet(two, TWO, before=give)["b"])
    limit = {"a": take, "b": lambda party: endless_parts(party._channels["a"])}
    assert "more than the 3000 bytes that were expected" in str(meet(two, TWO, before=limit)["a"])


def endless_parts(sender: NetworkChannel) -> None:
    for _ in range(10):
        header = channel.encode_header("much", 1000, sender._n_sent, sender.session, more=True)
        sender._n_sent += 1
        sender._write(header, bytes(1000))


# Who is let in.


def test_parties_with_different_parameters_name_the_key(two: Path) -> None:
    other = two.with_name("other.toml")
    other.write_text(two.read_text().replace("length = 2", "length = 3"))
    found = messages(meet(two, {"a": [1, 2], "b": [1, 2, 3]}, paths={"b": other}))
    assert found["a"] == "The session file of party 'b' differs from this one in 'protocol.length'."
    assert found["b"] == "The session file of party 'a' differs from this one in 'protocol.length'."


def test_a_default_that_is_written_out_makes_no_difference(two: Path) -> None:
    other = two.with_name("other.toml")
    other.write_text(two.read_text() + 'method = "masks"\n')
    assert meet(two, TWO, paths={"b": other})["a"].values.tolist() == [11, 22]


def test_a_dialing_party_with_another_certificate_is_refused(short: Path, tmp_path: Path) -> None:
    make_keys("b", tmp_path / "other")
    own = short.with_name("own.toml")
    entry = PartySession.read(short).member("b")
    make_other_session(short, own, tmp_path / "other" / "b.toml", entry.address)
    found = messages(
        meet(short, TWO, paths={"b": own}, keys={"b": tmp_path / "other" / "b.pem"}),
    )
    assert "it refuses the certificate of this party" in found["b"]
    assert found["a"] == "Party 'b' has not connected within 3 seconds."


def test_a_listening_party_with_another_certificate_is_refused(short: Path, tmp_path: Path) -> None:
    make_keys("a", tmp_path / "other")
    own = short.with_name("own.toml")
    make_other_session(
        short, own, tmp_path / "other" / "a.toml", PartySession.read(short).member("a").address
    )
    found = messages(meet(short, TWO, paths={"a": own}, keys={"a": tmp_path / "other" / "a.pem"}))
    address = PartySession.read(short).member("a").address
    assert found["b"] == f"What answers at {address} does not hold the certificate of party 'a'."


def make_other_session(path: Path, target: Path, entry: Path, address: str) -> None:
    """The session as an impostor would write it: with its own certificate under the name of a party."""
    name = entry.stem
    blocks = path.read_text().split("[[party]]")
    impostor = entry.read_text().replace("HOST:PORT", address).removeprefix("[[party]]")
    changed = [impostor if f'name = "{name}"' in block else block for block in blocks[:-1]]
    last = blocks[-1]
    if f'name = "{name}"' in last:
        last = impostor + last[last.index("[protocol]") :]
    target.write_text("[[party]]".join([*changed, last]))


def test_a_party_of_the_session_cannot_take_the_place_of_another(three: Path) -> None:
    """b, whom everybody trusts as b, answers at the address of a."""
    session = PartySession.read(three)
    found: list[Any] = []

    def impostor() -> None:
        member = session.member("a")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(three.with_name("b.pem"))
        with socket.create_server((member.host, member.port)) as server:
            server.settimeout(5)
            with (
                contextlib.suppress(OSError),
                server.accept()[0] as plain,
                context.wrap_socket(plain, server_side=True) as wrapped,
            ):
                wrapped.recv(1)

    thread = threading.Thread(target=impostor)
    thread.start()
    found = [meet(three, {"c": [1, 2]})["c"]]
    thread.join()
    assert "does not hold the certificate of party 'a'" in str(found[0])


def test_strangers_and_other_protocols_do_not_disturb(two: Path) -> None:
    found: dict[str, Any] = {}
    listening = threading.Thread(target=lambda: found.update(meet(two, {"a": TWO["a"]})))
    listening.start()
    for talk in (b"GET / HTTP/1.0\r\n\r\n", bytes(100), b"\x16\x03\x01"):
        with reach(PartySession.read(two).member("a").port) as stranger:
            stranger.sendall(talk)
    found.update(meet(two, {"b": TWO["b"]}))
    listening.join()
    assert found["a"].values.tolist() == found["b"].values.tolist() == [11, 22]


def test_the_second_connection_of_a_party_is_refused(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a waits for c, b is connected; whoever connects as b again is closed without an answer."""
    connected = threading.Event()
    greet = mesh.Mesh._greet

    async def noted(self: mesh.Mesh, member: Any, *given: Any) -> Any:
        met = await greet(self, member, *given)
        if (self.name, member.name) == ("a", "b"):
            asyncio.get_running_loop().call_later(0.1, connected.set)
        return met

    monkeypatch.setattr(mesh.Mesh, "_greet", noted)
    results: dict[str, Any] = {}
    started = threading.Thread(target=lambda: results.update(meet(three, {"a": THREE["a"], "b": THREE["b"]})))
    started.start()
    assert connected.wait(20)
    with dial_as("b", three) as again:
        again.settimeout(5)
        try:
            answer = again.recv(100)
        except OSError:
            answer = b""
    assert answer == b""
    third = meet(three, {"c": THREE["c"]})
    started.join()
    assert results["a"].values.tolist() == third["c"].values.tolist() == [111, 222]


def dial_as(name: str, path: Path) -> ssl.SSLSocket:
    """Connect to a with the certificate of another party, as soon as a listens."""
    member = PartySession.read(path).member("a")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(member.certificate))
    context.load_cert_chain(path.with_name(f"{name}.pem"))
    return context.wrap_socket(reach(member.port))


# What happens on the way.


def test_a_recorded_session_cannot_be_replayed(short: Path, tmp_path: Path) -> None:
    """The bytes that b sent are sent again to a new run of a, which lets nobody in."""
    real = free_port()
    member = PartySession.read(short).member("a")
    with Proxy(real) as proxy:
        path = short.with_name("proxied.toml")
        path.write_text(short.read_text().replace(member.address, f"127.0.0.1:{proxy.port}"))
        found = meet(path, TWO, listen={"a": ("127.0.0.1", real)})
    assert found["a"].values.tolist() == [11, 22]
    assert len(proxy.recorded) > 500

    def replay() -> None:
        with reach(real) as again:
            again.sendall(proxy.recorded)
            again.settimeout(2)
            try:
                while again.recv(4096):
                    pass
            except OSError:
                return

    thread = threading.Thread(target=replay)
    thread.start()
    found = meet(path, {"a": [1, 2]}, listen={"a": ("127.0.0.1", real)})
    thread.join()
    assert messages(found)["a"] == "Party 'b' has not connected within 3 seconds."


def test_the_wire_shows_nothing_of_the_frames(two: Path) -> None:
    real = free_port()
    member = PartySession.read(two).member("a")
    with Proxy(real) as proxy:
        path = two.with_name("proxied.toml")
        path.write_text(two.read_text().replace(member.address, f"127.0.0.1:{proxy.port}"))
        meet(path, TWO, listen={"a": ("127.0.0.1", real)})
    wire = bytes(proxy.recorded + proxy.answered)
    session = PartySession.read(path)
    for word in (b"hello", b"masked", b"relay", b"secure-sum", session.digest().hex().encode(), b"discreet"):
        assert word not in wire
    for name in "ab":
        assert session.member(name).certificate not in wire


@pytest.mark.parametrize("change_at", [100, 400, 800, 1100, 1350])
def test_a_changed_byte_is_refused(short: Path, change_at: int) -> None:
    real = free_port()
    member = PartySession.read(short).member("a")
    with Proxy(real, change_at=change_at) as proxy:
        path = short.with_name("proxied.toml")
        path.write_text(short.read_text().replace(member.address, f"127.0.0.1:{proxy.port}"))
        found = meet(path, TWO, listen={"a": ("127.0.0.1", real)})
    assert len(proxy.recorded) > change_at
    messages(found)


def test_an_oversized_frame_is_refused_before_it_is_read(two: Path) -> None:
    def oversized(party: Any) -> None:
        sender: NetworkChannel = party._channels[party.peer]
        header = struct.pack(">IBI8s", MAX_FRAME + 1, 4, 9, party.session[:8]) + b"keys"
        sender._loop.call_soon_threadsafe(sender._stream.transport.write, header)

    found = messages(meet(two, TWO, before={"b": oversized}))
    assert "larger than the limit of 67108864 bytes" in found["a"]
    assert isinstance(meet(two, TWO, before={"b": oversized})["a"], FrameError)


def test_a_frame_that_is_sent_twice_is_refused(three: Path) -> None:
    def repeat(party: Any) -> None:
        party._channels["a"]._n_sent -= 1

    found = meet(three, THREE, before={"b": repeat})
    assert isinstance(found["a"], FrameError)
    assert "Party 'b' sent frame 0 where 1 was expected" in str(found["a"])


def test_a_frame_of_another_session_is_refused(two: Path) -> None:
    def other(party: Any) -> None:
        party._channels[party.peer].session = bytes(32)

    found = meet(two, TWO, before={"b": other})
    assert "sent a frame of another session" in str(found["a"])


def silent(seconds: float) -> Callable[[Any], None]:
    """A party that stands still, as one whose machine does: it does not even show that it is alive."""

    def stand_still(party: Any) -> None:
        for end in party._channels.values():
            end._loop.call_soon_threadsafe(end._beating.cancel)
        time.sleep(seconds)

    return stand_still


@pytest.mark.parametrize("method", ["masks", "ring"])
def test_a_party_may_compute_for_longer_than_the_timeout(three: Path, method: str) -> None:
    """b computes for six time-outs; a and c, which waits for a and b, stay, and so does the sum of all three."""
    path = three.with_name("short.toml")
    text = three.read_text().replace("timeout = 20", "timeout = 0.5", 1)
    path.write_text(text.replace("length = 2", f'length = 2\nmethod = "{method}"'))
    found = meet(path, THREE, before={"b": lambda party: time.sleep(3)})
    assert [found[name].values.tolist() for name in "abc"] == [[111, 222]] * 3
    assert found["a"].parties == ("a", "b", "c")


def test_a_party_may_not_compute_for_ever(three: Path) -> None:
    path = three.with_name("short.toml")
    text = three.read_text().replace("timeout = 20", "timeout = 0.5\ncompute_timeout = 1.5", 1)
    path.write_text(text.replace("length = 2", 'length = 2\nmethod = "ring"'))
    found = meet(path, THREE, before={"b": lambda party: time.sleep(4)})
    assert any("has computed for 1.5 seconds and sent nothing" in str(error) for error in found.values())


def test_signs_of_life_are_no_data(three: Path) -> None:
    """Neither the meter nor the transcript nor the numbers of frames show them."""
    path = three.with_name("short.toml")
    path.write_text(three.read_text().replace("timeout = 20", "timeout = 0.2", 1))
    meters: dict[str, Any] = {}

    def slow(party: Any) -> None:
        meters[party.name] = party.meter
        time.sleep(1)
        assert sum(end._n_alive for end in party._channels.values()) > 4

    found = meet(path, THREE, before={"a": slow, "b": slow})
    assert found["c"].values.tolist() == [111, 222]
    shapes = list(PartySession.read(path).protocol.frames(("a", "b", "c")))
    for name, meter in meters.items():
        frames = [shape for shape in shapes if shape.sender == name]
        assert sum(step.frames_sent for step in meter.steps) == len(frames) + 2  # and a 'ready' to each


def test_a_silent_party_is_given_up_and_the_others_know_why(three: Path) -> None:
    path = three.with_name("ring.toml")
    path.write_text(
        three.read_text().replace("length = 2", 'length = 2\nmethod = "ring"').replace("= 20", "= 2", 1)
    )
    started = time.monotonic()
    found = messages(meet(path, THREE, before={"b": silent(4)}))
    assert time.monotonic() - started < 15
    assert any(
        "did not answer within 2 seconds (it may itself wait for another party)" in one
        for one in found.values()
    )


def test_a_late_party_is_left_out_of_this_sum_and_of_the_next(tmp_path: Path) -> None:
    path = write_session(
        tmp_path, ("a", "b", "c", "d"), sum_of(2), head="timeout = 6\nconnect_timeout = 20\n"
    )
    four = {**THREE, "d": [1000, 2000]}
    protocol = PartySession.read(path).protocol
    first: dict[str, Any] = {}

    def earlier_sum(party: Any) -> None:
        first[party.name] = protocol.run(party, four[party.name])

    found = meet(path, four, before={**dict.fromkeys("abd", earlier_sum), "c": silent(4.5)})
    for name in "abd":
        assert first[name].parties == found[name].parties == ("a", "b", "d")
        assert found[name].values.tolist() == [1011, 2022]
    assert "went on without this party, which did not answer in time" in str(found["c"])


def test_a_failing_party_stops_the_others_with_its_name(three: Path) -> None:
    def fail(party: Any) -> None:
        raise ValueError("secret 4711")

    path = three.with_name("ring.toml")
    path.write_text(three.read_text().replace("length = 2", 'length = 2\nmethod = "ring"'))
    found = meet(path, THREE, before={"c": fail})
    assert isinstance(found["c"], ValueError)
    assert "Party 'c' stopped: it met an error" in str(found["a"])
    assert "4711" not in str(found["a"]) + str(found["b"])
    assert isinstance(found["b"], PeerLostError)


# Opening.


def test_a_missing_party_is_named(three: Path) -> None:
    path = three.with_name("short.toml")
    path.write_text(three.read_text().replace("connect_timeout = 20", "connect_timeout = 1"))
    found = messages(meet(path, {"a": [1, 2], "b": [1, 2]}))
    assert found["a"] == "Party 'c' has not connected within 1 seconds."
    found = messages(meet(path, {"c": [1, 2]}))
    assert "Party 'a' was not reached at 127.0.0.1:" in found["c"]


def test_a_taken_port_is_named(two: Path) -> None:
    member = PartySession.read(two).member("a")
    with socket.create_server((member.host, member.port)):
        found = messages(meet(two, {"a": [1, 2]}))
    assert f"The port {member.port} is taken" in found["a"]


def test_an_unknown_host_is_named(short: Path) -> None:
    member = PartySession.read(short).member("a")
    path = short.with_name("unknown.toml")
    path.write_text(short.read_text().replace(member.address, f"host.invalid:{member.port}"))
    found = messages(meet(path, TWO))
    assert found["b"] == "The host 'host.invalid' of party 'a' is unknown."
    assert "--listen" in found["a"]


@pytest.mark.parametrize(("off", "way"), [(86400.0, "ahead of"), (-86400.0, "behind")])
def test_a_clock_a_day_off_is_named(two: Path, monkeypatch: pytest.MonkeyPatch, off: float, way: str) -> None:
    made = handshake.make_hello

    def shifted(session: PartySession, **given: Any) -> handshake.Hello:
        hello = made(session, **given)
        return handshake.Hello(**{**vars(hello), "clock": hello.clock + off})

    monkeypatch.setattr("discreet.parties.network.transport.make_hello", shifted)
    found = messages(meet(two, TWO))
    assert f"seconds {way} this one; set the clocks" in found["a"] + found["b"]
    assert "86400" in found["a"] + found["b"]


def test_another_version_is_named(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = handshake.make_hello

    def older(session: PartySession, **given: Any) -> handshake.Hello:
        return handshake.Hello(**{**vars(made(session, **given)), "version": "0.0.1"})

    monkeypatch.setattr("discreet.parties.network.transport.make_hello", older)
    found = messages(meet(two, TWO))
    assert "runs discreet 0.0.1, this party" in found["a"]


@pytest.mark.parametrize(
    "hello",
    [
        b"not json",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"wire":' * 100_000,
        json.dumps({"wire": 1, "version": "x", "digest": "0", "nonce": "1"}).encode(),
    ],
)
def test_a_broken_handshake_is_refused(two: Path, hello: bytes) -> None:
    found: dict[str, Any] = {}
    thread = threading.Thread(target=lambda: found.update(meet(two, {"a": [1, 2]})))
    thread.start()
    with dial_as("b", two) as peer:
        peer.sendall(struct.pack(">IBI8s", len(hello), 5, 0, bytes(8)) + b"hello" + hello)
        thread.join(20)
    assert "broke the handshake" in str(found["a"])


def test_a_slow_handshake_is_given_up(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh, "_HANDSHAKE_SECONDS", 1.0)
    found: dict[str, Any] = {}
    thread = threading.Thread(target=lambda: found.update(meet(two, {"a": [1, 2]})))
    thread.start()
    with dial_as("b", two):
        thread.join(20)
    assert "did not complete the handshake" in str(found["a"])


def test_only_tls_1_3_is_spoken(short: Path) -> None:
    member = PartySession.read(short).member("a")
    thread = threading.Thread(target=lambda: meet(short, {"a": [1, 2]}))
    thread.start()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(short.with_name("b.pem"))
    with reach(member.port) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain)
    thread.join()


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_key_that_others_can_read_is_refused(two: Path, mode: int) -> None:
    key = two.with_name("a.pem")
    key.chmod(mode)
    with (
        pytest.raises(SessionError, match=r"can be read or changed by other users.*chmod 600"),
        open_session(PartySession.read(two), "a", key),
    ):
        pytest.fail("the session was opened")


def test_a_wrong_key_is_refused_before_anything_is_opened(two: Path) -> None:
    session = PartySession.read(two)
    for key, words in (
        ("b.pem", "does not fit the certificate"),
        ("none.pem", "cannot be read"),
        ("a.toml", "no private key"),
    ):
        with pytest.raises(SessionError, match=words), open_session(session, "a", two.with_name(key)):
            pass
