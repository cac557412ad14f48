"""Merging of leftovers: nearest groups and unions by slow definitions, and local recoding beside other publishers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import tables as oracles
from tests.strategies import tables as strategies

from discreet import Table, intervals, masked, quasi, read_hierarchy, sensitive
from discreet.core.errors import InfeasibleError
from discreet.guarantees import (
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    TCloseness,
)
from discreet.measure import loss
from discreet.publish import LocalRecoding, Mondrian, OptimalLattice
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables import leftover_merging
from discreet.publish.tables.leftover_merging import Merging
from discreet.publish.tables.local_recoding import partitioned
from discreet.publish.tables.recoding_rounds import Recoded, Rounds

GUARANTEES: list[Guarantee] = [
    KAnonymity(3),
    KAnonymity(2) & DistinctDiversity(2),
    EntropyDiversity(1.5),
    TCloseness(0.4),
    BasicBetaLikeness(1.5),
    DeltaDisclosure(1.5),
]


def united(lattice: Lattice, tuples: list[int]) -> tuple[int, ...]:
    """The lowest levels at which tuples are alike, by trying each."""
    levels = []
    for column in range(len(lattice.names)):
        alike = [
            len({int(lattice.codes(column, level)[one]) for one in tuples}) == 1
            for level in range(lattice.top[column] + 1)
        ]
        levels.append(alike.index(True))
    return tuple(levels)


def cost(lattice: Lattice, weights: Any, tuples: list[int], levels: tuple[int, ...]) -> float:
    size = sum(int(lattice.table.tuples.counts[one]) for one in tuples)
    return size * sum(
        weight * lattice.losses(column, level)[lattice.codes(column, level)[tuples[0]]]
        for column, (weight, level) in enumerate(zip(weights, levels, strict=True))
    )


def members_of(piece_of: Any, piece: int) -> list[int]:
    return [int(one) for one in np.flatnonzero(piece_of == piece)]


def published(rows: list[dict[str, Any]], guarantee: Guarantee) -> tuple[Lattice, Rounds, Recoded]:
    """Publish the exact classes that keep the promise; everything else is left."""
    lattice = Lattice(Table(strategies.frame(rows), strategies.tree_schema()))
    rounds = Rounds(lattice, guarantee)
    return lattice, rounds, rounds.run([lattice.bottom], Recoded.nothing(lattice))


@given(rows=strategies.rows(min_size=8), weights=st.tuples(*[st.sampled_from([0.2, 1.0])] * 4))
@settings(max_examples=30)
def test_the_nearest_groups_are_those_of_the_slow_definition(
    rows: list[dict[str, Any]], weights: tuple[float, ...]
) -> None:
    lattice, rounds, recoded = published([*rows, *rows[:3]], KAnonymity(2))
    n_groups = len(recoded.levels)
    if not recoded.rest.size:
        return
    merging = Merging(rounds, np.array(weights), cells=True)
    piece_of, pieces = merging._pieces(recoded)
    left = np.arange(n_groups, pieces.n_pieces, dtype=np.int32)
    found, added = merging._nearest(pieces, left, np.arange(n_groups, dtype=np.int32))
    for row, piece in enumerate(left):
        mine = members_of(piece_of, piece)
        expected = []
        for group in range(n_groups):
            theirs = members_of(piece_of, group)
            both = [*mine, *theirs]
            apart = cost(lattice, weights, mine, lattice.bottom) + cost(
                lattice, weights, theirs, lattice.bottom
            )
            expected.append(cost(lattice, weights, both, united(lattice, both)) - apart)
        n_found = min(n_groups, found.shape[1])
        assert (found[row] >= 0).sum() == n_found
        assert added[row][:n_found] == pytest.approx(sorted(expected)[:n_found])
        assert added[row][:n_found] == pytest.approx([expected[group] for group in found[row][:n_found]])


@given(
    rows=strategies.rows(min_size=4),
    guarantee=st.sampled_from(GUARANTEES),
    most=st.sampled_from([1, 3, 20_000]),
)
@settings(max_examples=40)
def test_merged_groups_keep_the_promise_at_the_lowest_levels_that_hold_them(
    rows: list[dict[str, Any]], guarantee: Guarantee, most: int
) -> None:
    lattice, rounds, recoded = published(rows, guarantee)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leftover_merging, "_MOST_LEFTOVERS", most)
        merged = Merging(rounds, np.ones(4), cells=True).run(recoded)
    assert len(merged.levels) == len(recoded.levels)
    assert (merged.group_of[recoded.group_of >= 0] == recoded.group_of[recoded.group_of >= 0]).all()
    for group, levels in enumerate(merged.levels.tolist()):
        tuples = np.flatnonzero(merged.group_of == group).astype(np.int32)
        assert tuple(levels) == united(lattice, tuples.tolist())
        assert rounds.judged(tuples, tuple(levels))
    if guarantee.monotone and len(recoded.levels):
        assert not merged.rest.size


def test_a_group_above_the_highest_level_is_starred_or_forbidden() -> None:
    table = Table(pa.table({"zip": ["10598"] * 3 + ["90345"]}), {"zip": quasi(masked())})
    lattice = Lattice(table, highest={"zip": 1})
    rounds = Rounds(lattice, KAnonymity(2))
    start = rounds.run([lattice.bottom], Recoded.nothing(lattice))
    assert Merging(rounds, np.ones(1), cells=True).run(start).levels.tolist() == [[5]]
    assert Merging(rounds, np.ones(1), cells=False).run(start).rest.size == 1


@given(rows=strategies.rows(), guarantee=st.sampled_from(GUARANTEES))
@settings(max_examples=40)
def test_the_loss_is_never_above_that_of_the_start_node_nor_of_the_partition(
    rows: list[dict[str, Any]], guarantee: Guarantee
) -> None:
    table = Table(strategies.frame(rows), strategies.tree_schema())
    losses = []
    for publisher in (LocalRecoding, OptimalLattice):
        try:
            release = publisher(guarantee).release(table)
        except InfeasibleError:
            losses.append(None)
            continue
        assert release.verdict.ok
        losses.append(loss(release).total)
    if losses[1] is not None:
        assert losses[0] is not None
        assert losses[0] <= losses[1] + 1e-12
    divided = partitioned(Lattice(table), guarantee, None, cells=True)
    if divided is not None and guarantee.monotone:
        partition = Mondrian(guarantee).release(table)
        assert losses[0] is not None
        assert losses[0] <= loss(partition).total + 1e-12


def correlated(n_rows: int) -> Table:
    """Rows whose sensitive value mostly follows from the quasi-identifiers, so that early classes leave one value."""
    rng = np.random.default_rng(5)
    age = rng.integers(20, 80, n_rows)
    town = rng.geometric(0.1, n_rows) + 100
    ill = rng.random(n_rows) < 0.05 + 0.5 * (age > 60) * (town % 2)
    frame = pa.table(
        {"age": age, "zip": [str(one) for one in town], "sex": rng.choice(["f", "m"], n_rows), "ill": ill}
    )
    roles = {"age": quasi(intervals(5, 10, 20)), "zip": quasi(masked()), "sex": quasi(), "ill": sensitive()}
    return Table(frame, roles)


@pytest.mark.parametrize(
    "guarantee",
    [
        KAnonymity(5) & DistinctDiversity(2),
        KAnonymity(5) & EntropyDiversity(1.3),
        KAnonymity(5) & TCloseness(0.15),
        KAnonymity(5) & DeltaDisclosure(1.0),
    ],
    ids=repr,
)
def test_rows_of_one_value_do_not_collapse(guarantee: Guarantee) -> None:
    table = correlated(1500)
    release = LocalRecoding(guarantee).release(table)
    assert release.verdict.ok
    assert loss(release).total <= loss(Mondrian(guarantee).release(table)).total
    cells = zip(*(release.frame[name].to_pylist() for name in ("age", "zip", "sex")), strict=True)
    assert Counter(cells)["*", "*", "*"] < 75
    for members in oracles.equivalence_classes(release.frame.to_pylist(), ["age", "zip", "sex"]):
        assert len(members) >= 5


@pytest.mark.parametrize(
    ("guarantee", "most"),
    [(KAnonymity(5) & DistinctDiversity(2), 0.135), (KAnonymity(5) & EntropyDiversity(1.5), 0.225)],
    ids=repr,
)
def test_adult_does_not_collapse_beyond_k(shared_data: Path, guarantee: Guarantee, most: float) -> None:
    folder = shared_data / "adult-arx"
    frame = pyarrow.csv.read_csv(
        pa.input_stream(folder / "adult.csv.gz"), parse_options=pyarrow.csv.ParseOptions(delimiter=";")
    )
    frame = pa.table({name: frame[name].cast(pa.string()) for name in frame.column_names})
    trees = {name: read_hierarchy(folder / f"adult_hierarchy_{name}.csv") for name in frame.column_names}
    roles = {name: (sensitive if name == "salary-class" else quasi)(tree) for name, tree in trees.items()}
    table = Table(frame, roles)
    release = LocalRecoding(guarantee).release(table)
    assert release.verdict.ok
    assert release.evidence.suppressed == 0
    assert loss(release).total < most < loss(Mondrian(guarantee).release(table)).total
    cells = zip(*(release.frame[name].to_pylist() for name in table.schema.quasi), strict=True)
    assert Counter(cells)[("*",) * 8] < 100
