"""Bad input to the systems of the papers: the right answer, or one line that says what is wrong; nothing is written."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from discreet import Table, intervals, quasi, sensitive
from discreet.cli._app import app
from discreet.collect import (
    AdditiveNoise,
    Gaussian,
    MultiplicativeNoise,
    Pram,
    RankSwapping,
    Uniform,
    rating_scores,
)
from discreet.core.errors import DiscreetError
from discreet.guarantees import KAnonymity
from discreet.measure import belief, likelihood_linkage, ratings_linkage
from discreet.mine import (
    GroupNeighborsClassifier,
    KernelVote,
    NoisyMixture,
    NoisyRatings,
    ReconstructedTree,
)
from discreet.publish import Condensation, Mondrian, UncertainRecords

SECRET = 77123.25
"""A value that stands in the data of many cases; no message may hold it."""
TOWN = "Secretville"
SECRETS = ("77123", TOWN)


def text(header: str, rows: Iterable[Sequence[object]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def visits(ages: Iterable[object], weights: Iterable[object] = (55, 61, 58, 73, 66, 59, 80, 71, 62)) -> str:
    return text("age,weight", zip(ages, weights, strict=False))


AGES = [20.5, 34.1, 27.3, 41.8, 38.2, 25.7, 30.9, 22.4, 45.6]
NINE = visits(AGES)
ALONE = visits([SECRET])
CONSTANT = visits([SECRET] * 9)
SAME = visits([SECRET] * 9, [55] * 9)
NEGATIVE = visits([*AGES[:8], -SECRET])
EMPTY_CELL = visits([*AGES[:8], ""])
LEVELS = "age,weight,level\n" + "".join(f"{age},{60 + n},{{}}\n" for n, age in enumerate(AGES))
TOWNS = text("town,age", [("Ulm" if n % 3 else TOWN, 20 + n) for n in range(9)])
ONE_TOWN = text("town,age", [(TOWN, 20 + n) for n in range(9)])
REGIONS = text("region,sex,pay", [("ns"[n % 2], "fm"[n % 3 > 0], n + 1) for n in range(40)])
RATINGS = [(f"u{n}", f"m{m}", (n * m) % 5 + 1) for n in range(4) for m in range(4) if n != m]
COUNTS = {
    ("n", "f"): 7, ("n", "m"): 9, ("s", "f"): 8, ("s", "m"): 6, ("n", "Total"): 16, ("s", "Total"): 14,
    ("Total", "f"): 15, ("Total", "m"): 15, ("Total", "Total"): 30,
}  # fmt: skip
FACTOR = {"age": {"noise": "gaussian", "spread": 0.2, "low": 1, "high": 100, "multiplicative": True}}
NOISE = {"age": {"noise": "gaussian", "spread": 2, "low": 0, "high": 100}}
RESEARCH = text("age,disease", [(20 + n % 3, "flu") for n in range(9)])


def ready(*, without: int = 0, **changed: object) -> str:
    """Return a ready table of counts; a cell is named by its labels, as in n_f."""
    cells = COUNTS | {tuple(name.split("_")): value for name, value in changed.items()}  # type: ignore[misc]
    return text("region,sex,count", [(*labels, value) for labels, value in cells.items()][without:])


def rated(*more: Sequence[object]) -> str:
    return text("user,movie,stars", [*RATINGS, *more])


UNCERTAIN = "uncertain data.csv --out out -k"
CONDENSE = "condense data.csv --rest quasi --out out"
STREAM = "stream condense --from data.csv --columns age,weight --state out.bin --out out"
MULTIPLY = "perturb data.csv --noise gaussian --spread 0.5 --multiplicative --columns age --out out.csv"
PRAM = "perturb data.csv --method pram --redraw 0.3 --columns town --out out.csv"
SWAP = "perturb data.csv --method rank-swapping --out out.csv --columns"
KERNEL = "reconstruct data.csv --column age --noise gaussian --spread 2 --method kernel --out out.csv"
MIXTURE = "fit data.csv --channels channels.json --model mixture --out out.json --n-clusters"
READY = "tabulate data.csv --by region,sex --value count --total Total --threshold 3 --out out"
TABULATE = "tabulate data.csv --by region,sex --threshold 3 --out out"
GLOBAL = "anonymize data.csv --quasi region,sex --rest identifier --method global --hierarchy sex=flat --out out -k"
MEANS = "anonymize data.csv --quasi age,weight --method microaggregation --out out -k"
PRESENCE = "anonymize data.csv --quasi age --sensitive disease --population people.csv --out out"
RATED = "risk data.csv --person user --item movie --value stars"
SKETCH = "sketch data.dat --gap distance --components 8 --key-file key --out out --k-variance"

REFUSED: dict[str, tuple[str, str, str]] = {
    "uncertain, k at (n+1)/2": (NINE, f"{UNCERTAIN} 5", "stay below (n + 1)/2. A level of at most 4 would do"),
    "uncertain, k above n": (NINE, f"{UNCERTAIN} 10 --attacker naive", "A level of at most 4 would do"),
    "uncertain cubes, k of n": (NINE, f"{UNCERTAIN} 9 --spread uniform", "A level of at most 8 would do"),
    "uncertain, a constant": (CONSTANT, f"{UNCERTAIN} 3", "'age' has the same value in all rows"),
    "uncertain, one record": (ALONE, f"{UNCERTAIN} 1", "One record has nobody to hide among"),
    "uncertain, an empty cell": (EMPTY_CELL, f"{UNCERTAIN} 3", "'age' lacks 1 numbers; fill them in"),
    "uncertain, a level above": (
        LEVELS.format(*[3] * 8, 7),
        "uncertain data.csv --out out --k-column level",
        "No spread reaches the level 7",
    ),
    "uncertain, a level of 2.5": (
        LEVELS.format(*[3] * 8, 2.5),
        "uncertain data.csv --out out --k-column level",
        "'level' must hold whole numbers of at least 1; 1 rows do not",
    ),
    "condense, k above n": (NINE, f"{CONDENSE} -k 10", "Levels of at most 9 would do"),
    "condense, one record": (ALONE, f"{CONDENSE} -k 2", "Levels of at most 1 would do"),
    "condense, no level": (
        LEVELS.format(*[3] * 8, ""),
        f"{CONDENSE} --k-column level",
        "'level' holds no level in 1 rows",
    ),
    "stream, k above n": (NINE, f"{STREAM} -k 10", "Levels of at most 9 would do"),
    "stream, one record": (ALONE, f"{STREAM} -k 2", "Levels of at most 1 would do"),
    "stream, an empty cell": (EMPTY_CELL, f"{STREAM} -k 3", "Line 10 of the stream holds no number in column 'age'"),
    "stream, a level of 0": (
        LEVELS.format(*[3] * 8, 0),
        f"{STREAM} --k-column level",
        "no whole number of at least 1 in column 'level'",
    ),
    "a factor on negative values": (NEGATIVE, MULTIPLY, "1 values of 'age' are not above 0"),
    "a factor on 0": (visits([*AGES[:8], 0]), MULTIPLY, "or add noise in place of multiplying"),
    "a factor, and a value out of range": (
        visits([*AGES[:8], SECRET]),
        f"{MULTIPLY} --range age=1,100",
        "outside the stated range, so noise could not hide them; widen the range",
    ),
    "a factor, and a range from 0": (NINE, f"{MULTIPLY} --range age=0,100", "The range of 'age' must be above 0"),
    "a factor, and an empty cell": (EMPTY_CELL, MULTIPLY, "1 values of 'age' are null, NaN or infinite"),
    "pram, one category": (ONE_TOWN, PRAM, "Column 'town' has 1 categories"),
    "pram, an empty cell": (TOWNS + ",33\n", PRAM, "1 values of 'town' are null"),
    "swapping one row": (text("town,age", [(TOWN, 3)]), f"{SWAP} age", "Swapping needs two rows at least"),
    "swapping within a window of none": (TOWNS, f"{SWAP} age --window 0.01", "it must be at least 0.11"),
    "swapping within single rows": (TOWNS, f"{SWAP} town --within age", "'within' parameter of RankSwapping leaves"),
    "kernel, too few": (ALONE, KERNEL, "1 noisy values cannot distinguish 50 intervals; use fewer"),
    "kernel, an empty cell": (EMPTY_CELL, KERNEL, "Some noisy values of 'age' are null"),
    "kernel, a range of nobody": (
        NINE,
        f"{KERNEL} --intervals 5 --range 900,901",
        "the range or the noise is not the one that was used",
    ),
    "kernel, a negative product": (
        NEGATIVE,
        "reconstruct data.csv --column age --channels factor.json --method kernel --intervals 4 --out out.csv",
        "1 values of 'age' are 0, negative or beyond",
    ),
    "mixture, one record": (ALONE, f"{MIXTURE} 2", "lower n_clusters"),
    "mixture, more clusters than records": (NINE, f"{MIXTURE} 10", "9 rows cannot make 10 clusters"),
    "mixture, an empty cell": (EMPTY_CELL, f"{MIXTURE} 2", "1 values of column 'age' are null"),
    "mixture of products": (
        NINE,
        "fit data.csv --channels factor.json --model mixture --out out.json",
        "Column 'age' is hidden by a factor: NoisyMixture learns from its logarithms",
    ),
    "margins that do not add up": (ready(Total_f=18), READY, "The margins do not add up: 2 of them"),
    "a total that does not add up": (
        ready(Total_Total=31),
        f"{READY} --method controlled-rounding",
        "The margins do not add up",
    ),
    "a cell is lacking": (ready(without=1), READY, "The table lacks 1 of its 9 cells; each combination"),
    "a cell stands twice": (ready() + "n,f,7\n", READY, "holds a cell twice"),
    "a negative count": (ready(n_f=-77123), READY, "Column 'count' of a ready table must hold a count"),
    "half a count": (ready(n_f=7.5), READY, "whole number of zero or more, in every row; 1 rows do not"),
    "a count is empty": (ready(n_f=""), READY, "Column 'count' of a ready table must hold a count"),
    "no margins": (text("region,sex,count", [("n", "f", 7), ("s", "f", 8)]), READY, "has no margin of the name"),
    "a sum of nothing but 0": (
        text("region,sex,pay", [("n", "f", 0)] * 9),
        f"{TABULATE} --value pay --p-percent 10",
        "Every cell that is not empty would be suppressed",
    ),
    "a sum of negative values": (
        text("region,sex,pay", [("n", "f", -SECRET)] * 9),
        f"{TABULATE} --value pay --p-percent 10",
        "Column 'pay' holds negative values",
    ),
    "counts of one row": (
        text("region,sex,pay", [("n", "f", 1)]),
        TABULATE,
        "even if every cell that is not empty is suppressed",
    ),
    "a tree with two tops": (
        REGIONS,
        f"{TABULATE} --hierarchy region=tops.csv",
        "Column 'region': the hierarchy has 2 roots",
    ),
    "global, a tree of leaves": (REGIONS, f"{GLOBAL} 3 --hierarchy region=leaves.csv", "have one cell, no levels"),
    "global, k above n": (
        text("region,sex", [("n", "f")] * 2),
        f"{GLOBAL} 3 --hierarchy region=flat",
        "suppresses 2 of 2 rows",
    ),
    "microaggregation, k above n": (NINE, f"{MEANS} 10", "(9 rows) reaches 9; ask for that at the most"),
    "microaggregation, one record": (ALONE, f"{MEANS} 2", "(1 rows) reaches 1"),
    "presence, bounds the wrong way": (
        RESEARCH,
        f"{PRESENCE} --delta-min 0.9 --delta-max 0.5",
        "'delta_min' parameter of DeltaPresence must be at most delta_max",
    ),
    "presence, a bound above 1": (RESEARCH, f"{PRESENCE} --delta-min 0 --delta-max 1.5", "must be a number in (0, 1]"),
    "presence, a population of others": (
        RESEARCH,
        f"{PRESENCE.replace('people', 'few')} --delta-min 0 --delta-max 0.5",
        "the population lacks people of the table",
    ),
    "presence, a population without the column": (
        RESEARCH,
        f"{PRESENCE.replace('people', 'leaves')} --delta-min 0 --delta-max 0.5",
        "The population leaves.csv has no column 'age'",
    ),
    "ratings, a pair twice": (rated(RATINGS[0]), RATED, "keep one of each, such as the latest"),
    "ratings, a gap": (rated(("u9", "m1", "")), RATED, "Column 'stars': 1 of 13 cells are empty"),
    "ratings, nobody": (rated(("", "m1", 3)), RATED, "Column 'user': 1 of 13 cells are empty"),
    "ratings, a text": (rated(("u9", "m1", TOWN)), RATED, "Column 'stars' must hold numbers"),
    "ratings of one person": (text("user,movie,stars", [(TOWN, "m1", 3)]), RATED, "two people or more"),
    "ratings, too many known": (rated(), f"{RATED} --known 99", "Nobody has that many ratings"),
    "ratings, none known": (rated(), f"{RATED} --known 0", "whole numbers of at least 1"),
    "ratings without a value": (rated(), RATED.replace("--value stars", ""), "Ratings need --person, --item, --value"),
    "a sketch of one record": ("1 2 3\n", f"{SKETCH} 3", "two records are the least"),
    "sketches, k above n - 1": ("1 2\n2 3\n1 4\n", f"{SKETCH} 3", "use k=2 at most"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "channels.json").write_text(json.dumps(NOISE))
    (tmp_path / "factor.json").write_text(json.dumps(FACTOR))
    (tmp_path / "tops.csv").write_text("n,n\ns,s\n")
    (tmp_path / "leaves.csv").write_text("n\ns\n")
    (tmp_path / "one-level.csv").write_text("n,*\ns,*\n")
    (tmp_path / "people.csv").write_text(text("age", [(20 + n % 3,) for n in range(30)]))
    (tmp_path / "few.csv").write_text("age\n20\n20\n21\n")
    return tmp_path


def ran(folder: Path, data: str, command: str) -> Result:
    for name in ("data.csv", "data.dat"):
        (folder / name).write_text(data)
    return CliRunner().invoke(app, shlex.split(command))


INFEASIBLE = {
    "uncertain, k at (n+1)/2",
    "uncertain, k above n",
    "uncertain cubes, k of n",
    "uncertain, a level above",
    "condense, k above n",
    "condense, one record",
    "stream, k above n",
    "stream, one record",
    "a sum of nothing but 0",
    "counts of one row",
    "global, k above n",
    "microaggregation, k above n",
    "microaggregation, one record",
    "presence, a population of others",
    "a sketch of one record",
    "sketches, k above n - 1",
}
"""What no release can do, which has an exit code of its own."""


@pytest.mark.parametrize("name", REFUSED)
def test_commands_refuse_in_one_line_and_write_nothing(folder: Path, name: str) -> None:
    data, command, says = REFUSED[name]
    files = {path.name for path in folder.iterdir()} | {"data.csv", "data.dat"}
    result = ran(folder, data, command)
    assert result.exit_code == (6 if name in INFEASIBLE else 2), result.output
    first, *others = result.stderr.splitlines()
    assert first.startswith("error: ")
    assert says in first
    assert len(others) <= 1
    assert all(line.startswith("try: ") for line in others)
    assert not result.stdout
    assert not any(secret in result.output for secret in SECRETS)
    assert {path.name for path in folder.iterdir()} == files


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


@pytest.mark.parametrize("command", [f"{CONDENSE} -k 5", f"{CONDENSE} -k 1", f"{STREAM} -k 9"])
def test_condensed_records_that_are_all_the_same_stay_as_they_are(folder: Path, command: str) -> None:
    """No group varies, so that its pseudo-records are its mean: the record that everybody shares."""
    assert ran(folder, SAME, command).exit_code == 0
    assert [[float(cell) for cell in row] for row in rows_of(folder / "out" / "data.csv")] == [
        [SECRET, 55.0]
    ] * 9


def test_a_condensed_constant_stays_and_other_columns_are_drawn(folder: Path) -> None:
    assert ran(folder, CONSTANT, f"{CONDENSE} -k 9").exit_code == 0
    assert {float(row[0]) for row in rows_of(folder / "out" / "data.csv")} == {SECRET}


def test_duplicate_numbers_become_one_mean(folder: Path) -> None:
    assert ran(folder, SAME, f"{MEANS} 9").exit_code == 0
    assert [[float(cell) for cell in row] for row in rows_of(folder / "out" / "data.csv")] == [
        [SECRET, 55.0]
    ] * 9


def test_swapping_equal_values_changes_nothing(folder: Path) -> None:
    assert ran(folder, ONE_TOWN, f"{SWAP} town").exit_code == 0
    assert sorted(rows_of(folder / "out.csv")) == sorted([TOWN, str(20 + n)] for n in range(9))


def test_a_factor_hides_duplicates_each_by_its_own(folder: Path) -> None:
    assert ran(folder, SAME, MULTIPLY).exit_code == 0
    ages = [float(row[0]) for row in rows_of(folder / "out.csv")]
    assert len(set(ages)) == 9
    assert min(ages) > 0


@pytest.mark.parametrize("bandwidth", ["silverman", "cv"])
def test_a_kernel_density_of_equal_reports_lies_around_them(folder: Path, bandwidth: str) -> None:
    """Nine equal reports leave only the noise itself to spread them, so that all mass is within a spread of them."""
    result = ran(folder, SAME, f"{KERNEL} --intervals 5 --bandwidth {bandwidth} --json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["mean"] == pytest.approx(SECRET, abs=2)


def test_clusters_of_equal_records_share_them_evenly(folder: Path) -> None:
    """Nothing tells three clusters apart, so that each has a third."""
    result = ran(folder, SAME, f"{MIXTURE} 3")
    assert result.exit_code == 0
    assert "33.3%, 33.3%, 33.3%" in result.stdout


@pytest.mark.parametrize("method", ["cell-suppression", "controlled-rounding"])
def test_ready_tables_that_add_up_are_published_by_every_method(folder: Path, method: str) -> None:
    assert ran(folder, ready(), f"{READY} --method {method}").exit_code == 0
    cells = {tuple(row[:2]): row[2] for row in rows_of(folder / "out" / "cells.csv")}
    assert cells.keys() == COUNTS.keys()
    off = [abs(int(cells[labels]) - count) for labels, count in COUNTS.items() if cells[labels]]
    assert max(off) <= (0 if method == "cell-suppression" else 3)


def test_a_tree_with_one_level_adds_no_margin(folder: Path) -> None:
    """Its only level above the values is the total, which every table has."""
    with_tree = TABULATE.replace("out out", "out tree") + " --hierarchy region=one-level.csv"
    assert [ran(folder, REGIONS, command).exit_code for command in (TABULATE, with_tree)] == [0, 0]
    assert rows_of(folder / "tree" / "cells.csv") == rows_of(folder / "out" / "cells.csv")


def test_a_tree_with_one_level_is_kept_or_left_by_global_recoding(folder: Path) -> None:
    """Forty rows in two regions and two sexes: k = 6 keeps all values, k = 14 joins whole columns alone."""
    for k, n_classes in ((6, 4), (14, 2)):
        command = f"{GLOBAL} {k} --hierarchy region=one-level.csv --overwrite"
        assert ran(folder, REGIONS, command).exit_code == 0
        assert len({tuple(row[:2]) for row in rows_of(folder / "out" / "data.csv")}) == n_classes


def test_explore_shows_that_nothing_reaches_a_k_above_n(folder: Path) -> None:
    result = ran(folder, NINE, "explore data.csv --quasi age,weight -k 10 --dimensions named --json")
    assert result.exit_code == 0
    steps = json.loads(result.stdout)["dimensions"]
    assert [(step["loss"], step["failing"], step["volume"]) for step in steps] == [(None, 1.0, 1.0)] * 2


def test_equal_ratings_find_nobody_better_than_by_chance(folder: Path) -> None:
    """Three of four rated each item, and two of them each two items, so that a guess is right in 1/3 and 1/2."""
    alike = text("user,movie,stars", [(user, movie, 3) for user, movie, _ in RATINGS])
    result = ran(folder, alike, f"{RATED} --known 1,2 --json")
    by_known = json.loads(result.stdout)["ratings"]["by_known"]
    assert [figures["right"] for figures in by_known] == pytest.approx([1 / 3, 1 / 2])
    assert [figures["sure"] for figures in by_known] == [0, 0]


def test_sketches_of_equal_records_have_no_gap_to_bridge(folder: Path) -> None:
    """The distance to the eighth neighbor is 0, which the shortest sketch reaches."""
    assert ran(folder, "1 2 3\n" * 9, f"{SKETCH} 8").exit_code == 0


NOISY = AdditiveNoise(Gaussian(1.0))
ITEMS = ["tea", "cake", "beer"]
GRID = np.column_stack([np.arange(9.0), np.arange(9.0) ** 2])
FEW = pl.DataFrame({"town": [TOWN] * 4, "age": [SECRET] * 4, "name": ["a", "b", "c", "d"]})


def scored(*rows: Sequence[object]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row", strict=False)


def linked(frame: pl.DataFrame, **options: Any) -> Any:
    return ratings_linkage(frame, person="user", item="item", value="rating", **options)


def released(rows: Sequence[tuple[object, object]], k: int = 2) -> Any:
    return Mondrian(KAnonymity(k)).release(_patients(rows))


def _patients(rows: Sequence[tuple[object, object]]) -> Table:
    frame = pl.DataFrame(rows, schema=["age", "disease"], orient="row")
    return Table(frame, {"age": quasi(intervals(10)), "disease": sensitive()})


def _numbers(rows: Any) -> Table:
    return Table(pl.DataFrame(rows, schema=["a", "b"], orient="row"), {"a": quasi(), "b": quasi()})


HALF = [(20 + n, "xy"[n % 2]) for n in range(6)]
TASTES = NoisyRatings(NOISY, ITEMS).fit(np.eye(3))
CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "reports with a gap": (lambda: TASTES.partial_fit([[1.0, np.nan, 2.0]]), "1 values of 'reports' are null"),
    "reports of too few items": (lambda: TASTES.partial_fit([[SECRET]]), "'reports' must hold rows of 3 numbers"),
    "reports too large": (lambda: TASTES.partial_fit([[1e200] * 3]), "'reports' holds numbers too large"),
    "an item twice": (lambda: NoisyRatings(NOISY, ["tea", "tea"]).fit(np.eye(2)), "names each item once"),
    "a rating with a gap": (lambda: TASTES.predict({"tea": float("nan"), "cake": 1}), "1 ratings are null"),
    "ratings too large": (lambda: TASTES.predict({"tea": 1e308, "cake": -1e308}), "'ratings' holds numbers too large"),
    "no rating": (lambda: TASTES.predict({}), "There are no ratings"),
    "an unknown item": (lambda: TASTES.predict({TOWN: 3}), "1 items are none of the known items"),
    "scores of a pair twice": (
        lambda: rating_scores(scored(("u", "a", 1.0), ("u", "a", 2.0))),
        "1 ratings repeat an item of the same user",
    ),
    "scores with a gap": (lambda: rating_scores(scored(("u", "a", None), ("v", "a", 2.0))), "are null; drop the rows"),
    "linkage of a pair twice": (
        lambda: linked(scored(("u", "a", 1.0), ("u", "a", SECRET), ("v", "a", 2.0))),
        "1 ratings are of an item that the same person has rated already",
    ),
    "linkage of an infinite rating": (
        lambda: linked(scored(("u", "a", float("inf")), ("v", "a", SECRET))),
        "Column 'rating' holds infinite values",
    ),
    "linkage by no number": (
        lambda: linked(scored(("u", "a", 1.0), ("v", "a", SECRET)), known=3),
        "'known' parameter of ratings_linkage must be a list of whole numbers of at least 1",
    ),
    "groups of k above n": (
        lambda: GroupNeighborsClassifier(Condensation(5)).fit(GRID, ["a", "b"] * 4 + ["a"]),
        "Levels of at most 4 would do",
    ),
    "groups of one record": (
        lambda: GroupNeighborsClassifier(Condensation(3)).fit([[SECRET]], ["a"]),
        "a minimum of 2 is required",
    ),
    "votes with a gap": (lambda: KernelVote().fit([[np.nan], [1.0]], ["a", "b"]), "contains NaN"),
    "uncertain records, k above (n+1)/2": (
        lambda: UncertainRecords(6).release(_numbers(GRID)),
        "A level of at most 4 would do",
    ),
    "uncertain record, one": (lambda: UncertainRecords(2).release(_numbers([[SECRET, 1.0]])), "One record has nobody"),
    "swapping one window of nobody": (
        lambda: RankSwapping(["age"], window=0.5, within=["name"]).perturb(FEW),
        "'within' parameter of RankSwapping leaves every row alone",
    ),
    "swapping texts among nobody": (
        lambda: RankSwapping(["town"], within=["name"]).perturb(FEW),
        "'within' parameter of RankSwapping leaves every row alone",
    ),
    "pram of one category": (lambda: Pram.of([TOWN] * 4, epsilon=1), "at least two categories"),
    "pram of an unknown category": (
        lambda: Pram(["a", "b"], [1, 3], redraw=0.5).perturb(np.array([TOWN, "a"])),
        "none of the 2 categories",
    ),
    "a factor on negative numbers": (
        lambda: MultiplicativeNoise(Gaussian(0.5)).perturb(np.array([-SECRET, 1.0])),
        "1 values of 'data' are 0, negative or beyond",
    ),
    "likelihood of what noise cannot reach": (
        lambda: likelihood_linkage([[SECRET]], [[1.0]], Uniform(1.0)),
        "1 noisy records could not have come from their own",
    ),
    "likelihood without its truth": (
        lambda: likelihood_linkage([[SECRET]], [[1.0], [2.0]], Gaussian(1.0)),
        "'truth' must hold, for each of 1 noisy records",
    ),
    "belief by a prior of other columns": (
        lambda: belief(released(HALF), Table(pl.DataFrame({"z": [1]}), {"z": quasi()})),
        "The table of the prior lacks column 'age'",
    ),
    "a mixture of products": (
        lambda: NoisyMixture(channels={0: MultiplicativeNoise(Gaussian(0.1))}, n_clusters=2).fit(GRID + 1),
        "learns from its logarithms",
    ),
    "a tree of products": (
        lambda: ReconstructedTree([MultiplicativeNoise(Gaussian(0.1)), None]).fit(GRID + 1, ["a", "b", "a"] * 3),
        "learns from its logarithms",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "says"), CALLS.values(), ids=CALLS.keys())
def test_calls_refuse_and_name_no_value(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(DiscreetError) as refused:
        call()
    assert says in str(refused.value)
    assert not any(secret in str(refused.value) for secret in SECRETS)
    assert refused.value.__cause__ is None


def test_ratings_that_are_all_alike_predict_their_mean() -> None:
    assert TASTES.predict({"tea": SECRET, "cake": SECRET}).tolist() == [SECRET] * 3
    assert rating_scores(scored(("u", "a", SECRET), ("u", "b", SECRET))).scores.tolist() == [[0.0, 0.0]]


def test_equal_records_are_found_by_chance_and_a_constant_column_tells_nothing() -> None:
    same = np.full((9, 2), SECRET)
    linkage = likelihood_linkage(same, same, Gaussian(2.0))
    assert (linkage.first, linkage.mean_rank) == (pytest.approx(1 / 9), 5)
    beside = np.column_stack([np.full(9, SECRET), GRID])
    away = likelihood_linkage(GRID, GRID, Gaussian(2.0))
    assert likelihood_linkage(beside, beside, Gaussian(2.0)).ranks.tolist() == away.ranks.tolist()


@pytest.mark.parametrize("prior", ["original", "table"])
def test_a_release_moves_no_belief_where_all_values_are_the_same(prior: str) -> None:
    moved = belief(released([(20 + n, "x") for n in range(6)]), prior)
    assert (moved.largest_gain, moved.disclosed, moved.n_contradicted) == (0, 0, 0)


def test_a_prior_that_rules_everything_out_contradicts_everybody() -> None:
    assert belief(released(HALF), _patients([(90, "q")])).n_contradicted == 6


def test_votes_and_groups_of_equal_records_go_by_number() -> None:
    same, classes = np.full((9, 2), SECRET), ["a", "b"] * 4 + ["a"]
    assert KernelVote(n_neighbors=99).fit(same, classes).predict(same[:1]).tolist() == ["a"]
    assert KernelVote().fit(same, classes).predict_proba(same[:1])[0].tolist() == pytest.approx(
        [5 / 9, 4 / 9]
    )
    assert GroupNeighborsClassifier(Condensation(3)).fit(same, classes).predict(same[:1]).tolist() == ["a"]
