"""Protocols of two parties as separate processes over loopback TLS, through the command line."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.parties.inspector import assert_absent
from tests.parties.runs import CANARY, HEAD, assert_one_line, items, numbers, run_all
from tests.parties.sessions import meet, write_session

PRODUCT = 'name = "scalar-product"\nn = 3\nfirst_bits = 40\noutput = "second"'
INTERSECTION = 'name = "set-intersection"\nmax_first = 10\nmax_second = 10\noutput = "both"'
COMPARISON = 'name = "comparison"\nn = 3\nof = "values"'


def test_a_scalar_product(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b"), PRODUCT, head=HEAD)
    data = {"a": numbers(tmp_path, "a", [CANARY, 5, -2]), "b": numbers(tmp_path, "b", [1, 0, 1])}
    ended = run_all(path, data)
    assert [one.code for one in ended.values()] == [0, 0], [one.stderr for one in ended.values()]
    assert (ended["b"].out / "result.csv").read_text() == f"first,second,product\n0,0,{CANARY - 2}\n"
    assert (ended["a"].out / "result.csv").read_text() == "first,second,product\n"
    record = json.loads((ended["a"].out / "transcript.json").read_text())
    assert {kind for _, _, kind, _ in record["frames"]} >= {"ot.columns", "ot.corrections", "share"}
    assert_absent(CANARY, (ended["a"].out / "transcript.json").read_bytes())


def test_an_intersection(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b"), INTERSECTION, head=HEAD)
    data = {"a": items(tmp_path, "a", ["ada", "bob", "7"]), "b": items(tmp_path, "b", ["bob", "joe", "7"])}
    ended = run_all(path, data)
    for one in ended.values():
        assert one.code == 0, one.stderr
        assert (one.out / "result.csv").read_text() == "element\n7\nbob\n"


@pytest.mark.parametrize(
    ("protocol", "who", "kind"),
    [
        (PRODUCT, "a", "ot.corrections"),
        (COMPARISON, "b", "bits.opened"),
        (COMPARISON, "a", "ot.base.choices"),
    ],
)
def test_a_killed_party_stops_the_other(tmp_path: Path, protocol: str, who: str, kind: str) -> None:
    path = write_session(tmp_path, ("a", "b"), protocol, head=HEAD)
    data = {"a": numbers(tmp_path, "a", [CANARY, 2, 3]), "b": numbers(tmp_path, "b", [1, 0, 1])}
    ended = run_all(path, data, end=(who, kind, "killed"))
    assert ended.pop(who).code == -signal.SIGKILL
    for one in ended.values():
        assert_one_line(one)
        assert f"Party '{who}'" in one.stderr


def test_bad_data_is_refused_before_anybody_is_reached(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b"), PRODUCT, head=HEAD)
    ended = run_all(path, {"a": numbers(tmp_path, "a", [CANARY, CANARY * 10**6, 3])})
    assert_one_line(ended["a"], code=2)
    assert "must hold integers in" in ended["a"].stderr


@pytest.mark.parametrize(
    ("protocol", "first", "second", "expected"),
    [
        (COMPARISON, [1, 2, 3], [3, 2, 1], [False, True, True]),
        ('name = "intersection-size"\nmax_first = 5\nmax_second = 5\noutput = "both"', ["x", "y"], ["y"], 1),
        ('name = "k-of-n-transfer"\nn = 2\nmessage_bytes = 2', [b"ab", b"cd"], [1], [b"cd"]),
        ('name = "oblivious-transfer"\nn = 70000\nform = "random"', None, [0, 1] * 35000, None),
    ],
)
def test_every_protocol_over_tls(
    tmp_path: Path, protocol: str, first: object, second: object, expected: object
) -> None:
    path = write_session(tmp_path, ("a", "b"), protocol)
    found = meet(path, {"a": first, "b": second})
    assert not [one for one in found.values() if isinstance(one, Exception)]
    if expected is not None:
        output = found["b"]
        assert (output.tolist() if hasattr(output, "tolist") else output) == expected
    else:
        assert (found["a"][range(70000), second] == found["b"]).all()
