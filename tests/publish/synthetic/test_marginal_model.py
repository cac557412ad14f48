"""Junction trees and models of marginals, against the joint table of all columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import synthetic as oracles

from discreet.publish.synthetic.junction_tree import JunctionTree
from discreet.publish.synthetic.marginal_model import MarginalModel, Measurement

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=6)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, ...]], int]:
    shape = draw(SHAPES)
    sets = st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=3, unique=True)
    chosen = [tuple(sorted(each)) for each in draw(st.lists(sets, max_size=6))]
    return shape, [(at,) for at in range(len(shape))] + chosen, draw(st.integers(0, 10**6))


@given(problem=problems())
def test_a_junction_tree_holds_every_set_and_its_columns_hang_together(problem: tuple) -> None:
    shape, sets, _ = problem
    tree = JunctionTree.of(sets, shape)
    for columns in sets:
        home = tree.home(columns)
        assert home is not None
        assert set(columns) <= set(tree.cliques[home])
    assert oracles.runs_together(tree.cliques, tree.parents, tree.separators)
    assert not any(set(one) <= set(two) for one in tree.cliques for two in tree.cliques if one != two)
    assert tree.n_cells(shape) == sum(int(np.prod([shape[at] for at in clique])) for clique in tree.cliques)


@given(problem=problems())
@settings(max_examples=60)
def test_beliefs_and_marginals_are_those_of_the_joint_table(problem: tuple) -> None:
    shape, sets, seed = problem
    rng = np.random.default_rng(seed)
    model = MarginalModel(shape, 100, JunctionTree.of(sets, shape))
    model.potentials = [3 * rng.normal(size=potential.shape) for potential in model.potentials]
    table = oracles.joint(shape, 100, model.tree.cliques, model.potentials)
    for clique, belief in zip(model.tree.cliques, model.beliefs, strict=True):
        np.testing.assert_allclose(belief, oracles.marginal(table, clique), atol=1e-9)
    for n in range(1, min(3, len(shape)) + 1):
        for columns in combinations(range(len(shape)), n):
            np.testing.assert_allclose(model.marginal(columns), oracles.marginal(table, columns), atol=1e-9)


@given(problem=problems())
@settings(max_examples=25, deadline=None)
def test_exact_counts_are_fitted(problem: tuple) -> None:
    shape, sets, seed = problem
    rows = np.stack(
        [np.random.default_rng(seed + at).integers(0, n, 200) for at, n in enumerate(shape)], axis=1
    )
    measured = [Measurement(columns, oracles.counted(rows, shape, columns), 1.0) for columns in sets]
    model = MarginalModel.fitted(shape, 200, measured, n_steps=3_000)
    for noisy in measured:
        assert np.abs(model.marginal(noisy.columns) - noisy.counts).max() < 1.0


def test_of_inconsistent_counts_the_fit_is_the_weighted_least_squares_one() -> None:
    """Two counts of one column, one with twice the deviation: the second has a quarter of the weight."""
    first, second = (
        Measurement((0,), np.array([60.0, 40.0]), 1.0),
        Measurement((0,), np.array([50.0, 50.0]), 2.0),
    )
    model = MarginalModel.fitted([2], 100, [first, second], n_steps=2_000)
    np.testing.assert_allclose(model.marginal((0,)), [(60 * 4 + 50) / 5, (40 * 4 + 50) / 5], atol=0.01)


def test_what_is_not_measured_is_independent_given_what_is() -> None:
    rows = np.array([[at % 2, at % 2, (at // 2) % 2] for at in range(400)])
    pairs = [Measurement(pair, oracles.counted(rows, [2, 2, 2], pair), 1.0) for pair in ((0, 1), (2,))]
    model = MarginalModel.fitted([2, 2, 2], 400, pairs, n_steps=2_000)
    np.testing.assert_allclose(model.marginal((0, 2)), [[100, 100], [100, 100]], atol=1)


@pytest.mark.parametrize("n_rows", [1, 7, 500])
def test_drawn_rows_have_the_counts_of_the_model(n_rows: int) -> None:
    rng = np.random.default_rng(1)
    shape, sets = [3, 4, 2, 5], [(0, 1), (1, 2), (3,)]
    model = MarginalModel(shape, n_rows, JunctionTree.of(sets, shape))
    model.potentials = [rng.normal(size=potential.shape) for potential in model.potentials]
    rows = model.draw(rng)
    assert rows.shape == (n_rows, 4)
    assert (rows >= 0).all()
    assert (rows < shape).all()
    for columns in sets:
        apart = np.abs(oracles.counted(rows, shape, columns) - model.marginal(columns))
        assert apart.max() <= 2 * len(sets) + 4


def test_rows_that_nothing_ties_together_are_drawn_independently() -> None:
    """Systematic draws of columns that share nothing must not follow one another: correlation within 5 deviations."""
    model = MarginalModel([2, 2], 10_000, JunctionTree.of([(0,), (1,)], [2, 2]))
    rows = model.draw(np.random.default_rng(3))
    assert rows.mean(axis=0).tolist() == [0.5, 0.5]
    assert abs(np.corrcoef(rows.T)[0, 1]) < 5 / 100
