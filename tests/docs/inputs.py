"""The files that the pages read, generated; nobody in them exists."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import polars as pl
import pytest
from tests.arx_projects import entries, written
from tests.servers import postgres_url, run_sql, store

from discreet.datasets import quest
from discreet.publish import StreamCondensation

DISEASES = ["asthma", "cold", "diabetes", "flu", "migraine"]
TOWNS = ["Bonn", "Nice", "Ulm"]
TOPICS = [
    "ship sail harbor wind",
    "bread oven flour yeast",
    "court judge law case",
    "cell gene virus protein",
]


def patients(path: Path, *, n: int = 600, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    pl.DataFrame(
        {
            "ssn": [f"{number:09d}" for number in rng.permutation(10**6)[:n]],
            "age": rng.integers(30, 60, n),
            "zip": [f"0213{number}" for number in rng.integers(0, 4, n)],
            "disease": rng.choice(DISEASES, n),
        }
    ).write_csv(path)


def next_month(path: Path) -> None:
    patients(path, n=2000, seed=2)


def published(path: Path) -> None:
    ages, zips = ["[20, 39]", "[40, 59]"], ["0213*", "0214*"]
    rows = [(age, code, disease) for age in ages for code in zips for disease in DISEASES for _ in range(3)]
    pl.DataFrame(rows, schema=["age", "zip", "disease"], orient="row").write_csv(path)


def voters(path: Path) -> None:
    ages, zips = ["[20, 39]", "[40, 59]"], ["0213*", "0214*"]
    rows = [(f"Voter {number}", ages[number % 2], zips[number // 2 % 2]) for number in range(200)]
    pl.DataFrame(rows, schema=["name", "age", "zip"], orient="row").write_csv(path)


def people(path: Path, *, n: int = 800, seed: int = 3) -> None:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    income = np.clip(rng.normal(30_000 + 900 * age, 12_000), 20_000, 150_000).round(-2).astype(int)
    frame = pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(n)],
            "level": rng.choice([3, 5, 10], n),
            "age": age,
            "income": income,
            "town": rng.choice(TOWNS, n),
            "class": np.where(age < 45, "A", "B"),
        }
    )
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)


def other_people(path: Path) -> None:
    people(path, n=200, seed=4)


def visits(path: Path, *, n: int = 600, seed: int = 5) -> None:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    frame = pl.DataFrame(
        {
            "age": age,
            "weight": (60 + 0.2 * age + rng.normal(0, 9, n)).round(1),
            "zip": [f"0213{number}" for number in rng.integers(0, 3, n)],
            "disease": rng.choice(DISEASES, n),
        }
    )
    write = {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}
    write[path.suffix](path)


def state(path: Path) -> None:
    rng = np.random.default_rng(len(path.name))
    stream = StreamCondensation(10, init_number=200, columns=["age", "weight"])
    stream.partial_fit(rng.normal([50, 70], [15, 10], (500, 2))).save(path)


def baskets(path: Path) -> None:
    rng = np.random.default_rng(6)
    made = quest("T6.I3.D2K.N60", random_state=7).lists()
    ordinary = [[item for item in basket if item not in (12, 17, 42, 47)] for basket in made]
    marked = dict(zip(rng.permutation(len(made))[:80].tolist(), [12, 17, 42, 47] * 20, strict=True))
    lines = [
        " ".join(map(str, sorted([*row, *([marked[at]] if at in marked else [])])))
        for at, row in enumerate(ordinary)
    ]
    text = "\n".join(line for line in lines if line) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def groceries(path: Path) -> None:
    rng = np.random.default_rng(11)
    held = rng.random((400, 4)) < [0.4, 0.3, 0.25, 0.2]
    names = ["diapers", "milk", "cheese", "tea"]
    lines = [[name for name, has in zip(names, row, strict=True) if has] for row in held]
    for line in lines:
        line += ["beer"] if rng.random() < (0.6 if "diapers" in line else 0.2) else []
        line += ["wine"] if rng.random() < (0.7 if "cheese" in line else 0.1) else []
    path.write_text("\n".join(" ".join(line) for line in lines if line) + "\n")


def item_tree(path: Path) -> None:
    path.write_text("\n".join(f"{item};aisle {item // 10};shop" for item in range(100)) + "\n")


def sales(path: Path) -> None:
    rng = np.random.default_rng(8)
    frame = pl.DataFrame(
        {"receipt": rng.integers(0, 300, 1500), "product": rng.choice(list("abcdefghij"), 1500)}
    )
    frame.write_csv(path)


def staff(path: Path) -> None:
    rng = np.random.default_rng(9)
    n = 300
    pl.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 68, n),
            "department": rng.choice(["x", "y", "z"], n),
            "salary": rng.integers(20_000, 90_000, n),
        }
    ).write_parquet(path)


def ratings(path: Path) -> None:
    rng = np.random.default_rng(12)
    pairs = np.unique(np.stack([rng.integers(0, 80, 2000), rng.integers(0, 150, 2000)], axis=1), axis=0)
    stars, day = rng.integers(1, 6, len(pairs)), rng.integers(0, 300, len(pairs))
    frame = pl.DataFrame({"user": pairs[:, 0], "movie": pairs[:, 1], "rating": stars})
    frame.with_columns(pl.lit(day).alias("day").cast(pl.Date)).write_csv(path)


def texts(path: Path) -> None:
    path.mkdir()
    for number, text in enumerate(_mails()):
        (path / f"text{number}.txt").write_text(text)


def mails(path: Path) -> None:
    frame = pl.DataFrame({"body": _mails()})
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)


def _mails() -> list[str]:
    rng = np.random.default_rng(10)
    words = [topic.split() for topic in TOPICS]
    every = [word for topic in words for word in topic]
    return [" ".join([*rng.choice(words[number % 4], 20), *rng.choice(every, 10)]) for number in range(120)]


FILES: dict[str, Callable[[Path], object]] = {
    "patients.csv": patients,
    "next-month.csv": next_month,
    "any-table.csv": published,
    "published.csv": published,
    "voters.csv": voters,
    "people.csv": people,
    "other-people.csv": other_people,
    "visits.csv": visits,
    "visits.jsonl": visits,
    "visits.parquet": visits,
    "north.bin": state,
    "south.bin": state,
    "baskets.dat": baskets,
    "shop.dat": baskets,
    "groceries.dat": groceries,
    "retail.dat.gz": baskets,
    "tree.csv": item_tree,
    "sales.csv": sales,
    "staff.parquet": staff,
    "staff-2.parquet": staff,
    "ratings.csv": ratings,
    "articles": texts,
    "mails.csv": mails,
    "mails.parquet": mails,
    "clinic.deid": lambda path: written(path, entries()),
}
"""What writes each file, by the name that the pages use."""


def provide(folder: Path, page: str) -> None:
    """Write the files that a page names into a folder."""
    for name, write in FILES.items():
        if name in page:
            write(folder / name)


def provide_database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the patients into a database named clinic, which the environment leads to."""
    server = urlsplit(postgres_url())
    run_sql("DROP DATABASE IF EXISTS clinic WITH (FORCE)", "CREATE DATABASE clinic")
    for name, value in {"HOST": server.hostname, "PORT": server.port, "USER": server.username}.items():
        monkeypatch.setenv(f"PG{name}", str(value))
    patients(folder / "patients.csv")
    store("patients", pl.read_csv(folder / "patients.csv").to_arrow(), database="clinic", exactly=True)
