from __future__ import annotations

import pyarrow as pa

from discreet import Table, intervals, quasi
from discreet.guarantees import KAnonymity
from discreet.job.exploration import explore
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
