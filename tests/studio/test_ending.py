"""However the studio ends, what was uploaded does not stay on the disk."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.studio.servers import PATIENTS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")


def _started(scratch: Path, output: int) -> tuple[subprocess.Popen[str], str]:
    """Start a studio in a session of its own, and return it with its opening address."""
    # Whoever runs the tests under nohup ignores hang-ups, and so would the studio.
    program = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); from discreet.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "studio", "--no-browser"],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=output,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[1]


def _upload(address: str) -> None:
    with httpx.Client(timeout=120, follow_redirects=True) as client:
        entered = client.get(address).text
        origin = address.partition("/open")[0]
        client.base_url = origin + re.findall(r'href="(/[^"]+)"', entered)[0]
        token = client.get("/").text.partition('discreet-token" content="')[2].partition('"')[0]
        headers = {"X-Name": "p.csv", "Origin": origin, "X-Discreet-Token": token}
        assert client.post("/upload?task=table", content=PATIENTS, headers=headers).status_code == 200


def _uploaded(scratch: Path) -> list[Path]:
    return [path for path in scratch.rglob("*.csv") if path.is_file()]


@pytest.mark.parametrize("name", ["SIGHUP", "SIGTERM", "SIGINT"])
def test_a_studio_that_is_ended_takes_its_data_with_it(tmp_path: Path, name: str) -> None:
    reader, writer = os.pipe()
    process, address = _started(tmp_path, writer)
    os.close(writer)
    _upload(address)
    assert _uploaded(tmp_path)
    os.close(reader)  # as when a terminal is closed: nothing can be written any more
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert _uploaded(tmp_path) == []


def test_the_data_of_a_killed_studio_goes_when_the_next_one_starts(tmp_path: Path) -> None:
    process, address = _started(tmp_path, subprocess.DEVNULL)
    _upload(address)
    process.kill()
    process.communicate(timeout=60)
    assert _uploaded(tmp_path)
    process, _ = _started(tmp_path, subprocess.PIPE)
    assert _uploaded(tmp_path) == []
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
