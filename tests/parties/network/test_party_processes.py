"""Parties as separate processes over loopback TLS, through the command line; killed in every round."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.parties.inspector import assert_absent
from tests.parties.runs import CANARY, HEAD, SECONDS, assert_one_line, items, numbers, run_all
from tests.parties.sessions import sum_of, write_session


def test_three_processes_write_the_same_sum_and_a_record_without_values(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b", "c"), sum_of(2), head=HEAD)
    data = {name: numbers(tmp_path, name, [CANARY, at]) for at, name in enumerate("abc")}
    ended = run_all(path, data)
    for name, one in ended.items():
        assert one.code == 0, one.stderr
        assert (one.out / "result.csv").read_text() == f"value\n{3 * CANARY}\n3\n"
        record = json.loads((one.out / "transcript.json").read_text())
        assert record["party"] == name
        assert record["verdict"]["basis"] == "assumed"
        assert record["leaks"]
        assert record["covers"] == ["a", "b", "c"]
        assert {kind for _, _, kind, _ in record["frames"]} >= {"keys", "masked", "result"}
        assert_absent(CANARY, (one.out / "transcript.json").read_bytes())
        assert_absent(CANARY, one.stdout.encode())


@pytest.mark.parametrize(
    ("who", "kind"),
    [("a", "relay"), ("a", "survivors"), ("a", "result"), ("b", "ready"), ("b", "keys"), ("b", "masked")],
)
def test_a_killed_party_stops_the_sum_when_it_is_needed(tmp_path: Path, who: str, kind: str) -> None:
    for attempt in range(3):  # on a loaded machine a party may give up before the other is killed
        place = tmp_path / str(attempt)
        place.mkdir()
        path = write_session(place, ("a", "b", "c"), sum_of(1, "threshold = 3"), head=HEAD)
        data = {name: numbers(place, name, [CANARY]) for name in "abc"}
        ended = run_all(path, data, end=(who, kind, "killed"))
        killed = ended.pop(who)
        if killed.code == -signal.SIGKILL:
            break
    assert killed.code == -signal.SIGKILL
    for one in ended.values():
        assert_one_line(one)
        assert one.at - killed.at < SECONDS


def test_a_killed_party_does_not_stop_the_sum_above_the_threshold(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b", "c", "d"), sum_of(1), head=HEAD)
    data = {name: numbers(tmp_path, name, [10**at]) for at, name in enumerate("abcd")}
    ended = run_all(path, data, end=("c", "masked", "killed"))
    for name in "abd":
        assert ended[name].code == 0, ended[name].stderr
        assert (ended[name].out / "result.csv").read_text() == "value\n1011\n"
        assert json.loads((ended[name].out / "transcript.json").read_text())["covers"] == ["a", "b", "d"]
        assert "a, b, d" in ended[name].stdout
    assert not ended["c"].wrote


@pytest.mark.parametrize(
    ("who", "kind"), [("b", "encrypted"), ("c", "full"), ("b", "merged"), ("a", "decrypted"), ("c", "union")]
)
def test_a_killed_party_stops_the_union_in_every_round(tmp_path: Path, who: str, kind: str) -> None:
    path = write_session(tmp_path, ("a", "b", "c"), 'name = "set-union"\nmax_items = 2', head=HEAD)
    data = {name: items(tmp_path, name, [str(CANARY)]) for name in "abc"}
    ended = run_all(path, data, end=(who, kind, "killed"))
    killed = ended.pop(who)
    assert killed.code == -signal.SIGKILL
    for one in ended.values():
        assert_one_line(one)
        assert one.at - killed.at < SECONDS


def test_an_interrupted_party_leaves_with_130_and_the_others_know_why(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b"), sum_of(1, 'method = "ring"'), head=HEAD)
    data = {name: numbers(tmp_path, name, [CANARY]) for name in "ab"}
    ended = run_all(path, data, end=("b", "running", "interrupted"))
    assert ended["b"].code == 130
    assert not ended["b"].wrote
    assert_one_line(ended["a"])
    assert "Party 'b' stopped: it was interrupted" in ended["a"].stderr


def test_a_union_over_candidates_among_processes(tmp_path: Path) -> None:
    protocol = 'name = "candidate-union"\ncandidates = ["beer", "bread", "milk"]'
    path = write_session(tmp_path, ("h", "a", "b"), protocol, head=HEAD)
    data = {"h": None, "a": items(tmp_path, "a", ["bread"]), "b": items(tmp_path, "b", ["bread", "beer"])}
    ended = run_all(path, data)
    for one in ended.values():
        assert one.code == 0, one.stderr
        assert (one.out / "result.csv").read_text() == "item\nbeer\nbread\n"
