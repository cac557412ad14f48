"""Pages about the job: the guarantee and the method, what they would mean, and every step that led to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import DiscreetError, InputError
from discreet.engines.folders import RECORD
from discreet.job.parse import guarantee_from
from discreet.job.verbs import verb_job
from discreet.studio import documents, tasks
from discreet.studio.app import MissingPageError, Visit, download, go
from discreet.studio.column_pages import data_path
from discreet.studio.forms import Pairs, sentence
from discreet.studio.pages import template
from discreet.studio.processes import looking
from discreet.studio.projects import Project

if TYPE_CHECKING:
    from starlette.responses import Response

_SENSITIVE = "sensitive"


def columns_of_form(project: Project) -> list[str]:
    """Return the columns that fields of a form choose among: those that are published, where columns have roles."""
    if not project.task.has_roles:
        return project.columns
    return [*project.with_role("quasi"), *project.with_role(_SENSITIVE), *project.with_role("other")]


def problem_of(project: Project) -> str:
    """Return what is wrong with the job as it is; empty where it could run."""
    try:
        if project.task.makes_release:
            documents.job_of(project.document, Path("data"), None)
        else:
            verb_job({**project.document, "input": {**project.document["input"], "path": "data"}})
    except DiscreetError as error:
        return str(error)
    return ""


def promises(project: Project) -> list[str]:
    """Return what each guarantee promises, in a sentence; empty where its parameters are not right yet."""
    sentences = []
    for guarantee in project.document.get("guarantee", []):
        try:
            sentences.append(guarantee_from([guarantee], {}, Path()).describe())
        except DiscreetError:
            sentences.append("")
    return sentences


async def _protect(visit: Visit) -> Response:
    project = visit.project_with("protect")
    data_path(project)
    task, document = project.task, project.document
    groups = tasks.groups_of_form(task, document, columns_of_form(project), project.with_role(_SENSITIVE))
    chosen = [guarantee["kind"] for guarantee in document.get("guarantee", [])]
    return visit.page(
        "protect.html",
        project=project,
        step="protect",
        task=task,
        groups=groups,
        promises=promises(project),
        chosen=chosen,
        guarantees=_addable(task, document) if task.makes_release else [],
        methods=tasks.keeping_methods(task, document["guarantee"]) if task.makes_release else [],
        method=document.get("method", {}).get("name"),
        problem=problem_of(project),
        missing=[
            field.label
            for group in groups
            for field in group.fields
            if field.required and field.value is None
        ],
        sentence=sentence,
        **scripts(project),
    )


def _addable(task: tasks.Task, document: documents.Document) -> list[tuple[str, str, str]]:
    """Return the guarantees that can be joined to those of the job, or take their place."""
    present = document["guarantee"]
    return [
        (name, tasks.title_of(name), sentence(spec.words))
        for name, spec in task.guarantees().items()
        if not present or tasks.keeping_methods(task, [*present, {"kind": name}]) or len(present) <= 1
    ]


def scripts(project: Project) -> dict[str, Any]:
    """Return what does the same elsewhere: a command, a job file, Python, and SQL once it has run."""
    document = project.document
    try:
        python = documents.python_text(document)
    except DiscreetError:
        python = ""
    return {
        "command": documents.command_text(document),
        "toml": documents.job_text_of(document),
        "python": python,
        "sql": _sql(project),
    }


def _sql(project: Project) -> str:
    """Return the SQL that generalizes as the last run of this very job did; empty where no SQL says it."""
    from discreet.publish.recipes.recipe import Recipe
    from discreet.publish.recipes.sql import statement

    runs = [run for run in project.runs.values() if run.what == "release" and run.release is not None]
    made = next((run for run in reversed(runs) if run.document == project.document), None)
    if made is None or made.release is None:
        return ""
    try:
        return statement(Recipe.read(made.release / RECORD), table=Path(project.name).stem)
    except DiscreetError:
        return ""


async def _change(visit: Visit) -> Response:
    """Take over what the form was filled in with."""
    project = visit.project_with("protect")
    pairs = await visit.form()
    document = filled(project, pairs)
    project.change(_label(project.document, document), document)
    return go(f"/p/{project.number}/protect")


def filled(project: Project, pairs: Pairs) -> documents.Document:
    """Return the job with what a form was filled in with."""
    return tasks.document_from_form(
        project.task, project.document, pairs, columns_of_form(project), project.with_role(_SENSITIVE)
    )


def _label(before: documents.Document, after: documents.Document) -> str:
    """Return in a few words what was changed."""
    if before.get("method", {}).get("name") != after.get("method", {}).get("name"):
        return f"Method: {after['method']['name']}"
    for earlier, later in zip(before.get("guarantee", []), after.get("guarantee", []), strict=False):
        for name, value in later.items():
            if earlier.get(name) != value:
                return f"{tasks.title_of(later['kind'])}: {name} = {value}"
    return "Other settings"


async def _guarantee(visit: Visit) -> Response:
    """Add a guarantee, put it in place of the others where it cannot be joined to them, or take one away."""
    project, fields = visit.project_with("protect"), dict(await visit.form())
    if not project.task.makes_release:
        raise MissingPageError
    task, document = project.task, project.document
    present = list(document["guarantee"])
    if "remove" in fields:
        position = int(fields["remove"]) if fields["remove"].isdecimal() else len(present)
        if len(present) < 2 or position >= len(present):
            raise InputError(
                "A release keeps one guarantee at least. Add another one before you take this away."
            )
        label = f"Without {tasks.title_of(present[position]['kind'])}"
        del present[position]
    else:
        kind = fields.get("kind", "")
        if kind not in task.guarantees():
            raise InputError("Choose a guarantee from the list.")
        joined = [*present, {"kind": kind}]
        present = joined if tasks.keeping_methods(task, joined) else [{"kind": kind}]
        present[-1] |= tasks.first_values(task.guarantees()[kind])
        label = f"With {tasks.title_of(kind)}"
    name = tasks.method_for(task, present, document["method"].get("name"))
    method = document["method"] if name == document["method"].get("name") else {"name": name}
    project.change(label, {**document, "guarantee": present, "method": method})
    return go(f"/p/{project.number}/protect")


async def _count(visit: Visit) -> Response:
    """Count who would stand out, while the fields are changed; nothing is taken over."""
    from starlette.responses import HTMLResponse

    project = visit.project_with("protect")
    document = filled(project, await visit.form())
    if project.task.name in ("perturb", "distort"):
        try:
            drawn, problem = await _curves(project, document), ""
        except DiscreetError as error:
            drawn, problem = None, str(error)
        return HTMLResponse(template("curves.html", drawn=drawn, problem=problem))
    counts = None
    if project.task.takes == "table" and all(
        "classes" in project.task.guarantees()[part["kind"]].about for part in document["guarantee"]
    ):
        counts = await project.looker.ask(
            looking.violations,
            data_path(project),
            project.reading,
            document["columns"],
            document["guarantee"],
        )
    titles = [tasks.title_of(part["kind"]) for part in document["guarantee"]]
    return HTMLResponse(template("count.html", counts=counts, titles=titles))


async def _curves(project: Project, document: documents.Document) -> dict[str, Any] | None:
    """Return the curves of the noise, or of p and q; None where the settings do not say enough yet."""
    from discreet.studio.processes import curves

    settings, path = document[project.task.name], data_path(project)
    if project.task.name == "distort":
        p, q = settings.get("p"), settings.get("q")
        return None if p is None else await project.looker.ask(curves.pq_curves, path, project.reading, p, q)
    is_noise = (
        settings.get("columns") and settings.get("noise") and settings.get("method", "noise") == "noise"
    )
    if not is_noise:
        return {"curves": [], "names": ()}
    return await project.looker.ask(curves.noise_curves, path, project.reading, document)


async def _undo(visit: Visit) -> Response:
    project, fields = visit.project, dict(await visit.form())
    back = {"undo": project.position - 1, "redo": project.position + 1}
    position = fields.get("position", "")
    project.go_to(int(position) if position.isdecimal() else back.get(fields.get("to", ""), project.position))
    step = fields.get("here", "protect")
    page_names = {"look", "roles", "protect", "results", "hand-over", "history"}
    return go(f"/p/{project.number}/{step if step in page_names else 'protect'}")


async def _history(visit: Visit) -> Response:
    project = visit.project
    return visit.page("history.html", project=project, step="history", **scripts(project))


async def _script(visit: Visit) -> Response:
    project: Project = visit.project
    if visit.request.path_params["form"] == "job.toml":
        return download(
            documents.job_text_of(project.document).encode("utf-8"), "job.toml", "application/toml"
        )
    return download(project.archive(), "project.discreet.zip", "application/zip")


def plain_document(project: Project) -> dict[str, Any]:
    """Return the job as a run takes it, complete; what is wrong with it is an error."""
    problem = problem_of(project)
    if problem:
        raise InputError(problem)
    return dict(project.document)


ROUTES = (
    ("GET", "/p/{project}/protect", _protect),
    ("POST", "/p/{project}/protect", _change),
    ("POST", "/p/{project}/guarantee", _guarantee),
    ("POST", "/p/{project}/count", _count),
    ("POST", "/p/{project}/undo", _undo),
    ("GET", "/p/{project}/history", _history),
    ("GET", "/p/{project}/save/{form}", _script),
)
