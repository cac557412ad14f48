"""Models from session files: every protocol over TLS, and parties as processes that write their models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.parties.runs import HEAD, run_all
from tests.parties.sessions import meet, write_session

from discreet.cli._app import app
from discreet.mine import model_from_dict, model_to_dict
from discreet.parties.network.session import PartySession

XY = 'columns = ["x", "y"]\n'
X = 'columns = ["x"]\ntarget = "t"\nclasses = [0, 1]\n'
SPLIT = '[protocol.columns]\na = ["x"]\nb = ["y"]\n[protocol.ranges]\nx = [0, 8]\ny = [0, 8]\n'
HORIZONTAL = {
    "k-means": XY + "k = 2\nmin_rows = 1",
    "naive-bayes": X,
    "decision-tree": X + "bins = 4\n[protocol.ranges]\nx = [0, 8]",
    "ridge": 'columns = ["x"]\ntarget = "y"',
    "logistic-regression": X + "\nmin_count = 1",
    "statistics": XY + "epsilon = 500.0\n[protocol.ranges]\nx = [0, 8]\ny = [0, 8]",
    "quantiles": 'columns = ["x"]\nq = [0.5]\nbits = 4\n[protocol.ranges]\nx = [0, 15]',
    "anonymize": "k = 2\n[protocol.domain]\nt = [0, 1]\nx = {low = 0, high = 8}\n"
    '[protocol.hierarchies]\nx = {kind = "intervals", widths = [4, 8]}',
}
VERTICAL = {
    "vertical-k-means": "k = 2\nbits = 8\nmin_count = 2\n" + SPLIT,
    "vertical-naive-bayes": 'target = "t"\nholder = "b"\nclasses = [0, 1]\n' + SPLIT,
    "vertical-decision-tree": 'target = "t"\nholder = "b"\nclasses = [0, 1]\nbins = 4\n' + SPLIT,
    "vertical-ridge": 'target = "y"\n' + SPLIT,
    "vertical-statistics": SPLIT,
}
FOUR_ROWS = {"x": [1, 2, 6, 7], "y": [3, 4, 5, 6], "t": [0, 0, 1, 1]}
ROWS = {name: np.tile(column, 3) for name, column in FOUR_ROWS.items()}


@pytest.mark.parametrize("name", [*HORIZONTAL, *VERTICAL])
def test_every_protocol_over_tls(tmp_path: Path, name: str) -> None:
    described = HORIZONTAL.get(name, VERTICAL.get(name))
    names = ("a", "b", "c") if name in HORIZONTAL else ("a", "b")
    path = write_session(tmp_path, names, f'name = "{name}"\n{described}')
    found = meet(path, dict.fromkeys(names, ROWS))
    protocol = PartySession.read(path).protocol
    for output in found.values():
        assert not isinstance(output, Exception), output
        for file, content in protocol.result_files(output).items():
            assert file == "part" or file.endswith(".csv") or json.dumps(content, allow_nan=False)
        assert protocol.covers(output, names) == names


def test_processes_write_the_model(tmp_path: Path) -> None:
    path = write_session(
        tmp_path, ("a", "b", "c"), 'name = "ridge"\ncolumns = ["x"]\ntarget = "y"', head=HEAD
    )
    data = {}
    for number, name in enumerate("abc"):
        data[name] = tmp_path / f"{name}.csv"
        data[name].write_text(f"x,y,more\n{number},{2 * number + 1},u\n{number + 5},{2 * number + 11},v\n")
    ended = run_all(path, data)
    assert [one.code for one in ended.values()] == [0, 0, 0], [one.stderr for one in ended.values()]
    plain = [json.loads((one.out / "model.json").read_text()) for one in ended.values()]
    assert plain[0] == plain[1] == plain[2]
    model = model_from_dict(plain[0])
    assert model.feature_names_in_.tolist() == ["x"]
    assert 1.8 < model.coef_[0] < 2
    new, out = tmp_path / "new.csv", tmp_path / "predicted.csv"
    new.write_text("id,x\nu,1\nv,3\n")
    args = ("predict", ended["a"].out / "model.json", new, "--keep", "id", "--out", out)
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    header, *lines = out.read_text().splitlines()
    assert header == "id,predicted"
    assert [float(line.split(",")[1]) for line in lines] == pytest.approx(
        (model.coef_ * [1.0, 3.0] + model.intercept_).tolist()
    )
    record = json.loads((ended["a"].out / "transcript.json").read_text())
    assert record["covers"] == ["a", "b", "c"]
    assert any("covariances" in sentence for sentence in record["leaks"])


def test_processes_write_their_parts_as_releases(tmp_path: Path) -> None:
    path = write_session(tmp_path, ("a", "b"), f'name = "anonymize"\n{HORIZONTAL["anonymize"]}', head=HEAD)
    data = {}
    for name in "ab":
        data[name] = tmp_path / f"{name}.csv"
        data[name].write_text("x,t\n1,0\n6,1\n")
    ended = run_all(path, data)
    assert [one.code for one in ended.values()] == [0, 0], [one.stderr for one in ended.values()]
    for one in ended.values():
        assert (one.out / "part" / "release.json").is_file()
        assert (one.out / "part" / "data.csv").is_file()
        assert json.loads((one.out / "anonymization.json").read_text())["smallest_class_of_the_part"] == 1


def test_classes_are_in_order_as_scikit_learn_has_them(tmp_path: Path) -> None:
    described = X.replace("[0, 1]", "[1, 0]") + "\nmin_count = 1"
    path = write_session(tmp_path, ("a", "b", "c"), f'name = "logistic-regression"\n{described}')
    found = meet(path, dict.fromkeys("abc", ROWS))
    assert found["a"].model.classes_.tolist() == [0, 1]
    assert found["a"].model.coef_[0, 0] > 0


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", ["k-means", "naive-bayes", "decision-tree", "ridge", "logistic-regression"])
def test_every_model_of_parties_predicts_from_its_file(tmp_path: Path, name: str) -> None:
    """One format: the command that uses models of noisy rows uses those of parties, also in their earlier format."""
    names = ("a", "b", "c")
    path = write_session(tmp_path, names, f'name = "{name}"\n{HORIZONTAL[name]}')
    model = meet(path, dict.fromkeys(names, ROWS))["a"].model
    plain = model_to_dict(model)
    assert plain["format"] == "discreet model 1"
    rows = np.column_stack([ROWS[column] for column in model.feature_names_in_]).astype(float)
    (tmp_path / "new.csv").write_text(
        "x,y\n" + "".join(f"{x},{y}\n" for x, y in zip(ROWS["x"], ROWS["y"], strict=True))
    )
    for saved in (plain, plain | {"format": "discreet party model 1"}):
        (tmp_path / "model.json").write_text(json.dumps(saved))
        out = tmp_path / "predicted.csv"
        args = ("predict", tmp_path / "model.json", tmp_path / "new.csv", "--out", out, "--overwrite")
        result = CliRunner().invoke(app, [str(arg) for arg in args])
        assert result.exit_code == 0, result.output
        cells = [float(line.split(",")[0]) for line in out.read_text().splitlines()[1:]]
        assert cells == pytest.approx(np.asarray(model.predict(rows), float).tolist())
    (tmp_path / "words.csv").write_text("x,y\nfew,4711\n")
    args = ("predict", tmp_path / "model.json", tmp_path / "words.csv", "--out", tmp_path / "no.csv")
    refused = CliRunner().invoke(app, [str(arg) for arg in args])
    assert name == "decision-tree" or "'x' must hold numbers" in refused.output
    assert "few" not in refused.output


def test_a_saved_model_that_is_damaged_is_refused() -> None:
    from discreet.core.errors import InputError

    for plain in (
        {},
        {"format": "discreet party model 1"},
        {"format": "discreet party model 1", "model": "Ridge"},
        3,
    ):
        with pytest.raises(InputError):
            model_from_dict(plain)  # type: ignore[arg-type]


def test_a_file_without_a_column_that_the_session_names_is_refused(tmp_path: Path) -> None:
    from discreet.core.errors import InputError

    path = write_session(tmp_path, ("a", "b"), f'name = "vertical-statistics"\n{SPLIT}')
    protocol: Any = PartySession.read(path).protocol
    (tmp_path / "z.csv").write_text("z\n1\n")
    with pytest.raises(InputError, match="no column"):
        protocol.read_input(tmp_path / "z.csv")
