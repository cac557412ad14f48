"""The rank aggregate: the highest cost of a column decides, then the next; held against every node by enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publish.tables.test_optimal_lattice import (
    GUARANTEES,
    HEIGHTS,
    QUASI,
    Row,
    classes_at,
    column_costs,
    kept_classes,
    rows_strategy,
    table_of,
)

from discreet.core.errors import InfeasibleError, ParameterError
from discreet.guarantees import Guarantee, KAnonymity
from discreet.publish import GlobalRecoding, LocalRecoding, OptimalLattice

BY_COLUMN = ["loss", "entropy", "entropy_bits", "monotone_entropy", "precision", "monotone_precision"]


def ranks(
    measure: str, weights: dict[str, float], rows: list[Row], node: Any, kept: list[list[Row]]
) -> list[float]:
    """What the columns cost times their weights, the highest first, as ARX compares them."""
    stayed = {id(row) for members in kept for row in members}
    left = [row for row in rows if id(row) not in stayed]
    by_name = zip(QUASI, column_costs(measure, rows, node, left), strict=True)
    most = max(weights.values())
    return sorted((weights[name] / most * cost for name, cost in by_name), reverse=True)


def is_at_most(first: list[float], second: list[float]) -> bool:
    """Whether ranks are no higher than others, but for rounding."""
    for one, other in zip(first, second, strict=True):
        if abs(one - other) > 1e-9 * max(1, abs(one)):
            return one < other
    return True


@given(
    rows=rows_strategy(),
    guarantee=st.one_of(*(GUARANTEES[name] for name in ("k", "distinct", "t", "both"))),
    measure=st.sampled_from(BY_COLUMN),
    weights=st.fixed_dictionaries({name: st.sampled_from([0.25, 1.0, 2.0]) for name in QUASI}),
    limit=st.integers(0, 5),
    visit=st.sampled_from(["best", "all"]),
)
@settings(max_examples=150, deadline=None)
def test_the_best_node_by_enumeration(
    rows: list[Row], guarantee: Guarantee, measure: Any, weights: dict[str, float], limit: int, visit: Any
) -> None:
    found = {}
    for node in itertools.product(*(range(height + 1) for height in HEIGHTS)):
        kept = kept_classes(guarantee, rows, node)
        if kept and len(rows) - sum(map(len, kept)) <= limit:
            found[node] = ranks(measure, weights, rows, node, kept)
    search = OptimalLattice(
        guarantee, measure=measure, aggregate="rank", weights=weights, max_suppressed=limit, visit=visit
    )
    if not found:
        with pytest.raises(InfeasibleError):
            search.best(table_of(rows))
        return
    release = search.release(table_of(rows))
    chosen = tuple((release.evidence.levels or {}).values())
    assert all(is_at_most(found[chosen], other) for other in found.values())
    assert release.evidence.details["cost"] == pytest.approx(found[chosen][0])
    assert release.evidence.details["optimal"]


def test_a_tie_of_the_highest_goes_to_the_next() -> None:
    """Every node here has one column at its top: the mean and the maximum do not say which of the others is low."""
    rows: list[Row] = [
        {"age": age, "town": town, "flag": True, "ward": "a", "pay": 1}
        for age, town in ((18, "ulm"), (19, "oslo"), (31, "rome"), (33, "bern"))
    ]
    best = OptimalLattice(KAnonymity(4), measure="precision", aggregate="rank").best(table_of(rows))
    assert best == {"age": 3, "town": 2, "flag": 0}
    assert len(classes_at(rows, (3, 2, 0))) == 1


@pytest.mark.parametrize("method", [OptimalLattice, LocalRecoding, GlobalRecoding])
def test_one_figure_for_all_columns_has_no_ranks(method: Any) -> None:
    rows: list[Row] = [{"age": 18, "town": "ulm", "flag": True, "ward": "a", "pay": 1}] * 2
    assert method(KAnonymity(2), aggregate="rank").release(table_of(rows)).verdict.verified
    with pytest.raises(ParameterError, match="one figure for all"):
        method(KAnonymity(2), aggregate="rank", measure="discernibility").release(table_of(rows))
