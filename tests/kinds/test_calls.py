"""What one run computes: each figure once, whatever shows it (files, two reports, and the lines of the command)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.walks import COUNTED

from discreet.cli._app import app

PACKAGE = str(Path(sys.modules["discreet"].__file__ or "").parent)


def calls(*arguments: object) -> dict[str, int]:
    """Run a command, and count the calls of the functions that compute figures or read data."""
    wanted = {(f"{PACKAGE}/{file}", name) for file, names in COUNTED.items() for name in names}
    counts: Counter[str] = Counter()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        del argument
        code = frame.f_code
        if event == "call" and (Path(code.co_filename).as_posix(), code.co_name) in wanted:
            counts[code.co_name] += 1

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    finally:
        sys.setprofile(previous)
    assert result.exit_code == 0, result.output
    return dict(counts)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [
        f"{number // 2},{rng.integers(20, 60)},{rng.integers(2100, 2120)},{rng.choice(['flu', 'cold', 'gout'])}"
        for number in range(80)
    ]
    path = tmp_path / "people.csv"
    path.write_text("who,age,zip,disease\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def bought(tmp_path: Path) -> Path:
    path = tmp_path / "baskets.dat"
    path.write_text("".join(f"{at % 5} {5 + at % 7} {12 if at % 9 else 13}\n" for at in range(90)))
    return path


def test_a_table(people: Path, tmp_path: Path) -> None:
    roles = ("--quasi", "age,zip", "--sensitive", "disease", "--identifier", "who")
    assert calls("anonymize", people, *roles, "-k", 4, "--out", tmp_path / "out") == {
        "read": 1,
        "written_cells": 1,  # the written data, to be judged as it lies on disk
        "risk": 2,  # of the original and of the release
        "loss": 1,
        "singling_out": 1,
        "prediction": 2,  # from the original and from the release
        "published_formulas": 1,
    }


def test_a_table_of_people_with_several_rows(people: Path, tmp_path: Path) -> None:
    roles = ("--quasi", "age,zip", "--sensitive", "disease", "--person", "who")
    found = calls("anonymize", people, *roles, "-k", 4, "--out", tmp_path / "out")
    # The release has two risks: the public one counts rows, the owner's counts people, whom nobody else knows.
    assert (found["risk"], found["loss"], found["read"], found["written_cells"]) == (3, 1, 1, 1)


def test_a_table_in_groups(people: Path, tmp_path: Path) -> None:
    roles = ("--quasi", "age,zip", "--sensitive", "disease", "--identifier", "who")
    method = ("-l", 2, "--method", "anatomy")
    assert calls("anonymize", people, *roles, *method, "--out", tmp_path / "out") == {
        "read": 3,  # the file, and its two written files
        "risk": 2,
        "loss": 1,
        "singling_out": 1,
        "published_formulas": 1,
    }


@pytest.mark.parametrize("method", [("--sensitive-items", "13", "-p", 3), ("--km", "3,2")])
def test_baskets(bought: Path, tmp_path: Path, method: tuple[object, ...]) -> None:
    assert calls("anonymize", bought, *method, "--out", tmp_path / "out") == {
        "read_baskets": 1,
        "read_published": 1,  # the written baskets, to be judged as they lie on disk
        "reidentification": 6,  # by 1, 2 and 3 known items, before and after
        "published_formulas": 1,
    }


def test_pseudo_data(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n" + "\n".join(f"{x:.3f},{y:.3f}" for x, y in rng.normal(size=(60, 2))) + "\n")
    assert calls("condense", path, "-k", 5, "--rest", "quasi", "--out", tmp_path / "out") == {
        "read": 1,
        "written_cells": 1,
        "fidelity": 1,
        "closeness": 1,
        "copies": 1,
        "singling_out": 1,
        "published_formulas": 1,
    }


def test_sketches(bought: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    assert calls("sketch", bought, "--key-file", key, "--k-variance", 4, "--out", tmp_path / "out") == {
        "read_baskets": 1,
        "distance_error": 1,
        "published_formulas": 1,
    }


def test_hidden_rules(bought: Path, tmp_path: Path) -> None:
    rule = ("--rule", "0, 12", "--min-support", 5, "--method", "maxmin2")
    assert calls("hide", bought, *rule, "--out", tmp_path / "out") == {
        "read_baskets": 1,
        "read_published": 1,
        "mine": 3,  # the original by the method, then the original and the release to be compared
        "hiding_quality": 1,
        "published_formulas": 1,
    }
