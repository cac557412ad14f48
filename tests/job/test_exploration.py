from __future__ import annotations

import pyarrow as pa
import pytest

from discreet import Table, intervals, quasi
from discreet.guarantees import KAnonymity
from discreet.job import exploration
from discreet.job.exploration import explorations, explore
from discreet.publish import OptimalLattice


def test_a_share_allows_the_rows_it_says() -> None:
    """0.29 of 100 rows is 29 rows, though the product of the floats is a little less."""
    ages = [*([30] * 71), *range(31, 60)]
    table = Table(pa.table({"age": ages}), {"age": quasi(intervals(100))})
    best = OptimalLattice(KAnonymity(5), max_suppressed=0.29).release(table)
    assert best.evidence.suppressed == 29
    assert best.evidence.levels == {"age": 0}
    (found,) = explore(table, [KAnonymity(5)], shares=[0.29]).parts
    best_node = next(one for one in found.choices if one.method == "generalization")
    assert dict(best_node.levels or {}) == {"age": 0}
    assert best_node.suppressed == 29


def test_each_method_is_known_once_it_is_done() -> None:
    """First use (7): nothing was printed in over nine minutes."""
    table = Table(pa.table({"age": list(range(20)) * 3}), {"age": quasi(intervals(5, 10))})
    settings = {"shares": [0.0, 0.1], "measures": ["loss"], "top": 1, "time_limit": 60.0}
    states = list(explorations(table, [KAnonymity(2), KAnonymity(5)], **settings))
    first, last = states[0], states[-1]
    assert [state.n_left for state in states] == list(range(len(states) - 1, -1, -1))
    assert all(not part.choices for part in first.parts)
    assert "mondrian" in first.untried
    assert {choice.method for choice in states[1].parts[0].choices} == {"mondrian"}
    assert last.untried == ()
    assert last.whole
    assert not first.whole


def test_one_time_limit_is_for_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(exploration.time, "monotonic", lambda: now.__setitem__(0, now[0] + 2) or now[0])
    table = Table(pa.table({"age": list(range(20)) * 3}), {"age": quasi(intervals(5, 10))})
    found = explore(table, [KAnonymity(2)], time_limit=3.0)
    assert found.untried
    assert "mondrian" not in found.untried
    assert {choice.method for choice in found.parts[0].choices} == {"mondrian"}
    assert not found.whole
