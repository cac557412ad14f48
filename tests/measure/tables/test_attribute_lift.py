"""Attribute disclosure by the share of a value in each class."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Table, person, quasi, sensitive
from discreet.core.errors import ParameterError
from discreet.measure import attribute_lift

ROWS = st.lists(st.tuples(st.integers(0, 2), st.none() | st.sampled_from("abc")), min_size=1, max_size=20)


@given(ROWS, st.sampled_from([0.0, 0.5, 1.0]))
def test_certainty_and_lift_over_the_records(rows: list[tuple[int, str | None]], threshold: float) -> None:
    table = Table(
        pa.table({"age": [age for age, _ in rows], "ill": pa.array([ill for _, ill in rows], pa.string())}),
        {"age": quasi(), "ill": sensitive()},
    )
    (lift,) = attribute_lift(table, threshold=threshold)
    certainty, base = [], []
    for age, ill in rows:
        own = [other_ill for other_age, other_ill in rows if other_age == age]
        certainty.append(own.count(ill) / len(own))
        base.append([value for _, value in rows].count(ill) / len(rows))
    lifts = [one / other for one, other in zip(certainty, base, strict=True)]
    assert lift.n_records == len(rows)
    assert lift.highest == pytest.approx(max(certainty))
    assert lift.mean == pytest.approx(sum(certainty) / len(rows))
    assert lift.base_rate == pytest.approx(sum(base) / len(rows))
    assert lift.certain == certainty.count(1)
    assert lift.records_above == sum(one > threshold for one in certainty)
    assert lift.highest_lift == pytest.approx(max(lifts))
    assert lift.mean_lift == pytest.approx(sum(lifts) / len(rows))


def test_people_are_counted_once_for_a_value() -> None:
    frame = pa.table({"who": [1, 1, 1, 2], "age": [30, 30, 30, 30], "ill": ["flu", "flu", "flu", "gout"]})
    (lift,) = attribute_lift(Table(frame, {"who": person(), "age": quasi(), "ill": sensitive()}))
    assert (lift.n_records, lift.highest) == (2, 0.5)


def test_no_sensitive_column_and_a_bad_threshold() -> None:
    table = Table(pa.table({"age": [1]}), {"age": quasi()})
    assert attribute_lift(table) == ()
    with pytest.raises(ParameterError, match="The 'threshold' parameter of attribute_lift"):
        attribute_lift(table, threshold=2)
