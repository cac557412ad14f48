"""Clients that open connections and send nothing, little, or never end: they are cut off, and others are served."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.output.audit.services import EVERYONE, served, token_header, vault_folder

from discreet.core.errors import DiscreetError, ParameterError
from discreet.output.audit import Vault
from discreet.output.audit.service.connections import Admission, Limits, listen, network_of
from discreet.output.audit.service.serving import Service
from discreet.parties.network.keys import make_keys

PATIENCE = 60.0  # a client waits this long before the test fails; no test expects it to pass
SHORT = Limits(seconds=0.5)
elsewhere = pytest.mark.skipif(
    sys.platform != "linux", reason="127.0.0.2 is an address of this machine on Linux"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return vault_folder(tmp_path_factory.mktemp("connections"))


@contextlib.contextmanager
def opened(url: str, number: int, sent: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open connections, and send the same bytes on each that the service accepts."""
    host, port = url.removeprefix("http://").split(":")
    with contextlib.ExitStack() as stack:
        connections = []
        for _ in range(number):
            connection = stack.enter_context(socket.create_connection((host, int(port)), PATIENCE))
            with contextlib.suppress(ConnectionError):
                connection.sendall(sent)
            connections.append(connection)
        yield connections


def read_to_end(connection: socket.socket) -> bytes:
    """Return what comes until the service closes the connection; a timeout fails the test."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def ask_from(address: str, url: str, head: dict[str, str]) -> int:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address), headers=head) as client:
        return client.post(f"{url}/ask", json={"sql": EVERYONE}, timeout=PATIENCE).status_code


@elsewhere
def test_half_open_connections_lock_nobody_else_out(folder: Path) -> None:
    head = token_header(folder)
    with (
        served(folder, limits=Limits(seconds=PATIENCE)) as url,
        opened(url, 520, b"POST /ask HTTP/1.1\r\nHos") as connections,
    ):
        assert ask_from("127.0.0.2", url, head) == 200
        refused = connections[Limits().per_address :]
        assert all(read_to_end(connection) == b"" for connection in refused)


def test_half_open_connections_end_in_time(folder: Path) -> None:
    head = token_header(folder)
    with served(folder, limits=SHORT) as url, opened(url, 520, b"POST /ask HTTP/1.1\r\nHos") as connections:
        assert all(read_to_end(connection) == b"" for connection in connections)
        assert ask_from("127.0.0.1", url, head) == 200


def drip(connection: socket.socket, byte: bytes) -> threading.Event:
    """Send a byte at a time until the service no longer takes them."""
    over = threading.Event()

    def dripping() -> None:
        with contextlib.suppress(OSError):
            while not over.wait(0.05):
                connection.sendall(byte)

    threading.Thread(target=dripping, daemon=True).start()
    return over


@pytest.mark.parametrize(
    ("start", "byte", "status"),
    [
        (b"", b"", b""),
        (b"GET /health HTTP/1.1\r\nHost: a\r\nX: ", b"x", b""),
        (
            b"POST /ask HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\nAuthorization: TOKEN\r\n\r\n",
            b" ",
            b"",
        ),
        (b"POST /ask HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", b" ", b"401"),
        (b"POST /ask HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", b"401"),
        (b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n", b"", b"200"),
        (b"GET /health HTTP/1.1\r\nHost: a\r\n\r\nGET /h", b"x", b"200"),
    ],
    ids=["nothing", "head", "body", "body after 401", "chunks after 401", "idle", "second head"],
)
def test_slow_clients_are_cut_off(folder: Path, start: bytes, byte: bytes, status: bytes) -> None:
    """Bytes that keep coming gain no time: each request has one limit for all of it."""
    token = token_header(folder)["Authorization"].encode()
    with served(folder, limits=SHORT) as url, opened(url, 1, start.replace(b"TOKEN", token)) as [connection]:
        over = drip(connection, byte) if byte else threading.Event()
        reply = read_to_end(connection)
        over.set()
    assert reply[9:12] == status
    assert reply.count(b"HTTP/1.1") == bool(status)


def test_a_client_that_takes_no_response_is_cut_off(folder: Path) -> None:
    """Responses pile up until the service can write no more; requests are all there, so only the reader is late."""
    requests = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 20_000
    with served(folder, limits=SHORT) as url, opened(url, 1) as [connection]:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with pytest.raises(ConnectionError):
            while True:
                connection.sendall(requests)


def test_a_slow_question_is_not_cut_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is on what the client does; the service takes the time that a question needs."""
    head, ask, ended = token_header(folder), Vault.ask, threading.Event()

    def slow(self: Vault, *args: object, **named: object) -> object:
        ended.wait(3 * SHORT.seconds)
        return ask(self, *args, **named)

    monkeypatch.setattr(Vault, "ask", slow)
    with served(folder, limits=SHORT) as url:
        assert ask_from("127.0.0.1", url, head) == 200


def test_a_question_whose_client_is_gone_is_not_put(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, ask = token_header(folder), Vault.ask
    begun, go_on, statements = threading.Event(), threading.Event(), []

    def held(self: Vault, sql: str, **named: object) -> object:
        statements.append(sql)
        begun.set()
        assert go_on.wait(PATIENCE)
        return ask(self, sql, **named)

    monkeypatch.setattr(Vault, "ask", held)
    body = b'{"sql": "SELECT avg(pay) FROM data"}'
    lines = ["POST /ask HTTP/1.1", "Host: a", f"Content-Length: {len(body)}", *map(": ".join, head.items())]
    request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    with served(folder) as url:
        first = threading.Thread(target=ask_from, args=("127.0.0.1", url, head))
        first.start()
        assert begun.wait(PATIENCE)
        with opened(url, 1, request):
            httpx.get(f"{url}/health")
        httpx.get(f"{url}/health")
        go_on.set()
        first.join()
        assert ask_from("127.0.0.1", url, head) == 200
    assert statements == [EVERYONE, EVERYONE]


@elsewhere
@pytest.mark.parametrize(
    "limits", [Limits(per_address=3, seconds=PATIENCE), Limits(connections=3, seconds=PATIENCE)]
)
def test_connections_are_counted_until_they_end(folder: Path, limits: Limits) -> None:
    head = token_header(folder)
    with served(folder, limits=limits) as url:
        with opened(url, 4) as connections:
            assert read_to_end(connections[3]) == b""
            if limits.connections > 3:
                assert ask_from("127.0.0.2", url, head) == 200
        with contextlib.ExitStack() as stack:
            for _ in range(3):
                until_healthy(stack.enter_context(httpx.Client(base_url=url)))


def test_bytes_behind_a_response_leave_no_trace_of_an_error(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), served(folder, limits=SHORT) as url:
        start = b"POST /ask HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        with opened(url, 1, start) as [connection]:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 401")
            connection.sendall(b"zz\r\n\r\n\r\n")
            read_to_end(connection)
    assert not [
        record
        for record in caplog.records
        if record.levelno >= logging.WARNING and record.name != "uvicorn.error"
    ]


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["nothing", "half a greeting"])
def test_handshakes_end_in_time_and_are_counted(folder: Path, tmp_path: Path, sent: bytes) -> None:
    key, _, _ = make_keys("service", tmp_path)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    limits = Limits(seconds=0.5, per_address=4)
    with Vault.open(folder, wait=10) as vault:
        service = Service(vault, port=0, tls_certificate=key, tls_key=key, limits=limits)
        thread = threading.Thread(target=service.run)
        thread.start()
        try:
            url = f"http://127.0.0.1:{service.port}"
            with httpx.Client(verify=trust, base_url=url.replace("http", "https")) as client:
                until_healthy(client)
            with opened(url, 8, sent) as connections:
                assert all(b"HTTP" not in read_to_end(connection) for connection in connections)
            with httpx.Client(verify=trust, base_url=url.replace("http", "https")) as client:
                until_healthy(client)
        finally:
            service.stop()
            thread.join()


def until_healthy(client: httpx.Client) -> None:
    """Ask until the service runs, and has noticed that other connections ended."""
    for attempt in range(1000):
        try:
            assert client.get("/health", timeout=PATIENCE).json() == {"ok": True}
        except httpx.TransportError:
            assert attempt < 999
        else:
            return


def test_a_port_in_use_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(DiscreetError, match="cannot be listened on"):
            listen("127.0.0.1", taken.getsockname()[1], Admission(Limits()))
    with pytest.raises(DiscreetError, match="cannot be listened on"):
        listen("203.0.113.1", 0, Admission(Limits()))


@pytest.mark.parametrize("name", ["seconds", "per_address", "connections"])
def test_limits_are_positive(name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}'"):
        Limits(**{name: 0})


def test_a_subscriber_of_ipv6_counts_once() -> None:
    assert network_of("2001:db8:0:1::1") == network_of("2001:db8:0:1:ffff::2")
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8:0:2::1")


@pytest.mark.parametrize("path", [b"/ask", b"/health", b"/nothing"])
def test_a_request_of_two_lengths_is_refused(folder: Path, path: bytes) -> None:
    """A proxy may read its end by one header and the service by the other, and take the rest for another request."""
    token = token_header(folder)["Authorization"].encode()
    head = (
        b"POST %b HTTP/1.1\r\nHost: a\r\nAuthorization: %b\r\nContent-Length: 45\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    body = b'{"sql": "SELECT count(*) FROM data"}'
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    sent = head % (path, token) + chunks + b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
    with served(folder) as url, opened(url, 1, sent) as [connection]:
        reply = read_to_end(connection)
    assert reply[9:12] == b"400"
    assert b"not both" in reply
    assert reply.count(b"HTTP/1.1") == 1, "the connection ends there"
