"""Samples: the small files that the first commands read, generated; nobody in them exists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.params import OneOf, require
from discreet.datasets.quest import quest
from discreet.engines.atomic import require_new_file
from discreet.engines.writing import write_frame

_DISEASES = ("asthma", "cold", "diabetes", "flu", "migraine")
_SENSITIVE_ITEMS = (12, 17, 42, 47)


@public
def write_sample(name: str, folder: str | Path = ".", *, overwrite: bool = False) -> Path:
    """Write a sample file into a folder and return its path; it is the same each time.

    Parameters
    ----------
    name : {"patients", "people", "staff", "baskets"}
        ``patients.csv`` and ``people.csv`` are tables, ``staff.parquet`` is one as well, ``baskets.dat`` baskets.
    folder
        The folder, which must be there.
    overwrite
        Whether a file of that name is replaced.
    """
    require("write_sample", "name", name, OneOf(tuple(SAMPLES)))
    file, make = SAMPLES[name]
    target = Path(folder) / file
    require_new_file(target, overwrite=overwrite)
    make(target)
    return target


def _patients(path: Path) -> None:
    n, rng = 600, np.random.default_rng(1)
    columns = {
        "ssn": [f"{number:09d}" for number in rng.permutation(10**6)[:n].tolist()],
        "age": rng.integers(30, 60, n),
        "zip": [f"0213{number}" for number in rng.integers(0, 4, n).tolist()],
        "disease": rng.choice(_DISEASES, n).tolist(),
    }
    write_frame(pa.table(columns), path, "csv")


def _people(path: Path) -> None:
    n, rng = 800, np.random.default_rng(3)
    age = rng.integers(20, 80, n)
    income = np.clip(rng.normal(30_000 + 900 * age, 12_000), 20_000, 150_000).round(-2).astype(np.int64)
    columns = {
        "name": [f"Person {number}" for number in range(n)],
        "level": rng.choice([3, 5, 10], n),
        "age": age,
        "income": income,
        "town": rng.choice(["Bonn", "Nice", "Ulm"], n).tolist(),
        "class": np.where(age < 45, "A", "B").tolist(),
    }
    write_frame(pa.table(columns), path, "csv")


def _staff(path: Path) -> None:
    n, rng = 300, np.random.default_rng(9)
    columns = {
        "id": np.arange(n),
        "age": rng.integers(18, 68, n),
        "department": rng.choice(["x", "y", "z"], n).tolist(),
        "salary": rng.integers(20_000, 90_000, n),
    }
    write_frame(pa.table(columns), path, "parquet")


def _baskets(path: Path) -> None:
    """Write baskets in which each sensitive item occurs twenty times."""
    baskets = quest("T6.I3.D2K.N60", random_state=7).lists()
    places = np.random.default_rng(6).permutation(len(baskets))[: 20 * len(_SENSITIVE_ITEMS)].tolist()
    marked = dict(zip(places, _SENSITIVE_ITEMS * 20, strict=True))
    rows = [
        sorted(
            {item for item in basket if item not in _SENSITIVE_ITEMS}
            | ({marked[at]} if at in marked else set())
        )
        for at, basket in enumerate(baskets)
    ]
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows if row), encoding="utf-8")


SAMPLES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "patients": ("patients.csv", _patients),
    "people": ("people.csv", _people),
    "staff": ("staff.parquet", _staff),
    "baskets": ("baskets.dat", _baskets),
}
"""The file and the maker of each sample."""
