"""Pages about the columns of a table: a look at them, their roles, and the editor of their hierarchies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from discreet.core.errors import DiscreetError, InputError
from discreet.core.hierarchy.code_systems import system_names
from discreet.core.hierarchy.scales import scale_names
from discreet.core.registry import METHODS
from discreet.core.schema import Role
from discreet.studio import editing
from discreet.studio.app import MissingPageError, Visit, download, go
from discreet.studio.documents import NAMES
from discreet.studio.home_pages import first_look
from discreet.studio.origins import READ_BY
from discreet.studio.pages import template
from discreet.studio.processes import looking
from discreet.studio.projects import Project

if TYPE_CHECKING:
    from starlette.responses import Response

ROLES = {
    Role.IDENTIFIER: ("Identifier", "names a person; left out"),
    Role.PERSON: ("Person", "says whose row it is; left out, and people are counted"),
    Role.QUASI: ("Quasi-identifier", "others may know it; made coarser"),
    Role.SENSITIVE: ("Sensitive", "must not be learned about a person; kept exact"),
    Role.OTHER: ("Other", "neither; kept exact"),
    Role.DROP: ("Not needed", "nobody needs it; left out"),
}
_LONGEST_NAME = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def data_path(project: Project) -> str:
    """Return where the data of a project is; a restored project may not have it yet."""
    if project.path is None:
        raise InputError("Choose the data of this project first.")
    return str(project.path)


async def _look(visit: Visit) -> Response:
    project = visit.project_with("look")
    data_path(project)
    return visit.page("look.html", project=project, step="look", preview=project.preview)


async def _pairs(visit: Visit) -> Response:
    from starlette.responses import HTMLResponse

    project = visit.project_with("look")
    if not project.columns:
        raise MissingPageError
    roles = {name: entry["role"] for name, entry in project.document.get("columns", {}).items()}
    names = [name for name in project.columns if roles.get(name) not in ("identifier", "person", "drop")]
    unique = await project.looker.ask(looking.unique_pairs, data_path(project), project.reading, names)
    return HTMLResponse(template("pairs.html", **unique))


async def _reading(visit: Visit) -> Response:
    """Read the file another way."""
    project, fields = visit.project_with("look"), dict(await visit.form())
    reading: dict[str, Any] = {
        name: fields[name]
        for name in READ_BY
        if fields.get(name, "").strip()
        and name != "header"
        and (name != "column" or project.task.data == "records")
    }
    if "delimiter" in reading:
        reading["delimiter"] = {"\\t": "\t", "tab": "\t"}.get(reading["delimiter"], reading["delimiter"])
    if fields.get("header") in ("yes", "no"):
        reading["header"] = fields["header"] == "yes"
    earlier = project.steps, project.position
    project.steps, project.position = [], -1
    try:
        await first_look(project, reading)
    except DiscreetError:
        project.steps, project.position = earlier
        raise
    return go(f"/p/{project.number}/look")


async def _roles(visit: Visit) -> Response:
    project = visit.project_with("roles")
    proposals = {proposal["name"]: proposal for proposal in project.proposals}
    # What becomes of a column stands after the semicolon: it is so where a table is generalized, and nowhere else.
    is_generalized = project.task.name == "table"
    roles = {
        role.value: (title, words if is_generalized else words.partition(";")[0])
        for role, (title, words) in ROLES.items()
    }
    return visit.page(
        "roles.html",
        project=project,
        step="roles",
        roles=roles,
        entries=project.document["columns"],
        proposals=proposals,
        ways=editing.WAYS,
        way_of=editing.way_of,
    )


async def _role(visit: Visit) -> Response:
    """Change the role of a column."""
    project, fields = visit.project_with("roles"), dict(await visit.form())
    name = _column(project, fields.get("column", ""))
    role = next((role for role in Role if role.value == fields.get("role")), None)
    if role is None:
        raise InputError("Choose a role from the list.")
    document = project.document
    columns, entry = dict(document["columns"]), {"role": role.value}
    if role in (Role.QUASI, Role.SENSITIVE):
        proposals = {proposal["name"]: proposal["hierarchy"] for proposal in project.proposals}
        hierarchy = columns[name].get("hierarchy") or (proposals.get(name) if role is Role.QUASI else None)
        entry |= {} if hierarchy is None else {"hierarchy": hierarchy}
    if role is Role.PERSON:
        columns = {
            other: {"role": "identifier"} if column["role"] == "person" else column
            for other, column in columns.items()
        }
    columns[name] = entry
    guarantees = [
        guarantee
        for guarantee in document["guarantee"]
        if guarantee.get("of") is None or columns.get(guarantee["of"], {}).get("role") == "sensitive"
    ]
    label = f"“{name}” is {ROLES[role][0].lower()}"
    project.change(label, {**document, "columns": columns, "guarantee": guarantees})
    return go(f"/p/{project.number}/roles")


def _column(project: Project, position: str) -> str:
    """Return the column at a position; no name of a column travels in an address."""
    if not position.isdecimal() or int(position) >= len(project.columns):
        raise MissingPageError
    return project.columns[int(position)]


def _here(visit: Visit) -> tuple[Project, str, str]:
    """Return the project, the column of the address, and the address of its page."""
    project = visit.project_with("roles")
    position = visit.request.path_params["column"]
    return project, _column(project, position), f"/p/{project.number}/column/{position}"


async def _editor(visit: Visit) -> Response:
    project, name, address = _here(visit)
    entry = project.document["columns"][name].get("hierarchy")
    path = data_path(project)
    drawn = await project.looker.ask(looking.histogram, path, project.reading, name)
    way = visit.request.query_params.get("way") or editing.way_of(entry)
    levels, problem, lines = None, "", None
    if entry is not None:
        try:
            levels = await project.looker.ask(looking.hierarchy_levels, path, project.reading, name, entry)
        except DiscreetError as error:
            problem = str(error)
    level = 1
    if way == "groups":
        try:
            source = entry if entry != {"rows": []} else None
            lines = await project.looker.ask(looking.lines_of, path, project.reading, name, source)
            level_text = visit.request.query_params.get("level", "1")
            level = min(max(int(level_text) if level_text.isdecimal() else 1, 1), max(len(lines[0]) - 2, 1))
        except DiscreetError as error:
            problem = problem or str(error)
    counts = dict(drawn["bars"]) if not drawn["line"] else {}
    return visit.page(
        "column.html", project=project, step="roles", name=name, address=visit.root + address, entry=entry or {},
        way=way, method=project.document["method"].get("name"), limits=_limits(project, name),
        ways=editing.WAYS, drawn=drawn, levels=levels, problem=problem, level=level, counts=counts,
        boxes=None if lines is None else editing.value_groups(lines, level),
        n_levels=0 if lines is None else len(lines[0]) - 2,
        systems=system_names(), scales=scale_names(), role=project.document["columns"][name]["role"],
    )  # fmt: skip


async def _set(visit: Visit) -> Response:
    """Set the hierarchy of a column by the editor's fields."""
    project, name, address = _here(visit)
    pairs = await visit.form()
    way = dict(pairs).get("way")
    if way == "groups":
        return go(f"{address}?way=groups")
    entry = editing.entry_from_form(pairs)
    if entry is not None:
        await project.looker.ask(looking.checked_entry, data_path(project), project.reading, name, entry)
    _change(project, name, entry, f"“{name}”: {way}")
    return go(address)


async def _try(visit: Visit) -> Response:
    """Show what a hierarchy would make of a column, while its fields are filled in."""
    from starlette.responses import HTMLResponse

    project, name, _ = _here(visit)
    entry = editing.entry_from_form(await visit.form())
    if entry is None:
        return HTMLResponse("")
    levels = await project.looker.ask(
        looking.hierarchy_levels, data_path(project), project.reading, name, entry
    )
    return HTMLResponse(template("levels.html", levels=levels))


def _limits(project: Project, name: str) -> tuple[int, int | None] | None:
    """Return the lowest and highest level that the method may take; None where it chooses row by row."""
    method = project.document["method"]
    if not {"lowest", "highest"} <= METHODS[method["name"]].options().keys():
        return None
    return method.get("lowest", {}).get(name, 0), method.get("highest", {}).get(name)


async def _name_levels(visit: Visit) -> Response:
    """Name the levels of a column, and set between which of them the method may choose."""
    project, name, address = _here(visit)
    pairs = await visit.form()
    fields, document = dict(pairs), project.document
    names = [text.strip()[:_LONGEST_NAME] for key, text in pairs if key == "name"]
    document = {**document, NAMES: {**document.get(NAMES, {}), name: names}} if any(names) else document
    if _limits(project, name) is not None:
        texts = [fields.get(which, "") for which in ("lowest", "highest")]
        if not all(map(str.isdecimal, texts)) or int(texts[0]) > int(texts[1]):
            raise InputError("Choose a lowest level that is not above the highest.")
        method = dict(document["method"])
        for which, text in zip(("lowest", "highest"), texts, strict=True):
            method[which] = {**method.get(which, {}), name: int(text)}
        document = {**document, "method": method}
    project.change(f"Levels of “{name}”", document)
    return go(address)


async def _move(visit: Visit) -> Response:
    """Put values, or groups, into a group."""
    project, name, address = _here(visit)
    pairs = await visit.form()
    fields, items = dict(pairs), {text for key, text in pairs if key == "item"}
    level = int(fields.get("level", "1")) if fields.get("level", "1").isdecimal() else 1
    lines = await _lines(project, name)
    action = fields.get("action", "move")
    if action == "add-level":
        lines, label = editing.with_level(lines), f"“{name}”: a level more"
    elif action == "remove-level":
        lines, label = editing.without_level(lines, level), f"“{name}”: a level less"
    else:
        group = (fields.get("new") or fields.get("group") or "").strip()
        if not group or not items:
            raise InputError("Mark the values, and name the group they belong to.")
        lines, label = editing.moved(lines, level, items, group), f"“{name}”: {len(items)} into a group"
    entry = editing.entry_of_lines(lines)
    _change(project, name, entry, label)
    level = min(level + (action == "add-level"), max(len(lines[0]) - 2, 1))
    return go(f"{address}?way=groups&level={level}")


async def _lines(project: Project, name: str) -> editing.Lines:
    entry = project.document["columns"][name].get("hierarchy")
    source = None if entry in (None, {"rows": []}) else entry
    return await project.looker.ask(looking.lines_of, data_path(project), project.reading, name, source)


async def _load(visit: Visit) -> Response:
    """Take a hierarchy from an uploaded file in ARX's layout."""
    project, name, address = _here(visit)
    entry = editing.uploaded_hierarchy(await visit.body(4 * 1024 * 1024))
    await project.looker.ask(looking.hierarchy_levels, data_path(project), project.reading, name, entry)
    _change(project, name, entry, f"“{name}”: from a file")
    return go(address)


async def _save(visit: Visit) -> Response:
    project, name, _ = _here(visit)
    text = editing.arx_text(await _lines(project, name))
    return download(text.encode("utf-8"), f"{_UNSAFE.sub('_', name)[:60]}.csv", "text/csv")


def _change(project: Project, name: str, entry: dict[str, Any] | None, label: str) -> None:
    document = project.document
    column = {key: value for key, value in document["columns"][name].items() if key != "hierarchy"}
    column |= {} if entry is None else {"hierarchy": entry}
    project.change(label, {**document, "columns": {**document["columns"], name: column}})


ROUTES = (
    ("GET", "/p/{project}/look", _look),
    ("GET", "/p/{project}/pairs", _pairs),
    ("POST", "/p/{project}/reading", _reading),
    ("GET", "/p/{project}/roles", _roles),
    ("POST", "/p/{project}/roles", _role),
    ("GET", "/p/{project}/column/{column}", _editor),
    ("POST", "/p/{project}/column/{column}", _set),
    ("POST", "/p/{project}/column/{column}/try", _try),
    ("POST", "/p/{project}/column/{column}/levels", _name_levels),
    ("POST", "/p/{project}/column/{column}/move", _move),
    ("POST", "/p/{project}/column/{column}/load", _load),
    ("GET", "/p/{project}/column/{column}/hierarchy.csv", _save),
)
