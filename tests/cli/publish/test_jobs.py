"""`discreet init`, `run`, `apply` and `demo`: from a first look to the same protection for new rows."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pyarrow.csv as arrow_csv
import pytest
from tests.cli.planted import ROLES, SECRET

from discreet.datasets import hospital


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "hospital.csv"
    arrow_csv.write_csv(hospital(2_000), path)
    return path


def test_init_proposes_and_run_accepts(invoke, sample: Path, tmp_path: Path) -> None:
    job = tmp_path / "jobs" / "job.toml"
    job.parent.mkdir()
    looked = invoke("init", sample, "--out", job, "--json")
    assert looked.exit_code == 0, looked.output
    roles = {column["name"]: column["role"] for column in json.loads(looked.stdout)["columns"]}
    assert roles["patient_id"] == roles["name"] == "identifier"
    assert roles["diagnosis"] == "sensitive"
    assert {name for name, role in roles.items() if role == "quasi"} >= {
        "age",
        "sex",
        "zip",
        "admission",
        "ward",
    }
    ran = invoke("run", job)
    assert ran.exit_code == 0, ran.output
    assert "verified" in ran.stdout
    released = (job.parent / "release" / "data.csv").read_text().splitlines()
    assert len(released) == 2_001
    assert released[0] == "age,sex,zip,education,marital_status,admission,ward,diagnosis,days,readmitted"


def test_the_job_file_is_plain_about_hierarchies(invoke, sample: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    invoke("init", sample, "--out", job)
    columns = tomllib.loads(job.read_text())["columns"]
    assert columns["zip"]["hierarchy"] == {"mask": "right", "width": 5}
    assert columns["age"]["hierarchy"]["intervals"][0] == 5
    assert columns["sex"]["hierarchy"] == {"flat": True}
    assert columns["admission"]["hierarchy"] == {"intervals": ["month", "quarter", "year"]}


def test_no_comment_of_a_job_file_holds_a_value(invoke, patients: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    assert invoke("init", patients, "--out", job).exit_code == 0
    comments = [line.partition("#")[2] for line in job.read_text().splitlines()]
    values = {
        cell for line in patients.read_text().splitlines()[1:] for cell in line.split(",") if len(cell) > 2
    }
    assert SECRET in values
    assert not [value for value in values for comment in comments if value in comment]


def test_init_never_overwrites(invoke, patients: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text("mine")
    assert invoke("init", patients, "--out", job).exit_code == 2
    assert job.read_text() == "mine"


def test_init_warns_of_free_text(invoke, tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    rows = [
        f"{20 + one % 5},the patient number {one} came in late and told us a very long story"
        for one in range(60)
    ]
    path.write_text("age,remarks\n" + "\n".join(rows) + "\n")
    result = invoke("init", path, "--out", tmp_path / "job.toml")
    assert "check" in result.stdout
    assert "free text" in result.stdout
    assert tomllib.loads((tmp_path / "job.toml").read_text())["columns"]["remarks"]["role"] == "identifier"


def test_init_keeps_the_reading_options(invoke, tmp_path: Path) -> None:
    path = tmp_path / "amounts.csv"
    path.write_text(
        "age;amount\n" + "".join(f"{20 + one % 3};1.{one:03d},5\n" for one in range(30)), "latin-1"
    )
    flags = ["--delimiter", ";", "--encoding", "latin-1", "--decimal", ",", "--thousands", "."]
    assert invoke("init", path, *flags, "--out", tmp_path / "job.toml").exit_code == 0
    given = tomllib.loads((tmp_path / "job.toml").read_text())["input"]
    assert (given["delimiter"], given["decimal"], given["encoding"]) == (";", ",", "latin-1")
    assert invoke("run", tmp_path / "job.toml").exit_code == 0


def test_init_on_odd_names_and_few_rows_is_accepted_by_run(invoke, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('"a ""quoted"" = [name]",größe,same\n1,x,0\n2,y,0\n')
    assert invoke("init", path, "--out", tmp_path / "job.toml").exit_code == 0
    ran = invoke("run", tmp_path / "job.toml")
    assert ran.exit_code == 0, ran.output


def test_run_says_what_a_forgotten_column_needs(invoke, patients: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        '[input]\npath = "patients.csv"\n[columns.age]\nrole = "quasi"\n[columns.disease]\nrole = "sensitive"\n'
        '[columns.name]\nrole = "identifier"\n[[guarantee]]\nkind = "k-anonymity"\nk = 5\n[output]\nfolder = "o"\n'
    )
    result = invoke("run", job)
    assert result.exit_code == 2
    assert "'zip' has none" in result.stderr
    assert '[columns.zip] role = "quasi"' in result.stderr
    assert not (tmp_path / "o").exists()


def test_apply_protects_new_rows_the_same_way(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    assert invoke("anonymize", patients, *ROLES, "-k", 5, "--out", out).exit_code == 0
    new = tmp_path / "new.csv"
    lines = patients.read_text().splitlines()
    new.write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    result = invoke("apply", out / "release.json", new, "--out", tmp_path / "again", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["ok"] is True
    cells = [
        {line.rsplit(",", 1)[0] for line in (folder / "data.csv").read_text().splitlines()}
        for folder in (out, tmp_path / "again")
    ]
    assert cells[0] == cells[1]


def test_apply_refuses_rows_that_would_break_the_promise(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    assert invoke("anonymize", patients, *ROLES, "-k", 5, "--out", out).exit_code == 0
    few = tmp_path / "few.csv"
    few.write_text("".join(line + "\n" for line in patients.read_text().splitlines()[:4]))
    result = invoke("apply", out / "release.json", few, "--out", tmp_path / "again")
    assert result.exit_code == 6
    assert not (tmp_path / "again").exists()
    assert SECRET not in result.output


def test_apply_reads_codes_as_text_even_where_they_look_like_numbers(invoke, tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text(
        "zip,disease\n" + "".join(f"{zip_},d{one}\n" for one in range(6) for zip_ in ("02139", "90210"))
    )
    new.write_text("zip,disease\n" + "".join(f"90210,d{one}\n" for one in range(6)))
    roles = ["--quasi", "zip", "--sensitive", "disease"]
    assert invoke("anonymize", old, *roles, "-k", 6, "--out", tmp_path / "a").exit_code == 0
    result = invoke("apply", tmp_path / "a" / "release.json", new, "--out", tmp_path / "b")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 1}'])
def test_apply_refuses_what_is_no_recipe(invoke, patients: Path, tmp_path: Path, text: str) -> None:
    recipe = tmp_path / "release.json"
    recipe.write_text(text)
    result = invoke("apply", recipe, patients, "--out", tmp_path / "o")
    assert result.exit_code == 2, result.output
    assert not (tmp_path / "o").exists()


def test_demo_prints_the_verdict_and_replaces_only_itself(invoke, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = invoke("demo")
    assert first.exit_code == 0, first.output
    assert "verified" in first.stdout
    assert os.path.join("release-demo", "report.html") in first.stdout  # noqa: PTH118
    assert invoke("demo", "--quiet").exit_code == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    assert invoke("demo", "--out", "other").exit_code == 7
    assert (other / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "args", [("demo",), ("init", "x.csv"), ("run", "x.toml"), ("apply", "a.json", "b.csv", "--out", "o")]
)
def test_every_command_reports_errors_as_json(
    invoke, tmp_path: Path, monkeypatch, args: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "release-demo").write_text("a file")
    result = invoke(*args, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == 2


@pytest.mark.parametrize(
    "text",
    [
        '[method]\nname = [1, 2, 3]\n[input]\npath = "a.csv"\n',
        '[[guarantee]]\nkind = "t-closeness"\nt = 0.3\nof = [[1]]\n[input]\npath = "a.csv"\n',
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "9" * 6000,
        "[input]\npath = [1]\n",
        'input = "x"\n',
        'columns = [1]\n[input]\npath = "a.csv"\n',
        '[columns.age]\nrole = "quasi"\nhierarchy = {intervals = [[1]]}\n[input]\npath = "a.csv"\n',
        '[baskets]\nsensitive = [[1]]\n[input]\npath = "a.dat"\n[method]\nname = [1]\n',
    ],
)
def test_a_damaged_job_is_refused(invoke, tmp_path: Path, text: str) -> None:
    path = tmp_path / "job.toml"
    path.write_text(text)
    result = invoke("run", str(path))
    assert result.exit_code == 2, result.output


def test_one_long_code_of_a_new_month_uncovers_nobody(invoke, tmp_path: Path) -> None:
    """A job masked from the longest code: one ZIP+4 in a new month, and everybody's five digits were published."""
    data, job = tmp_path / "month.csv", tmp_path / "job.toml"
    months = [["02138", "02139", "02140"] * 8, [*["02138", "02139", "02140"] * 8, "02139-1234"]]
    texts = ["age,zip,disease\n" + "".join(f"{20 + at % 4},{code},{'ab'[at % 2]}\n" for at, code in enumerate(codes))
             for codes in months]  # fmt: skip
    given = (
        "--quasi",
        "age,zip",
        "--sensitive",
        "disease",
        "-k",
        2,
        "--max-suppressed",
        0.2,
        "--level",
        "zip=3",
    )
    data.write_text(texts[0])
    made = invoke("anonymize", data, *given, "--hierarchy", "zip=mask", "--out", tmp_path / "first")
    assert made.exit_code == 0, made.output
    assert invoke("init", data, "--out", job).exit_code == 0
    assert tomllib.loads(job.read_text())["columns"]["zip"]["hierarchy"] == {"mask": "right", "width": 5}
    data.write_text(texts[1])
    refused = invoke("anonymize", data, *given, "--hierarchy", "zip=mask", "--out", tmp_path / "second")
    assert refused.exit_code == 2
    assert "2 lengths, from 5 to 10 characters" in refused.output
    assert "mask:10" in refused.output
    assert "0213" not in refused.output
    assert invoke("run", job).exit_code == 2
    assert not (tmp_path / "second").exists()
    wide = invoke("anonymize", data, *given, "--hierarchy", "zip=mask:10", "--out", tmp_path / "wide")
    assert wide.exit_code == 0, wide.output
    assert invoke("init", data, "--out", tmp_path / "new.toml").exit_code == 0
    assert "its codes have 2 lengths" in (tmp_path / "new.toml").read_text()


def test_run_is_strict_where_asked(invoke, tmp_path: Path) -> None:
    data, job = tmp_path / "data.csv", tmp_path / "job.toml"
    data.write_text("age,disease\n" + "20,flu\n" * 10 + "60,cold\n" * 10)
    job.write_text(
        '[input]\npath = "data.csv"\n[columns]\nage = {role = "quasi"}\ndisease = {role = "sensitive"}\n'
        '[[guarantee]]\nkind = "k-anonymity"\nk = 5\n'
    )
    refused = invoke("run", job, "--strict", "--out", tmp_path / "out")
    assert refused.exit_code == 5
    assert "There are cautions, so nothing was written." in refused.output
    assert not (tmp_path / "out").exists()
    assert invoke("run", job, "--out", tmp_path / "out").exit_code == 0


def test_a_run_never_replaces_its_job_file(invoke, tmp_path: Path) -> None:
    people, job = tmp_path / "people.csv", tmp_path / "job.csv"
    people.write_text("age\n" + "\n".join(map(str, range(30))) + "\n")
    text = '[input]\npath = "people.csv"\n\n[perturb]\ncolumns = ["age"]\nnoise = "uniform"\nspread = 3\n'
    job.write_text(text)
    refused = invoke("run", job, "--out", job, "--overwrite")
    assert refused.exit_code == 2
    assert "is what is read" in refused.output
    assert job.read_text() == text
