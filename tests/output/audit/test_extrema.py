"""The extrema auditor against every table of a fine grid that agrees with its answers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import ParameterError, SchemaError
from discreet.output.audit import Vault
from discreet.output.audit.auditor import Denied, Question
from discreet.output.audit.extrema import ExtremaAuditor
from discreet.output.audit.gate.columns import SecretColumn

GRID = np.array(list(itertools.product(np.arange(0, 17) / 4, repeat=4)))
DISTINCT = GRID[[len(set(row)) == 4 for row in GRID.tolist()]]


def ask(audit, column: SecretColumn, aggregate: str, members: list[bool]):
    chosen = np.array(members, np.bool_)
    return audit.ask(Question(aggregate, (chosen,)), [column.truth(aggregate, chosen)])


def agreeing(tables: np.ndarray, released: list[tuple[str, list[bool], float]]) -> np.ndarray:
    kept = np.ones(len(tables), np.bool_)
    for aggregate, members, value in released:
        extreme = getattr(tables[:, members], aggregate)(axis=1)
        kept &= extreme == value
    return tables[kept]


questions = st.lists(
    st.tuples(st.sampled_from(["max", "min"]), st.lists(st.booleans(), min_size=4, max_size=4)), max_size=7
)


@given(st.lists(st.integers(1, 3), min_size=4, max_size=4), questions)
@settings(max_examples=60)
def test_answers_leave_every_value_open(values, asked) -> None:
    column = SecretColumn.of(values)
    audit = ExtremaAuditor(minimum_set_size=0).over(column)
    released: list[tuple[str, list[bool], float]] = []
    for aggregate, members in asked:
        answer = ask(audit, column, aggregate, members)
        if not isinstance(answer, Denied) and answer[0] is not None:
            released.append((aggregate, members, float(answer[0])))
    for tables in (GRID, DISTINCT):
        left = agreeing(tables, released)
        if len(left):
            assert (left.min(axis=0) < left.max(axis=0)).all()
    assert audit.disclosed() == 0


@given(
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    questions,
)
@settings(max_examples=150)
def test_denials_depend_on_released_answers_alone(one, two, asked) -> None:
    columns = [SecretColumn.of(one), SecretColumn.of(two)]
    audits = [ExtremaAuditor(minimum_set_size=0).over(column) for column in columns]
    for aggregate, members in asked:
        first, second = (
            ask(audit, column, aggregate, members) for audit, column in zip(audits, columns, strict=True)
        )
        assert isinstance(first, Denied) == isinstance(second, Denied)
        if first != second:
            break


def test_maxima_of_overlapping_sets() -> None:
    """Two sets that share two records: if both maxima agree, either of the two may attain it, or another pair does."""
    column = SecretColumn.of([1, 2, 3, 4, 5, 6])
    audit = ExtremaAuditor(minimum_set_size=0).over(column)
    assert ask(audit, column, "max", [1, 1, 1, 1, 0, 0]) == (Fraction(4),)
    denied = ask(audit, column, "max", [0, 0, 0, 1, 1, 1])
    assert isinstance(denied, Denied), (
        "an equal maximum would be the shared record's, were all values different"
    )
    assert isinstance(ask(audit, column, "max", [1, 0, 0, 0, 0, 0]), Denied)
    assert ask(audit, column, "max", [1, 1, 1, 1, 0, 0]) == (Fraction(4),)


def test_the_range_of_a_large_set_is_answered() -> None:
    column = SecretColumn.of(list(range(10)))
    audit = ExtremaAuditor(minimum_set_size=0).over(column)
    everyone = [True] * 10
    assert ask(audit, column, "max", everyone) == (Fraction(9),)
    assert isinstance(ask(audit, column, "min", everyone), Denied), "it could equal the maximum"
    audit = ExtremaAuditor(minimum_set_size=0, distinct=True).over(column)
    assert ask(audit, column, "max", everyone) == (Fraction(9),)
    assert ask(audit, column, "min", everyone) == (Fraction(0),)
    assert audit.disclosed() == 0


@given(st.permutations([1, 2, 3, 3.5]), questions)
@settings(max_examples=60)
def test_answers_about_different_values_leave_every_value_open(values, asked) -> None:
    column = SecretColumn.of(values)
    audit = ExtremaAuditor(minimum_set_size=0, distinct=True).over(column)
    released: list[tuple[str, list[bool], float]] = []
    for aggregate, members in asked:
        answer = ask(audit, column, aggregate, members)
        if not isinstance(answer, Denied) and answer[0] is not None:
            released.append((aggregate, members, float(answer[0])))
    left = agreeing(DISTINCT, released)
    assert (left.min(axis=0) < left.max(axis=0)).all()
    assert audit.disclosed() == 0


def test_equal_values_are_not_different() -> None:
    import pyarrow as pa

    with pytest.raises(SchemaError, match="equal values"):
        Vault.in_memory(
            pa.table({"a": [1, 1]}), sensitive=["a"], public=[], auditor=ExtremaAuditor(distinct=True)
        )


def test_small_sets() -> None:
    column = SecretColumn.of([1, 2, 3])
    audit = ExtremaAuditor(minimum_set_size=3).over(column)
    assert isinstance(ask(audit, column, "max", [1, 1, 0]), Denied)
    assert ask(ExtremaAuditor(minimum_set_size=0).over(column), column, "max", [0, 0, 0]) == (None,)
    with pytest.raises(ParameterError, match="minimum_set_size"):
        ExtremaAuditor(minimum_set_size=-1)
