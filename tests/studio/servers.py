"""A studio that runs in a thread of the tests, and what opens it: a client, or a browser."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.core.errors import OutputError
from discreet.report import pdf
from discreet.studio.serving import StudioServer

PATIENTS = "ssn,age,zip,disease\n" + "".join(
    f"{1000 + number},{20 + number % 50},0213{number % 4},{'flu' if number % 3 else 'cold'}\n"
    for number in range(240)
)
"""A table in which a job with few columns runs at once."""
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""How Chromium is started: with a profile of its own, and no connection to anywhere."""
LONG = 90_000
"""Milliseconds until a page must have come: compiled code may be made anew, and the machine be busy."""


@contextmanager
def running(**settings: Any) -> Iterator[StudioServer]:
    """Run a studio until the block ends."""
    server = StudioServer(**settings)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    try:
        yield server
    finally:
        server.stop()
        thread.join(30)


def routes() -> list[tuple[str, str]]:
    """Return the method and the path of every address but those of static files."""
    from discreet.studio import column_pages, home_pages, job_pages, run_pages

    modules = (home_pages, column_pages, job_pages, run_pages)
    return [(method, path) for module in modules for method, path, _ in module.ROUTES]


@contextmanager
def client_of(server: StudioServer) -> Iterator[httpx.Client]:
    """Return a client that has opened the studio, and sends what its pages send."""
    with httpx.Client(base_url=server.home, timeout=120) as client:
        assert client.get(server.address).status_code == 200
        client.headers.update({"Origin": server.origin, "X-Discreet-Token": server.secrets.change})
        yield client


def uploaded(
    client: httpx.Client, content: str | bytes = PATIENTS, name: str = "p.csv", task: str = "table"
) -> str:
    """Upload a file and return the address of its project."""
    response = client.post(f"/upload?task={task}", content=content, headers={"X-Name": name})
    assert response.status_code == 200, response.text
    return str(response.json()["go"]).removesuffix("/look")


def finished(client: httpx.Client, address: str, *fields: tuple[str, str]) -> str:
    """Start a run with fields of a form, wait for its end, and return its address."""
    run = client.post(f"{address}/runs", json=[list(field) for field in fields]).json()["go"]
    with client.stream("GET", f"{run}/events") as stream:
        for _ in stream.iter_lines():
            pass
    return str(run)


@contextmanager
def browser() -> Iterator[Any]:
    """Return a browser; without one the test is skipped, and fails in continuous integration."""
    try:
        from playwright.sync_api import sync_playwright

        path = pdf.browser()
    except (ImportError, OutputError) as error:
        (pytest.fail if "CI" in os.environ else pytest.skip)(str(error))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def watched_page(chromium: Any, server: StudioServer, **settings: Any) -> Iterator[Any]:
    """Open the studio in a page; whatever its policy refuses, or whatever leaves for elsewhere, fails the test."""
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
    context.set_default_timeout(LONG)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((server.home, server.address, "data:", "blob:"))
            else problems.append(f"a request to {request.url}")
        ),
    )
    page.goto(server.address)
    page.wait_for_selector("h1")
    try:
        yield page
    finally:
        context.close()
    assert problems == []


def written(folder: Path, content: str = PATIENTS, name: str = "patients.csv") -> Path:
    """Write a file of data."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path
