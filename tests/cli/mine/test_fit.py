"""`discreet fit` and `discreet predict`: what they learn, save and say, and what they refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.planted import SECRET

from discreet.collect import AdditiveNoise, Channels, Gaussian, RandomizedResponse
from discreet.engines.files import read
from discreet.engines.writing import write_frame
from discreet.mine import ReconstructedNaiveBayes, ReconstructedTree, model_from_dict

CHANNELS = Channels({
    "age": AdditiveNoise(Gaussian(8.0), low=0, high=100),
    "town": RandomizedResponse.k_ary(["north", "south"], keep=0.9),
})  # fmt: skip
TOML = """
[age]
noise = "gaussian"
spread = 8.0
low = 0
high = 100

[town]
categories = ["north", "south"]
matrix = [[0.9, 0.1], [0.1, 0.9]]
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Noisy rows, true rows to test with, and the channels, twice."""
    import pyarrow as pa

    rng = np.random.default_rng(1)
    found = {name: tmp_path / f"{name}.csv" for name in ("noisy", "true")}
    for path in found.values():
        age, town = rng.uniform(0, 100, 1500), rng.choice(["north", "south"], 1500)
        label = np.where((age > 60) & (town == "north"), "ill", "well")
        rows = pa.table({"age": age, "town": town, "height": rng.normal(170, 9, 1500), "class": label})
        write_frame(CHANNELS.perturb(rows, random_state=1) if path.stem == "noisy" else rows, path)
    found |= {
        "json": tmp_path / "channels.json",
        "toml": tmp_path / "channels.toml",
        "out": tmp_path / "model.json",
    }
    found["json"].write_text(json.dumps(CHANNELS.to_dict()))
    found["toml"].write_text(TOML)
    return found


def rows_of(path: Path):
    table = read(path).to_arrow_table()
    return table.drop_columns(["class"]), table["class"].to_numpy()


@pytest.mark.parametrize("strategy", ["global", "by-class", "local"])
def test_it_saves_the_tree_that_python_learns(invoke, files, strategy: str) -> None:
    args = ("fit", files["noisy"], "--target", "class", "--channels", files["json"], "--strategy", strategy)
    result = invoke(*args, "--test", files["true"], "--out", files["out"], "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    wanted = ReconstructedTree(CHANNELS, strategy=strategy.replace("-", "_")).fit(*rows_of(files["noisy"]))
    true, labels = rows_of(files["true"])
    assert told["accuracy"] == pytest.approx(wanted.score(true, labels))
    assert told["accuracy"] > 0.9
    assert (told["leaves"], told["depth"]) == (wanted.n_leaves_, wanted.depth_)
    assert told["hidden"] == ["age", "town"]
    saved = model_from_dict(json.loads(files["out"].read_text()))
    assert (saved.predict_proba(true) == wanted.predict_proba(true)).all()


def test_toml_and_json_channels_are_the_same(invoke, files, tmp_path: Path) -> None:
    made = []
    for kind in ("json", "toml"):
        out = tmp_path / f"{kind}-model.json"
        args = ("--target", "class", "--channels", files[kind], "--model", "naive-bayes", "--out", out)
        assert invoke("fit", files["noisy"], *args).exit_code == 0
        made.append(json.loads(out.read_text()))
    assert made[0]["columns"][0]["shares"] == made[1]["columns"][0]["shares"]
    wanted = ReconstructedNaiveBayes(CHANNELS).fit(*rows_of(files["noisy"]))
    true, _ = rows_of(files["true"])
    assert (model_from_dict(made[0]).predict_proba(true) == wanted.predict_proba(true)).all()


def test_what_perturb_prints_is_a_file_of_channels(invoke, files, tmp_path: Path) -> None:
    noisy, channels = tmp_path / "noisy-ages.csv", tmp_path / "printed.json"
    args = (
        "--noise",
        "uniform",
        "--privacy",
        0.5,
        "--columns",
        "age",
        "--range",
        "age=0,100",
        "--out",
        noisy,
    )
    printed = invoke("perturb", files["true"], *args, "--json", "--seed", 1)
    assert printed.exit_code == 0, printed.output
    channels.write_text(printed.output)
    result = invoke(
        "fit", noisy, "--target", "class", "--channels", channels, "--out", files["out"], "--json"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["hidden"] == ["age"]


def test_it_prints_the_tree(invoke, files) -> None:
    args = ("--target", "class", "--channels", files["json"], "--test", files["true"], "--out", files["out"])
    shown = invoke("fit", files["noisy"], *args).output
    assert "1,500, 3 columns, 2 of them hidden" in shown
    assert "age < " in shown
    assert "town in {north}" in shown
    assert "% on the test rows" in shown
    quiet = invoke("fit", files["noisy"], *args, "--overwrite", "--quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")


def test_columns_can_be_dropped(invoke, files) -> None:
    args = ("--target", "class", "--drop", "town,height", "--out", files["out"], "--json")
    told = json.loads(invoke("fit", files["noisy"], *args).output)
    assert (told["columns"], told["hidden"], told["accuracy"]) == (1, [], None)


@pytest.mark.parametrize("kind", ["tree", "naive-bayes"])
def test_predictions_are_the_model_s(invoke, files, tmp_path: Path, kind: str) -> None:
    args = ("--target", "class", "--channels", files["json"], "--model", kind, "--out", files["out"])
    assert invoke("fit", files["noisy"], *args).exit_code == 0
    out = tmp_path / "predicted.csv"
    result = invoke("predict", files["out"], files["true"], "--keep", "height", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["rows"] == 1500
    with out.open() as stream:
        told = list(csv.DictReader(stream))
    model = model_from_dict(json.loads(files["out"].read_text()))
    true, _ = rows_of(files["true"])
    assert list(told[0]) == ["height", "predicted", "probability"]
    assert [row["predicted"] for row in told] == model.predict(true).tolist()
    wanted = model.predict_proba(true).max(axis=1)
    assert [float(row["probability"]) for row in told] == pytest.approx(wanted.tolist())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"--target": "klass"}, "no column 'klass'"),
        ({"--target": "town"}, "the target, which must not be hidden"),
        ({"--channels": "missing.json"}, "There is no file"),
        ({"--drop": "age"}, "'age'"),
        ({"--drop": "nothing"}, "no column 'nothing'"),
        ({"--model": "naive-bayes", "--strategy": "local"}, "--strategy is for a tree"),
        ({"--intervals": 1}, "The 'intervals' parameter of ReconstructedTree"),
    ],
)
def test_mistakes_are_one_line(invoke, files, change, words: str) -> None:
    given = {"--target": "class", "--channels": files["json"], "--out": files["out"], **change}
    result = invoke("fit", files["noisy"], *(part for pair in given.items() for part in pair))
    assert result.exit_code == 2
    assert words in result.output
    assert result.output.startswith("error: ")
    assert not files["out"].exists()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        json.dumps({"age": 3}),
        json.dumps({"age": {"noise": "pink", "spread": 1}}),
        json.dumps({"age": {"noise": "gaussian", "spread": 0}}),
        json.dumps({"age": {"noise": "gaussian", "spread": 1, "color": SECRET}}),
        json.dumps({"town": {"categories": SECRET, "matrix": [[1]]}}),
        json.dumps({"town": {"categories": ["a", "b"], "matrix": [[1, 0], [1, 0]]}}),
        json.dumps({"age": {"noise": "uniform", "spread": 0.5, "low": 0, "high": 1}}),
    ],
)
def test_bad_channels_are_refused_without_their_contents(invoke, files, text: str) -> None:
    files["json"].write_text(text)
    args = ("--target", "class", "--channels", files["json"], "--out", files["out"])
    result = invoke("fit", files["noisy"], *args)
    assert result.exit_code == 2, result.output
    assert SECRET not in result.output
    assert not files["out"].exists()


def test_an_existing_model_is_kept(invoke, files) -> None:
    files["out"].write_text("mine")
    args = ("--target", "class", "--out", files["out"])
    assert invoke("fit", files["noisy"], *args).exit_code == 7
    assert files["out"].read_text() == "mine"
    assert invoke("fit", files["noisy"], *args, "--overwrite").exit_code == 0


def test_nulls_and_secrets_stay_unsaid(invoke, files, tmp_path: Path) -> None:
    rows = "age,town,class\n" + "".join(f"{age},north,a\n{age},south,b\n" for age in range(20, 40))
    for bad, words in (
        (f",{SECRET},a\n", "'age'"),
        (f"30,{SECRET},\n", "no class"),
        (f"x{SECRET},north,a\n", "'age'"),
    ):
        path = tmp_path / "bad.csv"
        path.write_text(rows + bad)
        channels = tmp_path / "age.json"
        channels.write_text(json.dumps({"age": CHANNELS.to_dict()["age"]}))
        result = invoke("fit", path, "--target", "class", "--channels", channels, "--out", files["out"])
        assert result.exit_code == 2, result.output
        assert words in result.output
        assert SECRET not in result.output


def test_predicting_needs_a_model_and_its_columns(invoke, files, tmp_path: Path) -> None:
    out = tmp_path / "predicted.csv"
    assert "not a model" in invoke("predict", files["json"], files["true"], "--out", out).output
    assert "There is no file" in invoke("predict", tmp_path / "none.json", files["true"], "--out", out).output
    args = ("--target", "class", "--channels", files["json"], "--out", files["out"])
    assert invoke("fit", files["noisy"], *args).exit_code == 0
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("age,town\n30,north\n")
    result = invoke("predict", files["out"], fewer, "--out", out)
    assert result.exit_code == 2
    assert "no column 'height'" in result.output
    clash = tmp_path / "clash.csv"
    clash.write_text("age,town,height,predicted\n30,north,170,yes\n")
    assert (
        "cannot be kept" in invoke("predict", files["out"], clash, "--keep", "predicted", "--out", out).output
    )
    assert not out.exists()
    unseen = tmp_path / "unseen.csv"
    unseen.write_text("age,town,height\n30,elsewhere,170\n")
    assert invoke("predict", files["out"], unseen, "--out", out).exit_code == 0
