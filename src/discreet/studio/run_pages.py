"""Pages about runs: their progress, their results side by side, and what is handed over."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from discreet.core.errors import InputError
from discreet.core.registry import METHODS
from discreet.report.folder import private_folder
from discreet.report.page import script_json, trusted
from discreet.studio import tasks
from discreet.studio.app import MissingPageError, Visit, download, go, stored
from discreet.studio.checklist import checklist
from discreet.studio.column_pages import data_path
from discreet.studio.job_pages import filled, plain_document, scripts
from discreet.studio.processes.running import Run
from discreet.studio.projects import Project
from discreet.studio.results import choices_chart

if TYPE_CHECKING:
    from starlette.responses import Response

_SHARES = (0.0, 0.02, 0.05)
_SECONDS = 30.0
_USABLE = ("release", "apply", "explore", "compare")
_REPORTS = {"report.html": "text/html", "release.json": "application/json"}


async def _start(visit: Visit) -> Response:
    """Start a run of the job as the form has it."""
    project = visit.project_with("protect")
    pairs = await visit.form()
    fields = dict(pairs)
    if len(pairs) > 1:
        project.change("Settings of a run", filled(project, pairs))
    document, task = plain_document(project), project.task
    titles = {"release": _title(document)} if task.makes_release else {"verb": task.title}
    if task.has_roles:
        titles |= {"explore": "Ways to keep the guarantee", "judge": f"Check of {project.name} as it is"}
    if task.role == "hider":
        titles |= {"compare": "What each method loses"}
    what = fields.get("what", task.action)
    what = what if what in titles else next(iter(titles))
    details: dict[str, dict[str, Any]] = {
        "explore": {"shares": _SHARES, "seconds": _SECONDS},
        "verb": {"ending": task.ending},
    }
    return go(project.start(titles[what], what, document, path=data_path(project), **details.get(what, {})))


def _title(document: Mapping[str, Any]) -> str:
    """Return a name for a run: its method and the numbers of its guarantees."""
    parts = []
    for guarantee in document["guarantee"]:
        numbers = [f"{name} = {value}" for name, value in guarantee.items() if isinstance(value, int | float)]
        parts.append(", ".join(numbers[:2]) or tasks.title_of(guarantee["kind"]))
    return f"{document['method'].get('name')}: {'; '.join(parts)}"


def _run(visit: Visit) -> tuple[Project, Run]:
    project = visit.project
    run = project.runs.get(visit.request.path_params["run"])
    if run is None:
        raise MissingPageError
    return project, run


async def _show(visit: Visit) -> Response:
    project, run = _run(visit)
    result = run.result if run.state == "done" else None
    chart = ""
    if run.what == "explore" and result is not None:
        chart = trusted(script_json(choices_chart(result["choices"])))
    page = trusted(run.page) if run.state == "done" else ""
    return visit.page(
        "run.html",
        project=project,
        step="results",
        run=run,
        result=result,
        chart=chart,
        content=page,
        columns=_levelled(run),
        methods=METHODS,
    )


def _levelled(run: Run) -> list[str]:
    """Return the columns whose levels a node of the lattice of a run names, in turn."""
    name = {"release": "levels", "explore": "heights"}.get(run.what, "")
    return list(run.result.get(name) or ()) if run.state == "done" else []


async def _events(visit: Visit) -> Response:
    from starlette.responses import StreamingResponse

    _, run = _run(visit)
    return StreamingResponse(run.events(), media_type="text/event-stream")


async def _cancel(visit: Visit) -> Response:
    project, run = _run(visit)
    run.cancel()
    return go(f"/p/{project.number}/runs/{run.number}")


async def _use(visit: Visit) -> Response:
    """Choose a release to hand over, or take over a solution that was found."""
    project, run = _run(visit)
    fields = dict(await visit.form())
    position = fields.get("choice", "")
    if run.state != "done" or run.what not in _USABLE:
        raise InputError("This run has made no release.")
    if "levels" in fields:
        return _use_levels(project, run, fields["levels"])
    if run.what in ("release", "apply"):
        project.chosen = run.number
        return go(f"/p/{project.number}/hand-over")
    choices = run.result["choices"]
    if not position.isdecimal() or int(position) >= len(choices):
        raise MissingPageError
    choice = choices[int(position)]
    options = METHODS[choice["method"]].options()
    method: dict[str, Any] = {"name": choice["method"]}
    if choice.get("levels") is not None:
        method["levels"] = choice["levels"]
    if "max_suppressed" in options and "share" in choice:
        method["max_suppressed"] = choice["share"]
    project.change(f"Solution {int(position) + 1}: {choice['method']}", {**run.document, "method": method})
    return go(f"/p/{project.number}/protect")


def _use_levels(project: Project, run: Run, text: str) -> Response:
    """Take over a node of the lattice, which its picture names by the levels of the columns in turn."""
    names, levels = _levelled(run), text.split(",")
    if len(levels) != len(names) or not all(level.isdecimal() for level in levels):
        raise MissingPageError
    method = {"name": "generalization", "levels": dict(zip(names, map(int, levels), strict=True))}
    shares = {**run.document["method"], **({"max_suppressed": _SHARES[-1]} if run.what == "explore" else {})}
    method |= {name: value for name, value in shares.items() if name == "max_suppressed"}
    project.change(f"Levels {', '.join(levels)}", {**run.document, "method": method})
    return go(f"/p/{project.number}/protect")


async def _results(visit: Visit) -> Response:
    project = visit.project
    runs = list(reversed(project.runs.values()))
    compared = [(run, run.result) for run in runs if run.state == "done" and run.what in ("release", "apply")]
    others = [run for run in runs if not (run.state == "done" and run.what in ("release", "apply"))]
    return visit.page("results.html", project=project, step="results", compared=compared, others=others)


async def _hand_over(visit: Visit) -> Response:
    project = visit.project_with("hand-over")
    run = project.runs.get(project.chosen or "")
    steps = None if run is None else checklist(run.result, run.document)
    names = [] if run is None else sorted(path.name for path in run.out.iterdir())
    return visit.page(
        "hand_over.html",
        project=project,
        step="hand-over",
        run=run,
        checks=steps,
        names=names,
        **scripts(project),
    )


async def _file(visit: Visit) -> Response:
    """Return the release as a zip, one of its files, or what a verb wrote, to be saved."""
    _, run = _run(visit)
    name = visit.request.path_params["name"]
    if run.state != "done":
        raise MissingPageError
    if name == "evidence.zip" and run.what == "evidence":
        return download(await run_in_threadpool(_zipped, run.out, "evidence"), name, "application/zip")
    if name == "release.zip" and run.release is not None:
        return download(await run_in_threadpool(_zipped, run.release, "release"), name, "application/zip")
    folder = private_folder(run.out)
    if name == "private.zip" and folder.is_dir():
        return download(await run_in_threadpool(_zipped, folder, "release.private"), name, "application/zip")
    if name in _REPORTS and (run.out / name).is_file():
        return download((run.out / name).read_bytes(), name, _REPORTS[name])
    if run.what == "verb" and name == "result" and run.result["file"]:
        path = run.folder / run.result["file"]
        return download(path.read_bytes(), f"result{path.suffix}")
    raise MissingPageError


def _zipped(folder: Path, name: str) -> bytes:
    """Return the files of a folder as a zip, without the dates of their making."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.writestr(zipfile.ZipInfo(f"{name}/{path.name}"), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()


async def _next_month(visit: Visit) -> Response:
    """Protect new rows as a release of this project did."""
    project, run = _run(visit)
    name, path = await stored(visit)
    return _with_release(project, run, f"The same for {name}", "apply", path)


async def _attack(visit: Visit) -> Response:
    """Attack a release with the original, which is uploaded where it is not the project's own data.

    An attack is made again with the file of a control group.
    """
    project, run = _run(visit)
    if run.what == "attack":
        record, control = run.record, str((await stored(visit))[1])
        title = f"{run.title}, with a control group"
        return _with_release(project, run, title, "attack", record["path"], control=control)
    path = project.path if run.what == "release" else (await stored(visit))[1]
    if path is None:
        raise MissingPageError
    return _with_release(project, run, f"Attacks: {run.title}", "attack", path)


async def _evidence(visit: Visit) -> Response:
    """Write the identifiability statement of a release, for the recipient that the form names."""
    project, run = _run(visit)
    fields = dict(await visit.form())
    context = {name: fields.get(name, "").strip() for name in ("recipient", "environment")}
    if not context["recipient"] or context["environment"] not in ("public", "controlled"):
        raise InputError("Write down who receives the release, and whether it is public.")
    return _with_release(project, run, f"Evidence: {run.title}", "evidence", "", **context)


def _with_release(
    project: Project, run: Run, title: str, what: str, path: Path | str, **details: str
) -> Response:
    """Start a run that takes a release and a file."""
    if run.release is None:
        raise MissingPageError
    document = {**run.document, "reading": project.reading}
    return go(project.start(title, what, document, path=str(path), release=str(run.release), **details))


async def _check(visit: Visit) -> Response:
    """Judge the release once more, by a copy of its files alone, as whoever receives it would."""
    project, run = _run(visit)
    if run.release is None:
        raise MissingPageError
    copy = project.folder / f"{run.number}-received"
    shutil.rmtree(copy, ignore_errors=True)
    await run_in_threadpool(shutil.copytree, run.release, copy)
    return go(project.start(f"Check of {run.title}", "check", run.document, path=str(copy)))


ROUTES = (
    ("POST", "/p/{project}/runs", _start),
    ("GET", "/p/{project}/runs/{run}", _show),
    ("GET", "/p/{project}/runs/{run}/events", _events),
    ("POST", "/p/{project}/runs/{run}/cancel", _cancel),
    ("POST", "/p/{project}/runs/{run}/use", _use),
    ("POST", "/p/{project}/runs/{run}/next", _next_month),
    ("POST", "/p/{project}/runs/{run}/attack", _attack),
    ("POST", "/p/{project}/runs/{run}/evidence", _evidence),
    ("POST", "/p/{project}/runs/{run}/check", _check),
    ("GET", "/p/{project}/runs/{run}/save/{name}", _file),
    ("GET", "/p/{project}/results", _results),
    ("GET", "/p/{project}/hand-over", _hand_over),
)
