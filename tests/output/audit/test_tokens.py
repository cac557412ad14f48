"""Tokens: what is withdrawn or expired is refused at the next request, in the words for an unknown one."""

from __future__ import annotations

import datetime as dt
import json
import os
import threading
from pathlib import Path

import httpx
import pytest
from tests.output.audit.services import EVERYONE, served, token_header, vault_folder

from discreet.core.errors import InputError, ParameterError
from discreet.output.audit.service import tokens as tokens_module
from discreet.output.audit.service.tokens import Tokens

HOUR = dt.timedelta(hours=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return vault_folder(tmp_path_factory.mktemp("tokens"))


def test_a_revoked_token_is_refused_by_the_next_request(folder: Path) -> None:
    head = token_header(folder)
    with served(folder) as url, httpx.Client(base_url=url, headers=head) as client:
        assert client.post("/ask", json={"sql": EVERYONE}).status_code == 200
        Tokens(folder).revoke("ann")
        for method, path in (("POST", "/ask"), ("GET", "/vault")):
            reply = client.request(method, path, json={"sql": EVERYONE})
            assert (reply.status_code, reply.json()) == (401, {"error": "A valid bearer token is needed."})
        assert client.get("/vault", headers=token_header(folder)).status_code == 200


def test_a_token_revoked_while_its_question_is_sent_is_refused(folder: Path) -> None:
    """The body arrives after the head was accepted; in between the token is withdrawn."""
    head = token_header(folder, "slow")

    def body() -> object:
        yield b'{"sql": '
        assert received.wait(30)
        Tokens(folder).revoke("slow")
        yield b'"SELECT count(*) FROM data"}'

    received = threading.Event()
    original = Tokens.user_of

    def watched(self: Tokens, token: str) -> str | None:
        user = original(self, token)
        received.set()
        return user

    with pytest.MonkeyPatch.context() as patch, served(folder) as url:
        patch.setattr(Tokens, "user_of", watched)
        reply = httpx.post(f"{url}/ask", content=body(), headers=head)
    assert reply.status_code == 401


def test_an_edit_of_the_same_size_inode_and_time_counts(folder: Path) -> None:
    """No stamp of the file is trusted: its bytes are compared."""
    tokens = Tokens(folder)
    token = tokens.issue("eve")
    path = folder / "tokens.json"
    stamp = path.stat()
    assert tokens.user_of(token) == "eve"
    content = path.read_text().replace('"eve"', '"bob"')
    with path.open("r+") as file:
        file.write(content)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = path.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
        stamp.st_ino,
        stamp.st_size,
        stamp.st_mtime_ns,
    )
    assert tokens.user_of(token) == "bob"


def test_an_expired_token_is_refused_like_an_unknown_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, now = Tokens(folder), tokens_module.utc_now()
    token, lasting = tokens.issue("ann", expires=now + HOUR), tokens.issue("ann")
    with served(folder) as url:

        def reply(bearer: str) -> tuple[int, bytes, list[str]]:
            response = httpx.get(f"{url}/vault", headers={"Authorization": f"Bearer {bearer}"})
            return response.status_code, response.content, sorted(response.headers)

        assert reply(token)[0] == 200
        monkeypatch.setattr(tokens_module, "utc_now", lambda: now + HOUR)
        assert reply(token) == reply("unknown")
        assert reply(token)[0] == 401
        assert reply(lasting)[0] == 200


@pytest.mark.parametrize("zone", [None, dt.UTC])
def test_an_expiry_lies_ahead_and_has_a_zone(folder: Path, zone: dt.tzinfo | None) -> None:
    with pytest.raises(ParameterError, match="expires"):
        Tokens(folder).issue("ann", expires=dt.datetime(2000 if zone else 9000, 1, 1, tzinfo=zone))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "[1]",
        '{"a": 1}',
        '{"a": null}',
        '{"a": {"user": "x"}}',
        '{"a": {"user": 1, "expires": null}}',
        '{"a": {"user": "x", "expires": 5}}',
        '{"a": {"user": "x", "expires": "soon"}}',
        '{"a": {"user": "x", "expires": "2030-01-01"}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_lets_nobody_in(folder: Path, content: str) -> None:
    (folder / "tokens.json").unlink(missing_ok=True)
    tokens = Tokens(folder)
    token = tokens.issue("ann")
    (folder / "tokens.json").write_text(content)
    with pytest.raises(InputError, match="cannot be read"):
        tokens.user_of(token)
    with pytest.raises(InputError, match="cannot be read"):
        tokens.issue("bob")
    (folder / "tokens.json").unlink()


def test_a_service_whose_tokens_are_damaged_lets_nobody_in(tmp_path: Path) -> None:
    folder = vault_folder(tmp_path)
    head = token_header(folder)
    content = (folder / "tokens.json").read_bytes()
    with served(folder) as url:
        for damaged in (content[:-1], b"", content):
            (folder / "tokens.json").write_bytes(damaged)
            reply = httpx.get(f"{url}/vault", headers=head)
            assert reply.status_code == (200 if damaged == content else 503)
            assert str(folder) not in reply.text


def test_a_damaged_file_ends_with_the_damage(folder: Path) -> None:
    (folder / "tokens.json").unlink(missing_ok=True)
    tokens = Tokens(folder)
    token = tokens.issue("ann")
    content = (folder / "tokens.json").read_bytes()
    (folder / "tokens.json").write_bytes(b"")
    with pytest.raises(InputError):
        tokens.user_of(token)
    (folder / "tokens.json").write_bytes(content)
    assert tokens.user_of(token) == "ann"


def test_without_its_file_nobody_has_a_token(folder: Path) -> None:
    tokens = Tokens(folder)
    token = tokens.issue("ann")
    (folder / "tokens.json").unlink()
    assert tokens.user_of(token) is None


def test_a_token_of_an_older_file_has_no_expiry(folder: Path) -> None:
    tokens = Tokens(folder)
    token = tokens.issue("old")
    path = folder / "tokens.json"
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), "old")))
    assert tokens.user_of(token) == "old"


def test_a_token_revoked_meanwhile_does_not_come_back(folder: Path) -> None:
    """Whoever issues a token starts from the file, not from what was read earlier."""
    Tokens(folder).issue("mallory")
    early = Tokens(folder)
    Tokens(folder).revoke("mallory")
    early.issue("ann")
    with pytest.raises(ParameterError, match="no token"):
        Tokens(folder).revoke("mallory")


def test_tokens_issued_at_once_are_all_there(folder: Path) -> None:
    issued: list[str] = []

    def issue(user: str) -> None:
        issued.append(Tokens(folder).issue(user))

    threads = [threading.Thread(target=issue, args=(f"u{number}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tokens = Tokens(folder)
    assert sorted(str(tokens.user_of(token)) for token in issued) == sorted(f"u{n}" for n in range(16))
