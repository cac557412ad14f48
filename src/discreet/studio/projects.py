"""Projects: a file, the job that is being made for it, every step that led there, and its runs."""

from __future__ import annotations

import io
import json
import secrets
import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.errors import InputError
from discreet.studio.documents import NAMES, Document, job_text_of
from discreet.studio.earlier import offered_earlier
from discreet.studio.origins import displayed_name, own_document, own_reading
from discreet.studio.processes.looker import Looker
from discreet.studio.processes.running import Run, start_run
from discreet.studio.tasks import TASKS, Task

RECORD = "project.json"
_FORMAT = 1
_LARGEST = 16 * 1024 * 1024
_MOST_STEPS = 200
_MOST_OPEN = 3
_NO_DATA = (".toml", ".pem", ".html", ".md", ".py", ".zip")


@dataclass
class HistoryStep:
    """What was changed, and the job from then on."""

    label: str
    document: Document


@dataclass
class Project:
    """One file and what is done with it.

    Attributes
    ----------
    name
        The name of the file, as the person knows it; it is never used as a path.
    path
        Where the data is, a text where it is an address; None until a project that was opened gets its data.
    beside
        Where hierarchy files may lie beside the data: the person's own folder, or None for what was uploaded.
    tables
        The tables of the file of a database, where one has to be chosen.
    reading
        How the file is read.
    """

    number: str
    folder: Path
    name: str
    task: Task
    path: Path | str | None
    beside: Path | None = None
    tables: list[str] = field(default_factory=list)
    reading: dict[str, Any] = field(default_factory=dict)
    steps: list[HistoryStep] = field(default_factory=list)
    position: int = -1
    preview: dict[str, Any] | None = None
    proposals: list[dict[str, Any]] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    chosen: str | None = None
    looker: Looker = field(default_factory=Looker)

    @property
    def document(self) -> Document:
        """The job as it is now."""
        return self.steps[self.position].document

    @property
    def columns(self) -> list[str]:
        """The names of the columns; empty for what has none."""
        return [] if self.preview is None else [column["name"] for column in self.preview.get("columns", [])]

    def level_name(self, column: str, level: int) -> str:
        """Return what a person calls a level of a column; empty where it has no name."""
        names = self.document.get(NAMES, {}).get(column, [])
        return names[level - 1] if 0 < level <= len(names) else ""

    def with_role(self, role: str) -> list[str]:
        """Return the columns of a role."""
        entries = self.document.get("columns", {})
        return [name for name, entry in entries.items() if entry["role"] == role]

    def change(self, label: str, document: Document) -> None:
        """Go on with another document; what was undone before is forgotten."""
        if self.steps and document == self.document:
            return
        self.steps[self.position + 1 :] = [HistoryStep(label, document)]
        del self.steps[:-_MOST_STEPS]
        self.position = len(self.steps) - 1

    def go_to(self, position: int) -> None:
        """Go back, or forward, to an earlier document."""
        self.position = min(max(position, 0), len(self.steps) - 1)

    def rename(self, name: str) -> None:
        """Take over the name of the data that a restored project got, in every step."""
        self.name = name
        for step in self.steps:
            step.document = {**step.document, "input": {**step.document["input"], "path": name}}

    def start(self, title: str, what: str, document: Document, **details: Any) -> str:
        """Start a run, and return the address of its page."""
        run = start_run(self.folder, title, what, document, **details)
        self.runs[run.number] = run
        return f"/p/{self.number}/runs/{run.number}"

    def archive(self) -> bytes:
        """Return the project as a zip: the job and its history, and no data."""
        record = {
            "format": _FORMAT,
            "name": self.name,
            "task": self.task.name,
            "reading": self.reading,
            "position": self.position,
            "steps": [{"label": step.label, "document": step.document} for step in self.steps],
        }
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(RECORD, json.dumps(record, ensure_ascii=False, indent=1))
            archive.writestr("job.toml", job_text_of(self.document))
        return stream.getvalue()

    def close(self) -> None:
        """Stop what runs, and forget the data."""
        for run in self.runs.values():
            run.cancel()
        self.looker.close()


class Projects:
    """The open projects, and the folder whose files are offered; ``demo`` opens the sample with the first page."""

    def __init__(self, folder: Path, files: Path | None = None) -> None:
        self.folder, self.files = folder, None if files is None else files.resolve()
        self.demo = False
        self._open: dict[str, Project] = {}
        self._spare = Looker()

    def all(self) -> list[Project]:
        """Return the projects, the latest first."""
        return list(reversed(self._open.values()))

    def named(self, number: str) -> Project | None:
        """Return the project of a number."""
        return self._open.get(number)

    def warm(self) -> None:
        """Start a process for the data that will be opened, so that the first look need not wait for it."""
        self._spare.start()

    def add(self, name: str, task: Task, path: Path | str | None, *, beside: Path | None = None) -> Project:
        """Open a project; of those opened long ago the data is forgotten until they are looked at again."""
        number = secrets.token_hex(6)
        folder = self.folder / number
        folder.mkdir(mode=0o700)
        project = Project(number, folder, name, task, path, beside)
        project.looker, self._spare = self._spare, Looker()
        self._open[number] = project
        for earlier in self.all()[_MOST_OPEN:]:
            earlier.looker.close()
        return project

    def remove(self, project: Project) -> None:
        """Close a project and delete what was written for it; the person's own files stay."""
        project.close()
        self._open.pop(project.number, None)
        others = {other.path for other in self._open.values()}
        if isinstance(project.path, Path) and project.beside is None and project.path not in others:
            Path(str(project.path).partition("?table=")[0]).unlink(missing_ok=True)
        shutil.rmtree(project.folder, ignore_errors=True)

    def offered(self, task: Task) -> list[Path]:
        """Return what a task can open of the offered folder: its files of data, or what was made before; no links."""
        if self.files is None:
            return []
        if task.data == "earlier":
            return offered_earlier(self.files)
        paths = [path for path in sorted(self.files.iterdir()) if path.is_file() and not path.is_symlink()]
        return [path for path in paths if not path.name.startswith(".") and path.suffix not in _NO_DATA]

    def file(self, task: Task, position: int) -> Path:
        """Return what is offered at a position: no name of a file travels back."""
        offered = self.offered(task)
        if not 0 <= position < len(offered):
            raise InputError("This file is not offered any more. Load the page again.")
        return offered[position]

    @reads("The project")
    def restore(self, content: bytes) -> Project:
        """Open a project from its zip, if the studio could have made it; its data has to be named again."""
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                info = archive.getinfo(RECORD)
                if info.file_size > _LARGEST:
                    raise InputError("The project is too large to be one.")
                record = json.loads(archive.read(info))
        except (zipfile.BadZipFile, KeyError, ValueError, RecursionError, NotImplementedError, RuntimeError):
            raise InputError("This is no project of the studio: a zip with project.json in it.") from None
        if record["format"] != _FORMAT or record["task"] not in TASKS:
            raise InputError("This project is of another version of Discreet.")
        task = TASKS[record["task"]]
        reading = own_reading(record["reading"])
        steps = [
            HistoryStep(str(step["label"]), own_document(task, step["document"])) for step in record["steps"]
        ]
        for step in steps:
            job_text_of(step.document)
        if not steps:
            raise InputError("The project is empty.")
        project = self.add(displayed_name(str(record["name"])), task, None)
        project.reading, project.steps = reading, steps
        project.go_to(int(record["position"]))
        return project

    def close(self) -> None:
        """Close all projects."""
        self._spare.close()
        for project in self.all():
            project.close()
