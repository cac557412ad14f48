"""What a session reveals is said before it runs, for every protocol, and the doctor judges only what is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_party import run
from tests.parties.mining.models.test_model_sessions import HORIZONTAL, VERTICAL
from tests.parties.sessions import meet, sum_of, write_session

from discreet.parties import SecureSum
from discreet.parties.network.doctor import examine
from discreet.parties.network.session import PartySession, protocol_class, protocol_names

OTHERS = {
    "secure-sum": "length = 2",
    "set-union": "max_items = 2",
    "candidate-union": 'candidates = ["x", "y"]',
    "set-intersection": "max_first = 2\nmax_second = 2",
    "intersection-size": "max_first = 2\nmax_second = 2",
    "scalar-product": "n = 2",
    "comparison": "n = 2",
    "oblivious-transfer": "n = 2",
    "k-of-n-transfer": "n = 2\nk = 1\nmessage_bytes = 1",
    "matching": 'key = "id"\nmax_people = 5',
    "rules": 'min_support = 0.1\nmax_items = 5\nformat = "lines"',
    "vertical-rules": 'key = "id"\nmax_people = 5\nmin_support = 0.1\n'
    '[protocol.columns]\na = ["x"]\nb = ["y"]',
}
DESCRIBED = {**HORIZONTAL, **VERTICAL, **OTHERS}


def session_of(folder: Path, name: str) -> Path:
    """A session of three parties, or of two where the protocol or its columns are for two."""
    two = protocol_class(name).max_parties == 2 or name in {*VERTICAL, "vertical-rules"}
    return write_session(
        folder, ("a", "b") if two else ("a", "b", "c"), f'name = "{name}"\n{DESCRIBED[name]}'
    )


@pytest.mark.parametrize("name", protocol_names())
def test_every_protocol_is_explained_from_its_declarations(tmp_path: Path, name: str) -> None:
    path = session_of(tmp_path, name)
    session = PartySession.read(path)
    result = run("party", "explain", path)
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    for leak in session.protocol.leaks:
        assert " ".join(leak.split()) in words
    for member in session.members:
        assert member.fingerprint in words
        assert member.address in words
    for key in session.protocol.parameters():
        assert f"{key} = " in words
    assert session.protocol.assumption in words
    plain = json.loads(run("party", "explain", path, "--json").output)
    assert plain["session"] == f"sha256:{session.digest().hex()}"
    assert plain["parameters"].keys() == session.protocol.parameters().keys()
    assert plain["leaks"] == list(session.protocol.leaks)
    assert 1 <= plain["threshold"] <= len(session.names)
    assert plain["withstands"] == session.protocol.withstands(len(session.names))


def test_collector_threshold_and_traffic_are_those_of_a_run(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b", "c", "d"), sum_of(2, 'collector = "c"\nthreshold = 3'))
    plain = json.loads(run("party", "explain", path, "--json").output)
    assert (plain["collector"], plain["threshold"]) == ("c", 3)
    meters: dict[str, Any] = {}
    meet(
        path,
        {name: [1, 2] for name in "abcd"},
        before={n: lambda p: meters.update({p.name: p.meter}) for n in "abcd"},
    )
    opening = sum(meter.steps[0].bytes_sent for meter in meters.values())
    assert plain["traffic"]["bytes"] == sum(meter.bytes_sent for meter in meters.values()) - opening
    ring = write_session(tmp_path / "ring", ("a", "b", "c"), sum_of(2, 'method = "ring"'))
    plain = json.loads(run("party", "explain", ring, "--json").output)
    assert (plain["collector"], plain["threshold"]) == (None, 3)


def test_a_session_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "session.toml").write_text("[protocol]\n")
    result = run("party", "explain", tmp_path / "session.toml")
    assert result.exit_code == 2
    assert len(result.output.strip().splitlines()) == 1


def test_the_doctor_explains_before_it_checks(tmp_path: Path) -> None:
    path = session_of(tmp_path, "secure-sum")
    result = run("party", "doctor", path)
    lines = [line.split()[0] for line in result.output.splitlines()]
    assert lines.index("reveals") < lines.index("ok")
    assert (
        json.loads(run("party", "doctor", path, "--json").output)["explanation"]["protocol"] == "secure-sum"
    )
    assert "reveals" not in run("party", "doctor", path, "--quiet").output


def test_the_doctor_does_not_judge_the_address_of_the_last_party(tmp_path: Path) -> None:
    """Nobody dials it: its host may be unknown and its port closed, for itself and for the others."""
    path = session_of(tmp_path, "secure-sum")
    session = PartySession.read(path)
    path.write_text(path.read_text().replace(session.member("c").address, "nowhere.invalid:7001"))
    session = PartySession.read(path)
    apart = [check for check in examine(session) if not check.ok]
    assert {(check.what, check.party) for check in apart} == {("port", "a"), ("port", "b")}
    own = examine(session, "c", path.with_name("c.pem"), wait=0.2)
    assert {check.what for check in own if not check.ok} == {"meeting"}
    assert [check.ok for check in own if check.what == "port"] == [True]


@pytest.mark.skipif(
    "two_parties_see_each_other" not in SecureSum.__dataclass_fields__, reason="sums of two are not refused"
)
class TestTwoParties:
    @pytest.fixture
    def two(self, tmp_path: Path) -> Path:
        for name in "ab":
            (tmp_path / f"{name}.csv").write_text("value\n1\n2\n")
        return write_session(
            tmp_path, ("a", "b"), sum_of(2), head="timeout = 5\nconnect_timeout = 5\n", consent=False
        )

    @pytest.mark.parametrize("command", ["explain", "doctor", "run"])
    def test_two_parties_are_refused_without_consent(self, two: Path, command: str) -> None:
        more = ["--as", "a", "--data", two.with_name("a.csv"), "--out", two.with_name("out")]
        result = run("party", command, two, *(more if command == "run" else []))
        assert result.exit_code == 2
        assert "two_parties_see_each_other" in result.output.replace("-", "_")
        assert not two.with_name("out").exists()

    def test_consent_is_said_and_shown(self, two: Path) -> None:
        result = run("party", "explain", two, "--two-parties-see-each-other")
        assert result.exit_code == 0, result.output
        assert "each can compute the other's data" in result.output

    def test_the_consent_of_one_is_not_enough(self, two: Path) -> None:
        consenting, other = two.with_name("consent.toml"), two.with_name("other.toml")
        consenting.write_text(two.read_text() + "two_parties_see_each_other = true\n")
        other.write_text(two.read_text())
        assert PartySession.read(consenting) == PartySession.read(two, two_parties_see_each_other=True)
        found = meet(consenting, {"a": [1, 2], "b": [3, 4]})
        assert found["a"].values.tolist() == [4, 6]
        found = meet(consenting, {"a": [1, 2], "b": [3, 4]}, paths={"b": other})
        assert all(isinstance(outcome, Exception) for outcome in found.values())
