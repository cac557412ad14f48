"""The description of the service, for machines (OpenAPI 3.1) and as a page."""

from __future__ import annotations

from typing import Any

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Discreet vault</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}
pre{background:#f4f2ec;padding:1rem;overflow:auto}</style></head><body>
<h1>Discreet vault</h1>
<p>Send a statement with your token. It is answered, or denied if the answer could disclose a value.</p>
<pre>curl -H "Authorization: Bearer TOKEN" -d '{"sql": "SELECT count(*) FROM data"}' URL/ask</pre>
<ul>
<li><code>POST /ask</code>: a JSON object with <code>sql</code>, and <code>epsilon</code> for private answers.</li>
<li><code>GET /vault</code>: the columns, the auditor, and the budget that is left.</li>
<li><code>GET /openapi.json</code>: this interface as OpenAPI.</li>
</ul></body></html>
"""


def api_description() -> dict[str, Any]:
    """Return the service's interface as OpenAPI."""
    error = _json({"type": "object", "properties": {"error": {"type": "string"}}})
    errors = {str(code): {"description": text, **error} for code, text in _ERRORS.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Discreet vault", "version": "1"},
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/ask": {
                "post": {
                    "summary": "Answer a statement, or deny it.",
                    "requestBody": {"required": True, **_json(_QUESTION)},
                    "responses": {
                        "200": {"description": "The answer or denial.", **_json(_RESULT)},
                        **errors,
                    },
                }
            },
            "/vault": {
                "get": {
                    "summary": "The columns, the auditor, and the privacy budget that is left.",
                    "responses": {
                        "200": {"description": "The vault.", **_json({"type": "object"})},
                        **errors,
                    },
                }
            },
            "/health": {
                "get": {
                    "summary": "Whether the service runs.",
                    "security": [],
                    "responses": {"200": {"description": "It runs.", **_json({"type": "object"})}},
                }
            },
        },
    }


_ERRORS = {
    400: "The statement is not taken.",
    401: "The token is missing, unknown, withdrawn or expired.",
    413: "The body is too large.",
    429: "Too many questions.",
    503: "The log cannot be written, or the tokens cannot be read.",
}
_QUESTION: dict[str, Any] = {
    "type": "object",
    "required": ["sql"],
    "additionalProperties": False,
    "properties": {
        "sql": {"type": "string", "examples": ["SELECT avg(salary) FROM data WHERE department = 'x'"]},
        "epsilon": {"type": "number", "exclusiveMinimum": 0},
    },
}
_RESULT: dict[str, Any] = {
    "type": "object",
    "required": ["denied"],
    "properties": {
        "denied": {"type": "boolean"},
        "reason": {"type": "string"},
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array"}},
        "epsilon_left": {"type": "number"},
    },
}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}
