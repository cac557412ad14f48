"""Benchmarks judge ratios of one run, never seconds as they are, and stop peers at a limit."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of the benchmarks, as they import each other."""
    monkeypatch.syspath_prepend(str(HERE))
    yield import_module
    for name in ("rows", "reference", "measuring"):
        sys.modules.pop(name, None)


def test_a_slower_machine_judges_the_same(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, reference = load("rows"), load("reference")
    for times_slower in (0.5, 1, 20):
        seconds = reference.SECONDS * times_slower
        monkeypatch.setattr(rows, "reference", lambda s=seconds: reference.Reference(s, 2 * s, 0.0))
        assert rows.within("a", 0.99 * times_slower, 1.0, "s").state == "pass"
        assert rows.within("a", 1.01 * times_slower, 1.0, "s").state == "FAIL"
        assert rows.within("a", 1.99 * times_slower, 1.0, "s", clock=True).state == "pass"
        assert rows.rate("a", 101 / times_slower, 100).state == "pass"
        assert rows.rate("a", 99 / times_slower, 100).state == "FAIL"


def test_bytes_and_ratios_are_judged_as_they_are(load: Any) -> None:
    rows = load("rows")
    assert rows.within("a", 9.0, 10.0, "B").state == "pass"
    assert rows.within("a", 11.0, 10.0, "×").state == "FAIL"


def test_the_median_decides_near_a_bound(load: Any) -> None:
    rows = load("rows")
    measured = [rows.within("a", value, 10.0, "×") for value in (10.5, 9.0, 9.5)]
    assert rows.near(measured[0])
    assert not rows.near(rows.within("a", 20.0, 10.0, "×"))
    assert (rows.settled(measured).value, rows.settled(measured).state) == (9.5, "pass")


def test_the_reference_job_does_the_same_each_time(load: Any) -> None:
    reference = load("reference")
    assert reference.job() == reference.job()
    assert reference.reference().cpu > 0


def test_a_peer_is_stopped_at_its_limit_with_its_children(load: Any) -> None:
    measuring = load("measuring")
    sleeps = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    began = time.monotonic()
    with pytest.raises(measuring.PeerSlowError):
        measuring._finished([sys.executable, "-c", sleeps], {}, 0.5)
    assert time.monotonic() - began < 30
