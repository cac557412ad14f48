"""Columns of nested values, bytes and NUL characters: refused by name with one sentence, wherever they come in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.core.errors import SchemaError
from discreet.engines.writing import write_frame
from discreet.parties.mining.models.columns import read_columns
from discreet.parties.mining.people_matching import read_keyed

PLANTED = "PLANTED-4417"
N = 60
COLUMNS: dict[str, pa.Array] = {
    "list": pa.array([[PLANTED]] * N),
    "struct": pa.array([{PLANTED: 1}] * N),
    "map": pa.array([[(PLANTED, PLANTED)]] * N, pa.map_(pa.string(), pa.string())),
    "fixed list": pa.array([[1, 2]] * N, pa.list_(pa.int64(), 2)),
    "bytes": pa.array([PLANTED.encode()] * N),
    "fixed bytes": pa.array([b"ab"] * N, pa.binary(2)),
}
SENTENCE = (
    "error: Column 'notes' holds nested values or bytes, which are neither judged nor published: drop it as an "
    "identifier, or make it text first.\n"
    "try: --identifier notes (with perturb and fit --drop notes), or --text notes\n"
)
ROLES = ("--quasi", "age,weight", "--sensitive", "disease")
COMMANDS: dict[str, Sequence[Any]] = {
    **{
        f"anonymize {method}": ("anonymize", *ROLES, "-k", 3, "--method", method)
        for method in ("mondrian", "optimal", "samarati", "incognito", "global", "local", "microaggregation")
    },
    "generalization": ("anonymize", *ROLES, "-k", 3, "--method", "generalization"),
    "anatomy": ("anonymize", *ROLES, "-l", 2, "--method", "anatomy"),
    "condense": ("condense", "-k", 3, "--sensitive", "disease", "--rest", "quasi"),
    "hide": ("hide", *ROLES, "--rule", "disease=flu", "--min-support", 0.1),
}
WRITTEN = {name: (*command, "--out", "out") for name, command in COMMANDS.items()} | {
    "perturb": ("perturb", "--columns", "age", "--noise", "gaussian", "--spread", 5, "--out", "out.csv"),
}


def rows(notes: pa.Array) -> pa.Table:
    return pa.table(
        {
            "age": [20 + n % 3 for n in range(N)],
            "weight": [60 + n % 2 for n in range(N)],
            "disease": [("flu", "cold", "asthma")[n % 3] for n in range(N)],
            "notes": notes,
        }
    )


def with_rest(command: Sequence[Any], rest: str) -> Sequence[Any]:
    """Give the column a role, where a command takes roles."""
    if command[0] == "perturb":
        return command if rest == "other" else (*command, "--drop", "notes")
    if command[0] == "condense":
        return command if rest == "other" else (*command, "--identifier", "notes")
    return (*command, f"--{rest}", "notes")


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("name", ["anonymize mondrian", "condense", "perturb"])
def test_every_type_is_refused_by_name(
    invoke, tmp_path: Path, monkeypatch: Any, name: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(rows(COLUMNS[kind]), "data.parquet")
    result = invoke(*with_rest(WRITTEN[name], "other"), "data.parquet")
    assert result.exit_code == 2
    assert result.output == SENTENCE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.parquet"]


@pytest.mark.parametrize("name", WRITTEN)
def test_every_command_says_the_same_and_lets_it_be_dropped(
    invoke, tmp_path: Path, monkeypatch: Any, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(rows(COLUMNS["struct"]), "data.parquet")
    result = invoke(*with_rest(WRITTEN[name], "other"), "data.parquet")
    assert (result.exit_code, result.output) == (2, SENTENCE)
    form = () if name == "perturb" else ("--format", "csv")
    result = invoke(*with_rest(WRITTEN[name], "identifier"), "data.parquet", *form)
    assert result.exit_code in (0, 1), result.output
    for path in (path for path in tmp_path.rglob("*") if path.is_file() and path.name != "data.parquet"):
        assert PLANTED.encode() not in path.read_bytes()


@pytest.mark.parametrize("command", ["check", "risk", "explore"])
def test_measuring_says_the_same(invoke, tmp_path: Path, command: str) -> None:
    path = tmp_path / "data.arrow"
    write_frame(rows(COLUMNS["list"]), path)
    options = ("-k", 3) if command != "risk" else ()
    result = invoke(command, path, "--quasi", "age,weight,notes", "--sensitive", "disease", *options)
    assert (result.exit_code, result.output) == (2, SENTENCE)


def test_new_rows_are_refused_the_same_way(invoke, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(rows(pa.array(["a"] * N)), "old.parquet")
    parquet.write_table(rows(COLUMNS["bytes"]), "new.parquet")
    old = invoke(
        "anonymize", "old.parquet", *ROLES, "--other", "notes", "-k", 3, "--method", "optimal", "--out", "o"
    )
    assert old.exit_code == 0, old.output
    new = invoke("apply", "o", "new.parquet", "--out", "n")
    assert (new.exit_code, new.output) == (2, SENTENCE)


def test_lines_of_json_are_refused_the_same_way_or_read_as_text(invoke, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(
        "".join(f'{{"age": {20 + n % 3}, "notes": {{"{PLANTED}": ["{n % 2}"]}}}}\n' for n in range(N))
    )
    command = ("anonymize", path, "--quasi", "age", "--other", "notes", "-k", 3, "--out")
    result = invoke(*command, tmp_path / "a")
    assert (result.exit_code, result.output) == (2, SENTENCE)
    result = invoke(*command, tmp_path / "b", "--text", "notes")
    assert result.exit_code == 0, result.output
    assert f'{PLANTED}\\":[\\"0\\"]'.encode() in (tmp_path / "b" / "data.jsonl").read_bytes()


def test_learning_and_predicting_say_the_same(invoke, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(rows(COLUMNS["struct"]), "data.parquet")
    Path("channels.json").write_text('{"age": {"noise": "gaussian", "spread": 3.0, "low": 0, "high": 100}}')
    fit = ("fit", "data.parquet", "--target", "disease", "--channels", "channels.json", "--out", "model.json")
    result = invoke(*fit)
    assert (result.exit_code, result.output) == (2, SENTENCE)
    assert invoke(*fit, "--drop", "notes").exit_code == 0
    result = invoke("predict", "model.json", "data.parquet", "--keep", "notes", "--out", "predicted.csv")
    assert (result.exit_code, result.output) == (2, SENTENCE)
    assert not Path("predicted.csv").exists()
    assert invoke("predict", "model.json", "data.parquet", "--out", "predicted.csv").exit_code == 0


def test_parties_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    parquet.write_table(rows(COLUMNS["list"]), path)
    for attempt in (lambda: read_columns(path, ["age", "notes"]), lambda: read_keyed(path, "age")):
        with pytest.raises(SchemaError, match="Column 'notes' holds nested values or bytes"):
            attempt()
    assert list(read_columns(path, ["age"])) == ["age"]


def test_init_drops_it(invoke, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    parquet.write_table(rows(COLUMNS["map"]), path)
    result = invoke("init", path, "--out", tmp_path / "job.toml")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "job.toml").read_text()
    assert "never published" in text
    assert PLANTED not in text + result.output


@pytest.mark.parametrize("name", ["anonymize mondrian", "anatomy", "condense", "hide", "perturb"])
def test_nul_characters_are_refused_by_name_in_delimited_text(
    invoke, tmp_path: Path, monkeypatch: Any, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = pa.array([f"{PLANTED}\0", "b"] * (N // 2))
    parquet.write_table(rows(texts), "data.parquet")
    form = () if name == "perturb" else ("--format", "csv")
    result = invoke(*with_rest(WRITTEN[name], "other"), "data.parquet", *form)
    assert result.exit_code == 2
    assert "Column 'notes' holds NUL characters" in result.output
    assert PLANTED not in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.parquet"]
