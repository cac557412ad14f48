"""Rounds: each node takes the classes of the rows left that keep the promise; ladders put nodes in order."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import tables as strategies

from discreet import Table
from discreet.guarantees import KAnonymity
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables import recoding_rounds as rounds
from discreet.publish.tables.recoding_rounds import Recoded, Rounds, Steps, ladder


@given(rows=strategies.rows(), k=st.integers(2, 5))
@settings(max_examples=60)
def test_the_rounds_are_those_of_the_slow_definition(rows: list[dict[str, Any]], k: int) -> None:
    table = Table(strategies.frame(rows), strategies.tree_schema())
    lattice = Lattice(table)
    nodes = sorted(itertools.product(*map(range, lattice.dims)), key=lambda node: (sum(node), node))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "_PATIENCE", 10**9)
        recoded = Rounds(lattice, KAnonymity(k)).run(nodes, Recoded.nothing(lattice))
    left = set(range(table.tuples.counts.size))
    expected = []
    for node in nodes:
        classes = defaultdict(set)
        for one in left:
            classes[tuple(lattice.codes(c, level)[one] for c, level in enumerate(node))].add(one)
        for members in classes.values():
            if sum(table.tuples.counts[one] for one in members) >= k:
                expected.append((node, frozenset(members)))
                left -= members
    found = [
        (tuple(levels), frozenset(np.flatnonzero(recoded.group_of == group).tolist()))
        for group, levels in enumerate(recoded.levels.tolist())
    ]
    assert Counter(found) == Counter(expected)
    assert set(recoded.rest.tolist()) == left


@given(rows=strategies.rows())
@settings(max_examples=20)
def test_after_the_deadline_the_rows_left_go_to_the_last_node(rows: list[dict[str, Any]]) -> None:
    lattice = Lattice(Table(strategies.frame(rows), strategies.tree_schema()))
    nodes = sorted(itertools.product(*map(range, lattice.dims)), key=lambda node: (sum(node), node))
    nothing = Recoded.nothing(lattice)
    late = Rounds(lattice, KAnonymity(2), deadline=0.0).run(nodes, nothing)
    two = Rounds(lattice, KAnonymity(2)).run(list(dict.fromkeys((nodes[0], nodes[-1]))), nothing)
    assert late.group_of.tolist() == two.group_of.tolist()
    assert late.levels.tolist() == two.levels.tolist()


@given(
    dims=st.lists(st.integers(1, 4), min_size=1, max_size=6), most=st.integers(1, 300), seed=st.integers(0, 9)
)
def test_a_ladder_goes_up_in_cost_within_the_limit_and_ends_at_the_top(
    dims: list[int], most: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    costs = [np.sort(rng.random(n)) for n in dims]
    ways = [
        Steps.of(i, len(dims), range(n), cost) for i, (n, cost) in enumerate(zip(dims, costs, strict=True))
    ]
    nodes = ladder((1,) * len(dims), ways, most)
    assert len(set(nodes)) == len(nodes) <= most
    assert nodes[-1] == tuple(dims)
    totals = [sum(cost[level - 1] for cost, level in zip(costs, node, strict=True)) for node in nodes]
    assert totals == pytest.approx(sorted(totals))
    if math.prod(dims) <= most:
        assert set(nodes) == set(itertools.product(*[range(1, n + 1) for n in dims]))
    elif most >= sum(dims):
        assert nodes[0] == (1,) * len(dims)
