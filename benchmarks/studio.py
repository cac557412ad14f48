"""The studio on a million rows × 10 columns: the first preview, a slider, and the memory of all its processes."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np

from rows import Row, within
from start import command

ROWS = int(os.environ.get("DISCREET_BENCH_ROWS", 1_000_000))
PREVIEW, SLIDER, MEMORY = 3.0, 0.3, 1e9
_WARM_SECONDS = 10
_TIMES = 9


def run() -> list[Row]:
    """Start the studio as an officer does, drop the file, and move the slider of k."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "visits.csv"
        _write(source)
        words = [*command(), "studio", "--no-browser"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as studio:
            try:
                assert studio.stdout is not None
                address = studio.stdout.readline().split()[-1]
                return _measured(address, studio.pid, source)
            finally:
                studio.terminate()


def _measured(address: str, process: int, source: Path) -> list[Row]:
    origin = address.partition("/open")[0]
    with httpx.Client(base_url=origin, timeout=300) as client:
        for _ in range(100):
            try:
                client.get(address)
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        # Every address of the studio begins with a secret path, to which the opening address leads.
        client.base_url = origin + re.findall(r'href="(/[^"]+)"', client.get(address).text)[0]
        token = re.findall(r'discreet-token" content="([^"]+)"', client.get("/").text)[0]
        client.headers.update({"Origin": origin, "X-Discreet-Token": token})
        # Whoever looks at the page for a while finds the process for the data waiting.
        time.sleep(_WARM_SECONDS)
        content = source.read_bytes()
        project = ""

        def preview() -> None:
            nonlocal project
            answer = client.post("/upload?task=table", content=content, headers={"X-Name": source.name})
            project = answer.json()["go"].removesuffix("/look")
            assert "The first rows" in client.get(f"{project}/look").text

        wall, cpu = _timed(preview, process)
        page = client.get(f"{project}/protect").text
        fields = re.findall(r'<input type="number" id="[^"]+" name="([^"]+)" value="([^"]+)"', page)
        about = re.findall(r'name="(guarantee\d+\.of)".*?<option selected>([^<]+)', page, re.DOTALL)

        def moved(k: int) -> None:
            pairs = [(name, value) for name, value in (*fields, *about) if name != "guarantee0.k"]
            answer = client.post(f"{project}/count", json=[["guarantee0.k", str(k)], *pairs])
            assert "would not be protected" in answer.text, answer.text

        first, _ = _timed(lambda: moved(5), process)
        taken = [_timed(lambda k=k: moved(k), process)[0] for k in range(6, 6 + _TIMES)]
        memory = sum(_highest(each) for each in _family(process))
    size = f"{ROWS / 1e6:g}M rows × 10 columns"
    note = f"the first count of all, which begins with the page, takes {first:.1f} s"
    return [
        within(f"{size}, dropped to preview", wall, PREVIEW, "s", clock=True, note=f"{cpu:.1f} s of CPU"),
        within("a slider's count", statistics.median(taken), SLIDER, "s", clock=True, note=note),
        within("highest memory of all processes", memory, MEMORY, "B"),
    ]


def _timed(work: Callable[[], None], process: int) -> tuple[float, float]:
    """Return the seconds by the clock and of CPU, of the studio's processes alone."""
    before, began = sum(map(_cpu, _family(process))), time.perf_counter()
    work()
    return time.perf_counter() - began, sum(map(_cpu, _family(process))) - before


def _family(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task")
    found = [int(each) for task in children.iterdir() for each in (task / "children").read_text().split()]
    return [process, *(each for child in found for each in _family(child))]


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _highest(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) * 1024


def _write(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    wards, diseases = (
        [f"ward {number}" for number in range(12)],
        [f"disease {number}" for number in range(30)],
    )
    columns = {
        "patient": np.arange(ROWS),
        "age": rng.integers(0, 100, ROWS),
        "sex": rng.choice(["female", "male"], ROWS),
        "zip": rng.integers(10_000, 11_000, ROWS),
        "town": rng.choice([f"town {number}" for number in range(200)], ROWS),
        "admission": np.datetime64("2020-01-01") + rng.integers(0, 1500, ROWS),
        "ward": rng.choice(wards, ROWS),
        "days": rng.integers(0, 60, ROWS),
        "cost": rng.normal(4_000, 900, ROWS).round(2),
        "disease": rng.choice(diseases, ROWS),
    }
    csv.write_csv(pa.table(columns), path)


if __name__ == "__main__":
    sys.stdout.write("\n".join(f"{row.what}: {row.shown} ({row.asked}) {row.state}" for row in run()) + "\n")
