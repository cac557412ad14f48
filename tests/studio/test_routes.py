"""Every page of every kind of project is there or is missing; none fails by an error of ours."""

from __future__ import annotations

import re

import httpx
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


from discreet.studio.tasks import TASKS

SAMPLES = [name for name, task in TASKS.items() if task.data != "earlier"]
SESSION = '[protocol]\nname = "secure-sum"\nlength = 2\n'


def _answers(client: httpx.Client, **names: str) -> dict[str, int]:
    """Return what every address of the description answers, with these names filled in."""
    paths = client.get("/openapi.json").json()["paths"]
    forms = {
        "column": ["0", "1", "99"],
        "form": ["project", "job.toml"],
        "name": ["release.zip", "result", "report.html"],
    }
    statuses = {}
    for path, operations in paths.items():
        if "get" not in operations:
            continue
        addresses = [path]
        for name, values in {**{key: [value] for key, value in names.items()}, **forms}.items():
            addresses = [
                address.replace(f"{{{name}}}", value)
                for address in addresses
                for value in (values if f"{{{name}}}" in address else values[:1])
            ]
        for address in addresses:
            for query in ("", "?way=groups&level=2") if "/column/" in address else ("",):
                statuses[address + query] = client.get(address + query).status_code
    return statuses


@pytest.mark.parametrize("task", SAMPLES)
def test_no_page_of_any_kind_of_project_fails(client: httpx.Client, task: str) -> None:
    address = client.post(f"/sample?task={task}").json()["go"].removesuffix("/look")
    steps = _steps(client, address)
    run = client.post(f"{address}/runs", json=[])
    number = run.json().get("go", "/0").rpartition("/")[2]
    if run.status_code == 200:
        client.post(f"{run.json()['go']}/cancel")
    statuses = _answers(client, project=address.rpartition("/")[2], run=number)
    assert set(statuses.values()) <= {200, 400, 404}, statuses
    assert {"look", "protect", "results"} <= set(steps)
    expected = {f"{address}/{step}": 200 for step in steps}
    assert {step: statuses[step] for step in expected} == expected
    archive = client.get(f"{address}/save/project").content
    waiting = client.post("/restore", content=archive).json()["go"].removesuffix("/data")
    statuses = _answers(client, project=waiting.rpartition("/")[2], run="0")
    assert set(statuses.values()) <= {200, 400, 404}, statuses


def _steps(client: httpx.Client, address: str) -> list[str]:
    page = client.get(f"{address}/look").text
    steps = page.partition('class="steps"')[2].partition("</nav>")[0]
    return re.findall(rf'{address}/([a-z-]+)"', steps)


def test_no_page_about_what_was_made_fails(client: httpx.Client) -> None:
    answer = client.post("/upload?task=earlier", content=SESSION, headers={"X-Name": "s.toml"})
    address, _, run = answer.json()["go"].partition("/runs/")
    statuses = _answers(client, project=address.rpartition("/")[2], run=run)
    assert set(statuses.values()) <= {200, 400, 404}, statuses


def test_roles_say_what_becomes_of_columns_where_it_is_so(client: httpx.Client) -> None:
    for task, fate in (("table", True), ("numbers", False)):
        address = client.post(f"/sample?task={task}").json()["go"].removesuffix("/look")
        page = client.get(f"{address}/roles").text
        assert "others may know it" in page
        assert ("made coarser" in page) is fate
        assert ("kept exact" in page) is fate
