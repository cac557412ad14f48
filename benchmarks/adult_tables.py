"""Adult as the lattice benchmarks use it: ARX's table, more rows drawn from it, and more columns of UCI's."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np

from measuring import DataMissingError, shared_data

ARX = "ARX 3.9.2, measured on a machine like this"
SENSITIVE = "occupation"
LEFT_OUT = "salary-class"
NOISE = 0.05
ADULT_ROWS = 30_162
UCI = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
STAND_IN = {
    "age": (100, (5, 10, 20)),
    "education": (16, (4, 8)),
    "marital-status": (7, (3,)),
    "native-country": (41, (10,)),
    "occupation": (14, (5,)),
    "race": (5, ()),
    "sex": (2, ()),
    "workclass": (8, (4,)),
}
"""The values of each generated column and the widths of its levels: as many levels as Adult's have."""


def adult_frame() -> Any:
    """Read ARX's Adult: 30,162 rows and 9 columns."""
    from pyarrow import csv

    with gzip.open(shared_data("adult-arx") / "adult.csv.gz") as stream:
        return csv.read_csv(stream, parse_options=csv.ParseOptions(delimiter=";"))


def adult_hierarchy(name: str) -> Any:
    """Read ARX's hierarchy of a column."""
    from discreet import read_hierarchy

    return read_hierarchy(shared_data("adult-arx") / f"adult_hierarchy_{name}.csv")


def adult_table(*, sensitive: bool = False) -> Any:
    """Return Adult coded: nine quasi-identifiers, or eight and the occupation as the sensitive column."""
    from discreet import Table, quasi
    from discreet import sensitive as secret

    frame = adult_frame()
    columns = {
        name: (secret if sensitive and name == SENSITIVE else quasi)(adult_hierarchy(name))
        for name in frame.column_names
    }
    return coded(Table(frame, columns))


def coded(table: Any) -> Any:
    """Code a table, which happens when it is first asked for."""
    assert table.tuples.counts.sum() == table.n_rows
    return table


def many_rows(n_rows: int) -> tuple[Any, dict[str, Any], str]:
    """Return a frame of 8 columns, their hierarchies, and where it comes from: rows drawn from Adult, or a stand-in."""
    try:
        adult = adult_frame().drop_columns([LEFT_OUT])
    except DataMissingError:
        base, hierarchies = independent(ADULT_ROWS)
        return _drawn(base, n_rows), hierarchies, "drawn from a generated stand-in, since Adult is not there"
    hierarchies = {name: adult_hierarchy(name) for name in adult.column_names}
    return _drawn(adult, n_rows), hierarchies, "drawn from Adult, 5 % of the cells exchanged"


def _drawn(adult: Any, n_rows: int) -> Any:
    """Draw rows with replacement, and some cells of each column from other rows."""
    import pyarrow as pa

    rng = np.random.default_rng(1)
    chosen = rng.integers(0, len(adult), n_rows)
    columns = {}
    for name in adult.column_names:
        column = adult[name].combine_chunks().dictionary_encode()
        codes = column.indices.to_numpy()[chosen]
        noisy = rng.random(n_rows) < NOISE
        codes[noisy] = codes[rng.integers(0, n_rows, int(noisy.sum()))]
        columns[name] = pa.DictionaryArray.from_arrays(codes.astype(np.int32), column.dictionary)
    return pa.table(columns)


def independent(n_rows: int) -> tuple[Any, dict[str, Any]]:
    """Draw the columns independently of each other, small numbers more often: many more tuples than people have."""
    import pyarrow as pa

    from discreet import flat, intervals

    rng = np.random.default_rng(1)
    frame = {
        name: (card * rng.random(n_rows, np.float32) ** 3).astype(np.int32)
        for name, (card, _) in STAND_IN.items()
    }
    hierarchies = {name: intervals(*widths) if widths else flat() for name, (_, widths) in STAND_IN.items()}
    return pa.table(frame), hierarchies


def many_columns(n_columns: int) -> Any:
    """Return UCI's Adult with 12 or 15 quasi-identifiers, the complete rows, coded."""
    import pyarrow as pa

    from discreet import Table, flat, intervals, quasi

    names = UCI if n_columns == len(UCI) else [name for name in UCI if name != "fnlwgt"][:n_columns]
    own = {
        "fnlwgt": intervals(50_000, 100_000, 400_000),
        "education-num": intervals(2, 4, 8),
        "relationship": flat(),
        "capital-gain": intervals(1_000, 5_000, 25_000),
        "capital-loss": intervals(500, 1_000, 2_000),
        "hours-per-week": intervals(5, 10, 20, 40),
    }
    text = gzip.decompress((shared_data("adult-uci") / "adult.data.gz").read_bytes()).decode()
    lines = [line.split(", ") for line in text.splitlines() if line.count(",") == len(UCI) - 1]
    cells = dict(zip(UCI, zip(*(line for line in lines if "?" not in line), strict=True), strict=True))
    frame = {name: [int(cell) for cell in cells[name]] if name in NUMBERS else cells[name] for name in names}
    columns = {name: quasi(own[name] if name in own else adult_hierarchy(name)) for name in names}
    return coded(Table(pa.table(frame), columns))
