"""`--overwrite` says what it replaced."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_release_and_a_file_that_are_replaced_are_named(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    command = [
        "anonymize",
        patients,
        "--quasi",
        "age,zip",
        "--rest",
        "identifier",
        "-k",
        5,
        "--no-report",
        "--out",
        out,
    ]
    assert "replaced" not in invoke(*command, "--overwrite").stdout
    line = next(
        line for line in invoke(*command, "--overwrite").stdout.splitlines() if line.startswith("replaced")
    )
    assert "data.csv" in line
    plain = json.loads(invoke(*command, "--overwrite", "--json").stdout)
    assert plain["replaced"]["files"] == [
        "codebook.csv",
        "croissant.json",
        "data.csv",
        "datapackage.json",
        "release.json",
    ]
    noisy = tmp_path / "noisy.csv"
    perturb = [
        "perturb",
        patients,
        "--noise",
        "uniform",
        "--spread",
        3,
        "--columns",
        "age",
        "--drop",
        "name",
        "--out",
        noisy,
    ]
    assert "replaced" not in invoke(*perturb).stdout
    assert invoke(*perturb, "--overwrite").stdout.startswith("replaced")
    assert "noisy.csv" in json.loads(invoke(*perturb, "--overwrite", "--json").stdout)["replaced"]["path"]
