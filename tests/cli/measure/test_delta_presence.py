"""δ-presence on the command line: made, checked and read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_on_the_command_line(invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("voters.csv").write_text("age\n" + "\n".join(map(str, [*range(20, 40)] * 3)) + "\n")
    Path("patients.csv").write_text("age\n" + "\n".join(map(str, range(20, 40))) + "\n")
    bounds = ("--delta-min", 0.2, "--delta-max", 0.4, "--population", "voters.csv")
    made = invoke(
        "anonymize", "patients.csv", "--quasi", "age", "-k", 4, *bounds, "--out", "release", "--json"
    )
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["ok"]
    assert invoke("check", "release", "--population", "voters.csv").exit_code == 0
    shown = invoke("check", "release/data.csv", "--quasi", "age", "--population", "voters.csv").stdout
    assert "delta-presence, delta_max" in shown
    assert invoke("check", "release/data.csv", "--quasi", "age", "--delta-min", 0, "--delta-max", 0.2,
                  "--population", "voters.csv").exit_code == 1  # fmt: skip
    assert "delta-presence" in invoke("recipe", "release/release.json").stdout
    assert (
        "--delta-min"
        in invoke("anonymize", "patients.csv", "--quasi", "age", "--delta-max", 0.4, "--out", "o").stderr
    )
