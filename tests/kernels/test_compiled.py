"""Compiled kernels are never stale, never mixed up between types, and work without a folder for their cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import discreet.kernels
from discreet.kernels import compiled as module
from discreet.kernels.compiled import KernelCache, compiled

KERNELS = Path(discreet.kernels.__file__).parent

CALLEE = """
from discreet.kernels.compiled import compiled

@compiled
def step(value):
    return value + {step}
"""
CALLER = """
from discreet.kernels.compiled import compiled
from discreet.kernels.callee import step

@compiled
def total(values):
    result = values[0] * 0
    for value in values:
        result += step(value)
    return result
"""
RUN = """
import sys, pathlib, time
import numpy as np
from discreet.kernels.caller import total
kind, start = sys.argv[1], pathlib.Path(sys.argv[2])
pathlib.Path(sys.argv[3]).touch()
while not start.exists():
    time.sleep(0.001)
print(total(np.array([1, 2, 3], kind)), sum(total.stats.cache_hits.values()))
"""


def total(values):
    result = 0
    for value in values:
        result += value
    return result


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the kernels with two more, one of which calls the other from a second file."""
    folder = tmp_path / "src" / "discreet"
    shutil.copytree(KERNELS, folder / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "__init__.py").touch()
    (folder / "kernels" / "callee.py").write_text(CALLEE.format(step=1))
    (folder / "kernels" / "caller.py").write_text(CALLER)
    (tmp_path / "start").touch()
    return folder / "kernels"


def start(package: Path, kind: str, *, wait: str = "start", name: str = "ready") -> subprocess.Popen[str]:
    root = package.parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "NUMBA_CACHE_DIR": ""}
    arguments = [sys.executable, "-c", RUN, kind, str(root / wait), str(root / name)]
    return subprocess.Popen(arguments, env=environment, cwd=root, stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> tuple[float, int]:
    """Return what the kernel computed, and how often it came from the cache."""
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    value, hits = text.split()
    return float(value), int(hits)


def test_a_change_in_a_called_kernel_of_another_file_takes_effect(package: Path) -> None:
    assert result(start(package, "int64")) == (9, 0)
    assert result(start(package, "int64")) == (9, 1)
    (package / "callee.py").write_text(CALLEE.format(step=2))
    assert result(start(package, "int64")) == (12, 0)
    assert result(start(package, "int64")) == (12, 1)


def test_entries_of_older_sources_are_removed(package: Path) -> None:
    result(start(package, "int64"))
    before = set(package.rglob("caller.total*"))
    (package / "callee.py").write_text(CALLEE.format(step=2))
    result(start(package, "int64"))
    assert len(before) == 1
    assert len(set(package.rglob("caller.total*")) - before) == 1
    assert not before & set(package.rglob("caller.total*"))


def test_a_process_whose_sources_changed_while_it_ran_saves_nothing(package: Path) -> None:
    running = start(package, "int64", wait="later")
    while not (package.parents[2] / "ready").exists():
        assert running.poll() is None
    (package / "callee.py").write_text(CALLEE.format(step=2))
    (package.parents[2] / "later").touch()
    assert result(running) == (9, 0)
    (package / "callee.py").write_text(CALLEE.format(step=1))
    assert result(start(package, "int64")) == (9, 0)


def test_no_two_types_share_a_file(package: Path) -> None:
    """Processes that compile for different types at the same time cannot write over each other."""
    names = []
    for kind in ("int64", "float64"):
        result(start(package, kind))
        names.append({path.name for path in package.rglob("caller.total*")})
        shutil.rmtree(package / "__pycache__")
    assert names[0]
    assert names[1]
    assert not names[0] & names[1]


def test_several_first_starts_at_the_same_time(package: Path) -> None:
    kinds = ["int64", "float64", "int32", "float32", "int64", "uint8"]
    for expected_hits in (0, 1):
        begin = f"begin-{expected_hits}"
        runs = [start(package, k, wait=begin, name=f"{begin}-{i}") for i, k in enumerate(kinds)]
        while not all((package.parents[2] / f"{begin}-{i}").exists() for i in range(len(runs))):
            assert all(run.poll() is None for run in runs)
        (package.parents[2] / begin).touch()
        results = [result(run) for run in runs]
        assert [value for value, _ in results] == [9] * len(kinds)
        if expected_hits:
            assert [hits for _, hits in results] == [1] * len(kinds)


@pytest.mark.parametrize("damage", ["truncated", "altered", "emptied", "another type's"])
def test_a_damaged_entry_is_compiled_again(package: Path, damage: str) -> None:
    result(start(package, "int64"))
    [entry] = package.rglob("caller.total*")
    content = entry.read_bytes()
    if damage == "another type's":
        result(start(package, "float64"))
        [other] = set(package.rglob("caller.total*")) - {entry}
        shutil.copy(other, entry)
    else:
        middle = len(content) // 2
        altered = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        entry.write_bytes({"truncated": content[:-1], "altered": altered, "emptied": b""}[damage])
    assert result(start(package, "int64")) == (9, 0)
    assert result(start(package, "int64")) == (9, 1)


HIT_THEN_MISS = """
import sys
import numpy as np
from discreet.kernels.caller import total
print(total(np.array([1, 2, 3], "int64")), "numba.np.npyimpl" in sys.modules)
print(total(np.array([1, 2, 3], sys.argv[1])), sum(total.stats.cache_hits.values()))
"""


def test_what_only_compiling_needs_is_loaded_when_something_is_compiled(package: Path) -> None:
    assert result(start(package, "int64")) == (9, 0)
    sources = package.parents[1]
    environment = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": ""}
    words = [sys.executable, "-c", HIT_THEN_MISS, "float32"]
    run = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, cwd=sources)
    assert run.stdout.splitlines() == ["9 False", "9.0 1"]


def test_a_library_without_the_way_around_loading_everything_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "rtsys", None)
    assert compiled(total)(np.arange(7, dtype=np.uint16)) == 21


def test_a_kernel_without_a_folder_for_its_cache_is_compiled_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(KernelCache, "__init__", refuse)
    assert compiled(total)(np.arange(5)) == 10


def test_a_folder_that_cannot_be_written_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(module.tempfile, "mkstemp", refuse)
    kernel = compiled(total)
    kernel._cache.flush()  # type: ignore[attr-defined]
    assert kernel(np.arange(5.0)) == 10


def test_a_kernel_keeps_its_cache_elsewhere() -> None:
    kernel = compiled(total)
    assert kernel(np.arange(5)) == 10
    assert kernel.stats.cache_path  # type: ignore[attr-defined]


def test_no_kernel_goes_around_the_cache() -> None:
    """Numba's own cache is used nowhere: what is not compiled by this module is inlined into what is."""
    for path in KERNELS.parent.rglob("*.py"):
        text = path.read_text()
        if path.name != "compiled.py":
            assert not re.search(
                r"cache=True|enable_caching|numba\.(cfunc|vectorize|guvectorize|jit)\b", text
            ), path
            assert all("inline" in options for options in re.findall(r"numba\.njit\((.*)\)", text)), path


def test_listeners_hear_when_compiling_begins_and_ends(package: Path) -> None:
    """Twice for a kernel and the one it calls; not at all where both come from the cache."""
    script = (
        "import numpy as np, discreet.kernels as kernels\n"
        "heard = []\n"
        "kernels.listeners.append(heard.append)\n"
        "from discreet.kernels.caller import total\n"
        "total(np.array([1, 2, 3]))\n"
        "print(*heard)"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parents[1]), "NUMBA_CACHE_DIR": ""}
    printed = [
        subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert [done.stdout.split() for done in printed] == [["True", "True", "False", "False"], []]
