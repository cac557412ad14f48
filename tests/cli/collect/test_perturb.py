"""`discreet perturb` and `reconstruct`: from file to file, in batches, with nothing told and nothing half-written."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.collect import Gaussian
from discreet.engines.files import read

HIDE = ["--noise", "gaussian", "--privacy", "1.0", "--columns", "age,pay"]
RANGES = ["--range", "age=0,100", "--range", "pay=0,9000"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    frame = pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(3_000)],
            "age": rng.integers(30, 60, 3_000),
            "pay": rng.uniform(1_000, 5_000, 3_000),
        }
    )
    frame.write_csv(path)
    return path


def test_columns_are_hidden_and_recovered(invoke, people: Path, tmp_path: Path) -> None:
    noisy = tmp_path / "noisy.csv"
    result = invoke("perturb", people, *HIDE, *RANGES, "--drop", "name", "--keep-order", "--out", noisy)
    assert result.exit_code == 0, result.output
    assert "100% of the range at 95 % confidence" in result.stdout
    assert "the order of the input is kept" in result.stdout
    seen, true = pl.read_csv(noisy), pl.read_csv(people)
    assert seen.columns == ["age", "pay"]
    spread = Gaussian.for_privacy(1.0, low=0, high=100).sd
    assert abs((seen["age"] - true["age"]).std() / spread - 1) < 0.1
    out, picture = tmp_path / "density.csv", tmp_path / "density.json"
    result = invoke(
        "reconstruct", noisy, "--column", "age", "--noise", "gaussian", "--privacy", 1, "--range", "0,100",
        "--intervals", 20, "--band", 0.9, "--seed", 1, "--out", out, "--picture", picture, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert plain["values"] == 3_000
    assert abs(plain["mean"] - true["age"].mean()) < 3
    density = pl.read_csv(out)
    assert density.columns == ["low", "high", "share", "density", "lower", "upper"]
    assert abs(density["share"].sum() - 1) < 1e-9
    assert "vega" in json.loads(picture.read_text())["$schema"]


def test_json_has_the_noise_and_not_a_value(invoke, people: Path, tmp_path: Path) -> None:
    result = invoke(
        "perturb", people, "--noise", "laplace", "--epsilon", 0.5, "--columns", "age", "--range", "age=0,100",
        "--out", tmp_path / "n.parquet", "--json",
    )  # fmt: skip
    plain = json.loads(result.stdout)
    assert plain["rows"] == 3_000
    assert plain["epsilon"] <= 0.5
    assert plain["columns"]["age"]["noise"] == "laplace"
    assert pq.read_table(tmp_path / "n.parquet").column_names == ["name", "age", "pay"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_names_beside_the_noise_is_named(
    invoke, people: Path, tmp_path: Path, ending: str
) -> None:
    frame = pl.read_csv(people).with_columns(
        ward=pl.Series(["x", "y", None] * 1_000), key=pl.Series(range(3_000)), gone=pl.lit(None, pl.String)
    )
    data = tmp_path / f"more.{ending}"
    frame.write_csv(data) if ending == "csv" else frame.write_parquet(data)
    command = ("perturb", data, *HIDE, *RANGES, "--overwrite", "--out", tmp_path / "noisy.csv")
    plain = json.loads(invoke(*command, "--json").stdout)
    assert [one["code"] for one in plain["cautions"]] == ["exact-columns", "named-identifier"] + [
        "unique-column"
    ] * 2
    shown = invoke(*command).stdout
    assert "Column 'name' is published as it is, and 3,000 of 3,000 rows" in shown
    assert "So it is with 1 more" in shown
    assert "Column 'key' is published as it is, and 3,000 of 3,000 rows" in plain["cautions"][3]["text"]
    assert "--drop" in shown
    assert "Person" not in shown
    dropped = invoke(*command, "--drop", "name,key").stdout
    assert "value of their own" not in dropped
    assert "'ward', 'gone': written exactly" in dropped


def test_a_seed_gives_the_same_bytes_and_says_so(invoke, people: Path, tmp_path: Path) -> None:
    told = [
        invoke("perturb", people, *HIDE, *RANGES, "--seed", 3, "--out", tmp_path / f"{n}.csv") for n in "ab"
    ]
    assert "seeded" in told[0].stdout
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("seed", [(), ("--seed", 3)])
def test_rows_are_written_in_random_order(invoke, people: Path, tmp_path: Path, seed) -> None:
    """By position, whoever has the list of all who signed up knew whose noisy row is whose."""
    orders = []
    for at in range(2):
        result = invoke("perturb", people, *HIDE, *RANGES, *seed, "--out", tmp_path / f"{at}.csv", "--json")
        assert json.loads(result.stdout)["order"] == "shuffled"
        orders.append(pl.read_csv(tmp_path / f"{at}.csv")["name"].to_list())
    names = pl.read_csv(people)["name"].to_list()
    assert sorted(orders[0]) == sorted(names)
    assert sum(one == other for one, other in zip(orders[0], names, strict=True)) < 20
    assert (orders[0] == orders[1]) == bool(seed)


def test_a_column_called_as_ours_survives_the_shuffle(invoke, tmp_path: Path) -> None:
    path, out = tmp_path / "place.csv", tmp_path / "noisy.csv"
    pl.DataFrame({"place": ["Ulm"] * 50, "Place_1": [1] * 50, "age": list(range(50))}).write_csv(path)
    hide = ("--noise", "laplace", "--epsilon", 1, "--columns", "age", "--range", "age=0,99")
    result = invoke("perturb", path, *hide, "--out", out)
    assert result.exit_code == 0, result.output
    assert pl.read_csv(out).columns == ["place", "Place_1", "age"]


def test_several_batches_get_noise_of_their_own_and_no_row_is_lost(invoke, tmp_path: Path) -> None:
    n = 600_000
    path, out = tmp_path / "many.parquet", tmp_path / "noisy.parquet"
    pq.write_table(pa.table({"x": np.zeros(n), "row": np.arange(n)}), path)
    result = invoke(
        "perturb", path, "--noise", "uniform", "--spread", 2, "--columns", "x", "--seed", 1, "--out", out
    )
    assert result.exit_code == 0, result.output
    noisy = pq.read_table(out)
    assert np.array_equal(np.sort(noisy["row"].to_numpy()), np.arange(n))
    assert np.unique(noisy["x"].to_numpy()).size > 80_000
    first, second = (noisy["x"].to_numpy()[at : at + 100_000] for at in (0, 250_000))
    assert not np.array_equal(first, second)


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(invoke, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.csv"
    out.write_text("mine\n")
    refused = invoke("perturb", people, *HIDE, *RANGES, "--out", out)
    assert refused.exit_code == 7
    assert "--overwrite" in refused.output
    assert out.read_text() == "mine\n"
    assert invoke("perturb", people, *HIDE, *RANGES, "--out", out, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("4711", "1 values of 'age' lie outside"),
        ("", "1 values of 'age' are null"),
        ("Zyzz-4711", "must hold numbers"),
    ],
)
def test_values_that_cannot_be_hidden_are_refused_unseen(
    invoke, tmp_path: Path, cell: str, words: str
) -> None:
    path, out = tmp_path / "bad.csv", tmp_path / "noisy.csv"
    path.write_text("age,x\n" + "50,1\n" * 30 + f"{cell},1\n")
    result = invoke(
        "perturb", path, "--noise", "gaussian", "--privacy", 1, "--columns", "age", "--range", "age=0,100",
        "--out", out,
    )  # fmt: skip
    assert result.exit_code == 2, result.output
    assert words in result.output
    assert "4711" not in result.output
    assert not out.exists()
    assert list(tmp_path.iterdir()) == [path]


def test_noise_lost_in_rounding_is_refused_and_nothing_is_left(invoke, tmp_path: Path) -> None:
    path, out = tmp_path / "bad.csv", tmp_path / "noisy.csv"
    path.write_text("when\n" + "1700000000000000000\n" * 30)
    result = invoke("perturb", path, "--noise", "gaussian", "--spread", 1, "--columns", "when", "--out", out)
    assert result.exit_code == 2
    assert "lost in rounding" in result.output
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--noise", "gaussian", "--columns", "age"], "how wide"),
        (["--noise", "gaussian", "--columns", "age", "--privacy", 1, "--spread", 2], "how wide"),
        (["--noise", "gaussian", "--columns", "age", "--privacy", 1], "range of 'age'"),
        (["--noise", "gaussian", "--columns", "age", "--epsilon", 1, "--range", "age=0,100"], "laplace"),
        (["--noise", "gaussian", "--columns", "age", "--spread", 0], "'sd'"),
        (["--noise", "gaussian", "--columns", "age", "--privacy", -1, "--range", "age=0,100"], "'privacy'"),
        (
            ["--noise", "gaussian", "--columns", "age", "--spread", 1, "--range", "age=9,1"],
            "lower and a higher",
        ),
        (["--noise", "gaussian", "--columns", "age", "--spread", 1, "--range", "age=9"], "two numbers"),
        (["--noise", "gaussian", "--columns", "age", "--spread", 1, "--range", "pay=0,9"], "not hidden"),
        (["--noise", "gaussian", "--columns", "size", "--spread", 1], "no column 'size'"),
        (["--noise", "gaussian", "--columns", "name", "--spread", 1], "'name' must hold numbers"),
        (["--noise", "gaussian", "--columns", "age", "--spread", 1, "--drop", "age"], "both"),
        (["--noise", "gaussian", "--columns", "age", "--spread", 1, "--drop", "size"], "no column 'size'"),
        (["--noise", "pink", "--columns", "age", "--spread", 1], "pink"),
    ],
)
def test_mistakes_are_one_line(invoke, people: Path, tmp_path: Path, args, words: str) -> None:
    out = tmp_path / "noisy.csv"
    result = invoke("perturb", people, *args, "--out", out)
    assert result.exit_code == 2
    assert words in result.output
    assert not out.exists()


def test_columns_of_odd_names_are_hidden(invoke, tmp_path: Path) -> None:
    names = ["a=b", "first, last", 'töwn "q"']
    path, out = tmp_path / "odd.csv", tmp_path / "noisy.csv"
    pl.DataFrame({name: [1.5, 2.5, 3.5] * 20 for name in names}).write_csv(path)
    ranges = [part for name in names for part in ("--range", f"{name}=0,9")]
    hidden = ["--columns", 'a=b,"first, last"', "--columns", 'töwn "q"']
    result = invoke(
        "perturb", path, "--noise", "laplace", "--epsilon", 1, *hidden, *ranges, "--seed", 3, "--out", out
    )
    assert result.exit_code == 0, result.output
    noisy = read(out).to_arrow_table()
    assert noisy.column_names == names
    assert all(len(noisy[name].unique()) > 50 for name in names)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "jsonl", "csv.gz"])
def test_rows_are_written_in_every_format(invoke, people: Path, tmp_path: Path, ending: str) -> None:
    seen = []
    for name in (f"noisy.{ending}", f"again.{ending}"):
        result = invoke("perturb", people, *HIDE, *RANGES, "--seed", 5, "--out", tmp_path / name)
        assert result.exit_code == 0, result.output
        seen.append(read(tmp_path / name).to_arrow_table())
    assert seen[0].num_rows == 3_000
    assert seen[0].column_names == ["name", "age", "pay"]
    assert seen[0].equals(seen[1])


@pytest.mark.parametrize("column", ["code", "day", "span", "flag"])
def test_columns_of_other_kinds_are_refused_and_never_shown(invoke, tmp_path: Path, column: str) -> None:
    data, out = tmp_path / "kinds.parquet", tmp_path / "out.csv"
    engine = duckdb.connect()
    engine.sql(
        "SELECT uuid() AS code, DATE '2024-01-01' AS day, INTERVAL 3 DAY AS span, true AS flag, 5::UHUGEINT AS big, "
        "2.5::DECIMAL(5, 2) AS price, 7::UTINYINT AS small FROM range(60)"
    ).write_parquet(str(data))
    noise = ["--noise", "uniform", "--spread", "1"]
    for command in (
        ["perturb", data, "--columns", column, "--out", out],
        ["reconstruct", data, "--column", column],
    ):
        result = invoke(*command, *noise)
        assert result.exit_code == 2, result.output
        assert f"'{column}' must hold" in result.output
    for number in ("big", "price", "small"):
        assert (
            invoke(
                "perturb", data, "--columns", number, "--out", tmp_path / f"{number}.csv", *noise
            ).exit_code
            == 0
        )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--column", "size", "--noise", "uniform", "--spread", 1], "no column 'size'"),
        (["--column", "name", "--noise", "uniform", "--spread", 1], "noisy numbers"),
        (["--column", "age", "--noise", "uniform", "--privacy", 1], "--spread"),
        (["--column", "age", "--noise", "uniform", "--spread", 1, "--intervals", 1], "'intervals'"),
        (["--column", "age", "--noise", "uniform", "--spread", 1, "--range", "500,600"], "3000 of 3000"),
        (["--column", "age", "--noise", "uniform", "--spread", 1, "--picture", "x.gif"], ".svg"),
        (["--column", "age", "--noise", "uniform", "--spread", 1, "--band", 2], "'band'"),
    ],
)
def test_what_cannot_be_reconstructed_is_refused(
    invoke, people: Path, tmp_path: Path, args, words: str
) -> None:
    out = tmp_path / "density.csv"
    result = invoke("reconstruct", people, *args, "--out", out)
    assert result.exit_code == 2, result.output
    assert words in result.output
    assert not out.exists()


def test_one_that_does_not_settle_says_so(invoke, people: Path) -> None:
    result = invoke(
        "reconstruct",
        people,
        "--column",
        "pay",
        "--noise",
        "gaussian",
        "--spread",
        300,
        "--range",
        "0,6000",
        "--max-steps",
        1,
    )
    assert result.exit_code == 0
    assert "not settled" in result.stdout


def test_a_process_of_its_own_does_the_same(process, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.csv"
    ran = process("perturb", people, *HIDE, *RANGES, "--out", out, "--quiet")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    ran = process(
        "reconstruct", out, "--column", "pay", "--noise", "gaussian", "--spread", 2295.9, "--band", 0.9
    )
    assert ran.returncode == 0, ran.stderr
    assert "quartiles" in ran.stdout


def test_what_is_read_is_never_replaced(invoke, people: Path, tmp_path: Path) -> None:
    before = people.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(people)
    for out in (people, link):
        refused = invoke("perturb", people, *HIDE, *RANGES, "--drop", "name", "--out", out, "--overwrite")
        assert refused.exit_code == 2
        assert "is what is read" in refused.output
    baskets = tmp_path / "shop.dat"
    baskets.write_text("1 2\n2 3\n" * 20)
    distort = ("distort", baskets, "--p", 0.9, "--q", 0.9, "--out", baskets, "--overwrite")
    assert "is what is read" in invoke(*distort).output
    assert baskets.read_text() == "1 2\n2 3\n" * 20
    assert people.read_bytes() == before


def test_a_picture_of_the_grid_replaces_nothing_unasked(invoke, tmp_path: Path) -> None:
    notes = tmp_path / "notes.html"
    notes.write_text("mine")
    draw = ("choose-pq", "--support", 0.01, "--baskets", 1_000, "--picture", notes)
    assert "there already" in invoke(*draw).output
    assert notes.read_text() == "mine"
    assert invoke(*draw, "--overwrite").exit_code == 0
    assert notes.read_text() != "mine"


def test_epsilon_is_of_the_hidden_columns_and_the_others_are_named(
    invoke, people: Path, tmp_path: Path
) -> None:
    hide = ("--noise", "laplace", "--epsilon", 1, "--columns", "age", "--range", "age=0,100")
    shown = invoke("perturb", people, *hide, "--out", tmp_path / "noisy.csv").stdout
    assert "1 for the hidden columns of a row together" in shown
    assert "written exactly as they are. No noise hides them" in shown
    hide = ("--noise", "gaussian", "--privacy", 1, "--columns", "age", "--range", "age=0,100")
    assert (
        "noise of this kind has no epsilon"
        in invoke("perturb", people, *hide, "--out", tmp_path / "other.csv").stdout
    )
