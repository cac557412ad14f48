"""Global recoding: beside every cut of small trees, limits, units, labels that stand for two nodes, recipes, Adult."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import cuts as oracle
from tests.oracles import tables as slow

from discreet import Recipe, Table, from_mapping, intervals, masked, person, quasi, read_hierarchy, sensitive
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.hierarchy.trees import tree_rows
from discreet.guarantees import (
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    KMap,
    TCloseness,
)
from discreet.measure import loss
from discreet.publish import GlobalRecoding, OptimalLattice

KEEPS: list[tuple[Guarantee, oracle.Keeps]] = [
    *((KAnonymity(k), lambda values, _, k=k: len(values) >= k) for k in (1, 2, 3)),
    (DistinctDiversity(2), lambda values, _: slow.distinct_values(values) >= 2),
    (EntropyDiversity(1.7), lambda values, _: slow.effective_values(values) >= 1.7 * (1 - 1e-9)),
    (TCloseness(0.3), lambda values, everyone: slow.variational_distance(values, everyone) <= 0.3 + 1e-9),
    (
        DeltaDisclosure(1.2),
        lambda values, everyone: slow.log2_ratio(values, everyone) < 1.2 - 1e-9,
    ),
]


@st.composite
def small_trees(draw: st.DrawFn, letters: str) -> oracle.Tree:
    """A tree of up to six leaves, with chains, whose labels are all different."""
    above: dict[Any, list[str]] = {letter: [] for letter in letters[: draw(st.integers(1, len(letters)))]}
    nodes = [[letter] for letter in above]
    for level in range(draw(st.integers(0, 2))):
        numbers = draw(st.lists(st.integers(0, 2), min_size=len(nodes), max_size=len(nodes)))
        joined = [[leaf for at, node in enumerate(nodes) if numbers[at] == number for leaf in node]
                  for number in sorted(set(numbers))]  # fmt: skip
        for number, leaves in enumerate(joined):
            for leaf in leaves:
                above[leaf].append(f"{letters[0]}{level}{number}")
        nodes = joined
    return {leaf: [*labels, "*"] for leaf, labels in above.items()}


@st.composite
def small_tables(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], list[oracle.Tree]]:
    trees = [draw(small_trees("abcdef")), draw(small_trees("uvwx"))]
    row = st.tuples(*(st.none() | st.sampled_from(list(tree)) for tree in trees), st.sampled_from("stt"))
    return draw(st.lists(row, min_size=1, max_size=14)), trees


def table_of(rows: list[tuple[Any, ...]], trees: list[oracle.Tree]) -> Table:
    specs = [
        tree_rows([list(tree), *([labels[level] for labels in tree.values()] for level in range(oracle.height(tree)))])
        for tree in trees
    ]
    columns = dict(zip("xys", map(list, zip(*rows, strict=True)), strict=True))
    frame = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    return Table(frame, {"x": quasi(specs[0]), "y": quasi(specs[1]), "s": sensitive()})


@given(data=small_tables(), promise=st.sampled_from(KEEPS), limit=st.sampled_from([0, 0, 2]))
@settings(max_examples=150, deadline=None)
def test_a_cut_is_valid_and_nothing_more_can_be_opened(
    data: tuple[list[tuple[Any, ...]], list[oracle.Tree]], promise: tuple[Guarantee, oracle.Keeps], limit: int
) -> None:
    rows, trees = data
    guarantee, keeps = promise
    levels = oracle.best_loss(rows, trees, keeps, limit, oracle.full_domain(trees))
    share = min(limit / len(rows), 1.0)
    publisher = GlobalRecoding(guarantee, max_suppressed=share)
    if levels is None:
        with pytest.raises(InfeasibleError):
            publisher.release(table_of(rows, trees))
        return
    release = publisher.release(table_of(rows, trees))
    released = [tuple(row.values()) for row in release.frame.to_pylist()]
    # Some pair of cuts shows exactly these rows, costs no more than the best levels, and cannot be opened further.
    for chosen in itertools.product(*map(oracle.cuts, trees)):
        stays = oracle.published(rows, trees, chosen, keeps)
        shown = Counter(
            (*(oracle.cell(*column) for column in zip(trees, chosen, row[:-1], strict=True)), row[-1])
            for row, stay in zip(rows, stays, strict=True)
            if stay
        )
        lost = oracle.loss(rows, trees, chosen, stays)
        if shown == Counter(released) and lost == pytest.approx(release.evidence.details["loss"]):
            break
    else:
        raise AssertionError("no cuts show what was released")
    assert release.verdict.ok
    assert release.evidence.suppressed == stays.count(False) <= limit
    assert lost == pytest.approx(loss(release).total)
    assert lost <= levels + 1e-9
    for column, tree in enumerate(trees):
        present = {row[column] for row, stay in zip(rows, stays, strict=True) if stay}
        for finer in oracle.opened(tree, chosen[column]):
            if all(finer[value] == chosen[column][value] for value in present):
                continue
            more = [finer if at == column else cut for at, cut in enumerate(chosen)]
            left = oracle.published(rows, trees, more, keeps)
            fits = left.count(False) <= limit and any(left)
            assert not fits or oracle.loss(rows, trees, more, left) > lost + 1e-10
