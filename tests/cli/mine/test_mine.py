"""`discreet mine`: itemsets and rules from files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

LINES = ["bread milk", "bread beer milk", "milk", "bread milk beer", ""]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.dat"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_itemsets_are_counted_and_shown(invoke, shop: Path) -> None:
    result = invoke("mine", shop, "--min-support", 2)
    assert result.exit_code == 0, result.output
    assert "7 frequent: 3 of 1, 3 of 2, 1 of 3" in result.stdout
    assert "bread, milk" in result.stdout


def test_json_holds_the_counts_and_the_first_sets(invoke, shop: Path) -> None:
    result = invoke("mine", shop, "--min-support", "0.6", "--json")
    plain = json.loads(result.stdout)
    assert (plain["baskets"], plain["itemsets"], plain["by_length"]) == (5, 3, {"1": 2, "2": 1})
    assert plain["top"][0] == {"itemsets": ["bread", "milk"], "support": 0.6, "count": 3, "length": 2}


def test_a_support_with_a_point_is_a_share(invoke, shop: Path) -> None:
    assert json.loads(invoke("mine", shop, "--min-support", "1", "--json").stdout)["itemsets"] == 7
    assert json.loads(invoke("mine", shop, "--min-support", "1.0", "--json").stdout)["itemsets"] == 0


def test_kinds_lengths_and_items_are_filtered(invoke, shop: Path) -> None:
    def mined(*more: object) -> int:
        result = invoke("mine", shop, "--min-support", 2, "--json", *more)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["itemsets"]

    assert mined("--kind", "closed") == 3
    assert mined("--kind", "maximal") == 1
    assert mined("--max-length", 1) == 3
    assert mined("--include", "bread,milk") == 3
    assert mined("--exclude", "beer") == 3


def test_itemsets_are_written(invoke, shop: Path, tmp_path: Path) -> None:
    for ending in ("csv", "parquet", "jsonl"):
        out = tmp_path / f"itemsets.{ending}"
        assert invoke("mine", shop, "--min-support", 2, "--out", out, "--quiet").exit_code == 0
        assert out.exists()
    assert pq.read_table(tmp_path / "itemsets.parquet")["itemsets"].to_pylist()[-1] == [
        "beer",
        "bread",
        "milk",
    ]
    assert (tmp_path / "itemsets.csv").read_text().splitlines()[1] == '"[""beer""]",0.4,2,1'
    last = (tmp_path / "itemsets.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["itemsets"] == ["beer", "bread", "milk"]


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "itemsets.csv"
    out.write_text("mine\n")
    refused = invoke("mine", shop, "--min-support", 2, "--out", out)
    assert refused.exit_code == 7
    assert "--overwrite" in refused.output
    assert out.read_text() == "mine\n"
    assert invoke("mine", shop, "--min-support", 2, "--out", out, "--overwrite").exit_code == 0
    assert out.read_text().startswith("itemsets,support,count,length")


def test_rules_are_found_and_written(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "rules.parquet"
    options = ["--rules", "--metric", "lift", "--min-threshold", 1.2]
    result = invoke("mine", shop, "--min-support", 2, *options, "--out", out)
    assert result.exit_code == 0, result.output
    lifts = pq.read_table(out)["lift"].to_pylist()
    assert lifts == sorted(lifts, reverse=True)
    assert min(lifts) >= 1.2
    assert "rules" in result.stdout


def test_distorted_baskets_are_mined_by_estimates(invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    held = rng.random((2000, 4)) < 0.5
    held[:, 1] |= held[:, 0]
    seen = np.where(held, rng.random(held.shape) < 0.8, rng.random(held.shape) < 0.1)
    path = tmp_path / "distorted.dat"
    path.write_text("\n".join(" ".join(map(str, np.flatnonzero(row))) for row in seen) + "\n")
    options = ["--p", 0.8, "--q", 0.9, "--margin", 2]
    result = invoke("mine", path, "--min-support", 0.4, *options, "--json")
    plain = json.loads(result.stdout)
    first = next(row for row in plain["top"] if row["itemsets"] == [0, 1])
    assert first["support"] == pytest.approx(held[:, 0].mean(), abs=5 * first["standard_error"])
    told = invoke("mine", path, "--min-support", 0.4, *options)
    assert "only may be frequent" in told.stdout


def test_bit_columns_are_mined_as_they_lie(invoke, shop: Path, tmp_path: Path) -> None:
    from discreet.engines.baskets.bits import write_bits
    from discreet.engines.baskets.files import read_baskets

    write_bits(read_baskets(shop).bits(), tmp_path / "shop.bits")
    results = [
        json.loads(invoke("mine", path, "--min-support", 2, "--json").stdout)
        for path in (shop, tmp_path / "shop.bits")
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--min-support", 0], "'min_support' parameter of Itemsets must be an int in [1, inf)"),
        (["--min-support", "few"], "--min-support takes a number"),
        (["--min-support", 1, "--p", 0.5], "both probabilities"),
        (["--min-support", 1, "--p", 0.5, "--q", 0.5], "nothing could be recovered"),
        (["--min-support", 1, "--p", 1.5, "--q", 0.5], "'p' parameter of EMask must be a number in [0, 1]"),
        (["--min-support", 1, "--margin", 1], "margin is for distorted"),
        (["--min-support", 1, "--metric", "lift"], "are for rules"),
        (["--min-support", 1, "--rules", "--metric", "strength"], "'metric' parameter of rules"),
        (["--min-support", 1, "--rules", "--kind", "closed"], "mine with kind='frequent'"),
        (["--min-support", 1, "--include", "wine"], "1 of the 1 items of 'include' do not occur"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(
    invoke, shop: Path, tmp_path: Path, options: list[object], words: str
) -> None:
    out = tmp_path / "out.csv"
    result = invoke("mine", shop, *options, "--out", out)
    assert result.exit_code == 2
    assert words in result.output
    assert not out.exists()


def test_rules_show_the_measure_they_are_judged_by(invoke, tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text('"beer, dark",bread\nbread,milk\n"beer, dark",bread,milk\nmilk\n')
    judged = ("--metric", "conviction", "--min-threshold", 0.1)
    said = invoke("mine", path, "--format", "lines", "--min-support", 1, "--rules", *judged).stdout
    assert "conviction" in said
    assert '"beer, dark"' in said
    assert "conviction" not in invoke("mine", path, "--format", "lines", "--min-support", 1, "--rules").stdout


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "jsonl", "parquet", "arrow"])
def test_infinite_measures_are_written_in_every_form(invoke, shop: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"rules.{ending}"
    result = invoke("mine", shop, "--min-support", 1, "--rules", "--out", out)
    assert result.exit_code == 0, result.output
    assert "inf" in result.stdout
    if ending == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert {row["conviction"] for row in rows if row["confidence"] == 1} == {None}
