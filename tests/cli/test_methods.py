"""Methods on the command line: each finds levels that keep the promise, and takes only what belongs to it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from tests.cli.planted import ROLES

TREES = ["--hierarchy", "age=intervals:5,10", "--hierarchy", "zip=mask"]


@pytest.mark.parametrize("method", ["optimal", "samarati", "incognito", "global", "local"])
def test_every_search_makes_a_release(invoke, patients: Path, tmp_path: Path, method: str) -> None:
    out = tmp_path / "release"
    flags = ["--method", method, "--measure", "precision", "--max-suppressed", "0.1", "--no-report"]
    result = invoke("anonymize", patients, *ROLES, *TREES, "-k", 5, *flags, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert plain["ok"] is True
    assert plain["risk"]["after"]["smallest_class"] >= 5
    if method not in ("global", "local"):
        assert set(plain["levels"]) == {"age", "zip"}


def test_an_optimal_release_says_its_levels_and_how_sure_they_are(invoke, patients, tmp_path: Path) -> None:
    out = tmp_path / "release"
    flags = [
        "--method",
        "optimal",
        "--visit-all",
        "--lowest",
        "age=1",
        "--highest",
        "zip=4",
        "--aggregate",
        "maximum",
    ]
    result = invoke("anonymize", patients, *ROLES, *TREES, "-k", 5, *flags, "--out", out)
    assert result.exit_code == 0, result.output
    assert "least loss of 15 nodes" in result.stdout
    levels = json.loads((out / "release.json").read_text())["levels"]
    assert levels["age"] >= 1
    assert levels["zip"] <= 4
    assert f"levels    age {levels['age']}, zip {levels['zip']}" in result.stdout
    kept = out.with_name(f"{out.name}.private") / "report-internal.html"
    assert 'id="lattice"' in kept.read_text()


def test_a_time_limit_still_gives_a_release(invoke, patients: Path, tmp_path: Path) -> None:
    flags = ["--method", "optimal", "--time-limit", "5", "--no-report", "--json"]
    result = invoke("anonymize", patients, *ROLES, *TREES, "-k", 5, *flags, "--out", tmp_path / "o")
    assert result.exit_code == 0, result.output
    search = json.loads(result.stdout)["search"]
    assert search["bound"] <= search["cost"]


@pytest.mark.parametrize(
    ("flags", "words", "hint"),
    [
        (
            ["--measure", "loss"],
            "--measure belongs to optimal, samarati, incognito, global and local",
            "--method optimal",
        ),
        (["--method", "optimal", "--level", "age=1"], "--level belongs to generalization", "generalization"),
        (
            ["--method", "samarati", "--lowest", "age=1"],
            "--lowest belongs to optimal, global and local",
            "optimal",
        ),
        (["--method", "local", "--visit-all"], "--visit-all belongs to optimal", "optimal"),
        (["--method", "incognito", "--means"], "--means belongs to mondrian", "mondrian"),
        (["--max-suppressed", "0.1"], "--max-suppressed belongs to generalization", "generalization"),
        (["--method", "optimal", "--measure", "beauty"], "beauty", "discreet anonymize --help"),
        (["--method", "optimal", "--highest", "age=high"], "COLUMN=NUMBER", "discreet"),
        (["--method", "optimal", "--highest", "age=9"], "'age'", ""),
        (["--method", "optimal", "--lowest", "disease=1"], "'disease'", ""),
        (["--method", "optimal", "--max-suppressed", "1.5"], "'max_suppressed'", ""),
        (["--method", "optimal", "--time-limit", "0"], "'time_limit'", ""),
    ],
)
def test_what_does_not_belong_is_refused(invoke, patients, tmp_path, flags, words: str, hint: str) -> None:
    result = invoke("anonymize", patients, *ROLES, *TREES, "-k", 5, *flags, "--out", tmp_path / "o")
    assert result.exit_code == 2
    assert words in result.stderr.splitlines()[0]
    assert hint in result.stderr
    assert not (tmp_path / "o").exists()


def test_an_infeasible_search_says_what_would_do(invoke, patients: Path, tmp_path: Path) -> None:
    limits = ["--highest", "zip=0", "--highest", "age=2", "--no-report"]
    base = [
        "anonymize",
        patients,
        *ROLES,
        *TREES,
        "-k",
        4,
        "--method",
        "optimal",
        *limits,
        "--out",
        tmp_path / "o",
    ]
    refused = invoke(*base)
    assert refused.exit_code == 6
    hint = next(line for line in refused.stderr.splitlines() if line.startswith("try: --max-suppressed"))
    mended = invoke(*base, *hint.removeprefix("try: ").split())
    assert mended.exit_code == 0, mended.output


def test_anatomy_publishes_a_table_in_groups(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    flags = ["--method", "anatomy", "-l", 2, "--no-report", "--json"]
    result = invoke("anonymize", patients, *ROLES, *flags, "--out", out)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["judgment"]["guarantee"] == "DistinctDiversity(l=2)"
    assert (out / "sensitive.csv").is_file()
    refused = invoke("anonymize", patients, *ROLES, "--method", "anatomy", "-k", 5, "--out", tmp_path / "o")
    assert refused.exit_code == 2
    assert "The method anatomy keeps PrivacyDegree, DistinctDiversity" in refused.stderr


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [
        (["--relaxed"], {"strict": False}),
        (["--strict-cuts", "--means"], {"strict": True, "summary": "mean"}),
        (["--method", "incognito", "--no-super-roots", "--no-precompute"], {"super_roots": False}),
        (["--method", "local", "--max-rounds", "7", "--no-cells"], {"max_rounds": 7, "cells": False}),
        (["--method", "global", "--max-suppressed", "2"], {"max_suppressed": 2}),
        (["--method", "global", "--max-suppressed", "1.0"], {"max_suppressed": 1.0}),
    ],
)
def test_every_parameter_reaches_the_method(
    monkeypatch: pytest.MonkeyPatch, invoke, patients: Path, tmp_path: Path, flags, parameters
) -> None:
    """From `anonymize`, and from `run`, where the options take the place of the job's own method."""
    jobs = []
    for command in ("anonymize", "run"):
        module = importlib.import_module(f"discreet.cli.publish.{command}")
        monkeypatch.setattr(module, "perform", lambda _, job, **settings: jobs.append(job))
    invoke("anonymize", patients, *ROLES, *TREES, "-k", 5, *flags, "--out", tmp_path / "release")
    job = tmp_path / "job.toml"
    job.write_text(
        f'[input]\npath = "{patients}"\nrest = "identifier"\n[columns]\nage = {{role = "quasi"}}\n'
        '[[guarantee]]\nkind = "k-anonymity"\nk = 5\n'
    )
    invoke("run", job, *flags)
    assert len(jobs) == 2
    for described in jobs:
        assert parameters.items() <= vars(described.publisher()).items()
