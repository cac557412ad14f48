"""What comes from elsewhere can neither read nor change anything, and nothing leaves that should not."""

from __future__ import annotations

import html
import io
import re
import stat
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from pyarrow import parquet

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.studio.servers import PATIENTS, client_of, finished, routes, running, uploaded

from discreet.studio import home_pages
from discreet.studio.origins import displayed_name
from discreet.studio.serving import StudioServer

ROUTES = [
    *routes(),
    ("GET", "/static/studio.js"),
    ("GET", "/static/studio.css"),
    ("GET", "/static/charts.js"),
    ("GET", "/nothing"),
]


def _filled(path: str) -> str:
    return re.sub(r"\{\w+\}", "1", path)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_is_closed_to_everybody_else(
    server: StudioServer, client: httpx.Client, method: str, path: str
) -> None:
    address = server.home.removesuffix("/") + _filled(path)
    strangers = {
        "no cookie": httpx.request(method, address),
        "another cookie": httpx.request(method, address, cookies={f"discreet-studio-{server.port}": "guess"}),
        "another host": client.request(method, address, headers={"Host": f"evil.example:{server.port}"}),
        "another origin": client.request(method, address, headers={"Origin": "http://127.0.0.1:1"}),
        "no origin at all": client.request(method, address, headers={"Origin": "null"}),
        "another site": client.request(method, address, headers={"Sec-Fetch-Site": "cross-site"}),
        "another port": client.request(method, address, headers={"Sec-Fetch-Site": "same-site"}),
    }
    assert {who: answer.status_code for who, answer in strangers.items()} == dict.fromkeys(strangers, 403) | {
        "another host": 421
    }
    if method == "POST":
        without = client.request(method, address, headers={"X-Discreet-Token": "guess"})
        assert without.status_code == 403
    for answer in strangers.values():
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_only_the_address_with_the_token_opens_the_studio(server: StudioServer) -> None:
    assert httpx.get(f"{server.origin}/open?token=guess").status_code == 403
    assert httpx.get(f"{server.origin}/open").status_code == 403
    assert httpx.post(server.address).status_code == 403
    opened = httpx.get(server.address)
    cookie = opened.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert server.secrets.token not in cookie
    assert server.secrets.token not in opened.text
    assert f"Path={server.secrets.root}/;" in cookie
    assert opened.headers["Referrer-Policy"] == "no-referrer"
    # Others may see the command that starts the browser.
    assert [httpx.get(server.address_once).status_code for _ in range(2)] == [200, 403]
    assert server.secrets.root not in server.address + server.address_once


def test_no_address_answers_outside_the_secret_path(server: StudioServer, client: httpx.Client) -> None:
    address = uploaded(client)
    cookie = {"Cookie": f"discreet-studio-{server.port}={server.secrets.session}"}
    roots = (
        "",
        "/",
        "/guess",
        server.secrets.root[:-1],
        f"/{server.secrets.root}",
        server.secrets.root + "x",
    )
    for root in roots:
        for path in ("/", f"{address}/look", "/static/studio.js"):
            answer = httpx.get(f"{server.origin}{root}{path}", headers=cookie)
            assert (answer.status_code, "p.csv" in answer.text) == (403, False), (root, path)
    home, look = client.get("/").text, client.get(f"{address}/look").text
    addresses = re.findall(
        r'(?:href|src|action|data-(?:load|upload|events|live|action))="([^"]*)"', home + look
    )
    inside = (f"{server.secrets.root}/", "#", "data:,")
    assert [link for link in addresses if not link.startswith(inside)] == []


def test_a_cookie_of_the_same_name_from_another_port_does_not_lock_anybody_out(server: StudioServer) -> None:
    name = f"discreet-studio-{server.port}"
    both = f"{name}=planted; {name}={server.secrets.session}"
    assert httpx.get(server.home, headers={"Cookie": both}).status_code == 200


def test_the_folder_is_private_and_gone_at_the_end(tmp_path: Path) -> None:
    with running() as studio:
        folder = studio.folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with client_of(studio) as client:
            uploaded(client)
        assert any(path.suffix == ".csv" for path in folder.iterdir())
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in folder.iterdir())
    assert not folder.exists()
    with running(keep=tmp_path / "stays") as studio:
        assert stat.S_IMODE(studio.folder.stat().st_mode) == 0o700
    assert studio.folder.is_dir()


PLANTED = "<script>alert(1)</script>\"'&\u202egnp.exe" + "x" * 10_000


def test_planted_names_are_shown_escaped_everywhere(server: StudioServer, client: httpx.Client) -> None:
    values = [f"{PLANTED[:90]}{number % 3}" for number in range(60)]
    ages, diseases = [number % 7 for number in range(60)], [f"flu{number % 2}" for number in range(60)]
    file = io.BytesIO()
    parquet.write_table(pa.table({PLANTED: values, "age": ages, "disease": diseases}), file)
    name = "..%2F..%2F%3Cscript%3Ealert(2)%3C%2Fscript%3E.parquet"
    address = uploaded(client, file.getvalue(), name=name)
    for page in (
        "look",
        "pairs",
        "roles",
        "column/0",
        "column/0?way=groups",
        "protect",
        "history",
        "results",
    ):
        answer = client.get(f"{address}/{page}")
        assert answer.status_code in (200, 400), page
        assert "<script>alert" not in answer.text, page
        assert "\u202e" not in answer.text, page
    assert html.escape("<script>alert(1)") in client.get(f"{address}/roles").text
    assert not [path for path in server.folder.parent.iterdir() if "alert" in path.name]
    assert not [path for path in server.folder.rglob("*") if "alert" in path.name]


def test_names_of_files_are_never_paths() -> None:
    assert displayed_name("../../../etc/passwd") == "passwd"
    assert displayed_name("C:\\data\\patients.csv") == "patients.csv"
    assert displayed_name("\x00\u202e...") == "data.csv"
    assert len(displayed_name("x" * 10_000)) < 200


def test_what_is_too_large_is_refused_and_nothing_of_it_stays(
    server: StudioServer, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_pages, "LARGEST_UPLOAD", 1024**2)
    before = set(server.folder.iterdir())
    answer = client.post("/upload", content=b"a,b\n" + b"1,2\n" * 300_000, headers={"X-Name": "big.csv"})
    assert answer.status_code == 400
    assert "larger than 1 MiB" in answer.json()["error"]
    assert set(server.folder.iterdir()) == before
    long = client.post(f"{uploaded(client)}/protect", content=b"[" + b" " * 3 * 1024**2 + b"]")
    assert "larger than 2 MiB" in long.json()["error"]


def test_errors_hold_no_value(client: httpx.Client) -> None:
    secret = "SECRET-5512"
    answers = [
        client.post(
            "/upload", content=f"a,b\n1,{secret}\n1,2,{secret},4\n".encode(), headers={"X-Name": "a.csv"}
        ),
        client.post("/upload", content=secret.encode() * 3, headers={"X-Name": "a.parquet"}),
        client.post("/restore", content=secret.encode()),
    ]
    address = uploaded(client, PATIENTS.replace("flu", secret))
    answers += [
        client.post(f"{address}/column/3/load", content=f"x;{secret};*\ny;*\n".encode()),
        client.post(f"{address}/column/3", json=[["way", "intervals"], ["intervals", "5"]]),
        client.post(f"{address}/protect", json=[["guarantee0.k", secret]]),
        client.post(f"{address}/guarantee", json=[["kind", secret]]),
        client.post(f"{address}/roles", json=[["column", "1"], ["role", secret]]),
    ]
    assert {answer.status_code for answer in answers} == {400}
    assert not [answer.text for answer in answers if secret in answer.text]


def test_release_and_private_folder_are_saved_apart(client: httpx.Client) -> None:
    address = uploaded(client)
    run = finished(client, address)
    release = client.get(f"{run}/save/release.zip")
    assert release.headers["Content-Disposition"].startswith("attachment")
    assert b"private" not in release.content
    assert client.get(f"{run}/save/private.zip").status_code == 200
    for name in ("..%2Frun.json", "run.json", "job.toml", "%2Fetc%2Fpasswd"):
        assert client.get(f"{run}/save/{name}").status_code == 404


def test_only_files_of_the_named_folder_are_offered(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.csv").write_text(PATIENTS)
    (tmp_path / "a.csv").write_text(PATIENTS)
    (tmp_path / "link.csv").symlink_to("/etc/passwd")
    (tmp_path / ".hidden.csv").write_text(PATIENTS)
    with running(files=tmp_path) as studio, client_of(studio) as client:
        page = client.get("/").text
        assert "a.csv" in page
        assert "link.csv" not in page
        assert ".hidden" not in page
        assert client.post("/pick", json=[["file", "0"]]).json()["go"].endswith("/look")
        assert client.post("/pick", json=[["file", "1"]]).status_code == 400
        assert client.post("/pick", json=[["file", "../a.csv"]]).status_code == 400
