"""What the checks of all publishers share: kinds of frames, rows with ties and nulls, planted names, secret seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import Release, Table, identifier, other, quasi, sensitive
from discreet.core.registry import Method, methods
from tests.strategies import tables as strategies

Publisher = Callable[..., Any]

KINDS = ["pandas", "polars", "arrow", "lazy", "duckdb"]
SEED = 9_135_790_246


Options = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]
"""Further options of a method, or how they follow from the guarantee."""


def discovered(
    takes: str, makes: str, variants: Mapping[str, Sequence[Options]], *, keeps: str | None = None
) -> dict[str, list[Publisher]]:
    """Return every way to make each publisher of the registry that makes one kind of release of a kind of data.

    A method that ``variants`` does not name is made in one way, with its defaults; so a new entry of the registry is
    checked without another line.
    """
    found = [
        method
        for method in methods(role="publisher", takes=takes)
        if method.makes_of(takes) == makes and (keeps is None or keeps in method.guarantees)
    ]
    return {
        method.class_name: [_maker(method, options) for options in variants.get(method.name, [{}])]
        for method in found
    }


def _maker(method: Method, options: Options) -> Publisher:
    def make(guarantee: Any, **more: Any) -> Any:
        given = options(guarantee) if callable(options) else options
        return method.load()(guarantee, **given, **more)

    return make


def every(publishers: Mapping[str, Sequence[Publisher]]) -> pytest.MarkDecorator:
    """Run a test with each way to make each publisher."""
    cases = [
        pytest.param(make, id=f"{name}-{i}")
        for name, made in publishers.items()
        for i, make in enumerate(made)
    ]
    return pytest.mark.parametrize("make", cases)


def many(n: int = 120, *, oldest: int = 40) -> strategies.Rows:
    """Rows enough for several classes, with nulls, ties and duplicates."""
    rng = np.random.default_rng(5)
    cities = (*strategies.CITIES, None)
    return [
        {
            "age": None if rng.random() < 0.1 else int(rng.integers(20, oldest)),
            "day": None,
            "city": cities[int(rng.integers(len(cities)))],
            "smoker": bool(rng.random() < 0.5),
            "disease": "abcd"[int(rng.integers(4))],
        }
        for _ in range(n)
    ]


def made_as(kind: str, frame: pa.Table) -> Any:
    """Return a table as one of the kinds of frames."""
    match kind:
        case "pandas":
            return frame.to_pandas(types_mapper=pd.ArrowDtype)
        case "polars":
            return pl.from_arrow(frame)
        case "lazy":
            return pl.from_arrow(frame).lazy()
        case "duckdb":
            return duckdb.connect().from_arrow(frame)
    return frame


def released_rows(release: Release) -> strategies.Rows:
    """Return the released rows, whatever kind of frame holds them."""
    frame = release.frame
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    frame = nw.from_native(frame)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame.to_arrow().to_pylist()


def planted(n: int = 40) -> Table:
    """A table with identifiers (SECRET, and HIDDEN under a pseudonym) and sensitive values (ILL) to look for."""
    frame = pa.table(
        {
            "ssn": [f"SECRET-{i}" for i in range(n)],
            "card": [f"HIDDEN-{i}" for i in range(n)],
            "age": [i % 7 for i in range(n)],
            "disease": [f"ILL-{i % 3}" for i in range(n)],
            "ward": ["w"] * n,
        }
    )
    columns = {
        "ssn": identifier(),
        "card": identifier(pseudonym="a key of sixteen bytes"),
        "age": quasi(),
        "disease": sensitive(),
        "ward": other(),
    }
    return Table(frame, columns)


def assert_seed_is_secret(folder: Path) -> None:
    """The files of a release say that there was a seed, and not that it was SEED."""
    told = json.loads((folder / "release.json").read_text())
    assert told["seeded"] is True
    assert "seed" not in told
    for path in folder.iterdir():
        assert str(SEED).encode() not in path.read_bytes()
        assert f"{SEED:,}".encode() not in path.read_bytes()
