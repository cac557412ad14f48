"""`discreet uncertain`: a release from the command line and from a job file, and nothing written for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.planted import SECRET


@pytest.fixture
def measures(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "measures.csv"
    lines = [
        f"{SECRET}-{i},{rng.integers(18, 90)},{rng.normal(70, 12):.2f},{rng.integers(2, 5)},{'ab'[i % 2]}"
        for i in range(200)
    ]
    path.write_text("name,age,weight,wanted,ward\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("level", [("-k", 5), ("--k-column", "wanted")])
def test_a_release_is_written_and_checked(invoke, measures: Path, tmp_path: Path, level) -> None:
    out = tmp_path / "out"
    result = invoke("uncertain", measures, *level, "--identifier", "name", "--label", "ward", "--out", out)
    assert result.exit_code == 0, result.output
    assert "by construction" in result.output
    assert "comes first for" in result.output
    names = (out / "data.csv").read_text().splitlines()[0].split(",")
    assert names[:4] == ["age", "age_spread", "weight", "weight_spread"]
    assert names[-1] == "ward"
    published = "".join((out / name).read_text() for name in ("data.csv", "release.json", "report.html"))
    assert SECRET not in published + result.output
    checked = invoke("check", out)
    assert "claimed" in checked.output
    assert "unchanged since they were written" in checked.output


def test_a_job_file_names_the_method_and_the_guarantee(invoke, measures: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    roles = {
        "name": "identifier",
        "age": "quasi",
        "weight": "sensitive",
        "wanted": "identifier",
        "ward": "identifier",
    }
    columns = "".join(f'[columns.{name}]\nrole = "{role}"\n' for name, role in roles.items())
    job.write_text(
        f'[input]\npath = "measures.csv"\n{columns}[guarantee]\nkind = "expected-anonymity"\nk = 4\n'
        'attacker = "naive"\n[method]\nname = "uncertain"\nspread = "uniform"\n[output]\nfolder = "made"\n'
    )
    result = invoke("run", job, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "made" / "release.json").read_text())
    assert record["parameters"] == {"k": 4, "spread": "uniform", "attacker": "naive", "label": None}
    assert record["verdict"]["basis"] == "assumed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--identifier", "name,ward"), "Say the privacy level"),
        (("-k", 5, "--identifier", "name"), "Column 'ward' does not hold numbers"),
        (("-k", 5, "--identifier", "name", "--label", "town"), "'town', which the table does not have"),
        (("-k", 150, "--identifier", "name,ward"), "No spread reaches the level 150 among 200 records"),
        (("-k", 60, "--identifier", "name", "--label", "ward"), "among 100 records"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    invoke, measures: Path, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    result = invoke("uncertain", measures, *arguments, "--out", tmp_path / "out")
    assert result.exit_code in (2, 6), result.output
    assert message in result.output
    assert SECRET not in result.output
    assert not (tmp_path / "out").exists()


def test_what_is_assumed_and_what_a_seed_undoes_is_said(invoke, tmp_path: Path) -> None:
    """Noise that depends on a seed and the shape alone is taken off by whoever guesses the seed."""
    path = tmp_path / "ages.csv"
    path.write_text("age\n" + "\n".join(str(20 + i % 37) for i in range(60)) + "\n")
    command = ("uncertain", path, "-k", 4, "--attacker", "naive", "--json", "--out")
    seeded = json.loads(invoke(*command, tmp_path / "seeded", "--seed", 5).output)
    assert "seeded" in [caution["code"] for caution in seeded["cautions"] if caution["public"]]
    free = json.loads(invoke(*command, tmp_path / "free").output)
    assert "seeded" not in [caution["code"] for caution in free["cautions"]]
    checked = invoke("check", tmp_path / "free")
    assert checked.exit_code == 3
    assert "nobody works out the spreads" in checked.output
    assert "never for real data" in " ".join(invoke("uncertain", "--help").output.split())
