"""Runs of the tables experiment: loss by number of columns, by k, accuracy by k, and the attack on ratings."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from discreet import Table, identifier, quasi, read_hierarchy, sensitive
from discreet.core.errors import InfeasibleError
from discreet.datasets import hospital, hospital_columns
from discreet.guarantees import DistinctDiversity, EntropyDiversity, Guarantee, KAnonymity, TCloseness
from discreet.measure import loss, prediction, ratings_linkage, risk
from discreet.publish import Incognito, LocalRecoding, Mondrian, OptimalLattice
from experiments.data_sets import present

PUBLISHERS: Mapping[str, Any] = {
    "Incognito": Incognito,
    "OptimalLattice": OptimalLattice,
    "Mondrian": Mondrian,
    "LocalRecoding": LocalRecoding,
}
ADULT = (
    "age", "education", "marital-status", "race", "sex", "workclass", "occupation", "native-country", "salary-class",
)  # fmt: skip
K = 5


@dataclass(frozen=True)
class Sample:
    """Rows with the hierarchies of their columns in the order in which they are added; the last is the class.

    ``secret`` is the column that diversity is about.
    """

    title: str
    frame: pa.Table
    hierarchies: Mapping[str, Any]
    secret: str

    @property
    def label(self) -> str:
        """The class attribute."""
        return list(self.hierarchies)[-1]

    def drawn(self, n_rows: int, seed: int) -> Sample:
        """Draw rows without replacement."""
        rows = np.random.default_rng(seed).permutation(self.frame.num_rows)[:n_rows]
        return Sample(self.title, self.frame.take(pa.array(rows)), self.hierarchies, self.secret)

    def table(self, names: Sequence[str], *, secret: str | None = None) -> Table:
        """Return a table with some quasi-identifiers, and perhaps a sensitive column."""
        roles = {
            name: quasi(self.hierarchies[name]) if name in names else identifier()
            for name in self.frame.column_names
        }
        if secret is not None:
            roles[secret] = sensitive()
        return Table(self.frame, roles)


def sample(data: Path | None) -> Sample:
    """Read Adult, or take generated patients where it is absent."""
    path = present(data, Path("adult-arx") / "adult.csv.gz")
    if path is None:
        columns = {
            name: column.hierarchy
            for name, column in hospital_columns().items()
            if column.role.value == "quasi"
        }
        secret = next(name for name, column in hospital_columns().items() if column.role.value == "sensitive")
        return Sample("generated patients", hospital(), columns, secret)
    with gzip.open(path) as stream:
        frame = csv.read_csv(stream, parse_options=csv.ParseOptions(delimiter=";"))
    trees = {name: read_hierarchy(path.parent / f"adult_hierarchy_{name}.csv") for name in ADULT}
    return Sample("Adult", frame, trees, "occupation")


def lost(table: Table, guarantee: Guarantee, publisher: Any) -> float:
    """Return the mean loss of a cell; 1 where no release keeps the guarantee."""
    try:
        return loss(publisher(guarantee).release(table)).total
    except InfeasibleError:
        return 1.0


def uniform(n: int, d: int, k: int, seed: int) -> float:
    """Return the mean share of a column's range that a class of Mondrian covers, for evenly spread rows."""
    values = np.random.default_rng(seed).random((n, d))
    names = [f"column {number}" for number in range(d)]
    return lost(
        Table(pa.table(dict(zip(names, values.T, strict=True))), dict.fromkeys(names, quasi())),
        KAnonymity(k),
        Mondrian,
    )


def by_columns(rows: Sample) -> list[dict[str, Any]]:
    """Return the loss of each publisher and the unique rows as columns are added."""
    names, points = list(rows.hierarchies), []
    for d in range(1, len(names) + 1):
        table = rows.table(names[:d])
        points.append({"columns": d, "series": "unique rows", "value": risk(table).uniques_share})
        points += [
            {"columns": d, "series": name, "value": lost(table, KAnonymity(K), PUBLISHERS[name])}
            for name in ("OptimalLattice", "Mondrian", "LocalRecoding")
        ]
    others = [name for name in names if name != rows.secret]
    diverse = KAnonymity(K) & EntropyDiversity(2, of=rows.secret)
    for d in range(1, len(others) + 1):
        value = lost(rows.table(others[:d], secret=rows.secret), diverse, Mondrian)
        points.append({"columns": d, "series": f"Mondrian, entropy ℓ = 2 of {rows.secret}", "value": value})
    return points


def by_k(rows: Sample, ks: Sequence[int], n_columns: int) -> list[dict[str, Any]]:
    """Return the loss of each publisher by k, on the first columns."""
    table = rows.table(list(rows.hierarchies)[:n_columns])
    return [
        {"k": k, "series": name, "value": lost(table, KAnonymity(k), publisher)}
        for k in ks
        for name, publisher in PUBLISHERS.items()
    ]


def accuracy(rows: Sample, ks: Sequence[int]) -> list[dict[str, Any]]:
    """Return how well the class is predicted from releases of Mondrian by k, and under further guarantees."""
    table = rows.table(list(rows.hierarchies)[:-1], secret=rows.label)
    of = rows.label
    added = {
        "k alone": None,
        "ℓ = 2, distinct": DistinctDiversity(2, of=of),
        "t = 0.2": TCloseness(0.2, of=of),
    }
    found = prediction(table, of)
    points = [{"k": 1, "series": name, "value": found.score} for name in added]
    for k in ks:
        for name, further in added.items():
            guarantee = KAnonymity(k) if further is None else KAnonymity(k) & further
            try:
                score = prediction(Mondrian(guarantee).release(table), of).score
            except InfeasibleError:
                score = found.baseline
            points.append({"k": k, "series": name, "value": score})
    return [*points, *({"k": k, "series": "commonest class", "value": found.baseline} for k in (1, *ks))]


ATTACKS = {
    "exact, no dates": {"error": 0.0, "time": None},
    "±1, no dates": {"error": 1.0, "time": None},
    "±1, dates ±14 days": {"error": 1.0, "time": "timestamp"},
}


def ratings(data: Path | None, n_targets: int, seed: int) -> list[dict[str, Any]]:
    """Return the attack on MovieLens's ratings, or on generated ones where they are absent."""
    path = present(data, Path("movielens-small") / "ratings.csv.gz")
    table = _generated() if path is None else csv.read_csv(path)
    columns = {"person": "userId", "item": "movieId", "value": "rating"}
    points = []
    for name, words in ATTACKS.items():
        found = ratings_linkage(table, **columns, **words, n_targets=n_targets, random_state=seed)  # type: ignore[arg-type]
        points += [
            {
                "known": risk_.n_known,
                "series": name,
                "value": risk_.right,
                "sure": risk_.sure,
                "unique": risk_.unique,
            }
            for risk_ in found.by_known
        ]
    return points


def _generated() -> pa.Table:
    rng = np.random.default_rng(0)
    weights = np.arange(1.0, 2001) ** -0.8
    items = rng.choice(2000, 12_000, p=weights / weights.sum())
    pairs = np.unique(np.repeat(np.arange(300), 40) * 2000 + items)
    stars, times = rng.integers(1, 6, pairs.size), rng.integers(0, 10**8, pairs.size)
    return pa.table({"userId": pairs // 2000, "movieId": pairs % 2000, "rating": stars, "timestamp": times})
