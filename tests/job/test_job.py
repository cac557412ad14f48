"""Jobs: the same run from a file, from plain data and by hand; what is not known is refused by name."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import (
    flat,
    icd,
    identifier,
    intervals,
    ip_addresses,
    masked,
    other,
    quasi,
    scale,
    sensitive,
    tree,
)
from discreet.core.errors import (
    DiscreetError,
    HierarchyError,
    InputError,
    OutputError,
    ParameterError,
    SchemaError,
)
from discreet.core.registry import releasable_guarantees
from discreet.core.schema import Role
from discreet.guarantees import EntropyDiversity, KAnonymity, TCloseness
from discreet.guarantees.registry import guarantee_classes
from discreet.job import Job, MissingRoleError, run
from discreet.job.template import key, value
from discreet.kinds.hierarchies import hierarchy_from

PEOPLE = pa.table(
    {
        "id": [f"p{one}" for one in range(24)],
        "age": [20 + one % 12 for one in range(24)],
        "disease": ["flu", "cold", "asthma"] * 8,
    }
)
COLUMNS = {"id": identifier(), "age": quasi(), "disease": sensitive()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import pyarrow.csv as arrow_csv

    arrow_csv.write_csv(PEOPLE, tmp_path / "people.csv")
    return tmp_path


def plain(**changes: Any) -> dict[str, Any]:
    return {
        "input": {"path": "people.csv"},
        "columns": {"id": {"role": "identifier"}, "age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
        "guarantee": [{"kind": "k-anonymity", "k": 4}],
    } | changes


def test_a_file_plain_data_and_a_hand_give_the_same_release(folder: Path) -> None:
    (folder / "job.toml").write_text(
        """
        [input]
        path = "people.csv"
        [columns]
        id = {role = "identifier"}
        age = {role = "quasi", hierarchy = {intervals = [3, 6]}}
        disease = {role = "sensitive"}
        [[guarantee]]
        kind = "k-anonymity"
        k = 4
        [[guarantee]]
        kind = "EntropyDiversity"
        l = 1.5
        of = "disease"
        [method]
        name = "mondrian"
        strict = false
        [output]
        folder = "release"
        seed = 3
        """
    )
    read = Job.read(folder / "job.toml")
    assert read.out == folder / "release"
    promise = KAnonymity(4) & EntropyDiversity(1.5, of="disease")
    columns = COLUMNS | {"age": quasi(intervals(3, 6))}
    by_hand = Job(folder / "people.csv", columns, promise, options={"strict": False}, seed=3)
    assert read.guarantee == promise
    frames = [run(job).frame.fetchall() for job in (dataclasses.replace(read, out=None), by_hand)]
    assert frames[0] == frames[1]


def test_a_job_tells_its_stages_and_writes(folder: Path) -> None:
    job = Job.from_dict(plain(output={"folder": "release", "report": False}), folder=folder)
    stages: list[str] = []
    release = run(job, stages.append)
    assert stages == ["Reading", "Protecting", "Judging", "Writing"]
    assert release.verdict.ok
    assert sorted(path.name for path in (folder / "release").iterdir()) == [
        "codebook.csv",
        "croissant.json",
        "data.csv",
        "datapackage.json",
        "release.json",
    ]


def test_a_frame_is_data_too() -> None:
    release = run(Job(PEOPLE, COLUMNS, KAnonymity(4)))
    assert isinstance(release.frame, pa.Table)
    assert release.verdict.ok


def test_full_domain_generalization(folder: Path) -> None:
    ages = {"role": "quasi", "hierarchy": {"intervals": [6]}}
    method = {"name": "generalization", "levels": {"age": 1}, "max_suppressed": 0.5}
    job = Job.from_dict(plain(columns=plain()["columns"] | {"age": ages}, method=method), folder=folder)
    assert run(job).evidence.levels == {"age": 1}


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (
            "optimal",
            {"measure": "discernibility", "aggregate": "maximum", "lowest": {"age": 1}, "visit": "all"},
        ),
        (
            "optimal",
            {"highest": {"age": 2}, "time_limit": 5.0, "max_suppressed": 0.5, "weights": {"age": 2.0}},
        ),
        ("samarati", {"max_suppressed": 0.25, "measure": "precision"}),
        ("incognito", {"super_roots": False, "precompute": False}),
        ("global", {"max_suppressed": 2, "highest": {"age": 2}}),
        ("local", {"max_suppressed": 0.25, "lowest": {"age": 1}, "max_rounds": 5, "cells": False}),
    ],
)
def test_searches_for_levels(folder: Path, method: str, options: dict[str, Any]) -> None:
    ages = {"role": "quasi", "hierarchy": {"intervals": [3, 6]}}
    given = {"name": method} | options
    job = Job.from_dict(plain(columns=plain()["columns"] | {"age": ages}, method=given), folder=folder)
    publisher = job.publisher()
    for name, wanted in options.items():
        assert getattr(publisher, name) == wanted
    release = run(job)
    assert release.verdict.ok
    assert release.recipe["method"] == type(publisher).__name__


def test_every_guarantee_has_a_name_in_kebab_case() -> None:
    of_channels = {"BasicPrivacy", "LocalDP", "NoValueDisclosed"}
    kept = {spec.class_name for spec in releasable_guarantees().values()}
    assert kept | of_channels == set(guarantee_classes())
    assert not of_channels & kept


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"inputs": {}}, ParameterError, "'inputs'; did you mean 'input'?"),
        ({"input": {"path": "people.csv", "delimeter": ";"}}, ParameterError, "did you mean 'delimiter'?"),
        ({"input": {}}, InputError, "path"),
        ({"input": 3}, InputError, "[input]"),
        ({"input": {"path": "people.csv", "header": "yes"}}, ParameterError, "'header'"),
        ({"input": {"path": "people.csv", "nulls": [1]}}, ParameterError, "'nulls'"),
        ({"input": {"path": "people.csv", "rest": "quasi"}}, ParameterError, "'rest'"),
        ({"columns": {"age": {"rolle": "quasi"}}}, SchemaError, "needs a role"),
        ({"columns": {"age": {"role": "quasy"}}}, SchemaError, "did you mean 'quasi'?"),
        ({"columns": {"age": {"role": "quasi", "wieght": 2}}}, ParameterError, "did you mean 'weight'?"),
        ({"columns": {"age": {"role": "quasi", "pseudonym": "env:X"}}}, ParameterError, "'pseudonym'"),
        ({"columns": {"age": {"role": "quasi", "weight": 0}}}, ParameterError, "weight"),
        ({"guarantee": []}, ParameterError, "has no guarantee"),
        ({"guarantee": [{"kind": "k-anonimity", "k": 3}]}, ParameterError, "did you mean 'k-anonymity'?"),
        ({"guarantee": [{"k": 3}]}, ParameterError, "needs a kind"),
        ({"guarantee": [{"kind": "k-anonymity", "l": 3}]}, ParameterError, "'l'"),
        ({"guarantee": [{"kind": "k-anonymity"}]}, ParameterError, "'k'"),
        ({"guarantee": [{"kind": "k-map", "k": 3}]}, ParameterError, "population"),
        ({"method": {"name": "mondrain"}}, ParameterError, "did you mean 'mondrian'?"),
        ({"method": {"name": "mondrian", "levels": {}}}, ParameterError, "'levels'"),
        ({"method": {"name": "samarati", "lowest": {}}}, ParameterError, "'lowest'"),
        ({"method": {"name": "optimal", "mesure": "loss"}}, ParameterError, "did you mean 'measure'?"),
        ({"method": {"stricct": True}}, ParameterError, "did you mean 'strict'?"),
        ({"output": {"seed": -1}}, ParameterError, "'seed'"),
        ({"output": {"format": "docx"}}, ParameterError, "'format'"),
        ({"output": {"overwrite": "no"}}, ParameterError, "'overwrite'"),
    ],
)
def test_what_is_not_known_is_refused_by_name(
    folder: Path, changes: dict[str, Any], error: type[DiscreetError], words: str
) -> None:
    with pytest.raises(error) as raised:
        Job.from_dict(plain(**changes), folder=folder)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[input]\na b", "line 2"),
        ("a = ", "no valid TOML"),
        ("x" * 9, "no valid TOML"),
        ("\xff\xfe", "no valid TOML"),
    ],
)
def test_a_job_file_that_is_no_toml_names_the_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(InputError, match=words):
        Job.read(tmp_path / "job.toml")


def test_a_job_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no job file"):
        Job.read(tmp_path / "job.toml")


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ({"intervals": [5, 10], "top": 90}, intervals(5, 10, top=90)),
        ({"intervals": ["month", "year"]}, intervals("month", "year")),
        ({"mask": "left", "levels": 2}, masked(from_="left", levels=2)),
        ({"flat": True}, flat()),
        ({"scale": "bands"}, scale("bands")),
        ({"icd": 10}, icd(10)),
        ({"ip": True}, ip_addresses()),
        (
            {"tree": {"school": ["primary", "secondary"]}, "ordered": True},
            tree({"school": ["primary", "secondary"]}, ordered=True),
        ),
    ],
)
def test_hierarchies_as_a_job_writes_them(tmp_path: Path, written: dict[str, Any], spec: Any) -> None:
    assert hierarchy_from(written, column="x", folder=tmp_path) == spec
    assert hierarchy_from(spec.to_dict(), column="x", folder=tmp_path) == spec


@pytest.mark.parametrize(
    "written",
    [
        5,
        {},
        {"interval": [5]},
        {"intervals": [5], "mask": "right"},
        {"intervals": [5], "wide": 1},
        {"intervals": [0]},
        {"intervals": "five"},
        {"mask": "middle"},
        {"flat": False},
        {"cuts": []},
        {"rows": [["a"], ["b", "c"]]},
        {"rows": 3},
        {"tree": 3},
        {"file": 3},
        {"file": "nowhere.csv"},
        {"scale": "colors"},
        {"icd": 11},
        {"ip": "yes"},
        {"kind": "sideways"},
        {"kind": "intervals", "widths": [0]},
    ],
)
def test_hierarchies_written_wrongly_are_refused(tmp_path: Path, written: object) -> None:
    with pytest.raises((HierarchyError, ParameterError)):
        hierarchy_from(written, column="x", folder=tmp_path)


def test_a_hierarchy_file_is_looked_for_beside_the_job(folder: Path) -> None:
    (folder / "ages.csv").write_text(
        "".join(f"{20 + one};{'a' if one < 6 else 'b'};*\n" for one in range(12))
    )
    ages = {"role": "quasi", "hierarchy": {"file": "ages.csv"}}
    release = run(Job.from_dict(plain(columns=plain()["columns"] | {"age": ages}), folder=folder))
    assert release.verdict.ok


def test_columns_without_a_role_are_named(folder: Path) -> None:
    columns = {"age": {"role": "quasi"}}
    with pytest.raises(MissingRoleError) as raised:
        run(Job.from_dict(plain(columns=columns), folder=folder))
    assert raised.value.names == ("id", "disease")
    dropped = Job.from_dict(
        plain(columns=columns, input={"path": "people.csv", "rest": "identifier"}), folder=folder
    )
    assert run(dropped).frame.columns == ["age"]


def test_a_role_for_a_column_that_is_not_there(folder: Path) -> None:
    with pytest.raises(SchemaError, match=r"'agee'.*did you mean 'age'"):
        run(Job.from_dict(plain(columns=plain()["columns"] | {"agee": {"role": "other"}}), folder=folder))


def test_keys_come_from_outside_and_are_never_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sixteen bytes and a few more"
    monkeypatch.setenv("JOB_KEY", secret)
    ids = {"role": "identifier", "pseudonym": "env:JOB_KEY"}
    job = Job.from_dict(plain(columns=plain()["columns"] | {"id": ids}), folder=folder)
    assert job.columns["id"].key == secret.encode()
    assert secret not in repr(job)
    for wrong in (secret, "env:NOT_SET_AT_ALL", "file:nowhere", "env:", 5):
        with pytest.raises(InputError) as raised:
            Job.from_dict(plain(columns={"id": {"role": "identifier", "pseudonym": wrong}}), folder=folder)
        assert secret not in str(raised.value)


def test_k_map_reads_its_population(folder: Path) -> None:
    promise = [{"kind": "k-map", "k": 4, "population": "people.csv"}]
    release = run(Job.from_dict(plain(guarantee=promise), folder=folder))
    assert release.verdict.ok
    assert release.verdict.worst >= 4


def test_targets_are_refused_before_any_work(folder: Path) -> None:
    stages: list[str] = []
    job = Job(folder / "people.csv", COLUMNS, KAnonymity(4), out=folder, overwrite=True)
    with pytest.raises(OutputError):
        run(job, stages.append)
    assert stages == []


def test_parameters_of_a_job() -> None:
    for wrong in (
        {"method": "magic"},
        {"rest": Role.QUASI},
        {"format": "xls"},
        {"guarantee": 5},
        {"options": {"x": 1}},
    ):
        with pytest.raises(ParameterError):
            Job(**({"data": PEOPLE, "columns": COLUMNS, "guarantee": KAnonymity(2)} | wrong))


def test_a_job_shows_no_data() -> None:
    shown = repr(Job(PEOPLE, COLUMNS | {"x": other()}, TCloseness(0.5)))
    assert "p1" not in shown
    assert "asthma" not in shown


@given(
    st.recursive(
        st.text() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    st.text(),
)
def test_toml_comes_back_as_it_was_written(plain_value: object, name: str) -> None:
    import tomllib

    assert tomllib.loads(f"{key(name)} = {value(plain_value)}\n") == {name: plain_value}
