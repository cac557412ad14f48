"""What was made before is looked at, checked, attacked and applied, and tables of databases are opened."""

from __future__ import annotations

import html
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import httpx
import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.studio.servers import PATIENTS, finished, running, uploaded, written

from discreet.cli._app import app
from discreet.studio.serving import StudioServer

PLANTED = "<script>alert(1)</script>"
SESSION = '[protocol]\nname = "secure-sum"\nlength = 2\n'


def _command(*words: object) -> None:
    result = CliRunner().invoke(app, [str(word) for word in words], standalone_mode=False)
    assert not result.exception or not getattr(result.exception, "code", 0), result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with one of each: a release, a vault, a session, an experiment, and a link that is none."""
    place = tmp_path_factory.mktemp("made")
    data = written(place)
    roles = ("--quasi", "age,zip", "--sensitive", "disease", "--identifier", "ssn")
    _command("anonymize", data, *roles, "-k", 5, "--out", place / "release", "--quiet")
    vault = place / "staff.vault"
    columns = ("--sensitive", "age", "--public", "disease", "--auditor", "sum", "--low", 0)
    _command("audit", "init", data, *columns, "--vault", vault, "--quiet")
    _command("audit", "ask", vault, "SELECT sum(age) FROM data WHERE disease = 'flu'", "--quiet")
    for port, name in enumerate(("a", "b", "c"), start=4001):
        address = f"127.0.0.1:{port}"
        _command("party", "keys", "--name", name, "--address", address, "--folder", place, "--quiet")
    members = "".join((place / f"{name}.toml").read_text() for name in ("a", "b", "c"))
    (place / "session.toml").write_text(members + SESSION)
    experiment = place / "experiments" / "sketches"
    experiment.mkdir(parents=True)
    (experiment / "index.html").write_text(PLANTED)
    (experiment / "errors.md").write_text(
        f"# Errors {PLANTED}\n\n| n | error |\n| --- | --- |\n| 10 | 0.5 |\n"
    )
    (experiment / "errors.svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'>{PLANTED}</svg>")
    (place / "link").symlink_to(place / "release")
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[StudioServer]:
    with running(files=folder) as studio:
        yield studio


def _ended(client: httpx.Client, response: httpx.Response) -> str:
    """Return the page of a run once it has ended."""
    assert response.status_code == 200, response.text
    run = response.json()["go"]
    with client.stream("GET", f"{run}/events") as stream:
        for _ in stream.iter_lines():
            pass
    return client.get(run).text


def _opened(client: httpx.Client, kind: str) -> str:
    page = client.get("/?task=earlier").text
    offered = re.findall(r'<option value="(\d+)"[^>]*>([^<]+)\((\w+)\)</option>', page)
    assert sorted(each[2] for each in offered) == ["experiment", "release", "session", "vault"]
    position = next(position for position, _, found in offered if found == kind)
    return _ended(client, client.post("/pick?task=earlier", json=[["file", position]]))


def test_a_release_is_checked_attacked_and_applied(client: httpx.Client) -> None:
    page = _opened(client, "release")
    assert "The release is verified" in page
    base = re.findall(r'data-upload="/[^/]+([^"]+)/attack"', page)[0]
    headers = {"X-Name": "patients.csv"}
    attacked = _ended(client, client.post(f"{base}/attack", content=PATIENTS, headers=headers))
    assert "inference of disease" in attacked
    applied = _ended(client, client.post(f"{base}/next", content=PATIENTS, headers=headers))
    assert "The guarantee is <" in applied or "verified" in applied
    wrong = _ended(client, client.post(f"{base}/attack", content="a,b\n1,2\n3,4\n", headers=headers))
    assert "lacks column" in wrong


def test_a_release_comes_as_a_zip(client: httpx.Client, folder: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path in (folder / "release").iterdir():
            content = path.read_bytes()
            archive.writestr(f"release/{path.name}", content)
    answer = client.post("/upload?task=earlier", content=stream.getvalue(), headers={"X-Name": "r.zip"})
    assert "The release is verified" in _ended(client, answer)


@pytest.mark.parametrize(
    "names",
    [["a/release.json", "b/data.csv"], ["data.csv"], [f"release/{number}" for number in range(200)], []],
)
def test_other_zips_are_refused(client: httpx.Client, server: StudioServer, names: list[str]) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    answer = client.post("/upload?task=earlier", content=stream.getvalue(), headers={"X-Name": "r.zip"})
    assert answer.status_code == 400
    assert "zip" in answer.json()["error"].lower()


def test_a_zip_cannot_write_outside_its_folder(client: httpx.Client, server: StudioServer) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("../../../escaped.json", "{}")
    client.post("/upload?task=earlier", content=stream.getvalue(), headers={"X-Name": "r.zip"})
    assert not list(server.folder.parent.glob("escaped*"))
    assert not list(server.folder.glob("escaped*"))


def test_a_vault_shows_what_was_asked_and_no_answer(client: httpx.Client) -> None:
    page = _opened(client, "vault")
    assert "SELECT sum(age) FROM data" in page
    assert "Denied" in page
    total = sum(20 + number % 50 for number in range(240) if number % 3)
    assert str(total) not in page
    assert f"{total:,}" not in page


def test_a_session_says_what_it_reveals_before_it_runs(client: httpx.Client) -> None:
    page = _opened(client, "session")
    assert "before it runs" in page
    assert "Every party learns which parties dropped out" in page


def test_an_experiment_shows_tables_and_pictures_and_runs_nothing(client: httpx.Client) -> None:
    page = _opened(client, "experiment")
    assert PLANTED not in page
    assert "&lt;script&gt;alert(1)" in page
    assert 'src="data:image/svg+xml;base64,' in page


def test_any_table_is_checked(client: httpx.Client) -> None:
    address = uploaded(client, task="check")
    page = client.get(f"{address}/protect").text
    assert "Check it" in page
    run = client.post(f"{address}/runs", json=[["what", "judge"]])
    judged = _ended(client, run)
    assert "broken" in judged
    assert "k-anonymity, k" in judged


def test_tables_of_databases_are_chosen(client: httpx.Client, tmp_path: Path) -> None:
    lines = [line.split(",") for line in PATIENTS.splitlines()]
    with sqlite3.connect(tmp_path / "clinic.db") as session:
        session.execute(f"CREATE TABLE patients ({', '.join(lines[0])})")
        session.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", lines[1:])
        session.execute("CREATE TABLE other (a)")
    content = (tmp_path / "clinic.db").read_bytes()
    address = client.post("/upload?task=table", content=content, headers={"X-Name": "clinic.db"}).json()["go"]
    page = client.get(address).text
    names = re.findall(r'name="table" value="(\d+)">(\w+)<', page)
    assert {name for _, name in names} == {"patients", "other"}
    position = next(position for position, name in names if name == "patients")
    base = address.removesuffix("/data")
    assert client.post(f"{base}/table", json=[["table", position]]).json()["go"] == f"{base}/look"
    assert "240 rows" in client.get(f"{base}/look").text
    assert client.get(finished(client, base)).text.count("verified")


def test_addresses_of_databases_show_no_password(client: httpx.Client) -> None:
    address = "postgresql://ann:hidden-word@127.0.0.1:1/clinic?table=patients"
    answer = client.post("/database?task=table", json=[["address", address]])
    assert answer.status_code == 400
    assert "hidden-word" not in answer.text
    other = client.post("/database?task=table", json=[["address", "/etc/passwd"]])
    assert "postgresql://" in other.json()["error"]


def test_the_sql_of_a_run_makes_the_released_rows(client: httpx.Client, tmp_path: Path) -> None:
    address = uploaded(client)
    levels = [["method", "generalization"]]
    assert client.post(f"{address}/protect", json=levels).status_code == 200
    fields = [["guarantee0.k", "5"], ["guarantee1.l", "1"], ["guarantee1.of", "disease"]]
    fields += [["method", "generalization"], ["method.levels:age", "3"], ["method.levels:zip", "1"]]
    assert client.post(f"{address}/protect", json=fields).status_code == 200
    assert "boxes that differ from row to row" in client.get(f"{address}/protect").text
    run = finished(client, address)
    assert "verified" in client.get(run).text
    page = client.get(f"{address}/protect").text
    sql = html.unescape(re.findall(r"<h3>SQL</h3>.*?<code>(.*?)</code>", page, re.DOTALL)[0])
    with zipfile.ZipFile(io.BytesIO(client.get(f"{run}/save/release.zip").content)) as archive:
        names = archive.namelist()
        (tmp_path / "data.csv").write_bytes(archive.read("release/data.csv"))
        assert {"release/codebook.csv", "release/report.html"} <= set(names)
        assert json.loads(archive.read("release/release.json"))["kind"] == "table"
    context = [["recipient", "a hospital"], ["environment", "controlled"]]
    assert client.post(f"{run}/evidence", json=context[:1]).status_code == 400
    paper = client.post(f"{run}/evidence", json=context)
    assert "evidence-zip" in _ended(client, paper)
    saved = client.get(f"{paper.json()['go']}/save/evidence.zip").content
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        assert any(name.endswith(".html") for name in archive.namelist())
    session = duckdb.connect()
    session.execute(
        f"CREATE TABLE p AS SELECT * FROM read_csv('{written(tmp_path)}', types={{'zip': 'VARCHAR'}})"
    )
    made = sorted(tuple(map(str, row)) for row in session.execute(sql).fetchall())
    published = f"SELECT * FROM read_csv('{tmp_path / 'data.csv'}', all_varchar=true)"
    assert made == sorted(tuple(map(str, row)) for row in session.execute(published).fetchall())


def test_attacks_are_compared_with_a_control_group(client: httpx.Client) -> None:
    address = uploaded(client)
    run = finished(client, address)
    answer = client.post(f"{run}/attack")
    attack, page = answer.json()["go"], _ended(client, answer)
    assert "no control group" in page
    others = PATIENTS.replace("flu", "gout")
    again = _ended(client, client.post(f"{attack}/attack", content=others, headers={"X-Name": "o.csv"}))
    assert "of people who are not in the data" in again
    assert "no control group" not in again


def test_columns_that_name_people_are_published_where_they_are_marked(client: httpx.Client) -> None:
    rows = [line.split(",") for line in PATIENTS.splitlines()]
    text = "".join(f"{','.join(row[1:])},ann{row[0]}@example.org\n" for row in rows[1:])
    address = uploaded(client, f"age,zip,disease,mail\n{text}")
    assert client.post(f"{address}/roles", json=[["column", "3"], ["role", "other"]]).status_code == 200
    refused = client.get(finished(client, address)).text
    assert "mail" in refused
    assert "example.org" not in refused
    fields = [
        ["guarantee0.k", "5"],
        ["guarantee1.l", "1"],
        ["guarantee1.of", "disease"],
        ["method", "mondrian"],
    ]
    assert client.post(f"{address}/protect", json=[*fields, ["output.allow", "mail"]]).status_code == 200
    page = client.get(f"{address}/protect").text
    assert re.search(r'name="output.allow" value="mail" checked', page)
    assert 'allow = ["mail"]' in html.unescape(page)
    assert "use-this" in client.get(finished(client, address)).text


def test_a_node_of_the_lattice_and_levels_allowed_become_the_method(client: httpx.Client) -> None:
    address = uploaded(client)
    assert "chooses row by row" in client.get(f"{address}/column/1").text
    fields = [["guarantee0.k", "5"], ["guarantee1.l", "1"], ["guarantee1.of", "disease"]]
    assert client.post(f"{address}/protect", json=[*fields, ["method", "optimal"]]).status_code == 200
    limits = [["name", "five years"], ["name", "ten years"], ["lowest", "1"], ["highest", "3"]]
    assert client.post(f"{address}/column/1/levels", json=limits).status_code == 200
    assert client.post(f"{address}/column/1/levels", json=limits[-1:]).status_code == 400
    page = client.get(f"{address}/protect").text
    assert "lowest = {age = 1}" in html.unescape(page)
    assert "1 five years" in client.get(f"{address}/column/1").text
    assert "five years" not in page
    archive = client.get(f"{address}/save/project").content
    assert client.post("/restore", content=archive).status_code == 200
    run = finished(client, address)
    page = client.get(run).text
    names = json.loads(html.unescape(re.findall(r"data-names='([^']+)'", page)[0]))
    assert sorted(names) == ["age", "zip"]
    levels = ",".join("2" if name == "age" else "1" for name in names)
    assert client.post(f"{run}/use", json=[["levels", f"{levels},7"]]).status_code == 404
    assert client.post(f"{run}/use", json=[["levels", levels]]).json()["go"] == f"{address}/protect"
    text = html.unescape(client.get(f"{address}/protect").text)
    assert "age = 2" in text
    assert 'name = "generalization"' in text


def test_texts_of_a_column_become_sketches(client: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a key of more than sixteen bytes")
    words = ["fever cough", "cough ache rash", "rash fever", "ache cough fever rash"]
    texts = "".join(f"{number},n{number % 3},{words[number % 4]} w{number}\n" for number in range(80))
    address = uploaded(client, f"id,ward,note\n{texts}", "notes.csv", "sketches")
    assert client.post(f"{address}/reading", json=[["column", "note"]]).status_code == 200
    assert "<option selected>note" in client.get(f"{address}/look").text
    fields = [("sketches.key", f"file:{tmp_path / 'key'}"), ("guarantee0.delta", "0.01")]
    page = client.get(finished(client, address, *fields)).text
    assert "use-this" in page
    other = client.post("/upload?task=sketches", content=b"a,b\n1,2\n", headers={"X-Name": "n.csv"})
    failed = client.get(finished(client, other.json()["go"].removesuffix("/look"), *fields)).text
    assert 'class="problem"' in failed
    assert "/tmp" not in failed.partition("<main")[2].replace(str(tmp_path), "")


def test_methods_of_hiding_are_compared_in_a_picture(client: httpx.Client) -> None:
    baskets = "".join(
        f"{'a b' if number % 2 else 'a c'} {'d' if number % 3 else 'e'}\n" for number in range(60)
    )
    address = uploaded(client, baskets, "b.dat", "hide")
    fields = [["guarantee0.rules", "a, b"], ["guarantee0.min_support", "20"]]
    compared = client.post(f"{address}/runs", json=[*fields, ["what", "compare"]])
    page = _ended(client, compared)
    assert "What each method loses" in page
    assert 'class="chart"' in page
    method = re.findall(r'value="0">Use ([^<]+)<', page)[0]
    assert client.post(f"{compared.json()['go']}/use", json=[["choice", "0"]]).status_code == 200
    assert f'name = "{method}"' in html.unescape(client.get(f"{address}/protect").text)
