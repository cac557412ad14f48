"""What stands beside a form does the same: the command, the job file and the Python."""

from __future__ import annotations

import io
import json
import shlex
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")

from tests.studio.servers import PATIENTS, written

from discreet.cli._app import app
from discreet.core.errors import InputError
from discreet.core.registry import METHODS, VERBS, methods
from discreet.job import Job
from discreet.studio import documents, forms, tasks
from discreet.studio.projects import Projects

COLUMNS = {
    "ssn": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right", "width": 5}},
    "disease": {"role": "sensitive"},
}


def _document(**changes: Any) -> documents.Document:
    return {
        "input": {"path": "patients.csv"},
        "columns": COLUMNS,
        "guarantee": [
            {"kind": "k-anonymity", "k": 5},
            {"kind": "entropy-l-diversity", "l": 1.5, "of": "disease"},
        ],
        "method": {"name": "mondrian"},
        "output": {"folder": "release"},
    } | changes


DOCUMENTS = [
    _document(),
    _document(
        guarantee=[
            {"kind": "t-closeness", "t": 0.4, "distance": "variational"},
            {"kind": "k-anonymity", "k": 3},
        ]
    ),
    _document(method={"name": "optimal", "max_suppressed": 0.02}),
    _document(method={"name": "mondrian", "strict": False, "summary": "mean"}),
    _document(method={"name": "generalization", "levels": {"age": 2, "zip": 3}, "max_suppressed": 0.5}),
    _document(output={"folder": "release", "allow": ["zip", "disease"]}),
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_command_builds_the_same_job(
    document: documents.Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    jobs: list[Job] = []
    monkeypatch.setattr(
        "discreet.cli.publish.anonymize.perform", lambda command, job, **rest: jobs.append(job)
    )
    text = documents.command_text(document)
    assert text.startswith("discreet anonymize")
    arguments = shlex.split(text.replace("\\\n", " "))[1:]
    result = CliRunner().invoke(app, arguments, standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    expected = documents.job_of(document, Path("patients.csv"), Path("release"))
    (job,) = jobs
    assert (job.method, dict(job.options)) == (expected.method, dict(expected.options))
    assert list(job.allow) == list(expected.allow)
    of_one = list(repr(expected.guarantee).replace(", of='disease'", "").split(" & "))
    assert sorted(repr(job.guarantee).split(" & ")) == sorted(of_one)
    assert dict(job.columns or {}) == dict(expected.columns or {})


def test_what_no_option_can_say_is_left_to_the_job_file() -> None:
    rows = {"role": "quasi", "hierarchy": {"rows": [["a"], ["*"]]}}
    assert documents.command_text(_document(columns={**COLUMNS, "zip": rows})) == "discreet run job.toml"
    twice = [{"kind": "k-anonymity", "k": 5}, {"kind": "alpha-k-anonymity", "alpha": 0.5, "k": 3}]
    assert documents.command_text(_document(guarantee=twice)) == "discreet run job.toml"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_job_file_reads_back_as_it_was(document: documents.Document) -> None:
    assert tomllib.loads(documents.job_text_of(document)) == document


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    Path("job.toml").write_text(documents.job_text_of(DOCUMENTS[0]))
    exec(documents.python_text(DOCUMENTS[0]), {})
    assert (tmp_path / "release" / "release.json").is_file()


def test_every_parameter_of_every_method_has_a_field_or_no_text() -> None:
    specs = [*methods(role=("publisher", "hider")), *VERBS.values()]
    for spec in specs:
        for parameter in forms.parameters_of_spec(spec):
            assert parameter.name in forms._BY_HAND or parameter.shape in forms._INPUTS, (
                spec.name,
                parameter.name,
            )


def test_a_form_that_is_sent_as_it_is_shown_changes_nothing() -> None:
    for task in (task for task in tasks.TASKS.values() if task.makes_release and not task.has_roles):
        document = tasks.first_document(task, "data")
        groups = tasks.groups_of_form(task, document, ["a", "b"], [])
        pairs = [
            (field.name, str(field.value))
            for group in groups
            for field in group.fields
            if field.value not in (None, False, ()) and field.kind in ("number", "choice", "text")
        ]
        pairs += [
            (field.name, "on")
            for group in groups
            for field in group.fields
            if field.kind == "check" and field.value
        ]
        sent = tasks.document_from_form(task, document, pairs, ["a", "b"], [])
        again = tasks.document_from_form(task, sent, pairs, ["a", "b"], [])
        assert sent == again
        assert sent["method"] == document["method"]


def test_a_project_comes_back_without_data(tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    project = projects.add("patients.csv", tasks.TASKS["table"], written(tmp_path))
    for number, document in enumerate(DOCUMENTS):
        project.change(f"step {number}", document)
    project.go_to(2)
    archive = project.archive()
    restored = projects.restore(archive)
    blank = {"folder": "release"}
    assert [step.document for step in restored.steps] == [each | {"output": blank} for each in DOCUMENTS]
    assert (restored.position, restored.path, restored.name) == (2, None, "patients.csv")
    assert PATIENTS.splitlines()[1].encode() not in archive
    restored.change("another", _document(method={"name": "samarati"}))
    assert [step.label for step in restored.steps] == ["step 0", "step 1", "step 2", "another"]
    projects.close()


def _archive(task: str, document: Any, reading: Any = None) -> bytes:
    steps = [{"label": "Opened", "document": document}]
    record = {
        "format": 1, "name": "p.csv", "task": task, "reading": reading or {}, "position": 0, "steps": steps,
    }  # fmt: skip
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("project.json", json.dumps(record))
    return stream.getvalue()


SECRET = "SECRET-PLACE"
_BASKETS = {
    "input": {"path": "b"},
    "guarantee": [{"kind": "privacy-degree", "p": 2}],
    "method": {"name": "cahd"},
}
FOREIGN = [
    ("table", _document(output={"folder": "release", name: SECRET}), f"output.{name}")
    for name in ("to", "file", "sign", "include", "name", "overwrite")
] + [
    ("table", _document(output={"folder": SECRET}), "output.folder"),
    ("table", _document(columns=COLUMNS | {"ssn": {"role": "identifier", "pseudonym": f"file:{SECRET}"}}), "pseudonym"),
    ("table", _document(columns=COLUMNS | {"age": {"role": "quasi", "hierarchy": {"file": SECRET}}}), "hierarchy.file"),
    ("table", _document(columns=COLUMNS | {"age": {"role": "quasi", "hierarchy": SECRET}}), "hierarchy"),
    ("table", _document(input={"path": "p.csv", "rest": SECRET}), "input.rest"),
    ("table", _document(guarantee=[{"kind": "k-map", "k": 2, "population": SECRET}]), "guarantee.kind"),
    ("table", _document(guarantee=[{"kind": "k-anonymity", "k": 2, "population": SECRET}]), "guarantee.population"),
    ("table", _document(method={"name": "mondrian", "path": SECRET}), "method.path"),
    ("table", _document(tables={"a": {"path": SECRET}}), "tables"),
    ("baskets", _BASKETS | {"baskets": {"hierarchy": SECRET}}, "baskets.hierarchy"),
    ("reconstruct", {"input": {"path": "p"}, "reconstruct": {"channels": SECRET}}, "reconstruct.channels"),
    ("perturb", {"input": {"path": "p"}, "perturb": {"shares": SECRET}}, "perturb.shares"),
    ("perturb", {"input": {"path": "p"}, "perturb": {}, "output": {"file": SECRET}}, "output.file"),
    ("distort", {"input": {"path": "p"}, "distort": {"items": SECRET}}, "distort.items"),
    ("table", {"input": {"path": "p"}, "learn": {"test": SECRET}}, "learn"),
    ("earlier", _document(), "columns"),
    ("table", _document(columns=COLUMNS | {"ssn": {"role": f"quasi x; cat {SECRET} #"}}), "columns.ssn.role"),
    ("table", _document(columns=COLUMNS | {"ssn": {"role": [SECRET]}}), "columns.ssn.role"),
    ("table", _document(columns=COLUMNS | {"ssn": {}}), "columns.ssn.role"),
    ("table", _document(input={"path": [SECRET]}), "input.path"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "document", "name"), FOREIGN)
def test_a_project_from_elsewhere_names_no_place_and_no_key(
    tmp_path: Path, task: str, document: Any, name: str
) -> None:
    projects = Projects(tmp_path)
    with pytest.raises(InputError, match=rf"The project sets \S*{name} as no page") as refused:
        projects.restore(_archive(task, document))
    assert SECRET not in str(refused.value)
    assert projects.all() == []
    assert list(tmp_path.iterdir()) == []
    projects.close()


@pytest.mark.parametrize(
    "path",
    [
        f"postgresql://ann@{SECRET}/clinic?table=t",
        f"--to=postgresql://{SECRET}/x?table=t",
        f"/{SECRET}/p.csv",
    ],
)
def test_the_scripts_of_a_project_from_elsewhere_name_no_place(tmp_path: Path, path: str) -> None:
    """Command, job file and Python stand beside the form to be copied: they would read there, or write there."""
    projects = Projects(tmp_path)
    restored = projects.restore(_archive("table", _document(input={"path": path})))
    for text in (documents.command_text, documents.job_text_of, documents.python_text):
        assert SECRET not in text(restored.document)
    restored.rename("mine.csv")
    assert (restored.name, restored.document["input"]["path"]) == ("mine.csv", "mine.csv")
    projects.close()


@pytest.mark.parametrize("name", ["--to=x.csv", "-", "-k", "; touch x #.csv"])
def test_the_name_of_a_file_is_no_option_of_the_command(name: str) -> None:
    words = shlex.split(documents.command_text(_document(input={"path": name})))
    assert words[:2] == ["discreet", "anonymize"]
    assert words[2] == (f"./{name}" if name.startswith("-") else name)


def test_how_a_project_from_elsewhere_is_read_is_limited_as_well(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sets input\.table as"):
        Projects(tmp_path).restore(_archive("table", _document(), {"table": SECRET}))


def test_the_fields_of_a_project_that_name_a_file_or_a_variable_are_blank_again(tmp_path: Path) -> None:
    sketches = tasks.first_document(tasks.TASKS["sketches"], "p") | {"sketches": {"key": f"file:{SECRET}"}}
    counterfeits = _document(
        guarantee=[{"kind": "m-invariance", "m": 2}], method={"name": "counterfeits", "previous": SECRET}
    )
    unique = COLUMNS | {"town": {"role": "other", "allow_unique": True}}
    allowing = _document(columns=unique, output={"folder": "release", "allow": [SECRET]})
    for task, document in (("sketches", sketches), ("table", counterfeits), ("table", allowing)):
        projects = Projects(tmp_path)
        restored = str(projects.restore(_archive(task, document)).document)
        assert SECRET not in restored
        assert "allow" not in restored
        projects.close()


@pytest.mark.parametrize("task", [name for name, task in tasks.TASKS.items() if not task.has_roles])
def test_what_a_task_begins_with_comes_back(tmp_path: Path, task: str) -> None:
    document = tasks.first_document(tasks.TASKS[task], "p")
    projects = Projects(tmp_path)
    assert projects.restore(_archive(task, document)).document == document
    projects.close()


def test_tasks_name_methods_that_keep_their_guarantees() -> None:
    for task in tasks.TASKS.values():
        if task.makes_release:
            for name in task.guarantees():
                assert tasks.method_for(task, [{"kind": name}]) in METHODS
