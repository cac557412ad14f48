"""The solver: both ways to HiGHS, a first solution, the time limit, and being stopped."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.output.hiding.formulations.aggregated import minimal_part, minimal_removals
from discreet.output.hiding.solver import Program, Stop, solve


def knapsack(values: list[int], weights: list[int], most: int) -> Program:
    program = Program(-np.array(values, np.float64), np.ones(len(values)), np.ones(len(values)))
    program.add(np.arange(len(values)), np.array(weights, np.float64), high=most)
    return program


@pytest.mark.parametrize("without", [False, True])
@given(
    items=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=7),
    most=st.integers(0, 20),
)
@settings(max_examples=25, deadline=None)
def test_the_best_is_found_with_and_without_highspy(
    without: bool, items: list[tuple[int, int]], most: int
) -> None:
    values, weights = [list(side) for side in zip(*items, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        if without:
            patch.setitem(sys.modules, "highspy", None)
        found = solve(knapsack(values, weights, most), time_limit=20)
    best = max(
        np.dot(chosen, values)
        for chosen in product((0, 1), repeat=len(values))
        if np.dot(chosen, weights) <= most
    )
    assert found.optimal
    assert -found.value == best == -found.bound


def test_no_solution_is_said() -> None:
    program = knapsack([1], [1], 1)
    program.add([0], [1.0], low=2)
    assert solve(program).infeasible


def _hard() -> tuple[Program, np.ndarray]:
    rng = np.random.default_rng(0)
    program = Program(-rng.integers(100, 200, 80).astype(np.float64), np.ones(80), np.ones(80))
    for _ in range(30):
        program.add(np.arange(80), rng.integers(100, 200, 80).astype(np.float64), high=6000)
    return program, np.zeros(80)


def test_stop_takes_the_best_so_far_and_other_exceptions_pass() -> None:
    program, start = _hard()
    calls = []

    def stop(value: float, bound: float) -> None:
        calls.append((value, bound))
        if len(calls) > 3:
            raise Stop

    found = solve(program, start=start, progress=stop, time_limit=60)
    assert found.stopped or found.optimal
    assert found.x is not None

    def fail(value: float, bound: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(program, start=start, progress=fail, time_limit=60)


def test_a_time_limit_gives_a_bound() -> None:
    program, start = _hard()
    found = solve(program, start=start, time_limit=1.0)
    assert found.x is not None
    assert found.bound <= found.value


@given(st.lists(st.frozensets(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=3))
def test_minimal_removals_are_all_there_are(sets: list[frozenset[int]]) -> None:
    def broken(part: frozenset[int]) -> list[bool]:
        return [bool(part & one) for one in sets]

    every = [frozenset(at for at in range(5) if number >> at & 1) for number in range(1, 32)]
    wanted = {part for part in every if all(broken(part - {item}) != broken(part) for item in part)}
    assert set(minimal_removals(sets)) == wanted
    for part in every:
        less = minimal_part(part, sets)
        assert less <= part
        assert broken(less) == broken(part)
        assert not less or less in wanted
