"""What is written for others names no file, folder, user or machine: planted names are looked for in all bytes."""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

MARK = "PLANTED8852"
ROLES = ("--quasi", "age,zip", "--sensitive", "disease", "--identifier", "name,weight")
TABLE, ARROW, SHOP = f"{MARK}.csv", f"{MARK}.parquet", f"{MARK}.basket"
OUT = ("--out", "out")
LINES = ("--basket-format", "lines")
COMMANDS: dict[str, Sequence[Any]] = {
    "csv": ("anonymize", TABLE, *ROLES, "-k", 3, *OUT),
    "parquet": ("anonymize", ARROW, *ROLES, "-k", 3, *OUT),
    "arrow": ("anonymize", ARROW, *ROLES, "-k", 3, "--format", "arrow", *OUT),
    "xlsx": ("anonymize", TABLE, *ROLES, "-k", 3, "--format", "xlsx", *OUT),
    "jsonl": ("anonymize", TABLE, *ROLES, "-k", 3, "--format", "jsonl", *OUT),
    "hierarchy": (
        *("anonymize", TABLE, *ROLES, "-k", 3, "--hierarchy", f"zip={MARK}-tree.csv", "--method", "optimal"),
        *("--max-suppressed", 0.5, *OUT),
    ),
    "population": ("anonymize", TABLE, *ROLES, "--k-map", 3, "--population", f"{MARK}-all.csv", *OUT),
    "pseudonyms": ("anonymize", TABLE, *ROLES, "-k", 3, "--pseudonym", f"name=file:{MARK}.key", *OUT),
    "anatomy": ("anonymize", TABLE, *ROLES, "-l", 2, "--method", "anatomy", *OUT),
    "condense": (
        "condense",
        ARROW,
        "-k",
        5,
        "--identifier",
        "name,zip",
        "--sensitive",
        "disease",
        "--rest",
        "quasi",
        *OUT,
    ),
    "hidden table": ("hide", ARROW, *ROLES, "--rule", "disease=flu", "--min-support", 0.05, *OUT),
    "hidden baskets": ("hide", SHOP, *LINES, "--rule", "i1, i2", "--min-support", 0.01, *OUT),
    "baskets": ("anonymize", SHOP, *LINES, "--sensitive-items", "s", "-p", 3, *OUT),
    "generalized baskets": ("anonymize", SHOP, *LINES, "--km", "3,2", *OUT),
    "sketches": ("sketch", SHOP, "--format", "lines", "--delta", 0.5, "--key-file", f"{MARK}.key", *OUT),
    "stream": (
        *("stream", "condense", "--from", TABLE, "--columns", "age,weight", "-k", 5),
        *("--state", f"{MARK}.state", *OUT),
    ),
    "perturbed": (
        *("perturb", ARROW, "--columns", "weight", "--noise", "gaussian", "--spread", 5, "--drop", "name"),
        *("--out", "out.csv.gz"),
    ),
    "distorted": ("distort", SHOP, "--format", "lines", "--p", 0.6, "--q", 0.9, "--out", "out.npz"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a user with planted names, with every file that the commands read."""
    folder = tmp_path / f"{MARK}-home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("USER", "LOGNAME", "USERNAME", "HOSTNAME", "COMPUTERNAME"):
        monkeypatch.setenv(name, MARK)
    rng = np.random.default_rng(4)
    n = 150
    zips = [f"1{one:04d}" for one in rng.integers(0, 9, n)]
    rows = pa.table(
        {
            "name": [f"{MARK}-{number}" for number in range(n)],
            "age": rng.integers(20, 40, n),
            "zip": zips,
            "weight": rng.integers(50, 90, n).astype(float),
            "disease": rng.choice(["flu", "cold", "gout"], n).tolist(),
        }
    )
    csv.write_csv(rows, TABLE)
    parquet.write_table(rows.replace_schema_metadata({"owner": MARK}), ARROW)
    csv.write_csv(pa.concat_tables([rows, rows]).select(["age", "zip"]), f"{MARK}-all.csv")
    Path(f"{MARK}-tree.csv").write_text("".join(f"{one};{one[:4]}*;*\n" for one in sorted(set(zips))))
    items = [sorted(set(rng.choice([f"i{at}" for at in range(8)], 3))) for _ in range(n)]
    Path(SHOP).write_text(
        "".join(",".join([*one, *(["s"] if at % 20 == 0 else [])]) + "\n" for at, one in enumerate(items))
    )
    key = Path(f"{MARK}.key")
    key.write_text(f"{MARK}-sixteen-bytes-of-key")
    key.chmod(0o600)
    return folder


def contents(path: Path) -> Iterator[bytes]:
    """Return the bytes of a file, and those of what is packed in it."""
    data = path.read_bytes()
    yield data
    if data.startswith(b"\x1f\x8b"):
        assert data[4:8] == b"\0\0\0\0", "a time stands in the header"
        yield gzip.decompress(data)
    if data.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                assert one.date_time[0] == 1980, "the year of the writing stands beside a member"
                yield one.filename.encode()
                yield archive.read(one)
    if path.suffix == ".parquet":
        yield str(parquet.read_table(path).to_pylist()).encode()


@pytest.mark.parametrize("name", COMMANDS)
def test_no_public_file_holds_a_planted_name(invoke, place: Path, name: str) -> None:
    result = invoke(*COMMANDS[name])
    assert result.exit_code == 0, result.output
    written = [
        path
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.relative_to(place).parts[0].startswith("out")
    ]
    public = [path for path in written if not path.relative_to(place).parts[0].endswith(".private")]
    assert public
    for path in public:
        for data in contents(path):
            assert MARK.encode() not in data, path.name
            assert os.fsencode(place.parent) not in data, path.name
