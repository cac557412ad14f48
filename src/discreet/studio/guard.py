"""The guard: what every request must be before any page, file or stream is looked up."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPENING = "/open"
"""The path of the opening address, which turns its token into a cookie and leads to the secret path."""
TOKEN_HEADER = "x-discreet-token"  # noqa: S105  # the name of a header
_READS = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every response: nothing is loaded from elsewhere, embedded elsewhere, guessed or stored."""
_ENTERED = b"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><meta http-equiv="refresh" content="0;url=%(root)b/"/>
<link rel="icon" href="data:,"/><title>Discreet</title>
</head>
<body><p><a href="%(root)b/">Open the studio</a></p></body></html>"""


@dataclass(frozen=True)
class Secrets:
    """What only the person at this machine has.

    Attributes
    ----------
    root
        Begins the path of every address. Browsers send a cookie to all ports of a host, but to no other path than its
        own, so that a server at another port, which cannot know the path, never gets it.
    token
        Stands in the opening address that the terminal shows.
    once
        Opens the studio once: other users of the machine may see the command that starts the browser with it.
    session
        The cookie's value, which the token is exchanged for.
    change
        Must come with every request that changes something; pages of the studio alone hold it.
    """

    root: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(32)}", repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    once: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    change: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


class Guard:
    """Middleware that refuses whatever does not come from a page of this studio, in the browser that opened it.

    The name of the host defends against DNS rebinding; the origin, the browser's own word on where a request comes
    from, and the token of changes against pages of other sites and other ports; the secret path and the cookie, which
    browsers send to this path alone, against everybody else.
    """

    def __init__(self, app: ASGIApp, *, port: int, names: tuple[str, ...], studio_secrets: Secrets) -> None:
        self._app, self._secrets = app, studio_secrets
        self._hosts = {f"{name}:{port}" for name in names}
        self._cookie, self._opening = f"discreet-studio-{port}", {studio_secrets.token, studio_secrets.once}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            await _answer(guarded, 421, b"This is not the address of the studio.")
        elif scope["path"] == OPENING and scope["method"] == "GET":
            await self._open(scope, guarded)
        else:
            refusal = self._refusal(scope, headers, hosts[0])
            if refusal is None:
                await self._app({**scope, "root_path": self._secrets.root}, receive, guarded)
            else:
                await _answer(guarded, 403, refusal)

    async def _open(self, scope: Scope, send: Send) -> None:
        """Exchange the token of the address for a cookie that no script reads and no page of another site sends."""
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if len(tokens) != 1 or not any(_same(tokens[0], token) for token in self._opening):
            await _answer(send, 403, b"This address has no valid token. Use the one that the terminal shows.")
            return
        self._opening -= {tokens[0]} - {self._secrets.token}
        cookie = (
            f"{self._cookie}={self._secrets.session}; Path={self._secrets.root}/; HttpOnly; SameSite=Strict"
        )
        # A redirect would still count as coming from the page that held the link; a page of our own does not.
        page = _ENTERED % {b"root": self._secrets.root.encode()}
        await _answer(send, 200, page, b"text/html; charset=utf-8", (b"set-cookie", cookie.encode()))

    def _refusal(self, scope: Scope, headers: dict[str, list[str]], host: str) -> bytes | None:
        """Return why a request is refused; None where it is not."""
        origins, sites = headers.get("origin", []), headers.get("sec-fetch-site", [])
        if any(origin != f"http://{host}" for origin in origins):
            return b"Requests of other pages are refused."
        if any(site not in ("same-origin", "none") for site in sites):
            return b"Requests of other pages are refused."
        root = f"{self._secrets.root}/"
        if not _same(scope["path"][: len(root)], root) or not any(
            _same(value, self._secrets.session) for value in self._cookies(headers)
        ):
            return b"Open the studio by the address that the terminal shows."
        if scope["method"] not in _READS:
            tokens = headers.get(TOKEN_HEADER, [])
            if len(origins) != 1 or len(tokens) != 1 or not _same(tokens[0], self._secrets.change):
                return b"A change needs the token of the page. Load the page again."
        return None

    def _cookies(self, headers: dict[str, list[str]]) -> list[str]:
        """Return all values of the cookie: a server at another port may have set one of this name for all paths."""
        values = []
        for line in headers.get("cookie", []):
            for part in line.split(";"):
                try:
                    parsed = SimpleCookie(part.strip())
                except CookieError:
                    continue
                values += [morsel.value for name, morsel in parsed.items() if name == self._cookie]
        return values


def _same(first: str, second: str) -> bool:
    return hmac.compare_digest(first.encode("utf-8", "surrogatepass"), second.encode())


async def _answer(
    send: Send,
    status: int,
    body: bytes,
    content_type: bytes = b"text/plain; charset=utf-8",
    *headers: tuple[bytes, bytes],
) -> None:
    start = [(b"content-type", content_type), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
