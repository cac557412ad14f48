"""Mondrian on ARX's Adult (30,162 × 9, all quasi-identifiers, k = 5) beside anonypy."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from pathlib import Path
from typing import Any

from measuring import PeerMissingError, cpu, peer, shared_data
from rows import Row, failed, faster

K = 5
SEPARATOR = ";"
FLOORS = {"partition": 1000.0, "file": 50.0}
WHAT = {"partition": "partitioning, the table being coded", "file": "from file to file, imports left out"}


def run() -> list[Row]:
    """Compare the partitioning, and the way from a CSV file to a written one."""
    with tempfile.TemporaryDirectory() as folder:
        source = adult_csv(Path(folder))
        ours = {"partition": partitioning(source), "file": file_to_file(source, Path(folder) / "release")}
        try:
            theirs = peer("anonypy_adult", str(source), str(Path(folder) / "peer.csv"), SEPARATOR, K)
        except PeerMissingError as error:
            return [failed(WHAT[step], f"the peer cannot be run: {error}") for step in FLOORS]
    return [faster(WHAT[step], ours[step], theirs[step], floor) for step, floor in FLOORS.items()]


def adult_csv(folder: Path) -> Path:
    """Unpack Adult into a folder."""
    packed = shared_data("adult-arx") / "adult.csv.gz"
    with gzip.open(packed) as stream, (folder / "adult.csv").open("wb") as target:
        shutil.copyfileobj(stream, target)
    return folder / "adult.csv"


def partitioning(source: Path) -> float:
    """Time the partitioning of the coded table."""
    import discreet
    from discreet import Table, quasi
    from discreet.guarantees import KAnonymity
    from discreet.publish import Mondrian

    frame = discreet.read(source)
    table = Table(frame, {name: quasi() for name in frame.columns})
    return cpu(lambda: Mondrian(KAnonymity(K)).partition(table), times=21, warm=3)


def file_to_file(source: Path, out: Path) -> float:
    """Time a whole job: read the CSV, protect, judge the release by its data alone, write it with its recipe."""
    from discreet.job import run as run_job

    return cpu(lambda: run_job(_job(source, out)), times=5, warm=2)


def _job(source: Path, out: Path) -> Any:
    from discreet import quasi
    from discreet.guarantees import KAnonymity
    from discreet.job import Job

    header = source.read_text().partition("\n")[0].split(SEPARATOR)
    columns = {name: quasi() for name in header}
    return Job(source, columns, KAnonymity(K), out=out, report=False, overwrite=True)
