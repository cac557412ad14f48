"""Loss on ARX's Adult with its hierarchies, counted row by row from the files."""

from __future__ import annotations

import csv
import gzip
import math
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from discreet import Table, quasi, read_hierarchy, sensitive
from discreet.guarantees import KAnonymity
from discreet.measure import loss, loss_between
from discreet.publish import Generalization

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
SETTINGS = [
    ({"sex": 0, "age": 2, "race": 1, "marital-status": 1, "education": 2, "native-country": 2, "workclass": 1}, 5),
    ({"sex": 1, "age": 3, "race": 0, "marital-status": 2, "education": 3, "native-country": 1, "workclass": 0}, 10),
    ({"sex": 0, "age": 4, "race": 1, "marital-status": 2, "education": 3, "native-country": 2, "workclass": 2}, 2),
]  # fmt: skip


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> tuple[list[dict[str, str]], dict[str, dict[str, list[str]]], Path]:
    """The rows, and for each column the path of each leaf."""
    folder = shared_data / "adult-arx"
    with gzip.open(folder / "adult.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    paths = {}
    for name in QUASI:
        with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8") as file:
            paths[name] = {path[0]: path for path in csv.reader(file, delimiter=";")}
    return rows, paths, folder


@pytest.mark.parametrize(("levels", "k"), SETTINGS)
def test_adult_by_brute_force(
    adult: tuple[list[dict[str, str]], dict[str, dict[str, list[str]]], Path], levels: dict[str, int], k: int
) -> None:
    rows, paths, folder = adult
    roles = {name: quasi(read_hierarchy(folder / f"adult_hierarchy_{name}.csv")) for name in QUASI}
    frame = pa.table({name: [row[name] for row in rows] for name in (*QUASI, "occupation")})
    release = Generalization(KAnonymity(k), levels=levels, max_suppressed=0.5).release(
        Table(frame, roles | {"occupation": sensitive()})
    )
    keys = [tuple(paths[name][row[name]][levels[name]] for name in QUASI) for row in rows]
    sizes = Counter(keys)
    n, s = len(rows), sum(size for size in sizes.values() if size < k)
    found = loss(release)
    assert (found.n_rows, found.suppressed) == (n, s)
    assert found.discernibility == sum(size**2 for size in sizes.values() if size >= k) + n * s
    assert found.discernibility_monotone == sum(size**2 for size in sizes.values())
    assert found.average_class_size == n / (sum(size >= k for size in sizes.values()) + (s > 0))
    assert found.entropy_monotone is not None
    for number, name in enumerate(QUASI):
        under = Counter(path[levels[name]] for path in paths[name].values())
        n_leaves = len(paths[name])
        costs = [1.0 if sizes[key] < k else (under[key[number]] - 1) / (n_leaves - 1) for key in keys]
        assert found.columns[name] == pytest.approx(sum(costs) / n)
        own, node = Counter(row[name] for row in rows), Counter(key[number] for key in keys)
        bits = -sum(
            math.log2(own[row[name]] / node[key[number]]) for row, key in zip(rows, keys, strict=True)
        )
        assert found.entropy_monotone.bits[name] == pytest.approx(bits, abs=1e-5)
        out = Counter(key[number] for key in keys if sizes[key] < k)
        bits -= sum(count * math.log2(count / s) for count in out.values())
        assert found.entropy.bits[name] == pytest.approx(bits, abs=1e-5)
    again = loss_between(release.original, release.table, levels=levels)
    assert again.columns == pytest.approx(found.columns)
    assert again.entropy.bits == pytest.approx(found.entropy.bits, abs=1e-5)
    assert loss_between(release.original, release.table).columns == pytest.approx(found.columns)
