"""The home of the studio: what to do, which file to open, and the projects that are open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool

from discreet.core.errors import DiscreetError, InputError
from discreet.engines.addresses import SCHEMES, address_of
from discreet.engines.formats import format_of
from discreet.studio import documents
from discreet.studio.app import LARGEST_UPLOAD, MissingPageError, Visit, go, stored, task_of
from discreet.studio.earlier import kind_of_path, unpacked
from discreet.studio.processes import looking
from discreet.studio.projects import Project
from discreet.studio.tasks import TASKS, Task, first_document

if TYPE_CHECKING:
    from starlette.responses import Response

DATABASE_SCHEMES = tuple(f"{scheme}://" for scheme in SCHEMES)
_LARGEST_PROJECT = 16 * 1024 * 1024
SAMPLES = {"table": "patients.csv", "numbers": "people.csv", "baskets": "baskets.dat"}


async def _home(visit: Visit) -> Response:
    from starlette.responses import RedirectResponse

    visit.projects.warm()
    task = task_of(visit)
    if visit.projects.demo:
        visit.projects.demo = False
        path = await run_in_threadpool(sample_file, task, visit.projects.folder)
        project = visit.projects.add(path.name, task, path)
        await first_look(project, {})
        return RedirectResponse(f"{visit.root}/p/{project.number}/look", status_code=303)
    files = offered_names(visit, task)
    return visit.page(
        "home.html", tasks=TASKS.values(), task=task, files=files, projects=visit.projects.all()
    )


def offered_names(visit: Visit, task: Task) -> list[str]:
    """Return what a task can open of the folder that the studio was started with, as people know it."""
    return [_offered_name(visit, path) for path in visit.projects.offered(task)]


def _offered_name(visit: Visit, path: Path) -> str:
    size = f"{max(round(path.stat().st_size / 1024), 1):,} KB"
    return f"{path.relative_to(visit.projects.files or path)} ({kind_of_path(path) or size})"


async def _upload(visit: Visit) -> Response:
    name, path = await stored(visit, largest=LARGEST_UPLOAD)
    return await _begin(visit, name, task_of(visit), path)


async def _pick(visit: Visit) -> Response:
    fields = dict(await visit.form())
    position = fields.get("file", "")
    task = task_of(visit)
    path = visit.projects.file(task, int(position) if position.isdecimal() else -1)
    return await _begin(visit, path.name, task, path, beside=path)


async def _sample(visit: Visit) -> Response:
    task = task_of(visit)
    path = await run_in_threadpool(sample_file, task, visit.projects.folder)
    return await _begin(visit, path.name, task, path)


def sample_file(task: Task, folder: Path) -> Path:
    """Write the embedded sample of a task, of which nobody exists, unless it is there; return its path."""
    from discreet.datasets import hospital, write_sample
    from discreet.engines.writing import write_frame

    if task.data == "table" and task.name != "numbers":
        path = folder / "hospital.csv"
        if not path.exists():
            write_frame(hospital(), path, "csv")
        return path
    name = "people" if task.name == "numbers" else "baskets"
    path = folder / SAMPLES["numbers" if task.name == "numbers" else "baskets"]
    return path if path.exists() else write_sample(name, folder)


async def _database(visit: Visit) -> Response:
    """Open a table of a database by its address; what is shown of it has no password."""
    address = dict(await visit.form()).get("address", "").strip()
    if not address.startswith(DATABASE_SCHEMES):
        raise InputError("Write the address of a table: postgresql://user@host/database?table=NAME.")
    return await _begin(visit, str(address_of(address)), task_of(visit), address)


async def _table(visit: Visit) -> Response:
    """Choose a table of the file of a database."""
    project, position = visit.project, dict(await visit.form()).get("table", "")
    if not position.isdecimal() or int(position) >= len(project.tables):
        raise MissingPageError
    table = quote(project.tables[int(position)])
    project.path = Path(f"{project.path}?table={table}")
    project.rename(f"{project.name}?table={table}")
    project.tables = []
    await first_look(project, {})
    return go(f"/p/{project.number}/look")


async def _begin(
    visit: Visit, name: str, task: Task, path: Path | str, *, beside: Path | None = None
) -> Response:
    """Open a file as a project, or give a restored project its data back."""
    waiting = visit.projects.named(visit.request.query_params.get("project", ""))
    project = waiting or visit.projects.add(name, task, path, beside=beside)
    project.rename(name)
    project.path, project.beside = path, beside
    if task.data == "earlier" and isinstance(path, Path):
        return await _show_earlier(project, path)
    try:
        project.tables = await project.looker.ask(looking.tables, str(path)) if task.data == "table" else []
        if len(project.tables) > 1:
            return go(f"/p/{project.number}/data")
        await _open_in_either_way(project, {} if waiting is None else project.reading)
    except DiscreetError:
        if waiting is None:
            visit.projects.remove(project)
        else:
            project.path = None
        raise
    return go(f"/p/{project.number}/look")


async def _show_earlier(project: Project, path: Path) -> Response:
    """Begin the run that shows what was made before; a release is judged by its files."""
    if path.suffix == ".zip":
        path = await run_in_threadpool(unpacked, path, project.folder / "received")
    kind = kind_of_path(path)
    if not kind:
        raise InputError("This is neither a release (.zip), a vault, a session (.toml) nor an experiment.")
    project.change("Opened", first_document(project.task, project.name))
    what = "check" if kind == "release" else "earlier"
    return go(project.start(f"The {kind} {project.name}", what, project.document, path=str(path)))


async def _open_in_either_way(project: Project, reading: dict[str, Any]) -> None:
    """Look at the data; where its first line may be a record, it is taken for one, which shows least of it."""
    try:
        await first_look(project, reading)
    except DiscreetError:
        if project.task.data != "table" or "header" in reading:
            raise
        await first_look(project, {**reading, "header": False})


async def first_look(project: Project, reading: dict[str, Any]) -> None:
    """Look at the data of a project, and propose a job where it has none yet."""
    path = str(project.path)
    if project.task.data == "table":
        preview: dict[str, Any] = await project.looker.ask(looking.preview, path, reading)
    elif project.task.data == "baskets":
        preview = await project.looker.ask(looking.baskets, path, reading)
    else:
        preview, reading = await _texts(project, path, reading)
    project.preview, project.reading = preview, reading
    if project.steps:
        _refuse_other_columns(project)
    elif project.task.has_roles:
        await _propose(project)
    else:
        project.change("Opened", _with_reading(first_document(project.task, project.name), reading))


async def _texts(
    project: Project, path: str, reading: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of texts that records can be read from, and how they are read; baskets have none."""
    if format_of(Path(path)) is None:
        return {}, reading
    rest = {name: value for name, value in reading.items() if name != "column"}
    table = await project.looker.ask(looking.preview, path, rest)
    texts = [column["name"] for column in table["columns"] if column["type"] == "text"]
    column = reading.get("column") if reading.get("column") in texts else next(iter(texts), None)
    return {"texts": texts, "n_rows": table["n_rows"]}, rest | ({} if column is None else {"column": column})


def _with_reading(document: documents.Document, reading: dict[str, Any]) -> documents.Document:
    return {**document, "input": {**document["input"], **reading}}


def _refuse_other_columns(project: Project) -> None:
    """Refuse data that a restored project is not about."""
    named, columns = project.document.get("columns"), project.columns
    if named is not None and set(named) != set(columns):
        n_others = len(set(named) ^ set(columns))
        raise InputError(
            f"The project is about other columns: {n_others} are only in the one or only in the other."
        )


async def _propose(project: Project) -> None:
    """Begin with the job that `discreet init` proposes."""
    assert project.preview is not None
    path, reading = str(project.path), project.reading
    beside = None if project.beside is None else str(project.beside)
    form = format_of(Path(path))
    stated = "header" in reading or (form is not None and form.reader not in ("text", "sheets"))
    project.proposals = await project.looker.ask(looking.proposals, path, reading, beside, stated)
    document = documents.proposed(project.name, project.proposals, project.preview["n_rows"])
    if project.task.guarantee:
        document["guarantee"] = [{"kind": project.task.guarantee, "k": 10}]
        document["method"] = {"name": "condensation"}
    project.change("Opened, with proposed roles", _with_reading(document, reading))


async def _restore(visit: Visit) -> Response:
    project = visit.projects.restore(await visit.body(_LARGEST_PROJECT))
    return go(f"/p/{project.number}/data")


async def _data(visit: Visit) -> Response:
    """Ask for the data of a project that was opened without it."""
    task = visit.project.task
    return visit.page("data.html", project=visit.project, files=offered_names(visit, task), task=task)


async def _close(visit: Visit) -> Response:
    visit.projects.remove(visit.project)
    return go("/")


ROUTES = (
    ("GET", "/", _home),
    ("POST", "/upload", _upload),
    ("POST", "/pick", _pick),
    ("POST", "/database", _database),
    ("POST", "/sample", _sample),
    ("POST", "/restore", _restore),
    ("GET", "/p/{project}/data", _data),
    ("POST", "/p/{project}/table", _table),
    ("POST", "/p/{project}/close", _close),
)
