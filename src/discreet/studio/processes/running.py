"""Runs: a job in a process of its own, with its progress, its end, and what it left in its folder."""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from discreet.engines.folders import RECORD

State = Literal["running", "done", "failed", "cancelled"]
JOB, RESULT, PAGE, OUT = "run.json", "result.json", "page.html", "release"
_TICK = 0.25
_BEAT = 15.0


@dataclass
class Run:
    """One run of a job.

    Attributes
    ----------
    what
        What it does: a name of the worker's tasks, such as ``"release"`` or ``"check"``.
    document
        The job as it was when the run began.
    """

    number: str
    folder: Path
    title: str
    what: str
    document: dict[str, Any]
    state: State = "running"
    stage: str = "Starting"
    share: float = 0.0
    error: str = ""
    remedy: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def result(self) -> dict[str, Any]:
        """What the run says of its result."""
        content: dict[str, Any] = json.loads((self.folder / RESULT).read_text(encoding="utf-8"))
        return content

    @property
    def page(self) -> str:
        """The blocks of the result as HTML that the run rendered, every value escaped."""
        path = self.folder / PAGE
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @property
    def out(self) -> Path:
        """What the run wrote: the folder of a release, or a file."""
        return self.folder / OUT

    @property
    def record(self) -> dict[str, Any]:
        """What the run was started with."""
        content: dict[str, Any] = json.loads((self.folder / JOB).read_text(encoding="utf-8"))
        return content

    @property
    def release(self) -> Path | None:
        """The folder of the release that the run made, judged or attacked; None where there is none."""
        field = {"check": "path", "attack": "release"}.get(self.what)
        folder = self.out if field is None else Path(self.record[field])
        return folder if self.state == "done" and (folder / RECORD).is_file() else None

    def progress(self) -> dict[str, Any]:
        """Return how far the run is, as plain data."""
        return {
            "state": self.state,
            "stage": self.stage,
            "share": round(self.share, 3),
            "seconds": round(self.seconds, 1),
        }

    async def events(self) -> AsyncIterator[str]:
        """Return how far the run is as server-sent events, until it ends."""
        sent, quiet = "", 0.0
        while True:
            event = json.dumps({**self.progress(), "seconds": int(self.seconds)})
            if event != sent or quiet > _BEAT:
                yield f"data: {event}\n\n"
                sent, quiet = event, 0.0
            if self.state != "running":
                return
            await asyncio.sleep(_TICK)
            quiet += _TICK

    def cancel(self) -> None:
        """Stop the run; nothing it wrote counts."""
        if self.state == "running":
            self.state, self.ended = "cancelled", time.monotonic()
            if self.process is not None:
                self.process.kill()

    def watch(self) -> None:
        """Read what the process reports, line by line, until it ends; in a thread of its own."""
        assert self.process is not None
        assert self.process.stdout is not None
        done = False
        for line in self.process.stdout:
            report = json.loads(line)
            self.stage, self.share = report.get("stage", self.stage), report.get("share", self.share)
            self.error, self.remedy = report.get("error", self.error), report.get("fix", self.remedy)
            done = done or report.get("done", False)
        self.process.stdout.close()
        self.process.wait()
        if self.state == "running":
            self.state = "done" if done and not self.error else "failed"
            self.ended = time.monotonic()
            if self.state == "failed" and not self.error:
                self.error = "The run ended unexpectedly, perhaps for lack of memory. Nothing was written."


def start_run(folder: Path, title: str, what: str, document: dict[str, Any], **details: Any) -> Run:
    """Start a run in a process of its own; what it needs is written into its folder, and not into its command."""
    number = secrets.token_hex(6)
    run_folder = folder / number
    run_folder.mkdir(mode=0o700)
    run = Run(number, run_folder, title, what, document)
    job: Mapping[str, Any] = {"what": what, "document": document, **details}
    (run_folder / JOB).write_text(json.dumps(job), encoding="utf-8")
    run.process = subprocess.Popen(
        [sys.executable, "-m", "discreet.studio.processes.worker", str(run_folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    threading.Thread(target=run.watch, daemon=True).start()
    return run
