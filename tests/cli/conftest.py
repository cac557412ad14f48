"""What the tests of the command line share: a small table with a planted secret, and two ways to run a command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.cli.planted import SECRET

from discreet.cli._app import app

Invoke = Callable[..., Result]
Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def secret() -> str:
    return SECRET


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Forty patients, one of whom has a secret name and a secret disease."""
    path = tmp_path / "patients.csv"
    rows = [
        f"Person {number},{20 + number % 20},{2100 + number % 7:05d},{['flu', 'cold', 'asthma'][number % 3]}"
        for number in range(39)
    ]
    rows.append(f"{SECRET},33,02103,{SECRET}")
    path.write_text("name,age,zip,disease\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def invoke() -> Invoke:
    """Run a command in this process."""

    def invoked(*args: object) -> Result:
        return CliRunner().invoke(app, [str(arg) for arg in args])

    return invoked


@pytest.fixture
def process() -> Process:
    """Run a command in a process of its own."""

    def ran(*args: object, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "discreet", *(str(arg) for arg in args)]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            check=False,
            timeout=120,
        )

    return ran
