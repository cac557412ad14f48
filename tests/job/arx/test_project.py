"""Projects of ARX: those that the tests write as ARX does become jobs that run; hostile and other ones are refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.arx_projects import AGES, DATA, METADATA, PROJECT, assigned, config, definition, entries, written

from discreet.core.errors import InputError, OutputError
from discreet.job import Job, run
from discreet.job.arx.project import import_project


def imported(folder: Path, **changed: Any) -> tuple[Any, dict[str, Any]]:
    path = written(folder / "clinic.deid", entries(**changed))
    project = import_project(path, folder / "job.toml")
    return project, tomllib.loads((folder / "job.toml").read_text())


def test_roles_hierarchies_models_and_settings_become_a_job_that_runs(tmp_path: Path) -> None:
    changed = {
        "input/config.xml": config(
            "3-anonymity",
            "distinct-2-diversity for attribute 'ill'",
            weights={"age": 1.0, "sex": 0.5, "zip": 0.5},
        )
    }
    project, job = imported(tmp_path, **changed)
    assert {name: column["role"] for name, column in job["columns"].items()} == {
        "name": "identifier", "age": "quasi", "sex": "quasi", "zip": "quasi", "ill": "sensitive",
    }  # fmt: skip
    assert job["columns"]["age"] == {
        "role": "quasi",
        "hierarchy": {"file": "job-files/hierarchy-1.csv"},
        "weight": 1.0,
    }
    assert job["guarantee"] == [
        {"kind": "k-anonymity", "k": 3},
        {"kind": "distinct-l-diversity", "l": 2, "of": "ill"},
    ]
    assert job["method"] == {
        "name": "optimal", "lowest": {"zip": 0}, "highest": {"zip": 1}, "max_suppressed": 0.1, "measure": "loss",
        "aggregate": "geometric",
    }  # fmt: skip
    assert job["input"] == {
        "path": "job-files/data.csv", "delimiter": ";", "encoding": "utf-8", "text": ["name", "sex", "zip", "ill"],
    }  # fmt: skip
    assert any("response variable" in line for line in project.left_out)
    release = run(Job.read(tmp_path / "job.toml"))
    assert release.verdict.ok
    assert release.verdict.verified
    assert set(release.frame.to_arrow_table()["zip"].to_pylist()) <= {
        "2000",
        "2001",
        "2002",
        "2003",
        "2004",
        "200*",
        None,
    }


MODELS = {
    "5-anonymity": {"kind": "k-anonymity", "k": 5},
    "distinct-3-diversity for attribute 'ill'": {"kind": "distinct-l-diversity", "l": 3, "of": "ill"},
    "shannon-entropy-1.5-diversity for attribute 'ill'": {
        "kind": "entropy-l-diversity",
        "l": 1.5,
        "of": "ill",
    },
    "recursive-(4.0,2)-diversity for attribute 'ill'": {
        "kind": "recursive-cl-diversity",
        "c": 4.0,
        "l": 2,
        "of": "ill",
    },
    "0.2-closeness with equal ground-distance for attribute 'ill'": {
        "kind": "t-closeness",
        "t": 0.2,
        "distance": "equal",
        "reference": "original",
        "of": "ill",
    },
    "0.2-closeness with ordered distance for attribute 'ill'": {
        "kind": "t-closeness",
        "t": 0.2,
        "distance": "ordered",
        "reference": "original",
        "of": "ill",
    },
    "1.0-disclosure privacy for attribute 'ill'": {
        "kind": "delta-disclosure",
        "delta": 1.0,
        "reference": "original",
        "of": "ill",
    },
    "basic-1.0-likeness for attribute 'ill'": {
        "kind": "basic-beta-likeness",
        "beta": 1.0,
        "reference": "original",
        "of": "ill",
    },
    "enhanced-1.0-likeness for attribute 'ill'": {
        "kind": "enhanced-beta-likeness",
        "beta": 1.0,
        "reference": "original",
        "of": "ill",
    },
    "(0.2)-avg-reidentification-risk": {"kind": "max-risk", "highest": 1.0, "mean": 0.2},
    "(0.05)-sample-uniqueness": {"kind": "max-risk", "highest": 1.0, "unique": 0.05},
}


@pytest.mark.parametrize("model", MODELS)
def test_each_model_is_the_guarantee_of_its_name(tmp_path: Path, model: str) -> None:
    project, job = imported(tmp_path, **{"input/config.xml": config(model)})
    assert job["guarantee"] == [MODELS[model]]
    assert Job.read(tmp_path / "job.toml").guarantee is not None
    assert not any("privacy model" in line for line in project.left_out)


def test_hierarchical_closeness_takes_the_hierarchy_of_the_sensitive_column(tmp_path: Path) -> None:
    columns = definition(
        assigned("name", "IDENTIFYING"), assigned("age", "QUASI_IDENTIFYING", "Integer", True),
        assigned("sex", "INSENSITIVE"), assigned("zip", "INSENSITIVE"), assigned("ill", "SENSITIVE", ref=True),
    )  # fmt: skip
    model = "0.5-closeness with hierarchical ground-distance for attribute 'ill'"
    changed = {"input/definition.xml": columns, "input/config.xml": config(model, weights={"age": 1})}
    tree = {"input/hierarchies/ill.csv": "flu;viral;*\nhiv;viral;*\nnone;none;*\n"}
    _, job = imported(tmp_path, **changed, **tree)
    asked = {
        "kind": "t-closeness",
        "t": 0.5,
        "distance": "hierarchical",
        "reference": "original",
        "of": "ill",
    }
    assert job["guarantee"] == [asked]
    assert job["columns"]["ill"]["hierarchy"] == {"file": "job-files/hierarchy-2.csv"}
    assert job["columns"]["zip"] == {"role": "other"}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("(0.1,0.2)-presence", "(0.1,0.2)-presence"), ("Inclusion", "all rows are taken"), ("(5)-map", "(5)-map"),
        ("grassberger-entropy-2-diversity for attribute 'ill'", "grassberger"),
        ("(0.01)-population-uniqueness (dankar)", "population-uniqueness"), ("(2.0,1.0E-6)-DP", "-DP"),
    ],
)  # fmt: skip
def test_models_without_a_counterpart_are_named_and_a_job_without_any_says_so(
    tmp_path: Path, model: str, words: str
) -> None:
    project, job = imported(tmp_path, **{"input/config.xml": config(model)})
    assert any(words in line for line in project.left_out)
    assert "guarantee" not in job
    assert words in (tmp_path / "job.toml").read_text()


def test_a_hierarchy_without_a_root_or_levels_goes_no_higher_than_in_arx(tmp_path: Path) -> None:
    changed = {"input/hierarchies/sex.csv": "F\nM\n", "input/hierarchies/age.csv": AGES.replace(";*", "")}
    _, job = imported(tmp_path, **changed)
    assert job["columns"]["sex"]["hierarchy"] == {"flat": True}
    assert job["method"]["highest"] == {"age": 1, "sex": 0, "zip": 1}
    assert run(Job.read(tmp_path / "job.toml")).verdict.ok


def test_dates_orders_and_other_settings(tmp_path: Path) -> None:
    columns = definition(
        assigned("name", "IDENTIFYING"), assigned("age", "QUASI_IDENTIFYING", "Date/Time", format="dd.MM.yyyy"),
        assigned("sex", "QUASI_IDENTIFYING", "Ordinal", True), assigned("zip", "INSENSITIVE", "Decimal", locale="DE"),
        assigned("ill", "SENSITIVE", "Date/Time", format="MM/dd/yyyy"),
    )  # fmt: skip
    settings = config(metric="Ambiguity", limit="1.0", weights={"age": 0.0, "sex": 1.0}).replace(
        "false<", "true<"
    )
    project, job = imported(tmp_path, **{"input/definition.xml": columns, "input/config.xml": settings})
    assert job["input"]["dates"] == "dmy"
    assert job["method"] == {"name": "optimal", "max_suppressed": 1.0}
    said = "\n".join(project.left_out)
    for words in (
        "'sex': the order",
        "'zip': its number format",
        "'ill': its date format",
        "Ambiguity",
        "weight of 0",
        "monotonicity",
    ):
        assert words in said


ELSEWHERE = definition(assigned("age", "QUASI_IDENTIFYING", ref=True)).replace(
    "hierarchies/age", "../../etc/age"
)
BOMB = '<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]>\n<config>&y;</config>'
FILE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<config><metric>&x;</metric></config>'


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"metadata.xml": METADATA.replace("2.0", "1.0")}, "another version of ARX"),
        ({"metadata.xml": None}, "has no metadata.xml"),
        ({"input/definition.xml": None}, "has no input/definition.xml"),
        ({"data/input.csv": None}, "has no data/input.csv"),
        ({"../evil.csv": "x"}, "a path elsewhere"),
        ({"/etc/passwd": "x"}, "a path elsewhere"),
        ({"a\\..\\..\\evil": "x"}, "a path elsewhere"),
        ({"C:evil": "x"}, "a path elsewhere"),
        ({"input/config.xml": BOMB}, "declares a document type"),
        ({"input/config.xml": FILE}, "declares a document type"),
        ({"metadata.xml": BOMB}, "declares a document type"),
        ({"input/config.xml": "<config><metric>"}, "no valid XML"),
        ({"input/config.xml": " " * (17 << 20)}, "larger than 16 MiB"),
        ({"input/hierarchies/age.csv": None}, "lacks the hierarchy of column 'age'"),
        ({"input/definition.xml": definition(assigned("age", "SECRET"))}, "a role that ARX does not have"),
        ({"input/definition.xml": "<definition></definition>"}, "assigns no roles"),
        ({"input/config.xml": config("3-closeness with equal ground-distance for attribute 'x'")}, "does not have"),
        ({"input/config.xml": config(limit="many")}, "is damaged"),
        (
            {"input/definition.xml": ELSEWHERE},
            "lacks the hierarchy",
        ),
    ],
)  # fmt: skip
def test_hostile_and_other_projects_are_refused_in_one_line(
    tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    path = written(tmp_path / "clinic.deid", entries(**changed))
    with pytest.raises(InputError) as caught:
        import_project(path, tmp_path / "job.toml")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "passwd" not in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["clinic.deid"]


def test_what_is_no_archive_and_what_is_there_already(tmp_path: Path) -> None:
    (tmp_path / "no.deid").write_text("Ann;HIV")
    with pytest.raises(InputError, match="zip archive"):
        import_project(tmp_path / "no.deid", tmp_path / "job.toml")
    with pytest.raises(InputError, match="There is no file"):
        import_project(tmp_path / "gone.deid", tmp_path / "job.toml")
    whole = written(tmp_path / "clinic.deid", entries()).read_bytes()
    (tmp_path / "cut.deid").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="zip archive"):
        import_project(tmp_path / "cut.deid", tmp_path / "job.toml")
    twice = (tmp_path / "clinic.deid").read_bytes().replace(b"project.dat", b"project.xml")
    (tmp_path / "twice.deid").write_bytes(twice)
    with pytest.raises(InputError, match="two entries of one name"):
        import_project(tmp_path / "twice.deid", tmp_path / "job.toml")
    (tmp_path / "job.toml").touch()
    with pytest.raises(OutputError, match="there already"):
        import_project(tmp_path / "clinic.deid", tmp_path / "job.toml")


def test_an_entry_in_another_encoding_is_read(tmp_path: Path) -> None:
    project = PROJECT.replace("Clinic", "Médecin").encode("latin-1")
    _, job = imported(tmp_path, **{"project.xml": project})
    assert job["input"]["delimiter"] == ";"


def test_hidden_names_stay_one_line_in_the_job(tmp_path: Path) -> None:
    hostile = "x&#10;[output]&#10;folder = &quot;/&quot;"
    columns = definition(
        assigned("age", "QUASI_IDENTIFYING", "Integer", True), assigned(hostile, "SENSITIVE", "Ordinal")
    )
    _, job = imported(
        tmp_path, **{"input/definition.xml": columns, "input/config.xml": config(weights={"age": 1})}
    )
    assert job["output"] == {"folder": "release"}
    assert set(job["columns"]) == {"age", 'x\n[output]\nfolder = "/"'}


def test_the_command_writes_the_job_and_says_what_is_left(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from discreet.cli._app import app

    path = written(tmp_path / "clinic.deid", entries())
    arguments = ["init", str(path), "--out", str(tmp_path / "job.toml"), "--json"]
    result = json.loads(CliRunner().invoke(app, arguments, standalone_mode=False).output)
    assert result["columns"]["ill"] == "sensitive"
    assert result["guarantees"] == [{"kind": "k-anonymity", "k": 3}]
    assert result["not_carried_over"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["clinic.deid", "job-files", "job.toml"]
    assert (tmp_path / "job-files" / "data.csv").read_text() == DATA
