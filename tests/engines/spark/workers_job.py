"""What the workers of Spark itself do in Python, compared with this machine: run by itself, since it starts Java."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from discreet import Baskets, ClusterBaskets, Table, identifier, quasi, read, sensitive
from discreet.collect import AdditiveNoise, EMask, Gaussian
from discreet.engines.sql import source as sources
from discreet.guarantees import DistinctDiversity, KAnonymity
from discreet.mine import Itemsets, MaskedItemsets
from discreet.publish import Mondrian

ROLES = {"visit": identifier(), "age": quasi(), "town": quasi(), "pay": quasi(), "disease": sensitive()}


def rows(n: int = 6000) -> pa.Table:
    """Return rows of which most are unlike all others."""
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "visit": [number % 61 for number in range(n)],
            "age": [
                None if number % 97 == 0 else int(age) for number, age in enumerate(rng.integers(18, 90, n))
            ],
            "town": [f"town {town}" for town in rng.integers(0, 30, n)],
            "pay": rng.normal(0, 1, n).round(1),
            "disease": [["flu", "cold", None][number] for number in rng.integers(0, 3, n)],
        }
    )


def lines(frame: Any) -> list[str]:
    """Return rows, sorted."""
    table = frame if isinstance(frame, pa.Table) else frame.toArrow()
    return sorted(map(repr, table.to_pylist()))


def main(folder: Path) -> None:
    """Search, mine and collect on the cluster, and compare with this machine."""
    parquet.write_table(rows(), folder / "rows.parquet")
    frame = read(folder / "rows.parquet", engine="spark", master="local[2]")
    frame.sparkSession.conf.set("spark.sql.shuffle.partitions", "4")
    guarantee = KAnonymity(30) & DistinctDiversity(2, of="disease")
    here = Mondrian(guarantee).release(Table(rows(), ROLES))
    sources.MOST_TUPLES = 1600
    there = Mondrian(guarantee).release(Table(frame, ROLES))
    assert there.original.exceeds_memory
    there.write(folder / "out", report=False)
    assert there.verdict == here.verdict
    assert there.recipe == here.recipe
    assert lines(parquet.read_table(folder / "out" / "data.parquet")) == lines(here.frame)
    print("the same groups")  # noqa: T201

    entries = rows().select(["visit", "town"])
    mined = ClusterBaskets.from_long(frame.select("visit", "town"), basket="visit", item="town")
    same = Baskets.from_long(entries, basket="visit", item="town")
    assert Itemsets(0.9).mine(mined).as_dict() == Itemsets(0.9).mine(same).as_dict()
    channel = EMask(p=0.8, q=0.9)
    reported = channel.perturb(mined)
    listed = [reported.frame.toArrow()["items"].to_pylist() for _ in range(2)]
    assert listed[0] == listed[1]
    again = Baskets.from_lists(listed[0]).listed(mined.names.to_pylist())
    miner = MaskedItemsets(channel, 0.9, max_length=2)
    assert miner.mine(reported).as_dict() == miner.mine(again).as_dict()
    print("the same itemsets")  # noqa: T201

    noise = AdditiveNoise(Gaussian(2.0), low=-100, high=100)
    noisy = noise.perturb(frame, columns=["pay"])
    first, second = lines(noisy), lines(noisy)
    assert first == second
    assert abs(np.std(np.asarray(noisy.toArrow()["pay"])) - np.sqrt(5)) < 0.2
    print("the same noise")  # noqa: T201
    frame.sparkSession.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
