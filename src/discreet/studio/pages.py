"""Pages: the templates of the studio with those of the reports, and what every page has."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import __version__
from discreet.kinds.wording import counted, percent
from discreet.report.page import environment, javascript
from discreet.studio.results import PACKAGES

if TYPE_CHECKING:
    from discreet.studio.projects import Project

_STATIC = Path(__file__).parent / "static"
_TABLE_STEPS = (
    ("look", "Look"),
    ("roles", "Roles"),
    ("protect", "Protect"),
    ("results", "Results"),
    ("hand-over", "Hand over"),
)


def render_page(
    template_name: str, /, *, root: str, token: str, project: Project | None = None, **values: Any
) -> str:
    """Return a page; its links begin with the root, and the token lets its forms change something."""
    values.setdefault("step", "")
    return template(
        template_name,
        root=root,
        here="" if project is None else f"{root}/p/{project.number}",
        token=token,
        project=project,
        steps=[] if project is None else steps_of(project),
        version=__version__,
        **values,
    )


def template(template_name: str, /, **values: Any) -> str:
    """Return a template filled with values, every one escaped."""
    return (
        environment(*PACKAGES).get_template(template_name).render(counted=counted, percent=percent, **values)
    )


def steps_of(project: Project) -> list[tuple[str, str]]:
    """Return the steps of a project, by the last part of their addresses."""
    task = project.task
    skipped = set() if task.has_roles else {"roles"}
    skipped |= set() if task.makes_release and task.action == "release" else {"hand-over"}
    skipped |= {"look", "protect"} if task.data == "earlier" else set()
    titles = {"protect": "Check"} if task.action == "judge" else {"protect": "Settings"}
    titles = {} if task.makes_release and task.action == "release" else titles
    return [(name, titles.get(name, title)) for name, title in _TABLE_STEPS if name not in skipped]


@cache
def stylesheet() -> str:
    """Return the style of the reports and, after it, that of the studio."""
    return f"{template('style.css')}\n{(_STATIC / 'studio.css').read_text(encoding='utf-8')}"


@cache
def script() -> str:
    """Return the script of the studio."""
    return (_STATIC / "studio.js").read_text(encoding="utf-8")


def charts_script() -> str:
    """Return the charts' library, which comes from an installed package."""
    return javascript()
