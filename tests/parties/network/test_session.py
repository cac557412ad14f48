"""Session files, keys and the doctor: every mistake has one clear line."""

from __future__ import annotations

import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.parties.sessions import free_port, meet, sum_of, write_session

from discreet.core.errors import DiscreetError, OutputError, ParameterError
from discreet.parties import SessionError
from discreet.parties.network import keys
from discreet.parties.network.doctor import examine
from discreet.parties.network.keys import check_validity, make_keys
from discreet.parties.network.running import find_key
from discreet.parties.network.session import (
    PartySession,
    differing_keys,
    make_protocol,
    protocol_class,
    protocol_names,
)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return write_session(tmp_path, ("a", "b"), sum_of(2), head="timeout = 20\nconnect_timeout = 20\n")


def test_a_session_file_is_read_whole(two: Path) -> None:
    session = PartySession.read(two)
    assert session.names == ("a", "b")
    assert session.timeout == 20.0
    assert session.protocol == make_protocol("secure-sum", {"length": 2, "two_parties_see_each_other": True})
    assert session.member("b").address.startswith("127.0.0.1:")
    assert len(session.digest()) == 32


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("length = 2", "length = 0", "'length' parameter of SecureSum must be an int"),
        ("length = 2", "size = 2", "no parameter 'size'"),
        ("length = 2", "", "The 'length' parameter of SecureSum is missing"),
        ("secure-sum", "secure-product", "must be one of anonymize, candidate-union"),
        ('name = "secure-sum"', "", r"needs a table \[protocol\] with a name"),
        ("timeout = 20\nconnect", "timeout = -3\nconnect", "'timeout' of the session file must be"),
        ("connect_timeout", "connect_time", "unknown key 'connect_time'"),
        ('name = "b"', 'name = "a"', "Two parties of a session have the same name"),
        ('name = "b"', 'name = "b b"', "The name of a party must have"),
        ('name = "b"', "name = 5", "needs a text 'name'"),
        ('name = "b"', 'name = "b"\nrole = "x"', "unknown key 'role'"),
        ("127.0.0.1:", "127.0.0.1:0", "must be HOST:PORT|have the same address"),
        ('fingerprint = "sha256:', 'fingerprint = "sha256:0', "does not have the fingerprint beside it"),
        ('certificate = "', 'certificate = "!', "cannot be read"),
        ("[[party]]", "[[parties]]", r"unknown key 'parties'"),
        ("[protocol]", "[protocol", "is not valid TOML"),
    ],
)
def test_mistakes_in_a_session_file_are_named(two: Path, old: str, new: str, words: str) -> None:
    text = two.read_text()
    assert old in text
    two.write_text(text.replace(old, new))
    with pytest.raises(DiscreetError, match=words):
        PartySession.read(two)


def test_files_that_are_no_session_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="No such file"):
        PartySession.read(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SessionError, match="not UTF-8"):
        PartySession.read(tmp_path / "binary.toml")
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(SessionError, match=r"needs a table \[\[party\]\]"):
        PartySession.read(tmp_path / "empty.toml")


def test_two_parties_cannot_share_an_address_or_a_certificate(tmp_path: Path) -> None:
    port = free_port()
    path = write_session(tmp_path, ("a", "b"), sum_of(1), ports={"a": port, "b": port})
    with pytest.raises(SessionError, match="have the same address"):
        PartySession.read(path)


def test_the_digest_depends_on_every_key_and_on_nothing_else(two: Path) -> None:
    session = PartySession.read(two)
    assert PartySession.read(two).digest() == session.digest()
    two.write_text("# a remark\n" + two.read_text())
    assert PartySession.read(two).digest() == session.digest()
    two.write_text(two.read_text().replace("timeout = 20", "timeout = 4", 1))
    other = PartySession.read(two)
    assert other.digest() != session.digest()
    assert differing_keys(session.entries(), other.entries()) == ("timeout",)


def test_an_unknown_party_is_refused_with_the_known_ones(two: Path) -> None:
    with pytest.raises(ParameterError, match=r"no party 'c'\. It has: a, b"):
        PartySession.read(two).member("c")


def test_every_protocol_of_the_registry_declares_itself() -> None:
    for name in protocol_names():
        found = protocol_class(name)
        assert found.name == name
        assert found.assumption
    with pytest.raises(ParameterError, match="must be one of"):
        protocol_class("telepathy")


# Keys.


def test_a_private_key_is_readable_by_its_owner_alone_and_never_replaced(tmp_path: Path) -> None:
    private, public, fingerprint = make_keys("a", tmp_path)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert "PRIVATE" not in public.read_text()
    assert fingerprint in public.read_text()
    with pytest.raises(OutputError, match="keys are never replaced"):
        make_keys("a", tmp_path)


@pytest.mark.parametrize("name", ["", "a b", "../a", "ä", "-a", "a" * 41, "a\n"])
def test_names_that_are_no_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match="The name of a party"):
        make_keys(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_keys_that_cannot_be_written_are_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        make_keys("a", tmp_path / "file" / "deeper")
    with pytest.raises(ParameterError, match="'days'"):
        make_keys("a", tmp_path, days=0)


def test_an_expired_or_early_certificate_is_named(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    der = PartySession.read(two).member("a").certificate
    check_validity("a", der)
    for years, words in ((5, "expired on"), (-5, "is valid only from")):
        monkeypatch.setattr(keys, "dt", _ShiftedTime(years))
        with pytest.raises(SessionError, match=words):
            check_validity("a", der)


class _ShiftedTime:
    """The module datetime, years away."""

    def __init__(self, years: int) -> None:
        import datetime as dt

        self.UTC, self.timedelta = dt.UTC, dt.timedelta
        now = dt.datetime.now(dt.UTC) + dt.timedelta(days=365 * years)
        self.datetime = type("Shifted", (), {"now": staticmethod(lambda zone: now)})


def test_the_key_is_found_beside_the_session_or_here(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_key(two, "a") == two.with_name("a.pem")
    with pytest.raises(SessionError, match="neither beside the session file"):
        find_key(two, "z")
    elsewhere = two.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(two.parent)
    assert find_key(elsewhere / "session.toml", "a").exists()


# The doctor.


def test_the_doctor_meets_the_others_as_in_a_run(two: Path) -> None:
    found: dict[str, Any] = {}

    def visit(name: str) -> None:
        found[name] = examine(PartySession.read(two), name, two.with_name(f"{name}.pem"), wait=20)

    threads = [threading.Thread(target=visit, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for checks in found.values():
        assert all(check.ok for check in checks), checks
        assert [check.what for check in checks][-3:] == ["key", "port", "meeting"]
        assert "clock (" in checks[-1].detail


def test_the_doctor_does_not_disturb_a_waiting_run(two: Path) -> None:
    results: dict[str, Any] = {}
    waiting = threading.Thread(target=lambda: results.update(meet(two, {"a": [1, 2]})))
    waiting.start()
    checks = examine(PartySession.read(two), "b", two.with_name("b.pem"), wait=20)
    assert all(check.ok for check in checks), checks
    results.update(meet(two, {"b": [10, 20]}))
    waiting.join()
    assert results["a"].values.tolist() == [11, 22]


def test_a_run_waits_for_a_doctor_to_leave(two: Path) -> None:
    """A run that meets a doctor in the place of its peer dials again until the run is there."""
    results: dict[str, Any] = {}
    doctor = threading.Thread(
        target=lambda: examine(PartySession.read(two), "a", two.with_name("a.pem"), wait=1.0)
    )
    doctor.start()
    dialing = threading.Thread(target=lambda: results.update(meet(two, {"b": [10, 20]})))
    dialing.start()
    doctor.join()
    results.update(meet(two, {"a": [1, 2]}))
    dialing.join()
    assert results["a"].values.tolist() == [11, 22]


def test_the_doctor_names_what_is_wrong(two: Path, tmp_path: Path) -> None:
    session = PartySession.read(two)
    checks = examine(session, "b", two.with_name("b.pem"), wait=0.5)
    assert [check.detail for check in checks if not check.ok] == [
        f"Party 'a' was not reached at {session.member('a').address} in time."
    ]
    checks = examine(session, "a", two.with_name("a.pem"), wait=0.5)
    assert [check.detail for check in checks if not check.ok] == [
        "Party 'b' has not connected within 0.5 seconds."
    ]
    checks = examine(session, "a", two.with_name("b.pem"), wait=0.5)
    assert "does not fit the certificate" in next(check.detail for check in checks if not check.ok)
    with socket.create_server((session.member("a").host, session.member("a").port)):
        checks = examine(session, "a", two.with_name("a.pem"), wait=0.5)
        assert "is taken" in next(check.detail for check in checks if not check.ok)
        checks = examine(session)
        assert [check.ok for check in checks if check.what == "port"] == [True, True]
    checks = examine(session)
    assert [check.ok for check in checks if check.what == "port"] == [False, True]


def test_the_doctor_names_unknown_hosts_and_expired_certificates(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = two.read_text()
    two.write_text(text.replace(PartySession.read(two).member("a").host, "host.invalid", 1))
    bad = [check for check in examine(PartySession.read(two)) if not check.ok]
    assert {check.what for check in bad} == {"name", "port"}
    monkeypatch.setattr(keys, "dt", _ShiftedTime(5))
    assert any(
        "expired on" in check.detail
        for check in examine(PartySession.read(two))
        if check.what == "certificate"
    )


def test_the_doctor_sees_a_different_session(two: Path) -> None:
    other = two.with_name("other.toml")
    other.write_text(two.read_text().replace("length = 2", "length = 3"))
    found: dict[str, Any] = {}

    def visit(name: str, path: Path) -> None:
        found[name] = examine(PartySession.read(path), name, two.with_name(f"{name}.pem"), wait=20)

    threads = [threading.Thread(target=visit, args=pair) for pair in (("a", two), ("b", other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for checks in found.values():
        assert "differs from this one in 'protocol.length'" in checks[-1].detail
