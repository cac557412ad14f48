"""The interval auditor against linear programs over single records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.core.errors import ParameterError, SchemaError
from discreet.output.audit import Bound, Denied, IntervalAuditor, Vault
from discreet.output.audit.auditor import Question
from discreet.output.audit.gate.columns import SecretColumn

LOW, HIGH, WIDTH = 10.0, 20.0, 3.0


def widths(released: list[tuple[list[bool], object]], n: int) -> list[float]:
    """How far every record's value may vary under the released answers, by a program over records."""
    above, most = [], []
    for members, value in released:
        row = np.array(members, float)
        bound = value.value if isinstance(value, Bound) else float(value)
        if not isinstance(value, Bound) or value.relation == "at most":
            above.append(row)
            most.append(bound)
        if not isinstance(value, Bound) or value.relation == "at least":
            above.append(-row)
            most.append(-bound)
    found = []
    for record in range(n):
        goal = np.eye(n)[record]
        ends = [
            linprog(sign * goal, A_ub=above or None, b_ub=most or None, bounds=[(LOW, HIGH)] * n).fun
            for sign in (1, -1)
        ]
        found.append(-ends[1] - ends[0])
    return found


@given(st.data())
@settings(max_examples=25)
def test_every_value_keeps_its_width(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 5))
    values = data.draw(st.lists(st.sampled_from([10, 11.5, 14, 19, 20]), min_size=n, max_size=n))
    column = SecretColumn.of(values)
    audit = IntervalAuditor(low=LOW, high=HIGH, width=WIDTH, step=0.01, minimum_set_size=0).over(column)
    released: list[tuple[list[bool], object]] = []
    for _ in range(data.draw(st.integers(1, 4))):
        members = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
        chosen = np.array(members)
        answer = audit.ask(Question("sum", (chosen,)), [column.total(chosen)])
        if isinstance(answer, Denied) or answer[0] is None:
            continue
        truth = float(column.total(chosen))
        value = answer[0]
        if isinstance(value, Bound):
            assert truth <= value.value if value.relation == "at most" else truth >= value.value
        else:
            assert value == column.total(chosen)
        released.append((members, value))
        assert min(widths(released, n)) >= WIDTH * (1 - 1e-6)
    assert audit.disclosed() == 0


def test_extreme_sums_are_inequalities() -> None:
    column = SecretColumn.of([10.0] * 4, step=Fraction(1, 1000))
    audit = IntervalAuditor(low=LOW, high=HIGH, width=WIDTH, step=0.01, minimum_set_size=0).over(column)
    everyone = np.ones(4, np.bool_)
    [value] = audit.ask(Question("sum", (everyone,)), [Fraction(40)])
    assert isinstance(value, Bound)
    assert value.relation == "at most"
    assert value.value == pytest.approx(43, abs=0.1)
    alone = np.arange(4) == 0
    answer = audit.ask(Question("sum", (alone,)), [Fraction(10)])
    assert isinstance(answer, Denied) or isinstance(answer[0], Bound)


def test_parameters_and_data_are_checked() -> None:
    import pyarrow as pa

    with pytest.raises(ParameterError, match="low"):
        IntervalAuditor(low=3, high=2, width=1)
    with pytest.raises(ParameterError, match="width"):
        IntervalAuditor(low=0, high=2, width=2)
    with pytest.raises(SchemaError, match="outside the declared bounds") as caught:
        Vault.in_memory(
            pa.table({"pay": [5, 77]}),
            sensitive=["pay"],
            public=[],
            auditor=IntervalAuditor(low=0, high=10, width=1),
        )
    assert "77" not in str(caught.value)
