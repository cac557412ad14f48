"""`discreet attack`: the three attacks and membership inference, from files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from tests.measure.attacks.test_regulators import CONTROL, ORIGINAL

from discreet import Table, quasi, sensitive
from discreet.core.adapters import KINDS
from discreet.core.tables.grouped import GroupedTable
from discreet.job.evidence.attacking import ATTACKED, NO_MEANING
from discreet.measure import regulators_attacks


@pytest.fixture
def release(invoke, tmp_path: Path) -> Path:
    csv.write_csv(ORIGINAL, tmp_path / "people.csv")
    csv.write_csv(CONTROL, tmp_path / "others.csv")
    made = invoke(
        "anonymize", tmp_path / "people.csv", "--quasi", "age,zip,town", "--sensitive", "ill", "-k", 5,
        "--out", tmp_path / "release",
    )  # fmt: skip
    assert made.exit_code == 0
    return tmp_path / "release"


def test_lines_and_json_without_a_value(invoke, release: Path, tmp_path: Path) -> None:
    base = [
        "attack",
        release,
        "--original",
        tmp_path / "people.csv",
        "--control",
        tmp_path / "others.csv",
        "--seed",
        1,
    ]
    result = invoke(*base)
    assert result.exit_code == 0
    for words in ("singling out", "linkability", "inference of ill", "prosecutor", "risk due to the release"):
        assert words in result.stdout
    assert not any(value in result.stdout for value in ("flu", "gout", "town 1"))
    figures = json.loads(invoke(*base, "--population", tmp_path / "people.csv", "--json").stdout)
    assert figures["controls"] == 600
    assert (
        0
        <= figures["linkability"]["low"]
        <= figures["linkability"]["risk"]
        <= figures["linkability"]["high"]
        <= 1
    )
    assert figures["attackers"]["journalist"]["highest"] <= 0.2


def test_without_a_control_group_it_says_so(invoke, release: Path, tmp_path: Path) -> None:
    result = invoke("attack", release, "--original", tmp_path / "people.csv", "--attacks", 50)
    assert result.exit_code == 0
    assert "no control group" in result.stdout


def test_pseudo_data_is_attacked_by_membership(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("people", "others"):
        rows = "\n".join(f"{a:.3f},{b:.3f}" for a, b in rng.normal(size=(200, 2)))
        (tmp_path / f"{name}.csv").write_text(f"a,b\n{rows}\n")
    made = invoke(
        "condense", tmp_path / "people.csv", "--quasi", "a,b", "-k", 10, "--out", tmp_path / "pseudo"
    )
    assert made.exit_code == 0
    base = ["attack", tmp_path / "pseudo", "--original", tmp_path / "people.csv"]
    result = invoke(*base, "--control", tmp_path / "others.csv")
    assert result.exit_code == 0
    assert "50% is a coin" in result.stdout
    assert "proves nothing" in result.stdout
    assert "no control group" in invoke(*base).stdout


def test_bad_input_is_one_line(invoke, release: Path, tmp_path: Path) -> None:
    nothing = invoke("attack", tmp_path, "--original", tmp_path / "people.csv")
    assert nothing.exit_code == 2
    assert "not the folder of a release" in nothing.stderr
    csv.write_csv(ORIGINAL.drop_columns(["zip"]), tmp_path / "few.csv")
    lacking = invoke("attack", release, "--original", tmp_path / "few.csv")
    assert lacking.exit_code == 2
    assert "lacks column 'zip'" in lacking.stderr


@pytest.mark.parametrize(("n_values", "least", "most"), [(1, 1.0, 1.0), (2, 0.4, 0.6), (8, 0.0, 0.2)])
def test_grouped_tables_by_groups_whose_risk_is_known(
    tmp_path: Path, n_values: int, least: float, most: float
) -> None:
    """Everybody is singled out by exact rows; a group of one value shows it, one of two in half of the cases."""
    rows = pa.table({"age": list(range(400)), "group": [at // 8 for at in range(400)]})
    values = [f"v{(at // 8 * n_values + at % n_values) % 40}" for at in range(400)]
    counted = Counter(zip(rows["group"].to_pylist(), values, strict=True))
    counts = pa.table(
        {
            "group": [group for group, _ in counted],
            "ill": [value for _, value in counted],
            "count": list(counted.values()),
        }
    )
    guessed = GroupedTable(rows, counts, "group").likeliest()
    original = Table(
        pa.table({"age": rows["age"], "ill": values}), {"age": quasi(allow_unique=True), "ill": sensitive()}
    )
    released = Table(guessed, {"age": quasi(allow_unique=True), "ill": sensitive()})
    attacks = regulators_attacks(released, original, n_attacks=400, random_state=0)
    assert least <= attacks.inference["ill"].rate.share <= most


def test_grouped_and_sampled_releases_are_attacked(invoke, tmp_path: Path) -> None:
    for name, table in (("people", ORIGINAL), ("others", CONTROL)):
        csv.write_csv(table, tmp_path / f"{name}.csv")
    made = invoke(
        "anonymize", tmp_path / "people.csv", "--quasi", "age,zip,town", "--sensitive", "ill", "-l", 2, "--method",
        "anatomy", "--out", tmp_path / "grouped",
    )  # fmt: skip
    assert made.exit_code == 0
    asked = ["--original", tmp_path / "people.csv", "--control", tmp_path / "others.csv", "--seed", 1]
    result = invoke("attack", tmp_path / "grouped", *asked, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["attackers"]["prosecutor"]["highest"] > 0.2
    sampled = invoke(
        "anonymize", tmp_path / "people.csv", "--quasi", "age", "--identifier", "zip,ill,town", "--hierarchy",
        "age=intervals:10,50", "--method", "safe-pub", "--epsilon", 4, "--level", "age=2", "--out",
        tmp_path / "sampled",
    )  # fmt: skip
    assert sampled.exit_code == 0, sampled.stderr
    result = invoke("attack", tmp_path / "sampled", *asked)
    assert result.exit_code == 0
    assert "singling out" in result.stdout


def test_every_other_kind_says_why_attacks_have_no_meaning_for_it(invoke, tmp_path: Path) -> None:
    assert {*ATTACKED, *NO_MEANING} == set(KINDS)
    assert not {*ATTACKED} & set(NO_MEANING)
    rows = [
        f"{town},{ill}"
        for town, ill, n in (("a", "x", 9), ("a", "y", 1), ("b", "x", 8), ("b", "y", 7))
        for _ in range(n)
    ]
    (tmp_path / "counts.csv").write_text("\n".join(["town,ill", *rows]) + "\n")
    asked = ["--by", "town,ill", "--threshold", 3, "--out", tmp_path / "cells"]
    made = invoke("tabulate", tmp_path / "counts.csv", *asked)
    assert made.exit_code == 0, made.stderr
    result = invoke("attack", tmp_path / "cells", "--original", tmp_path / "counts.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: A table of counts has no rows of people")


def test_baskets_are_attacked(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("original", "control"):
        lists = [" ".join(map(str, rng.choice(300, 5, replace=False))) for _ in range(200)]
        (tmp_path / f"{name}.dat").write_text("\n".join(lists) + "\n")
    asked = ["--original", tmp_path / "original.dat", "--control", tmp_path / "control.dat", "--seed", 1]
    made = invoke("anonymize", tmp_path / "original.dat", "--km", "3,2", "--out", tmp_path / "km")
    assert made.exit_code == 0, made.stderr
    result = invoke("attack", tmp_path / "km", *asked)
    assert result.exit_code == 0, result.stderr
    assert "linkability" in result.stdout
    assert "prosecutor" not in result.stdout
    made = invoke(
        "anonymize",
        tmp_path / "original.dat",
        "--sensitive-items",
        "7,11",
        "-p",
        4,
        "--out",
        tmp_path / "cahd",
    )
    assert made.exit_code == 0, made.stderr
    figures = json.loads(invoke("attack", tmp_path / "cahd", *asked, "--json").stdout)
    # Ordinary items are exact, so that everybody is linked; groups of four hide who holds what.
    assert figures["linkability"]["rate"]["share"] > 0.9
    assert figures["inference"]["a sensitive item"]["rate"]["share"] < 0.5
    paper = invoke(
        "evidence", tmp_path / "cahd", "--recipient", "a board", "--environment", "controlled", *asked
    )
    assert paper.exit_code == 0, paper.stderr
    page = next((tmp_path / "cahd.evidence.private").glob("*.html")).read_text()
    assert "which the fewest released baskets hold" in page
    assert "Inference of a sensitive item" in page


def test_baskets_generalized_by_a_tree_need_it(invoke, tmp_path: Path) -> None:
    (tmp_path / "baskets.csv").write_text("apple,rye\npear,rye\napple,oat\npear,oat\n" * 5)
    (tmp_path / "tree.csv").write_text("apple;fruit;*\npear;fruit;*\nrye;grain;*\noat;grain;*\n")
    lines = ["--basket-format", "lines"]
    made = invoke(
        "anonymize", tmp_path / "baskets.csv", *lines, "--km", "20,2", "--item-hierarchy", tmp_path / "tree.csv",
        "--out", tmp_path / "km",
    )  # fmt: skip
    assert made.exit_code == 0, made.stderr
    asked = ["attack", tmp_path / "km", "--original", tmp_path / "baskets.csv", *lines]
    refused = invoke(*asked)
    assert refused.exit_code == 2
    assert "--item-hierarchy" in refused.stderr
    result = invoke(*asked, "--item-hierarchy", tmp_path / "tree.csv")
    assert result.exit_code == 0, result.stderr
    assert "of 20 tries" in result.stdout
