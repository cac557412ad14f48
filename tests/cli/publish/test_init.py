"""`discreet init`: proposals that an expert would agree with, and a look at wide, numeric and basket files."""

from __future__ import annotations

import json
import shutil
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import read

PERSON = "person"


def table(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = zip(*columns.values(), strict=True)
    lines = [
        ",".join(columns),
        *(",".join(f'"{cell}"' if "," in str(cell) else str(cell) for cell in row) for row in rows),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def encounters(n: int = 2_000) -> dict[str, list[Any]]:
    """Visits of a hospital, several of a person."""
    rng = np.random.default_rng(3)
    drugs = {
        f"drug{number}": rng.choice(["No", "Steady", "Up"], n, p=[0.8, 0.15, 0.05]).tolist()
        for number in range(6)
    }
    return {
        "encounter_id": rng.permutation(10**6)[:n].tolist(),
        "patient_nbr": rng.integers(10**6, 10**6 + n // 2, n).tolist(),
        "gender": rng.choice(["Female", "Male", "Unknown"], n, p=[0.5, 0.498, 0.002]).tolist(),
        "age": rng.choice([f"[{low}-{low + 10})" for low in range(0, 100, 10)], n).tolist(),
        "admission_type_id": rng.integers(1, 9, n).tolist(),
        "discharge_disposition_id": rng.integers(1, 27, n).tolist(),
        "education": rng.choice(["12th", "Bachelors", "HS-grad", "Doctorate"], n).tolist(),
        "zip": rng.choice(["02139", "02138", "10001", "94110"], n).tolist(),
        "ip": [f"10.{a}.{b}.7" for a, b in rng.integers(0, 9, (n, 2))],
        "diag_1": rng.choice(["250.83", "276", "V27", "428.0", "E885", "008"], n).tolist(),
        "weight": np.where(rng.random(n) < 0.96, "?", "[75-100)").tolist(),
        "number_inpatient": rng.poisson(1.0, n).tolist(),
        **drugs,
    }


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    return table(tmp_path / "visits.csv", encounters())


def looked(invoke: Any, data: Path, job: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    result = invoke("init", data, "--out", job, "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    return plain, tomllib.loads(job.read_text())["columns"]


def test_an_expert_agrees(invoke, visits: Path, tmp_path: Path) -> None:
    plain, columns = looked(invoke, visits, tmp_path / "job.toml")
    roles = {name: column["role"] for name, column in columns.items()}
    assert roles["encounter_id"] == "identifier"
    assert roles["weight"] == "drop"
    assert roles["patient_nbr"] == PERSON
    assert roles["diag_1"] == "sensitive"
    assert {roles[f"drug{number}"] for number in range(6)} == {"sensitive"}
    assert columns["age"]["hierarchy"] == {"scale": "bands"}
    assert columns["education"]["hierarchy"] == {"scale": "education"}
    assert columns["zip"]["hierarchy"] == {"mask": "right", "width": 5}
    assert columns["ip"]["hierarchy"] == {"ip": True}
    assert columns["diag_1"]["hierarchy"] == {"icd": 9}
    for name in ("admission_type_id", "discharge_disposition_id"):
        assert columns[name]["hierarchy"] == {"flat": True}
    assert "intervals" in columns["number_inpatient"]["hierarchy"]
    assert columns["gender"]["hierarchy"]["rows"][1] == ["Female", "Male", "other values"]
    person = next(one for one in plain["columns"] if one["name"] == "patient_nbr")
    assert person["person"]
    assert all(one["confidence"] in ("high", "medium", "low") and one["reason"] for one in plain["columns"])


def test_the_decisions_are_few_and_name_columns_only(invoke, visits: Path, tmp_path: Path) -> None:
    plain, _ = looked(invoke, visits, tmp_path / "job.toml")
    assert 1 <= len(plain["decisions"]) <= 5
    assert "patient_nbr" in plain["decisions"][0]["question"]
    told = invoke("init", visits, "--out", tmp_path / "again.toml")
    assert told.stdout.count("decide") == len(plain["decisions"])


def test_nothing_is_joined_by_frequency(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    races = rng.choice(["Asian", "Black", "Other", "White", "Roma"], 900, p=[0.2, 0.2, 0.2, 0.395, 0.005])
    wards = [f"{part}-{number}" for part in ("Surgery", "Cardiology", "Urology") for number in range(4)]
    data = table(tmp_path / "people.csv", {"race": races.tolist(), "ward": rng.choice(wards, 900).tolist()})
    _, columns = looked(invoke, data, tmp_path / "job.toml")
    assert columns["race"]["hierarchy"]["rows"][1:] == [
        ["Asian", "Black", "Other", "other values", "White"],
        ["*"] * 5,
    ]
    assert columns["ward"]["hierarchy"]["rows"][1][4:] == ["Surgery …"] * 4 + ["Urology …"] * 4


def test_meanings_beside_the_data_name_and_group_codes(invoke, tmp_path: Path) -> None:
    n = 600
    data = table(
        tmp_path / "visits.csv",
        {"source_id": [1 + at % 5 for at in range(n)], "age": [20 + at % 9 for at in range(n)]},
    )
    (tmp_path / "IDs_mapping.csv").write_text(
        "source_id,description\n1,Transfer from a hospital\n2,Transfer from a nursing home\n3,Emergency room\n"
        "4,Not Available\n5,NULL\n6,Court\n,\nother_id,description\n1,Nothing\n"
    )
    plain, columns = looked(invoke, data, tmp_path / "job.toml")
    source = next(one for one in plain["columns"] if one["name"] == "source_id")
    assert "meanings from IDs_mapping.csv" in source["reason"]
    assert columns["source_id"]["hierarchy"]["rows"][1:3] == [
        ["Transfer from a hospital", "Transfer from a nursing home", "Emergency room", "unknown", "unknown"],
        ["Transfer …", "Transfer …", "Emergency room", "unknown", "unknown"],
    ]
    assert invoke("run", tmp_path / "job.toml").exit_code == 0


def test_long_lists_of_labels_are_files_to_edit(invoke, tmp_path: Path) -> None:
    towns = [f"{part}-{at}-Riverside" for at in range(20) for part in ("Springfield", "Newport")]
    data = table(tmp_path / "people.csv", {"town": towns * 20, "age": [20 + at % 50 for at in range(800)]})
    told = invoke("init", data, "--out", tmp_path / "job.toml")
    assert told.exit_code == 0, told.output
    assert "1 hierarchy files to edit" in told.stdout
    written = tmp_path / "hierarchies" / "town.csv"
    assert "hierarchy files" in told.stdout
    assert max(map(len, (tmp_path / "job.toml").read_text().splitlines())) < 300
    before = written.read_bytes()
    again = invoke("init", data, "--out", tmp_path / "again.toml")
    assert again.exit_code == 0, again.output
    assert written.read_bytes() == before
    assert invoke("check", tmp_path / "again.toml", "-k", 2).exit_code in (0, 1)


def test_diversity_is_as_strong_as_most_classes_can_bear(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    n = 2_000
    rows = {
        "age": rng.integers(20, 80, n).tolist(),
        "diagnosis": rng.choice([f"illness {at}" for at in range(30)], n).tolist(),
        "salary": rng.choice(["low", "high"], n, p=[0.75, 0.25]).tolist(),
    }
    data = table(tmp_path / "people.csv", rows)
    looked(invoke, data, tmp_path / "job.toml")
    guarantees = tomllib.loads((tmp_path / "job.toml").read_text())["guarantee"]
    assert {"kind": "entropy-l-diversity", "l": 3, "of": "diagnosis"} in guarantees
    del rows["diagnosis"]
    (tmp_path / "two").mkdir()
    looked(invoke, table(tmp_path / "two" / "people.csv", rows), tmp_path / "two" / "job.toml")
    guarantees = tomllib.loads((tmp_path / "two" / "job.toml").read_text())["guarantee"]
    assert {"kind": "entropy-l-diversity", "l": 1.4, "of": "salary"} in guarantees


def test_what_is_proposed_runs(invoke, visits: Path, tmp_path: Path) -> None:
    looked(invoke, visits, tmp_path / "job.toml")
    ran = invoke("run", tmp_path / "job.toml")
    assert ran.exit_code == 0, ran.output
    released = read(tmp_path / "release" / "data.csv")
    labels = {label for (label,) in released.project("gender").fetchall()}
    assert labels <= {"Female", "Male", "other values", "*"}


def test_no_comment_holds_a_value(invoke, visits: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    looked(invoke, visits, job)
    comments = "\n".join(line.partition("#")[2] for line in job.read_text().splitlines())
    names = set(encounters(10))
    for name, cells in encounters().items():
        seen = {str(cell) for cell in cells if len(str(cell)) > 3} - names
        assert not [cell for cell in seen if cell in comments], name


def test_names_over_several_lines_stay_comments(invoke, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('"a\nrole = ""other""",b\n' + "".join(f"{n % 4},x{n % 3}\n" for n in range(50)))
    job = tmp_path / "job.toml"
    assert invoke("init", path, "--out", job).exit_code == 0
    assert invoke("run", job).exit_code == 0


def test_files_beside_the_data_are_used(invoke, tmp_path: Path) -> None:
    data = table(tmp_path / "adult.csv", {"age": [20 + n % 9 for n in range(60)], "work-class": ["a", "b", "c"] * 20,
                                          "town": ["Ulm", "Bonn", "Nice"] * 20, "sex": ["m", "f"] * 30})  # fmt: skip
    (tmp_path / "adult_hierarchy_work_class.csv").write_text("a;ab;*\nb;ab;*\nc;c;*\n")
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "Town.csv").write_text("Ulm;Germany;*\nBonn;Germany;*\nNice;France;*\n")
    (tmp_path / "age.csv").write_text("20;young;*\n21;young;*\n")
    (tmp_path / "sex.csv").write_text("this is no hierarchy\n")
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    plain, columns = looked(invoke, data, jobs / "job.toml")
    warnings = {one["name"]: one["warning"] for one in plain["columns"] if one["warning"]}
    assert warnings == {"age": "the hierarchy file age.csv leaves out 7 of 9 values, so it is not used"}
    assert columns["work-class"]["hierarchy"] == {"file": "../adult_hierarchy_work_class.csv"}
    assert columns["town"]["hierarchy"] == {"file": "../hierarchies/Town.csv"}
    assert columns["age"]["hierarchy"] == {"intervals": [5, 10, 20], "top": 90}
    assert columns["sex"]["hierarchy"] == {"flat": True}
    assert invoke("run", jobs / "job.toml").exit_code == 0


def test_three_hundred_columns_in_little_memory(
    invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_MEMORY", "300MB")
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(300, 300)).round(3)
    data = tmp_path / "wide.csv"
    names = ",".join(f"v{number}" for number in range(300))
    np.savetxt(data, cells, "%.3f", delimiter=",", header=names, comments="")
    plain, columns = looked(invoke, data, tmp_path / "job.toml")
    assert len(columns) == 300
    assert sum(column["role"] == "quasi" for column in columns.values()) == 64
    assert "discreet condense" in plain["notes"][0]
    assert "--identifier" not in plain["notes"][0]


def test_the_class_of_a_table_is_sensitive_where_nothing_else_is(invoke, tmp_path: Path) -> None:
    columns = {"age": [20 + n % 9 for n in range(60)], "marital": ["Single", "Divorced", "Married"] * 20}
    data = table(tmp_path / "adult.csv", {**columns, "class": ["<=50K", ">50K"] * 30})
    _, found = looked(invoke, data, tmp_path / "job.toml")
    assert found["class"]["role"] == "sensitive"
    assert found["marital"]["hierarchy"] == {"scale": "marital"}
    (tmp_path / "job.toml").unlink()
    data = table(
        tmp_path / "adult.csv", {**columns, "class": ["a", "b"] * 30, "income": ["low", "high"] * 30}
    )
    _, found = looked(invoke, data, tmp_path / "job.toml")
    assert [name for name, column in found.items() if column["role"] == "sensitive"] == ["income"]


def test_numeric_tables_are_pointed_to_condensation(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, list[Any]] = {
        f"m{number}": rng.normal(size=200).round(2).tolist() for number in range(6)
    }
    data = table(
        tmp_path / "numbers.csv", {"name": [f"P{n}" for n in range(200)], **columns, "group": [1, 2] * 100}
    )
    plain, _ = looked(invoke, data, tmp_path / "job.toml")
    assert f"discreet condense {data} -k 10 --identifier name --label group" in plain["notes"][0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("shop.dat", "1 2 3\n4 5\n1 9\n"),
        ("shop.txt", "1 2 3\n4 5\n1 9\n"),
        ("shop.csv", "milk,bread,beer\nbread\nmilk,beer\nmilk\nbread,milk,beer,soap\nsoap\n"),
        ("hot.csv", ",".join(f"i{n}" for n in range(20)) + "\n" + (",".join("01" * 10) + "\n") * 30),
    ],
)
def test_baskets_are_pointed_to_anonymize(invoke, tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    result = invoke("init", path, "--out", tmp_path / "job.toml")
    assert result.exit_code == 2
    assert "baskets" in result.stderr
    assert "--sensitive-items" in result.stderr
    assert "--no-header" not in result.stderr
    assert not (tmp_path / "job.toml").exists()


def test_a_table_of_numbers_between_spaces_is_no_baskets(tmp_path: Path) -> None:
    from discreet.job.decisions import basket_form

    path = tmp_path / "table.txt"
    path.write_text("1 2 3\n4 5 6\n7 8 9\n")
    assert basket_form(path) is None


def test_long_baskets_are_noticed(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = table(
        tmp_path / "ratings.csv",
        {"userId": rng.integers(0, 60, 1_000).tolist(), "movieId": rng.integers(0, 200, 1_000).tolist()},
    )
    plain, columns = looked(invoke, data, tmp_path / "job.toml")
    assert "--basket userId --item movieId" in plain["notes"][0]
    assert columns["userId"]["role"] == PERSON


def test_excel_goes_from_init_to_a_release_in_excel(invoke, visits: Path, tmp_path: Path) -> None:
    from discreet.engines.writing import write_frame

    data = write_frame(read(visits), tmp_path / "visits.xlsx")
    assert invoke("init", data, "--sheet", "1", "--out", tmp_path / "job.toml").exit_code == 0
    assert tomllib.loads((tmp_path / "job.toml").read_text())["input"]["sheet"] == "1"
    ran = invoke("run", tmp_path / "job.toml")
    assert ran.exit_code == 0, ran.output
    assert len(read(tmp_path / "release" / "data.xlsx").fetchall()) == 2_000


def test_spss_labels_or_codes(invoke, tmp_path: Path) -> None:
    import pandas as pd
    import pyreadstat

    data = tmp_path / "survey.sav"
    frame = pd.DataFrame({"sex": [1.0, 2.0] * 30, "age": [float(20 + n % 6) for n in range(60)]})
    pyreadstat.write_sav(frame, str(data), variable_value_labels={"sex": {1: "Male", 2: "Female"}})
    for flags, value in (([], "Male"), (["--codes"], "1")):
        out = tmp_path / ("codes" if flags else "labels")
        ran = invoke(
            "anonymize",
            data,
            "--quasi",
            "age",
            "--other",
            "sex",
            "-k",
            "5",
            *flags,
            "--out",
            out,
            "--no-report",
        )
        assert ran.exit_code == 0, ran.output
        released = read(out / "data.sav", labels=not flags).fetchall()
        assert value in {str(row[0]) for row in released}
        assert pyreadstat.read_sav(str(out / "data.sav"))[1].variable_value_labels == {
            "sex": {1: "Male", 2: "Female"}
        }


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_process_of_its_own_writes_files_of_statistics_packages(
    process, tmp_path: Path, ending: str
) -> None:
    """First use (15): the hook that keeps pandas out of commands kept it out of those that write .sav and .dta."""
    data = tmp_path / "visits.csv"
    data.write_text("age,ill\n" + "".join(f"{20 + n % 5},{'no' if n % 3 else 'yes'}\n" for n in range(60)))
    flags = ["--quasi", "age", "--sensitive", "ill", "-k", 3, "--no-report", "--format", ending]
    ran = process("anonymize", data, *flags, "--out", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    assert len(read(tmp_path / "out" / f"data.{ending}").fetchall()) == 60


def test_adult_of_arx_uses_its_hierarchies(invoke, shared_data: Path, tmp_path: Path) -> None:
    plain, columns = looked(invoke, shared_data / "adult-arx" / "adult.csv.gz", tmp_path / "job.toml")
    files = {
        name: column["hierarchy"]["file"] for name, column in columns.items() if column["role"] == "quasi"
    }
    assert len(files) == 8
    assert files["education"].endswith("adult_hierarchy_education.csv")
    assert len(plain["decisions"]) <= 5


def test_the_hospital_table_takes_five_decisions(invoke, shared_data: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(shared_data / "diabetes130" / "dataset_diabetes.zip") as packed:
        name = next(one for one in packed.namelist() if one.endswith("diabetic_data.csv"))
        with packed.open(name) as source, (tmp_path / "diabetic_data.csv").open("wb") as target:
            shutil.copyfileobj(source, target)
    plain, columns = looked(invoke, tmp_path / "diabetic_data.csv", tmp_path / "job.toml")
    roles = {name: column["role"] for name, column in columns.items()}
    assert len(plain["decisions"]) <= 5
    assert roles["patient_nbr"] == PERSON
    assert roles["encounter_id"] == "identifier"
    assert roles["discharge_disposition_id"] == "quasi"
    assert columns["age"]["hierarchy"] == {"scale": "bands"}
    assert columns["admission_type_id"]["hierarchy"] == {"flat": True}
    assert columns["diag_1"]["hierarchy"] == {"icd": 9}
    assert roles["metformin"] == "sensitive"


@pytest.mark.parametrize(
    "name", ["bms-webview-1/BMS-WebView-1.dat.gz", "groceries/groceries.csv", "fimi/retail.dat.gz"]
)
def test_real_baskets(invoke, shared_data: Path, tmp_path: Path, name: str) -> None:
    result = invoke("init", shared_data / name, "--out", tmp_path / "job.toml")
    assert result.exit_code == 2
    assert "--sensitive-items" in result.stderr


RECORDS = (
    "Anna Schmidt,Ulm,influenza,anna@web.de\n"
    "Bert Huber,Bonn,measles,bert@gmx.de\n"
    "Cleo Maier,Jena,cancer,cleo@web.de\n"
)


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt"])
def test_a_first_record_is_not_taken_for_names(process, tmp_path: Path, ending: str) -> None:
    """Where no value came again, the first person's values were printed as the names of columns."""
    data, job = tmp_path / f"people.{ending}", tmp_path / "job.toml"
    data.write_text(RECORDS.replace(",", "\t") if ending == "tsv" else RECORDS)
    for more in ((), ("--json",)):
        ran = process("init", data, "--out", job, *more)
        assert ran.returncode == 2
        assert "--header or --no-header" in ran.stdout + ran.stderr
        for value in ("Anna", "Ulm", "influenza", "web.de"):
            assert value not in ran.stdout + ran.stderr
        assert not job.exists()
    assert process("init", data, "--no-header", "--out", job).returncode == 0
    assert "column1" in job.read_text()
    assert "influenza" not in job.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "name,town,disease\nAnna,Ulm,flu\nBert,Bonn,cold\n",
        "wer,wo,wann\nAnna,Ulm,2020-01-05\nBert,Bonn,2021-01-05\n",
        "x1,x2\n" + "".join(f"a{row % 3},b{row % 2}\n" for row in range(60)),
    ],
)
def test_names_that_can_be_told_from_values_are_taken_as_names(invoke, tmp_path: Path, text: str) -> None:
    (tmp_path / "people.csv").write_text(text)
    result = invoke("init", tmp_path / "people.csv", "--out", tmp_path / "job.toml")
    assert result.exit_code == 0, result.output


def test_odd_names_are_taken_as_names_when_it_is_said(invoke, tmp_path: Path) -> None:
    data, job = tmp_path / "people.csv", tmp_path / "job.toml"
    data.write_text("foo,bar\nAnna,Ulm\nBert,Bonn\n")
    assert invoke("init", data, "--out", job).exit_code == 2
    assert invoke("init", data, "--header", "--out", job).exit_code == 0
    assert tomllib.loads(job.read_text())["input"]["header"] is True
