"""Parties as separate processes over loopback TLS, through the command line; killed in every round."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from parties_inspector import assert_absent
from parties_sessions import sum_of, write_session

CANARY = 4711471147
SIGNALS = {"killed": signal.SIGKILL, "interrupted": signal.SIGINT}
SECONDS = 20
HEAD = f"timeout = {SECONDS}\nconnect_timeout = 60\n"


class Ended:
    """How a party's process ended."""

    def __init__(self, process: subprocess.Popen[str], out: Path) -> None:
        self.stdout, self.stderr = process.communicate(timeout=120)
        self.code, self.out, self.at = process.returncode, out, time.monotonic()

    @property
    def wrote(self) -> bool:
        return self.out.exists() or any(self.out.parent.glob(f".{self.out.name}*"))


def run_all(
    path: Path, data: Mapping[str, Path | None], *, end: tuple[str, str, str] | None = None
) -> dict[str, Ended]:
    """Start every party; ``end`` names one, the kind of the frame before which it ends itself, and how."""
    processes, outs = {}, {}
    for name, file in data.items():
        outs[name] = path.parent / f"out-{name}"
        given = ["party", "run", str(path), "--as", name, "--out", str(outs[name])]
        given += [] if file is None else ["--data", str(file)]
        command = [sys.executable, "-m", "discreet", *given]
        if end is not None and end[0] == name:
            driver = Path(__file__).parents[1] / "parties_process.py"
            command = [sys.executable, str(driver), end[1], name, str(int(SIGNALS[end[2]])), *given]
        processes[name] = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
    with ThreadPoolExecutor(len(processes)) as pool:
        ended = pool.map(Ended, processes.values(), outs.values())
        return dict(zip(processes, ended, strict=True))


def numbers(folder: Path, name: str, values: list[int]) -> Path:
    path = folder / f"{name}.csv"
    path.write_text("value\n" + "".join(f"{value}\n" for value in values))
    return path


def items(folder: Path, name: str, values: list[str]) -> Path:
    path = folder / f"{name}.csv"
    path.write_text("item\n" + "".join(f"{value}\n" for value in values))
    return path


def assert_one_line(ended: Ended) -> None:
    assert ended.code == 2
    assert len([line for line in ended.stderr.splitlines() if line.startswith("error: ")]) == 1
    assert "Traceback" not in ended.stderr
    assert not ended.wrote
    assert_absent(CANARY, (ended.stdout + ended.stderr).encode())


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
    path = write_session(tmp_path, ("a", "b", "c"), sum_of(1, "threshold = 3"), head=HEAD)
    ended = run_all(
        path, {name: numbers(tmp_path, name, [CANARY]) for name in "abc"}, end=(who, kind, "killed")
    )
    killed = ended.pop(who)
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
