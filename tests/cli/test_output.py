"""What becomes of a command whose output cannot be written: no other verdict, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("age\n" + "30\n" * 400)
    return path


def test_output_that_nobody_reads_does_not_look_like_a_broken_guarantee(table: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [sys.executable, "-m", "discreet", "check", str(table), "--quasi", "age", "-k", "3"]
    ran = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert ran.returncode == 141
    assert ran.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_full_disk_for_the_output_is_one_line(table: Path, options: tuple[str, ...]) -> None:
    arguments = [sys.executable, "-m", "discreet", "check", str(table), "--quasi", "age", "-k", "3", *options]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: the system refused: No space left on device.")
    assert "Traceback" not in ran.stderr
