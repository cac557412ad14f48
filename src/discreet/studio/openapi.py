"""The description of the studio's addresses for machines (OpenAPI 3.1), made from its routes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.studio.guard import TOKEN_HEADER

if TYPE_CHECKING:
    from discreet.studio.app import Handler

_FILES = ("/upload", "/restore", "/load", "/next", "/attack")
"""How the addresses end that take a file; the others that change something take the fields of a form."""
_FIELDS = {
    "type": "array",
    "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
}
_CHANGED = {"oneOf": [{"required": ["go"]}, {"required": ["error"]}], "type": "object"}
_STATUSES = {
    "400": "What was sent cannot be done; the answer says why.",
    "403": "The guard refused it.",
    "404": "There is no such page.",
}


def described_routes(routes: Iterable[tuple[str, str, Handler]]) -> dict[str, Any]:
    """Return the studio's interface as OpenAPI."""
    paths: dict[str, dict[str, Any]] = {}
    for method, path, handler in routes:
        paths.setdefault(path, {})[method.lower()] = _operation(method, path, handler)
    schemes = {
        "cookie": {"type": "apiKey", "in": "cookie", "name": "discreet-studio"},
        "change": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Discreet studio", "version": "1"},
        "security": [{"cookie": []}],
        "components": {"securitySchemes": schemes},
        "paths": paths,
    }


def _operation(method: str, path: str, handler: Handler) -> dict[str, Any]:
    names = re.findall(r"\{(\w+)\}", path)
    changes = method == "POST"
    makes_page = path.endswith(("/count", "/try"))
    kind = "application/json" if changes and not makes_page else "text/html"
    answered: dict[str, Any] = {"description": "The page, the file, or where to go next."}
    if changes and not makes_page:
        answered |= {"content": {kind: {"schema": _CHANGED}}}
    operation: dict[str, Any] = {
        "summary": (inspect.getdoc(handler) or path).partition("\n")[0],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ],
        "responses": {"200": answered, "303": {"description": "The sample was opened."}}
        | {status: {"description": text} for status, text in _STATUSES.items()},
    }
    if changes:
        is_file = path.endswith(_FILES)
        form = (
            {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
            if is_file
            else {"application/json": {"schema": _FIELDS}}
        )
        operation |= {"requestBody": {"content": form}, "security": [{"cookie": [], "change": []}]}
    return operation
