"""`discreet perturb --method pram` and `rank-swapping`, and what undoes the one and attacks the other."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.collect import Pram

SWAP = ["--method", "rank-swapping", "--columns", "age,pay", "--within", "town"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 4000
    sex = rng.choice(["f", "m"], n)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "pay": rng.lognormal(10, 0.5, n).round(2),
            "sex": sex,
            "town": np.where(
                sex == "f", rng.choice(["Bonn", "Ulm"], n, p=[0.8, 0.2]), rng.choice(["Bonn", "Ulm"], n)
            ),
        }
    )
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    return path


def written(path: Path) -> pl.DataFrame:
    return pl.read_csv(path)


def test_categories_are_redrawn_and_their_shares_recovered_by_class(
    invoke, people: Path, tmp_path: Path
) -> None:
    out, channels, found = (tmp_path / name for name in ("redrawn.csv", "channels.json", "shares.csv"))
    result = invoke(
        "perturb",
        people,
        "--method",
        "pram",
        "--columns",
        "town",
        "--epsilon",
        1,
        "--seed",
        5,
        "--out",
        out,
        "--json",
    )
    assert result.exit_code == 0, result.output
    channels.write_text(result.stdout)
    plain = json.loads(result.stdout)
    true = written(people)
    pram = Pram.of(true["town"], epsilon=1)
    assert plain["epsilon"] == pytest.approx(pram.epsilon)
    assert plain["epsilon"] <= 1
    assert plain["columns"]["town"]["unchanged"] == pytest.approx(pram.matrix.diagonal() @ pram.shares)
    assert plain["columns"]["town"]["highest_belief"] == pytest.approx(pram.matrix.max())
    assert [caution["code"] for caution in plain["cautions"]] == [
        "exact-shares",
        "exact-columns",
        "unique-column",
    ]
    seen = written(out)
    assert sorted(seen["pay"]) == sorted(true["pay"])
    assert (seen.sort("pay")["town"] == true.sort("pay")["town"]).mean() == pytest.approx(
        plain["columns"]["town"]["unchanged"], abs=0.05
    )
    result = invoke(
        "reconstruct", out, "--column", "town", "--channels", channels, "--by", "sex", "--out", found
    )
    assert result.exit_code == 0, result.output
    assert "sex f" in result.stdout
    rows = written(found)
    assert rows.columns == ["sex", "town", "share", "standard error", "reports"]
    for sex, town, share, error, _ in rows.rows():
        truth = (true.filter(pl.col("sex") == sex)["town"] == town).mean()
        assert abs(share - truth) < 4 * error
    naive = (seen.filter(pl.col("sex") == "f")["town"] == "Bonn").mean()
    assert naive < 0.75
    result = invoke(
        "reconstruct", out, "--column", "town", "--channels", channels, "--method", "inverse", "--json"
    )
    one = json.loads(result.stdout)["shares"]
    assert [sum(entry["shares"]) for entry in one] == [pytest.approx(1)]


def test_shares_that_are_public_need_no_caution(invoke, people: Path, tmp_path: Path) -> None:
    shares, out = tmp_path / "shares.csv", tmp_path / "redrawn.csv"
    shares.write_text("town,share\nBonn,0.6\nRom,0.1\nUlm,0.3\n")
    pram = ["--method", "pram", "--columns", "town", "--redraw", 0.4, "--out", out]
    result = invoke("perturb", people, *pram, "--shares", shares, "--drop", "pay", "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert [caution["code"] for caution in plain["cautions"]] == ["exact-columns"]
    assert plain["columns"]["town"]["categories"] == ["Bonn", "Rom", "Ulm"]
    assert np.allclose(
        plain["columns"]["town"]["matrix"], Pram(["B", "R", "U"], [6, 1, 3], redraw=0.4).matrix
    )
    for text, words in (
        ("town,share\nBonn,0.6\nRom,0.1\n", "none of the 2 categories"),
        ("town,share\nBonn,0.6\nBonn,0.1\n", "must name each category once"),
        ("town\nBonn\nUlm\n", "must hold two columns"),
        ("town,share\nBonn,a\nUlm,b\n", "a number for each"),
        ("town,share\nBonn,0.5\nUlm,0\n", "'shares'"),
    ):
        shares.write_text(text)
        result = invoke("perturb", people, *pram, "--shares", shares, "--overwrite")
        assert result.exit_code == 2
        assert words in result.stderr


def test_values_are_swapped_and_the_attack_is_measured(invoke, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "swapped.csv"
    result = invoke("perturb", people, *SWAP, "--keep-order", "--seed", 3, "--out", out)
    assert result.exit_code == 0, result.output
    for words in ("swapped within 5% of the rows", "guarantees nothing", "nearest row", "known values"):
        assert words in result.stdout
    assert "next" not in result.stdout
    before, after = written(people), written(out)
    for column in ("age", "pay"):
        for town in ("Bonn", "Ulm"):
            values = [frame.filter(pl.col("town") == town)[column].to_list() for frame in (before, after)]
            assert Counter(values[0]) == Counter(values[1])
    result = invoke("perturb", people, *SWAP, "--window", 0.2, "--out", out, "--overwrite", "--json")
    plain = json.loads(result.stdout)
    assert plain["epsilon"] is None
    assert [caution["code"] for caution in plain["cautions"]] == ["no-guarantee", "exact-columns"]
    private = plain["private"]
    assert private["known"] == ["age", "pay", "town"]
    assert private["before"]["right"] > 0.99
    assert private["after"]["right"] < 0.01
    assert private["after"]["nearest"] < 0.05 < private["before"]["nearest"]
    assert written(out)["age"].to_list() != after["age"].to_list()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*SWAP, "--epsilon", 1), "'epsilon' is for another way"),
        ((*SWAP, "--drop", "town"), "both hidden or looked at, and left out"),
        ((*SWAP, "--window", 0.0001), "lets no value move"),
        ((*SWAP, "--window", 2), "'window'"),
        (("--method", "pram", "--columns", "town"), "in one way how likely"),
        (("--method", "pram", "--columns", "town", "--redraw", 0), "'redraw'"),
        (("--method", "pram", "--columns", "pay", "--redraw", 0.2), "must hold categories"),
        (
            ("--method", "pram", "--columns", "town", "--redraw", 0.2, "--window", 0.1),
            "'window' is for another way",
        ),
        (
            ("--method", "pram", "--columns", "town,sex", "--redraw", 0.2, "--shares", "s.csv"),
            "that of one column",
        ),
        (("--columns", "age", "--redraw", 0.2), "'redraw' is for another way"),
        (("--columns", "age"), "kind of noise is missing"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    invoke, people: Path, tmp_path: Path, options: tuple, words: str
) -> None:
    out = tmp_path / "out.csv"
    result = invoke("perturb", people, *options, "--out", out)
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert len(result.stderr.splitlines()) <= 2
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("town,n\nBonn,1\n", "2 to 1,000"),
        ("town,n\nBonn,1\nBonn,2\n", "2 to 1,000"),
        ("town,n\nBonn,1\n,2\nUlm,3\n", "1 values of 'town' are null"),
        ("town,n\n" + "".join(f"T{number},1\n" for number in range(1001)), "1,001 categories"),
    ],
)
def test_columns_without_shares_worth_keeping_are_refused(
    invoke, tmp_path: Path, text: str, words: str
) -> None:
    path, out = tmp_path / "towns.csv", tmp_path / "out.csv"
    path.write_text(text)
    result = invoke("perturb", path, "--method", "pram", "--columns", "town", "--redraw", 0.2, "--out", out)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not out.exists()


def test_one_row_has_nobody_to_swap_with(invoke, tmp_path: Path) -> None:
    path, out = tmp_path / "one.csv", tmp_path / "out.csv"
    path.write_text("age\n30\n")
    result = invoke("perturb", path, "--method", "rank-swapping", "--columns", "age", "--out", out)
    assert result.exit_code == 2
    assert "needs two rows" in result.stderr
    assert not out.exists()


def test_what_the_channels_say_is_not_said_twice(invoke, people: Path, tmp_path: Path) -> None:
    channels = tmp_path / "channels.json"
    channels.write_text(
        json.dumps(
            {
                "town": {"categories": ["Bonn", "Ulm"], "matrix": [[0.9, 0.1], [0.2, 0.8]]},
                "age": {"noise": "gaussian", "spread": 5.0, "low": 0, "high": 100},
                "sex": {"categories": ["f", "m"], "p": 0.7, "q": 0.7},
            }
        )
    )
    column = ["reconstruct", people, "--channels", channels, "--column"]
    assert invoke(*column, "age").exit_code == 0
    for options, words in (
        (("age", "--spread", 5), "says 'spread' already"),
        (("age", "--multiplicative"), "says 'multiplicative' already"),
        (("age", "--by", "town"), "are for categories"),
        (("age", "--method", "inverse"), "are for categories"),
        (("pay",), "no channel of a column 'pay'"),
        (("sex",), "no channel of a column 'sex'"),
        (("town", "--method", "kernel"), "for noisy numbers"),
        (("town", "--band", 0.9), "'band' is for noisy numbers"),
        (("town", "--by", "nothing"), "has no column 'nothing'"),
    ):
        result = invoke(*column, *options)
        assert result.exit_code == 2, result.output
        assert words in result.stderr
    result = invoke("reconstruct", people, "--column", "age")
    assert "What hid the column is missing" in result.stderr
