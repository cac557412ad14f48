"""The HTTP service of a vault: JSON in and out, a bearer token for each user, one judgment at a time."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import DiscreetError, InputError
from discreet.core.params import FloatIn, require
from discreet.output.audit.auditor import LogError
from discreet.output.audit.log import plain_result
from discreet.output.audit.service.connections import Admission, Limits, listen
from discreet.output.audit.service.openapi import PAGE, api_description
from discreet.output.audit.service.tokens import Tokens
from discreet.output.audit.service.turns import Turns
from discreet.output.audit.vault import Vault

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

_LARGEST_BODY = 64 * 1024
_MOST_BUCKETS = 10_000


class _RateLimit:
    """A token bucket for each user: ``rate`` questions a second, and as many in a burst."""

    def __init__(self, rate: float) -> None:
        self._rate, self._buckets, self._lock = rate, dict[str, tuple[float, float]](), threading.Lock()

    def allows(self, user: str) -> bool:
        now = time.monotonic()
        with self._lock:
            if len(self._buckets) > _MOST_BUCKETS:
                # Memory stays bounded; all users begin with a full bucket again.
                self._buckets.clear()
            tokens, since = self._buckets.get(user, (max(self._rate, 1.0), now))
            tokens = min(max(self._rate, 1.0), tokens + (now - since) * self._rate)
            self._buckets[user] = (tokens - 1 if tokens >= 1 else tokens, now)
            return tokens >= 1


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _OneLength:
    """Refuses requests that state their length in two ways, which a proxy may cut off elsewhere than the service."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope.get("headers", ())}
        if {b"content-length", b"transfer-encoding"} <= names:
            refusal = {"error": "A request has a Content-Length or a Transfer-Encoding, not both."}
            await _json(refusal, 400, {"Connection": "close"})(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def application(vault: Vault, *, rate: float = 50.0) -> Starlette:
    """Return the service of an open vault as an ASGI application.

    Parameters
    ----------
    vault : Vault
        The vault, open in this process.
    rate : float
        How many questions a second each user may ask.
    """
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.routing import Route

    require("application", "rate", rate, FloatIn(0, closed="neither"))
    assert vault.folder is not None
    tokens, limit = Tokens(vault.folder), _RateLimit(rate)
    handle = _handler(vault, tokens, limit)
    service = Starlette(
        middleware=[Middleware(_OneLength)],
        routes=[
            Route("/ask", handle(_ask), methods=["POST"]),
            Route("/vault", handle(_about), methods=["GET"]),
            Route("/health", _health, methods=["GET"]),
            Route("/openapi.json", _openapi, methods=["GET"]),
            Route("/", _page, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _no_such_route},
    )
    service.router.redirect_slashes = False  # it would redirect to whatever host the request names
    return service


class Service:
    """The HTTP service of an open vault, bound to a port; nothing about questions is printed.

    Parameters
    ----------
    vault : Vault
        The vault, open in this process.
    host : str
        The address to listen on.
    port : int
        The port; 0 takes a free one.
    tls_certificate, tls_key : path, optional
        The certificate for HTTPS, and its key.
    rate : float
        How many questions a second each user may ask.
    limits : Limits
        How many connections there may be, and how long a request may take.
    """

    def __init__(
        self,
        vault: Vault,
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        tls_certificate: Path | None = None,
        tls_key: Path | None = None,
        rate: float = 50.0,
        limits: Limits | None = None,
    ) -> None:
        import uvicorn

        from discreet.output.audit.service.protocol import TimedProtocol

        admission = Admission(limits or Limits())
        seconds, connections = admission.limits.seconds, admission.limits.connections
        config = uvicorn.Config(
            application(vault, rate=rate),
            http=functools.partial(TimedProtocol, admission),  # type: ignore[arg-type]
            ws="none",
            loop="asyncio",  # other loops accept connections by themselves, past the bounds
            lifespan="off",
            proxy_headers=False,
            ssl_certfile=tls_certificate,
            ssl_keyfile=tls_key,
            log_level="critical",
            access_log=False,
            server_header=False,
            headers=[("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")],
            h11_max_incomplete_event_size=16 * 1024,
            timeout_keep_alive=min(5, seconds),  # type: ignore[arg-type]
            limit_concurrency=2 * connections,
        )
        self._server = uvicorn.Server(config)
        self._listeners = listen(host, port, admission)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._listeners[0].getsockname()[1])

    @property
    def started(self) -> bool:
        """Whether requests are answered."""
        return bool(self._server.started)

    def run(self) -> None:
        """Serve until the process is stopped, or ``stop`` is called from another thread."""
        self._server.run(sockets=list(self._listeners))

    def stop(self) -> None:
        """Make ``run`` return once the requests in hand are answered."""
        self._server.should_exit = True


def _handler(vault: Vault, tokens: Tokens, limit: _RateLimit) -> Callable[..., Any]:
    """Return a decorator that makes an endpoint of a function: user, rate limit, and every failure as plain JSON."""
    from starlette.concurrency import run_in_threadpool

    # Two queues: what needs no judgment does not wait for a judgment, which may take long.
    reading, judging = Turns(), Turns()

    async def answered(request: Request, user: str, turns: Turns, work: Callable[[], Any]) -> Any:
        """Do the work in the user's turn, if the token still counts then and the client still waits."""
        async with turns.of(user):
            _user(request, tokens)  # it may have been withdrawn while the body came, or in the queue
            if await request.is_disconnected():
                raise _RefusedError(400, "The client is gone.")
            return await run_in_threadpool(work)

    def decorated(work: Callable[[Vault, str, dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
        async def handled(request: Request) -> Response:
            user = _user(request, tokens)
            if not limit.allows(user):
                raise _RefusedError(429, "Too many questions; try again in a second.")
            body = await _body(request) if request.method == "POST" else {}
            do = functools.partial(work, vault, user, body)
            result = await answered(request, user, reading, functools.partial(_quick, vault, body, do))
            return _json(await answered(request, user, judging, do) if result is None else result)

        async def endpoint(request: Request) -> Response:
            try:
                return await handled(request)
            except _RefusedError as error:
                status, message = error.status, str(error)
            except LogError:  # its message names a file of the server
                status, message = 503, "The log cannot be read or written, so nothing is answered."
            except DiscreetError as error:
                status, message = 400, str(error)
            except Exception:  # noqa: BLE001  # a bug's message may hold data
                status, message = 500, "The question could not be handled."
            return _json(
                {"error": message}, status, {"WWW-Authenticate": "Bearer"} if status == 401 else None
            )

        return endpoint

    return decorated


def _quick(vault: Vault, body: dict[str, Any], work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """Return the result of what needs no judgment, which may take long; None for a question that does."""
    return None if body and vault.judges(body["sql"]) else work()


def _user(request: Request, tokens: Tokens) -> str:
    """Return the user of a request's token; a token that is missing, unknown, withdrawn or expired is refused alike."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        user = tokens.user_of(token.strip()) if scheme.lower() == "bearer" else None
    except InputError:  # its message names a file of the server
        raise _RefusedError(503, "The tokens cannot be read, so nobody is let in.") from None
    if user is None:
        raise _RefusedError(401, "A valid bearer token is needed.")
    return user


async def _body(request: Request) -> dict[str, Any]:
    """Read a small JSON object; a larger body is refused before it is read whole."""
    with contextlib.suppress(ValueError):
        if int(request.headers.get("content-length", "0")) > _LARGEST_BODY:
            raise _RefusedError(413, f"A body has at most {_LARGEST_BODY:,} bytes.")
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > _LARGEST_BODY:
            raise _RefusedError(413, f"A body has at most {_LARGEST_BODY:,} bytes.")
    try:
        body = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _RefusedError(400, "The body is not JSON.") from None
    if (
        not isinstance(body, dict)
        or not set(body) <= {"sql", "epsilon"}
        or not isinstance(body.get("sql"), str)
    ):
        raise _RefusedError(
            400, 'The body must be a JSON object such as {"sql": "SELECT count(*) FROM data"}.'
        )
    return body


def _refuse_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads although JSON has neither."""
    raise ValueError(name)


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse(content, status_code=status, headers=headers)


def _ask(vault: Vault, user: str, body: dict[str, Any]) -> dict[str, Any]:
    return plain_result(vault.ask(body["sql"], user=user, epsilon=body.get("epsilon")))


def _about(vault: Vault, user: str, body: dict[str, Any]) -> dict[str, Any]:
    del body
    return {
        "public": list(vault.config.public),
        "sensitive": list(vault.config.sensitive),
        "auditor": vault.auditor.to_dict(),
        "steps": {name: None if step is None else float(step) for name, step in vault.steps.items()},
        "epsilon_left": vault.epsilon_left_to(user),
    }


async def _no_such_route(request: Request, error: Exception) -> Response:
    from starlette.exceptions import HTTPException

    del request
    assert isinstance(error, HTTPException)
    message = (
        "The service has no such path." if error.status_code == 404 else "The path takes another method."
    )
    return _json({"error": message}, error.status_code, dict(error.headers or {}))


async def _health(request: Request) -> Response:
    del request
    return _json({"ok": True})


async def _openapi(request: Request) -> Response:
    del request
    return _json(api_description())


async def _page(request: Request) -> Response:
    from starlette.responses import HTMLResponse

    del request
    return HTMLResponse(PAGE)
