"""The studio as an application: its routes, how forms and files arrive, and how every failure ends."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from discreet.core.errors import DiscreetError, InputError
from discreet.engines.formats import ALL, PACKED
from discreet.engines.inputs import DATABASES
from discreet.studio import pages
from discreet.studio.openapi import described_routes
from discreet.studio.origins import displayed_name
from discreet.studio.projects import Project, Projects
from discreet.studio.tasks import TASKS

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LARGEST_UPLOAD = 8 * 1024**3
_LARGEST_FORM = 2 * 1024 * 1024
_ENDINGS = {ending for file_format in ALL for ending in file_format.endings} | {
    ".dat",
    ".basket",
    ".bits",
    ".spmf",
    ".toml",
    ".zip",
    *DATABASES,
}


@dataclass(frozen=True)
class Visit:
    """A request with what its page needs."""

    request: Request
    projects: Projects
    token: str

    @property
    def root(self) -> str:
        """How the path of every address begins; what pages send and get names addresses without it."""
        return str(self.request.scope["root_path"])

    @property
    def project(self) -> Project:
        """The project that the address names."""
        project = self.projects.named(self.request.path_params["project"])
        if project is None:
            raise MissingPageError
        return project

    def project_with(self, step: str) -> Project:
        """Return the project of the address, if its task has the step."""
        if step not in dict(pages.steps_of(self.project)):
            raise MissingPageError
        return self.project

    async def form(self) -> list[tuple[str, str]]:
        """Return the fields of a form, which arrive as a JSON list of pairs."""
        body = await self.body(_LARGEST_FORM)
        try:
            pairs = json.loads(body or b"[]")
        except (ValueError, RecursionError):
            raise InputError("The form cannot be read. Load the page again.") from None
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
            for pair in pairs
        ):
            raise InputError("The form cannot be read. Load the page again.")
        return [(name, text) for name, text in pairs]

    async def body(self, largest: int) -> bytes:
        """Return a small body; a larger one is refused while it arrives."""
        content = bytearray()
        async for chunk in self.request.stream():
            content += chunk
            if len(content) > largest:
                raise InputError(f"This is larger than {largest // 1024**2} MiB, and is not taken.")
        return bytes(content)

    def page(self, template_name: str, /, *, status: int = 200, **values: Any) -> Response:
        """Return a page."""
        from starlette.responses import HTMLResponse

        content = pages.render_page(template_name, root=self.root, token=self.token, **values)
        return HTMLResponse(content, status_code=status)


class MissingPageError(Exception):
    """There is no such page."""


Handler = Callable[[Visit], Awaitable["Response"]]


def go(address: str) -> Response:
    """Send the browser on, after something was changed, to an address without the root."""
    from starlette.responses import JSONResponse

    return JSONResponse({"go": address})


def download(content: bytes, name: str, content_type: str = "application/octet-stream") -> Response:
    """Return a file to be saved; it is never shown as a page of the studio."""
    from starlette.responses import Response

    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=content_type, headers=disposition)


def studio_application(projects: Projects, token: str) -> Starlette:
    """Return the studio as an ASGI application; the guard belongs before it."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    from discreet.studio import column_pages, home_pages, job_pages, run_pages

    def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def handled(request: Request) -> Response:
            visit = Visit(request, projects, token)
            try:
                return await handler(visit)
            except MissingPageError:
                return _failure(visit, 404, "There is no such page, or its project was closed.", {})
            except DiscreetError as error:
                return _failure(visit, 400, str(error), error.fix)
            except Exception:  # noqa: BLE001  # a bug's message may hold data
                return _failure(
                    visit, 500, "This did not work, by an error of ours. Nothing was changed.", {}
                )

        return handled

    async def missing(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        return _failure(Visit(request, projects, token), status, "There is no such page.", {})

    pages_of = [
        entry for module in (home_pages, column_pages, job_pages, run_pages) for entry in module.ROUTES
    ]

    async def described(visit: Visit) -> Response:
        """Describe the addresses of the studio for machines."""
        from starlette.responses import JSONResponse

        listed = described_routes([*pages_of, ("GET", "/openapi.json", described)])
        return JSONResponse({**listed, "servers": [{"url": visit.root}]})

    routes = [
        Route(path, endpoint(handler), methods=[method])
        for method, path, handler in (*pages_of, ("GET", "/openapi.json", described))
    ]
    routes += [
        Route(f"/static/{name}", endpoint(_static(content, kind)), methods=["GET"])
        for name, content, kind in (
            ("studio.css", pages.stylesheet, "text/css"),
            ("studio.js", pages.script, "text/javascript"),
            ("charts.js", pages.charts_script, "text/javascript"),
        )
    ]
    service = Starlette(routes=routes, exception_handlers={HTTPException: missing})
    service.router.redirect_slashes = False
    return service


def _static(content: Callable[[], str], kind: str) -> Handler:
    async def served(visit: Visit) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        del visit
        return Response(await run_in_threadpool(content), media_type=kind)

    return served


def _failure(visit: Visit, status: int, message: str, fix: dict[str, object]) -> Response:
    """Return what went wrong: as JSON to a form, as a page to everything else."""
    from starlette.responses import JSONResponse

    remedy = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in fix.items())
    if visit.request.method != "GET":
        return JSONResponse({"error": message, "remedy": remedy}, status_code=status)
    return visit.page("failure.html", status=status, message=message, remedy=remedy)


async def stored(visit: Visit, *, largest: int = LARGEST_UPLOAD) -> tuple[str, Path]:
    """Write an uploaded file into the private folder, counted while it arrives; return its name and where it is.

    The name is only shown. What the file is called on disk is drawn at random, with an ending that is known.
    """
    name = displayed_name(unquote(visit.request.headers.get("x-name", "")))
    path = visit.projects.folder / f"{secrets.token_hex(8)}{_ending(name)}"
    n_bytes = 0
    try:
        with path.open("xb") as file:
            path.chmod(0o600)
            async for chunk in visit.request.stream():
                n_bytes += len(chunk)
                if n_bytes > largest:
                    raise InputError(f"The file is larger than {largest // 1024**2:,} MiB, and is not taken.")
                file.write(chunk)
        if not n_bytes:
            raise InputError("The file is empty.")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return name, path


def _ending(name: str) -> str:
    """Return the ending of a name as far as it is one that files are read by."""
    endings = [f".{part.lower()}" for part in name.split(".")[1:]][-2:]
    packed = endings[-1] if endings and endings[-1] in PACKED else ""
    inner = endings[:-1] if packed else endings
    return (inner[-1] if inner and inner[-1] in _ENDINGS else ".csv" if packed else "") + packed


def task_of(visit: Visit) -> Any:
    """Return the task that a request names; to protect a table by default."""
    return TASKS.get(visit.request.query_params.get("task", ""), TASKS["table"])
