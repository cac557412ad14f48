"""The service over real HTTP: tokens, limits, large bodies, many clients, and what they leave in the log."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.output.audit.services import EVERYONE, served, token_header, vault_folder

from discreet.core.errors import InputError, ParameterError
from discreet.output.audit import Vault
from discreet.output.audit.service.openapi import api_description
from discreet.output.audit.service.tokens import Tokens


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return vault_folder(tmp_path_factory.mktemp("service"))


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    head = token_header(folder)
    with served(folder) as url:
        yield url, head


def test_answers_and_denials(service) -> None:
    url, head = service
    answer = httpx.post(f"{url}/ask", json={"sql": EVERYONE}, headers=head)
    assert answer.status_code == 200
    assert answer.json() == {"denied": False, "columns": ["sum(pay)"], "rows": [[435]]}
    denied = httpx.post(f"{url}/ask", json={"sql": f"{EVERYONE} WHERE name <> 'n3'"}, headers=head)
    assert denied.status_code == 200
    assert denied.json()["denied"] is True


@pytest.mark.parametrize(
    "head",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic x"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer \u00e9"},
    ],
)
def test_a_wrong_token(service, head: dict[str, str]) -> None:
    url, _ = service
    raw = {name: value.encode() for name, value in head.items()}
    for path in ("/ask", "/vault"):
        reply = httpx.request("POST" if path == "/ask" else "GET", f"{url}{path}", headers=raw)
        assert reply.status_code == 401
        assert reply.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"no json", 400),
        (b"[" * 60000, 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"sql": 3}', 400),
        (b'{"sql": "SELECT 1", "user": "eve"}', 400),
        (b'{"sql": "SELECT pay FROM data"}', 400),
        (b'{"sql": "SELECT sum(pay) FROM data", "epsilon": 1}', 400),
        (b"\xff\xfe", 400),
        (b'{"sql": "' + b"x" * 70_000 + b'"}', 413),
    ],
)
def test_bad_bodies(service, body: bytes, status: int) -> None:
    url, head = service
    reply = httpx.post(f"{url}/ask", content=body, headers=head)
    assert reply.status_code == status
    assert set(reply.json()) == {"error"}


def test_a_body_of_100_megabytes_is_refused(service) -> None:
    url, head = service
    for body in (b"x" * (100 << 20), (b"x" * (1 << 20) for _ in range(100))):
        with contextlib.suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            reply = httpx.post(f"{url}/ask", content=body, headers=head, timeout=30)
            assert reply.status_code == 413
    assert httpx.post(f"{url}/ask", json={"sql": EVERYONE}, headers=head).status_code == 200


def test_about_and_the_interface(service) -> None:
    url, head = service
    about = httpx.get(f"{url}/vault", headers=head).json()
    assert about["sensitive"] == ["pay"]
    assert about["auditor"]["auditor"] == "sum"
    assert about["steps"] == {"pay": 1.0}
    assert httpx.get(f"{url}/health").json() == {"ok": True}
    assert httpx.get(f"{url}/openapi.json").json() == api_description()
    page = httpx.get(url)
    assert "text/html" in page.headers["content-type"]
    assert httpx.get(f"{url}/nothing").status_code == 404
    assert httpx.get(f"{url}/ask", headers=head).status_code == 405


def test_users_are_named_in_the_log_and_tokens_are_hashed(folder: Path, service) -> None:
    url, _ = service
    other = Tokens(folder).issue("bob")
    reply = httpx.post(f"{url}/ask", json={"sql": EVERYONE}, headers={"Authorization": f"Bearer {other}"})
    assert reply.status_code == 200, "a token made while the service runs counts at once"
    kept = (folder / "tokens.json").read_text()
    assert other not in kept
    assert (folder / "tokens.json").stat().st_mode & 0o077 == 0
    Tokens(folder).revoke("bob")
    with pytest.raises(ParameterError, match="no token"):
        Tokens(folder).revoke("bob")
    with pytest.raises(ParameterError, match="printable"):
        Tokens(folder).issue("a\nb")
    with pytest.raises(InputError, match="not a vault"):
        Tokens(folder.parent)


def test_many_clients_lose_no_answer(folder: Path, service) -> None:
    url, head = service
    told: list[tuple[str, object]] = []

    def client(number: int) -> None:
        with httpx.Client(headers=head, timeout=60) as http:
            for step in range(6):
                sql = f"{EVERYONE} WHERE name <> 'n{number}' AND name <> 'n{step + 12}'"
                reply = http.post(f"{url}/ask", json={"sql": sql})
                assert reply.status_code == 200
                told.append((sql, reply.json()["denied"]))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 72
    known = [(one.sql, not one.answered) for one in _history(url, folder)]
    assert all(known.count(one) >= told.count(one) for one in told)


def _history(url: str, folder: Path) -> list[object]:
    """Read the log beside the service: SQLite allows it, while the vault itself stays locked."""
    from discreet.output.audit.log import Log
    from discreet.output.audit.vault import asked_of

    del url
    log = Log.open(folder / "log.sqlite")
    try:
        return [asked_of(entry) for entry in log.entries() if entry.kind == "query"]
    finally:
        log.close()


def test_the_rate_is_limited(tmp_path: Path) -> None:
    folder = vault_folder(tmp_path)
    head = token_header(folder)
    with served(folder, rate=2) as url:
        replies = [
            httpx.post(f"{url}/ask", json={"sql": EVERYONE}, headers=head).status_code for _ in range(8)
        ]
    assert replies[0] == 200
    assert 429 in replies


def test_the_command_serves_until_it_is_stopped(tmp_path: Path) -> None:
    folder = vault_folder(tmp_path)
    head = token_header(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "discreet", "audit", "serve", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        limit = time.monotonic() + 60
        while True:
            try:
                reply = httpx.post(f"http://127.0.0.1:{port}/ask", json={"sql": EVERYONE}, headers=head)
                break
            except httpx.ConnectError:
                assert time.monotonic() < limit
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.1)
        assert reply.json()["rows"] == [[435]]
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert "serving" in out
    assert "pay" not in err
    Vault.open(folder).close()


def test_two_questions_at_once_are_judged_one_after_the_other(tmp_path: Path) -> None:
    """Of two sums whose difference is one value at most one is answered, however close together they come."""
    folder = vault_folder(tmp_path)
    head = token_header(folder)
    answered: dict[str, bool] = {}

    def ask(url: str, condition: str, start: threading.Barrier) -> None:
        start.wait(30)
        reply = httpx.post(
            f"{url}/ask", json={"sql": f"{EVERYONE} WHERE {condition}"}, headers=head, timeout=60
        )
        answered[condition] = not reply.json()["denied"]

    pairs = [(f"name <> 'n{k}' AND name <> 'n{k + 1}'", f"name <> 'n{k}'") for k in range(0, 24, 2)]
    with served(folder) as url:
        for pair in pairs:
            start = threading.Barrier(2)
            threads = [threading.Thread(target=ask, args=(url, condition, start)) for condition in pair]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert all(not (answered[first] and answered[second]) for first, second in pairs)
    assert sum(answered.values()) > 0
