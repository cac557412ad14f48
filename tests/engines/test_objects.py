"""Object stores: files are read and written there; credentials come from the environment and are shown nowhere."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import fs, parquet
from tests.engines.test_inputs import ROWS, lines, put
from tests.servers import object_store, stored_objects

from discreet.cli._app import app
from discreet.core.errors import InputError
from discreet.engines.files import read

USER_ERROR = 2


@pytest.fixture
def folder() -> str:
    """Return the address of an empty folder of the store."""
    return f"{object_store()}/{secrets.token_hex(4)}"


def upload(rows: pa.Table, url: str, scratch: Path) -> None:
    """Put a file into the store, by other means than ours."""
    store, path = fs.FileSystem.from_uri(url)
    put(rows, scratch / Path(path).name)
    with store.open_output_stream(path, compression=None) as target:
        target.write((scratch / Path(path).name).read_bytes())


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "jsonl", "arrow"])
def test_objects_are_read_as_files_are(tmp_path: Path, folder: str, ending: str) -> None:
    for number in range(2):
        upload(ROWS, f"{folder}/part-{number}.{ending}", tmp_path)
    assert lines(read(f"{folder}/part-0.{ending}")) == lines(ROWS)
    both = lines(pa.concat_tables([ROWS, ROWS]))
    assert lines(read(folder)) == lines(read(f"{folder}/part-*.{ending}")) == both


def test_partitions_in_a_store_are_columns(folder: str) -> None:
    store, path = fs.FileSystem.from_uri(folder)
    rows = ROWS.append_column("zone", pa.array(["02139", "1", None]))
    parquet.write_to_dataset(rows, path, partition_cols=["zone"], filesystem=store)
    assert lines(read(folder)) == lines(rows)


def test_a_release_of_objects_is_written_into_the_store(tmp_path: Path, folder: str) -> None:
    ages = pa.table(
        {"age": ["thirty", "forty"] * 50, "zip": ["02139"] * 100, "disease": ["flu", "cold"] * 50}
    )
    upload(ages, f"{folder}/rows.parquet", tmp_path)
    words = ["anonymize", f"{folder}/rows.parquet", "--quasi", "age,zip", "--sensitive", "disease", "-k", "5"]
    words += ["--no-report", "--to", f"{folder}/released.csv.gz"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out"), "--json"])
    assert result.exit_code == 0, result.output
    assert "geheim" not in result.output
    released = read(f"{folder}/released.csv.gz", text=["age", "zip"])
    assert lines(released) == lines(read(tmp_path / "out" / "data.parquet"))
    again = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "again")])
    assert again.exit_code == USER_ERROR
    assert "there already" in again.output
    absent = CliRunner().invoke(app, [*words[:-1], "s3://nowhere/x.csv", "--out", str(tmp_path / "again")])
    assert "no bucket" in absent.output
    assert not (tmp_path / "again").exists()


def test_nothing_is_uploaded_where_the_folder_fails(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(pa.table({"age": [30] * 9}), f"{folder}/rows.parquet", tmp_path)

    def fail(folders: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.engines.atomic._swap", fail)
    words = ["anonymize", f"{folder}/rows.parquet", "--quasi", "age", "-k", "5", "--no-report"]
    result = CliRunner().invoke(
        app, [*words, "--to", f"{folder}/released.csv", "--out", str(tmp_path / "out")]
    )
    assert result.exit_code != 0
    assert [name.rpartition("/")[2] for name in stored_objects(folder)] == ["rows.parquet"]


def test_what_cannot_be_read_is_one_line_without_credentials(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(ROWS, f"{folder}/rows.parquet", tmp_path)
    upload(pa.table({"other": [1]}), f"{folder}/other.parquet", tmp_path)
    store, path = fs.FileSystem.from_uri(folder)
    with store.open_output_stream(f"{path}/torn.parquet") as target:
        target.write(b"PAR1 torn")
    host = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
    login = folder.replace("s3://", "s3://key:geheim@") + f"/none.csv?endpoint_override={host}&scheme=http"
    for url, words in {
        f"{folder}/none.parquet": "There is no file",
        f"{folder}/torn.parquet": "not a Parquet file",
        f"{folder}/[or]*.parquet": "other columns or types",
        f"{folder}/*.csv": "names no file of data",
        login: "There is no file",
    }.items():
        with pytest.raises(InputError, match=words) as refusal:
            read(url)
        assert "geheim" not in str(refusal.value)
        assert "\n" not in str(refusal.value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(InputError, match=r"cannot be read: no server answers\.$"):
        read(f"{folder}/rows.parquet")
