"""The HTTP service of a vault: JSON in and out, a bearer token for each user, one question at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import DiscreetError
from discreet.core.params import FloatIn, require
from discreet.output.audit.errors import QueryError
from discreet.output.audit.plain import plain_result
from discreet.output.audit.service.openapi import PAGE, description
from discreet.output.audit.service.tokens import Tokens
from discreet.output.audit.vault import Vault

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

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
                self._buckets.clear()
            tokens, since = self._buckets.get(user, (max(self._rate, 1.0), now))
            tokens = min(max(self._rate, 1.0), tokens + (now - since) * self._rate)
            self._buckets[user] = (tokens - 1 if tokens >= 1 else tokens, now)
            return tokens >= 1


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


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
    from starlette.routing import Route

    require("application", "rate", rate, FloatIn(0, closed="neither"))
    assert vault.folder is not None
    tokens, limit = Tokens(vault.folder), _RateLimit(rate)
    handle = _handler(vault, tokens, limit)
    return Starlette(
        routes=[
            Route("/ask", handle(_ask), methods=["POST"]),
            Route("/vault", handle(_about), methods=["GET"]),
            Route("/health", _health, methods=["GET"]),
            Route("/openapi.json", _openapi, methods=["GET"]),
            Route("/", _page, methods=["GET"]),
        ]
    )


def serve(
    vault: Vault,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
    rate: float = 50.0,
) -> None:
    """Serve an open vault until the process is stopped; nothing about questions is printed."""
    import uvicorn

    config = uvicorn.Config(
        application(vault, rate=rate),
        host=host,
        port=port,
        ssl_certfile=tls_certificate,
        ssl_keyfile=tls_key,
        log_level="critical",
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=16 * 1024,
        timeout_keep_alive=15,
        limit_concurrency=500,
    )
    server = uvicorn.Server(config)
    server.run()
    if not server.started:
        raise DiscreetError(f"{host}:{port} cannot be listened on.")


def _handler(vault: Vault, tokens: Tokens, limit: _RateLimit) -> Callable[..., Any]:
    """Return a decorator that makes an endpoint of a function: user, rate limit, and every failure as plain JSON."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    turn = asyncio.Lock()  # first come, first served: no client starves

    def made(work: Callable[[Vault, str, dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                user = _user(request, tokens)
                if not limit.allows(user):
                    raise _RefusedError(429, "Too many questions; try again in a second.")
                body = await _body(request) if request.method == "POST" else {}
                async with turn:
                    return JSONResponse(await run_in_threadpool(work, vault, user, body))
            except _RefusedError as error:
                status, message = error.status, str(error)
            except QueryError as error:
                status, message = 400, str(error)
            except DiscreetError as error:
                status, message = 503 if "log" in type(error).__name__.lower() else 400, str(error)
            except Exception:  # noqa: BLE001  # a bug's message may hold data
                status, message = 500, "The question could not be handled."
            headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            return JSONResponse({"error": message}, status_code=status, headers=headers)

        return endpoint

    return made


def _user(request: Request, tokens: Tokens) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        user = tokens.user_of(token.strip())
        if user is None:
            tokens.reload()
            user = tokens.user_of(token.strip())
        if user is not None:
            return user
    raise _RefusedError(401, "A valid bearer token is needed.")


async def _body(request: Request) -> dict[str, Any]:
    """Read a small JSON object; a larger body is refused before it is read whole."""
    with contextlib.suppress(ValueError):
        if int(request.headers.get("content-length", "0")) > _LARGEST_BODY:
            raise _RefusedError(413, f"A body has at most {_LARGEST_BODY:,} bytes.")
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > _LARGEST_BODY:
            raise _RefusedError(413, f"A body has at most {_LARGEST_BODY:,} bytes.")
    try:
        body = json.loads(raw)
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


def _ask(vault: Vault, user: str, body: dict[str, Any]) -> dict[str, Any]:
    return plain_result(vault.ask(body["sql"], user=user, epsilon=body.get("epsilon")))


def _about(vault: Vault, user: str, body: dict[str, Any]) -> dict[str, Any]:
    del body
    return {
        "public": list(vault.config.public),
        "sensitive": list(vault.config.sensitive),
        "auditor": vault.auditor.to_dict(),
        "epsilon_left": vault.epsilon_left_to(user),
    }


async def _health(request: Request) -> Response:
    from starlette.responses import JSONResponse

    del request
    return JSONResponse({"ok": True})


async def _openapi(request: Request) -> Response:
    from starlette.responses import JSONResponse

    del request
    return JSONResponse(description())


async def _page(request: Request) -> Response:
    from starlette.responses import HTMLResponse

    del request
    return HTMLResponse(PAGE)
