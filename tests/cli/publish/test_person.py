"""`--person`: people are counted instead of rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

_RNG = np.random.default_rng(3)
VISITS = pa.table(
    {
        "who": _RNG.integers(0, 100, 300),
        "age": _RNG.integers(0, 8, 300),
        "city": _RNG.choice(["x", "y"], 300),
        "disease": _RNG.choice(["a", "b", "c"], 300),
    }
)


def test_the_command_line_counts_people(invoke: Any, tmp_path: Path) -> None:
    from discreet.engines.writing import write_frame

    data = write_frame(VISITS, tmp_path / "visits.csv", "csv")
    roles = ["--person", "who", "--quasi", "age,city", "--sensitive", "disease"]
    result = invoke("anonymize", data, *roles, "-k", 6, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "KAnonymity(k=6) per 'who': units in a class" in result.output
    assert "by whose rows they are, which is private" in result.output
    judged = invoke("check", data, *roles, "-k", 25, "--all", "--json")
    assert judged.exit_code == 1
    classes: dict[tuple[int, str], set[int]] = {}
    for row in VISITS.to_pylist():
        classes.setdefault((row["age"], row["city"]), set()).add(row["who"])
    reached = {one["name"]: one["worst"] for one in json.loads(judged.stdout)["measures"]}
    assert reached["k-anonymity, k"] == min(map(len, classes.values()))
