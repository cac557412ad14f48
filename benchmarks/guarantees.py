"""All guarantees judged at once on Adult (8 quasi-identifiers, occupation sensitive) beside pycanon's t-closeness."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from measuring import PeerMissingError, cpu, peer, shared_data
from mondrian_adult import SEPARATOR, adult_csv
from rows import Row, failed, faster, within

SENSITIVE = "occupation"
FLOOR = 300.0
LARGE, LIMIT = 1_000_000, 1.0
ALONE = "all guarantees at once, the table being coded"
WHOLE = "all guarantees at once, from the frame"
TRANSPORT = "t-closeness with a ground-distance matrix alone (a linear program per class)"


def run() -> list[Row]:
    """Judge Adult, and a million rows drawn from it."""
    frame = _adult()
    population = _table(frame)
    ours = {
        ALONE: cpu(lambda table: _judge(table, population), prepare=partial(_coded, frame), times=11, warm=2),
        WHOLE: cpu(lambda: _judge(_table(frame), population), times=11, warm=2),
        TRANSPORT: cpu(lambda: _transport(population), times=1, warm=0),
    }
    note = f"{len(_promises(population))} guarantees; pycanon: t-closeness alone"
    return [*_beside_pycanon(ours, note), _million(frame)]


def _beside_pycanon(ours: dict[str, float], note: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = peer("pycanon_t_closeness", str(adult_csv(Path(folder))), SEPARATOR, SENSITIVE)
        except PeerMissingError as error:
            return [failed(what, f"the peer cannot be run: {error}") for what in (ALONE, WHOLE)]
    theirs = found["seconds"]
    return [
        faster(ALONE, ours[ALONE], theirs, FLOOR, note=note),
        faster(WHOLE, ours[WHOLE], theirs, FLOOR),
        faster(TRANSPORT, ours[TRANSPORT], theirs),
    ]


def _million(frame: Any) -> Row:
    """Judge a million rows of Adult drawn with replacement, the ages moved by up to three years."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    drawn = frame.take(rng.integers(0, frame.num_rows, LARGE)).combine_chunks()
    ages = np.clip(drawn["age"].to_numpy() + rng.integers(-3, 4, LARGE), 17, 90)
    large = drawn.set_column(drawn.column_names.index("age"), "age", pa.array(ages))
    population = _coded(large)
    seconds = cpu(lambda: _judge(_table(large), population), times=3, warm=1)
    return within("all guarantees at once, 1M rows, from the frame", seconds, LIMIT, "s")


def _adult() -> Any:
    import discreet

    with tempfile.TemporaryDirectory() as folder:
        return discreet.read(adult_csv(Path(folder))).to_arrow_table().combine_chunks()


def _table(frame: Any) -> Any:
    from discreet import Table, quasi, read_hierarchy, sensitive

    tree = read_hierarchy(shared_data("adult-arx") / f"adult_hierarchy_{SENSITIVE}.csv")
    return Table(
        frame, {name: sensitive(tree) if name == SENSITIVE else quasi() for name in frame.column_names}
    )


def _coded(frame: Any) -> Any:
    table = _table(frame)
    _ = table.tuples
    return table


def _judge(table: Any, population: Any) -> Any:
    from discreet.guarantees import AllOf

    return AllOf(tuple(_promises(population))).check(table)


def _promises(population: Any) -> list[Any]:
    """Return every guarantee, t-closeness with every distance; the matrix is measured on its own."""
    from discreet import guarantees

    return [
        guarantees.KAnonymity(5),
        guarantees.DistinctDiversity(2),
        guarantees.EntropyDiversity(2),
        guarantees.RecursiveDiversity(2, 2),
        *(
            guarantees.TCloseness(0.2, distance)
            for distance in ("equal", "variational", "kl", "ordered", "hierarchical")
        ),
        guarantees.AlphaKAnonymity(0.5, 5),
        guarantees.BasicBetaLikeness(1),
        guarantees.EnhancedBetaLikeness(1),
        guarantees.DeltaDisclosure(1),
        guarantees.KMap(5, population),
    ]


def _transport(table: Any) -> Any:
    from discreet.guarantees import TCloseness

    size = table.encoded[SENSITIVE].n_codes - 1
    return TCloseness(0.2, (1 - np.eye(size)).tolist()).check(table)
