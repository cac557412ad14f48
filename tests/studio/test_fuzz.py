"""Whatever is sent to the addresses that the studio describes: no error of ours, and no value in what is refused."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.studio.servers import PATIENTS, finished, routes, uploaded

from discreet.studio.serving import StudioServer

SECRET = "SECRET-5512"
EXAMPLES = 10
_NAMES = """
    column role file table address delimiter encoding decimal thousands dates header way intervals bottom top mask width
    icd codes scale item level group new action kind remove to position here choice what method guarantee0.k
    guarantee1.l guarantee1.of method.weights:age method.strict
"""
_TEXTS = """
    0 1 3 99 -1 x quasi sensitive person rows intervals mask groups flat 5,10 month right left move add-level
    remove-level undo redo look explore judge release t-closeness k-anonymity 5 1e999 nan utf-16 ; no postgresql://h/d
"""
_FIELD = {
    "type": "array",
    "prefixItems": [
        {"enum": _NAMES.split()},
        {"anyOf": [{"enum": [*_TEXTS.split(), SECRET]}, {"type": "string"}]},
    ],
    "minItems": 2,
    "maxItems": 2,
}


@pytest.fixture(scope="module")
def described(client: httpx.Client) -> dict[str, Any]:
    """Return the description, with numbers of a project and of a run that are there."""
    address = uploaded(client, PATIENTS.replace("flu", SECRET))
    run = finished(client, address)
    baskets = uploaded(client, "a b\na c\nb c\n", "b.dat", "baskets")
    names = {
        "project": [address.rpartition("/")[2], baskets.rpartition("/")[2], "0"],
        "run": [run.rpartition("/")[2], "0"],
        "column": ["0", "1", "3", "99", "x"],
        "form": ["job.toml", "project"],
        "name": ["release.zip", "report.html", "run.json"],
    }
    description: dict[str, Any] = client.get("/openapi.json").json()
    for operations in description["paths"].values():
        for operation in operations.values():
            for parameter in operation["parameters"]:
                parameter["schema"]["enum"] = names[parameter["name"]]
            for form in operation.get("requestBody", {}).get("content", {}).values():
                if form["schema"]["type"] == "array":
                    form["schema"] = {"type": "array", "items": _FIELD, "maxItems": 4}
    return description


def test_every_page_is_described(client: httpx.Client, described: dict[str, Any]) -> None:
    listed = {(method, path) for path, operations in described["paths"].items() for method in operations}
    assert listed == {(method.lower(), path) for method, path in routes()} | {("get", "/openapi.json")}
    assert all(operation["summary"] for path in described["paths"].values() for operation in path.values())
    assert httpx.get(f"{client.base_url}openapi.json").status_code == 403


def test_nothing_that_is_sent_breaks_the_studio(
    server: StudioServer, client: httpx.Client, described: dict[str, Any]
) -> None:
    schema = schemathesis.openapi.from_dict(described)
    headers = dict(client.headers) | {
        "Cookie": "; ".join(f"{name}={each}" for name, each in client.cookies.items())
    }
    headers.pop("content-length", None)
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path.endswith(("/sample", "/close")):
            continue

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy())
        def send(case: Any) -> None:
            response = case.call(
                base_url=server.home.rstrip("/"), headers=headers, allow_redirects=False, timeout=120
            )
            _cancel(server)
            assert response.status_code in (200, 303, 400, 404), (
                case.method,
                case.path,
                response.status_code,
            )
            text = response.content.decode("utf-8", "replace")
            if response.status_code in (400, 404):
                assert SECRET not in text
            assert "default-src 'none'" in response.headers["content-security-policy"][0]
            if "content-disposition" not in response.headers:
                assert not re.search(r" style=|<script>[^<]| on\w+=\"", text)

        send()


def _cancel(server: StudioServer) -> None:
    """Stop runs that were started; what they make is no matter here."""
    for project in server.projects.all():
        for run in project.runs.values():
            run.cancel()
