"""The boolean auditor against all tables: whatever it answers or denies, both bits of everyone stay possible."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import SchemaError
from discreet.output.audit import BooleanAuditor, Bound, Denied, QueryError, Vault
from discreet.output.audit.auditor import NOT_A_RANGE, Question
from discreet.output.audit.boolean import BooleanAudit
from discreet.output.audit.gate.columns import SecretColumn


def transcript(bits, blocks, ranges) -> tuple[object, ...]:
    column = SecretColumn.of(list(bits))
    audit = BooleanAudit(column.sizes, np.array(blocks))
    told = []
    for first, last in ranges:
        members = (np.array(blocks) >= first) & (np.array(blocks) < last)
        told.append(audit.ask(Question("sum", (members,)), [column.total(members)]))
    assert audit.disclosed() == 0
    return tuple(told)


@st.composite
def asked(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    blocks = sorted(draw(st.lists(st.integers(0, 5), min_size=2, max_size=6)))
    ends = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda pair: (min(pair), max(pair)))
    return blocks, draw(st.lists(ends, max_size=5))


@given(asked())
@settings(max_examples=60)
def test_every_bit_stays_open_whatever_is_answered_or_denied(case) -> None:
    """All tables with the same answers and denials are what an attacker cannot tell apart."""
    blocks, ranges = case
    alike: dict[tuple[object, ...], list[tuple[int, ...]]] = {}
    for bits in itertools.product((0, 1), repeat=len(blocks)):
        alike.setdefault(transcript(bits, blocks, ranges), []).append(bits)
    for tables in alike.values():
        assert all(set(bits) == {0, 1} for bits in zip(*tables, strict=True))


def people(n: int = 20) -> pa.Table:
    return pa.table(
        {"age": list(range(n)), "sex": ["m", "f"] * (n // 2), "ill": [int(k % 3 == 0) for k in range(n)]}
    )


def test_in_a_vault() -> None:
    vault = Vault.in_memory(people(), sensitive=["ill"], public=["age", "sex"], auditor=BooleanAuditor("age"))
    assert vault.ask("SELECT sum(ill) FROM data").value == 7
    assert vault.ask("SELECT sum(ill), avg(ill) FROM data WHERE age < 10").rows == ((4, 0.4),)
    assert vault.ask("SELECT sum(ill) FROM data WHERE sex = 'f'") == Denied(NOT_A_RANGE)
    assert isinstance(vault.ask("SELECT sum(ill) FROM data WHERE age = 3"), Denied)
    assert vault.ask("SELECT sum(ill) FROM data WHERE age > 100").value is None
    with pytest.raises(QueryError, match="GROUP BY"):
        vault.ask("SELECT sex, sum(ill) FROM data GROUP BY sex")
    assert vault.verdict.ok


def test_extreme_counts_are_inequalities() -> None:
    table = people().set_column(2, "ill", pa.array([0] * 20))
    vault = Vault.in_memory(table, sensitive=["ill"], public=["age"], auditor=BooleanAuditor("age"))
    assert vault.ask("SELECT sum(ill) FROM data").value == Bound("at most", 1)
    assert vault.ask("SELECT avg(ill) FROM data").value == Bound("at most", 1 / 20)


def test_what_does_not_fit() -> None:
    with pytest.raises(SchemaError, match="0 and 1"):
        Vault.in_memory(people(), sensitive=["age"], public=["sex"], auditor=BooleanAuditor("sex"))
    with pytest.raises(SchemaError, match="not public"):
        Vault.in_memory(people(), sensitive=["ill"], public=["sex"], auditor=BooleanAuditor("age"))
