"""The whole way in a real browser: a table, baskets and numbers, with everything that can happen between."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.studio.servers import PATIENTS, browser, running, watched_page, written

from discreet import Table, intervals, quasi
from discreet.core.registry import METHODS
from discreet.datasets import hospital
from discreet.engines.writing import write_frame
from discreet.guarantees import KAnonymity
from discreet.report.page import render_report
from discreet.studio.serving import StudioServer

MOST_CLICKS = 15


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


def faults(page: Any) -> list[str]:
    """Return what axe finds wrong with a page."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [f"{fault['id']}: {fault['nodes'][0]['html'][:200]}" for fault in violations]


def opened(page: Any, path: Path) -> None:
    page.set_input_files("#file", str(path))
    page.wait_for_url("**/look")


def test_a_table_goes_from_drop_to_release_in_few_clicks(
    chromium: Any, server: StudioServer, tmp_path: Path
) -> None:
    with watched_page(chromium, server) as page:
        clicks = 0

        def click(selector: str, then: str) -> None:
            nonlocal clicks
            clicks += 1
            page.click(selector)
            page.wait_for_selector(then)
            assert faults(page) == [], then

        assert faults(page) == []
        write_frame(hospital(), tmp_path / "hospital.csv", "csv")
        opened(page, tmp_path / "hospital.csv")
        page.wait_for_selector("text=age and admission")
        assert faults(page) == []
        click("text=Next: roles", "#roles")
        click("text=Next: protect", "#count strong")
        assert "20,000 of 20,000 rows" in page.inner_text("#count")
        click("#start", "#use-this")
        page.wait_for_selector(".chart svg")
        assert faults(page) == []
        assert "The guarantee is verified" in page.inner_text(".verdict")
        click("#use-this", "#zip")
        with page.expect_download() as saved:
            page.click("#zip")
        assert saved.value.suggested_filename == "release.zip"
        assert clicks + 2 <= MOST_CLICKS


def test_a_slider_shows_at_once_who_stands_out(chromium: Any, server: StudioServer, tmp_path: Path) -> None:
    with watched_page(chromium, server) as page:
        opened(page, written(tmp_path, PATIENTS + PATIENTS.partition("\n")[2] * 5))
        page.goto(page.url.replace("look", "protect"))
        page.wait_for_selector("#count strong")
        first = page.inner_text("#count strong")
        page.fill("#f-guarantee1-l", "1")
        page.fill("#f-guarantee0-k", "2")
        page.wait_for_selector("#count strong:has-text('0 of 240 people')")
        assert not first.startswith("0 of")
        assert page.input_value("[data-for='f-guarantee0-k']") == "2"


def test_a_hierarchy_is_put_together_by_keyboard_and_by_dragging_and_undone(
    chromium: Any, server: StudioServer, tmp_path: Path
) -> None:
    towns = ("Bonn", "Ulm", "Nice", "Lyon")
    rows = "".join(f"{towns[number % 4]},{number % 9},flu{number % 3}\n" for number in range(60))
    with watched_page(chromium, server) as page:
        opened(page, written(tmp_path, "town,age,disease\n" + rows))
        page.goto(page.url.replace("look", "column/0?way=groups"))
        page.wait_for_selector(".boxes")
        page.check("input[value=Bonn]")
        page.check("input[value=Ulm]")
        page.fill("#new", "Germany")
        page.press("#new", "Enter")
        page.wait_for_selector("fieldset[data-group=Germany]")
        assert faults(page) == []
        page.check("input[value=Nice]")
        page.fill("#new", "France")
        page.click("text=Move the marked")
        page.wait_for_selector("fieldset[data-group=France]")
        page.drag_and_drop(".chip:has-text('Lyon')", "fieldset[data-group=France]")
        page.wait_for_selector("fieldset[data-group=France] >> text=Lyon")
        assert "All 4 values are covered" in page.inner_text("#levels")
        with page.expect_download() as saved:
            page.click("text=Download it")
        assert "Lyon;France;*" in Path(saved.value.path()).read_text()
        page.click("#undo")
        page.wait_for_selector("#roles")
        page.click("text=History")
        page.wait_for_selector(".history")
        assert page.locator(".history li").count() == 4
        assert page.inner_text(".history li[aria-current]").endswith("now")
        assert faults(page) == []
        page.go_back()
        page.wait_for_selector("#roles")
        page.go_forward()
        page.wait_for_selector(".history")


def test_a_run_is_found_again_and_cancelled_from_another_tab(
    chromium: Any, server: StudioServer, tmp_path: Path
) -> None:
    with watched_page(chromium, server) as page:
        opened(page, written(tmp_path, PATIENTS + PATIENTS.partition("\n")[2] * 3000))
        page.goto(page.url.replace("look", "protect"))
        page.click("#start")
        page.wait_for_selector("#cancel")
        page.reload()
        page.wait_for_selector("#cancel")
        assert faults(page) == []
        second = page.context.new_page()
        second.goto(page.url)
        second.click("#cancel")
        second.wait_for_selector("text=The run was cancelled")
        page.wait_for_selector("text=The run was cancelled")
        page.click("nav >> text=Results")
        page.wait_for_selector("text=cancelled")


def test_a_run_that_dies_takes_nothing_with_it(chromium: Any, server: StudioServer, tmp_path: Path) -> None:
    with watched_page(chromium, server) as page:
        opened(page, written(tmp_path))
        project = next(iter(server.projects.all()))
        page.goto(page.url.replace("look", "protect"))
        page.click("#start")
        page.wait_for_selector("#cancel")
        process = next(iter(project.runs.values())).process
        assert process is not None
        process.kill()
        page.wait_for_selector("text=The run ended unexpectedly")
        page.click("text=Change the settings")
        page.wait_for_selector("#start")


@pytest.mark.parametrize("task", ["baskets", "numbers"])
def test_baskets_and_numbers_come_to_a_release(chromium: Any, server: StudioServer, task: str) -> None:
    with watched_page(chromium, server) as page:
        page.goto(f"{server.home}?task={task}")
        page.click("#sample")
        page.wait_for_url("**/look")
        assert faults(page) == []
        page.goto(page.url.replace("look", "protect"))
        page.wait_for_selector("#start")
        if task == "baskets":
            page.fill("#f-baskets-sensitive", "12\n17\n42\n47")
            page.press("#f-baskets-sensitive", "Tab")
            page.wait_for_selector("#problem", state="detached")
        assert faults(page) == []
        page.click("#start")
        page.wait_for_selector("#use-this")
        page.click("#use-this")
        page.wait_for_selector("#zip")
        assert faults(page) == []
        if task == "numbers":
            assert "Drawn from statistics of groups: level, age, income, town, class" in page.inner_text(
                "main"
            )
            assert "It holds by construction." in page.inner_text("main")


def test_noise_is_drawn_while_it_is_set(chromium: Any, server: StudioServer, tmp_path: Path) -> None:
    with watched_page(chromium, server) as page:
        page.goto(f"{server.home}?task=perturb")
        opened(page, written(tmp_path))
        page.click("text=Next: settings")
        page.check("input[name='perturb.columns'][value=age]")
        page.wait_for_selector("#f-perturb-noise")
        page.select_option("#f-perturb-noise", "gaussian")
        page.wait_for_selector("text=/missing|Say in one way|needs/ >> nth=0")
        page.fill("#f-perturb-spread", "10")
        page.wait_for_selector(".curve polyline >> nth=1", state="attached")
        assert faults(page) == []
        page.click("#start")
        page.wait_for_selector("text=Download the result")
        page.goto(f"{server.home}?task=distort")
        page.click("#sample")
        page.wait_for_url("**/look")
        page.click("text=Next: settings")
        page.wait_for_selector("text=for q = p")
        page.fill("#f-distort-q", "0.97")
        page.wait_for_selector("text=for q = 0.97 >> nth=0")
        assert faults(page) == []


@pytest.mark.parametrize(("start", "then"), [("#start", "#use-this"), ("#explore", "#choice-1")])
def test_a_node_of_the_lattice_is_clicked(
    chromium: Any, server: StudioServer, tmp_path: Path, start: str, then: str
) -> None:
    with watched_page(chromium, server) as page:
        opened(page, written(tmp_path))
        page.goto(page.url.replace("look", "protect"))
        page.select_option("#method", "optimal")
        page.wait_for_selector("text=Settings of optimal")
        page.fill("#f-guarantee1-l", "1")
        page.click(start)
        page.wait_for_selector(then, timeout=240_000)  # kernels may have to be compiled
        node = "#lattice .chart svg path[aria-roledescription=point]"
        page.wait_for_selector(node, state="attached")
        page.locator(node).last.dispatch_event("click")
        page.wait_for_selector("#node:not([hidden]) >> text=of age")
        assert faults(page) == []
        page.press("#node button", "Enter")
        page.wait_for_selector("text=Settings of generalization")


def test_axe_finds_nothing_in_a_report_with_a_lattice(chromium: Any, tmp_path: Path) -> None:
    rows = [line.split(",") for line in PATIENTS.splitlines()[1:]]
    frame = pa.table({"age": [int(row[1]) for row in rows], "zip": [row[2] for row in rows]})
    columns = {"age": quasi(intervals(10, 20)), "zip": quasi()}
    release = METHODS["optimal"].make(KAnonymity(3)).release(Table(frame, columns))
    report = tmp_path / "report.html"
    report.write_text(render_report(release, internal=True), encoding="utf-8")
    page = chromium.new_page()
    page.goto(report.as_uri())
    hidden = "chart => chart.querySelector('svg > g[aria-hidden=true]')"
    page.wait_for_function(f"[...document.querySelectorAll('.chart')].every({hidden})")
    assert page.locator("#lattice .chart svg path").count()
    assert faults(page) == []
    page.close()


def test_the_demo_opens_ready_to_run(chromium: Any) -> None:
    with running() as studio:
        studio.open_sample()
        with watched_page(chromium, studio) as page:
            page.wait_for_url("**/look")
            assert "20,000 rows" in page.inner_text("main")


def test_a_page_of_another_port_can_neither_read_nor_change_anything(
    chromium: Any, server: StudioServer, tmp_path: Path
) -> None:
    attack = f"""<!DOCTYPE html><title>hostile</title><body><script>
    const target = "{server.home}".slice(0, -1), found = [];
    const done = Promise.all([
      fetch(target + "/", {{credentials: "include"}}).then(r => r.text()).then(t => found.push("read")).catch(() => 0),
      fetch(target + "/sample", {{method: "POST", credentials: "include", mode: "no-cors"}}).catch(() => 0),
      fetch(target + "/sample", {{method: "POST", credentials: "include", headers: {{"X-Discreet-Token": "x"}}}})
        .then(() => found.push("post")).catch(() => 0),
      new Promise(done => {{ const s = document.createElement("script"); s.src = target + "/static/studio.js";
        s.onload = () => {{ found.push("script"); done(); }}; s.onerror = done; document.head.append(s); }}),
      new Promise(done => {{ const f = document.createElement("iframe"); f.src = target; f.onload = () => {{
        try {{ if (f.contentDocument.querySelector("#main")) found.push("frame"); }} catch {{ }} done(); }};
        document.body.append(f); }}),
      new Promise(done => {{ const e = new EventSource(target + "/p/1/runs/1/events", {{withCredentials: true}});
        e.onmessage = () => {{ found.push("events"); done(); }}; e.onerror = () => {{ e.close(); done(); }}; }}),
    ]).then(() => found);
    </script></body>"""

    received: list[str] = []

    class Hostile(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append(str(self.headers))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Set-Cookie", f"discreet-studio-{server.port}=planted; Path=/")
            self.end_headers()
            self.wfile.write(attack.encode())

        def log_message(self, *arguments: Any) -> None:
            del arguments

    hostile = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=hostile.serve_forever, daemon=True).start()
    try:
        with watched_page(chromium, server) as page:
            opened(page, written(tmp_path))
            before = len(server.projects.all())
            other = page.context.new_page()
            other.goto(f"http://127.0.0.1:{hostile.server_port}/")
            assert other.evaluate("done") == []
            assert len(server.projects.all()) == before
            other.goto(f"http://127.0.0.1:{hostile.server_port}/")
            other.evaluate(f"location.href = '{server.home}'")
            other.wait_for_selector("text=Requests of other pages are refused")
            # A link that the person follows from the studio, which has none, would carry neither cookie nor path.
            third = page.context.new_page()
            third.goto(server.home)
            third.evaluate(f"location.href = 'http://127.0.0.1:{hostile.server_port}/'")
            third.wait_for_function("document.title === 'hostile'")
            assert len(received) >= 3
            sent = "".join(received)
            assert [
                word for word in (server.secrets.session, server.secrets.root, "/look") if word in sent
            ] == []
            page.goto(server.home)
            page.wait_for_selector("h1")
    finally:
        hostile.shutdown()
        hostile.server_close()


@pytest.mark.parametrize("width", [400, 1280, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_all_can_be_read(
    chromium: Any, server: StudioServer, tmp_path: Path, width: int, scheme: str
) -> None:
    settings = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    long = "a_very_long_name_of_a_column_" * 6
    with watched_page(chromium, server, **settings) as page:
        opened(page, written(tmp_path, PATIENTS.replace("disease", long)))
        for name in (
            "look",
            "roles",
            "column/1",
            "column/2?way=groups",
            "protect",
            "results",
            "hand-over",
            "history",
        ):
            page.goto(re.sub(r"/p/(\w+)/.*", rf"/p/\1/{name}", page.url))
            page.wait_for_selector("h1")
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, name
            assert faults(page) == [], name
