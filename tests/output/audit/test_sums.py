"""The sum auditor against exact linear algebra over single records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import audit as oracles_audit

from discreet.core.errors import ParameterError
from discreet.output.audit.auditor import OVERLAP, SMALL_SET, Denied, Question
from discreet.output.audit.gate.columns import SecretColumn
from discreet.output.audit.row_space import RowSpace, secret_prime
from discreet.output.audit.sums import SumAudit, SumAuditor

ONES = np.ones


def ask(audit: SumAudit, *sets: np.ndarray) -> bool:
    question = Question("sum", tuple(np.asarray(one, np.bool_) for one in sets))
    return not isinstance(audit.ask(question, [Fraction(0)] * len(sets)), Denied)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[int], list[list[bool]]]:
    sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=7))
    sets = draw(st.lists(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)), max_size=10))
    return sizes, sets


def over_records(members: list[bool], sizes: list[int]) -> list[int]:
    return [int(inside) for inside, size in zip(members, sizes, strict=True) for _ in range(size)]


@given(histories(), st.sampled_from([None, 2, 3, 5]))
@settings(max_examples=200)
def test_a_set_is_denied_exactly_when_a_record_would_be_determined(history, prime) -> None:
    sizes, sets = history
    audit = SumAudit(SumAuditor(group=2, minimum_set_size=0), np.array(sizes), prime=prime)
    answered: list[list[int]] = []
    for members in sets:
        vector = over_records(members, sizes)
        exposed = bool(oracles_audit.determined([*answered, vector]))
        assert ask(audit, np.array(members)) is not exposed
        if not exposed:
            answered.append(vector)
    assert audit.disclosed() == 0
    assert audit.state.space.rank == len(oracles_audit.echelon(answered))


@given(histories(), st.integers(3, 5))
@settings(max_examples=25)
def test_no_combination_involves_fewer_records_than_the_group(history, group) -> None:
    sizes, sets = history
    audit = SumAudit(SumAuditor(group=group, minimum_set_size=0), np.array(sizes))
    answered: list[list[int]] = []
    for members in sets:
        vector = over_records(members, sizes)
        exposed = oracles_audit.involves_fewer([*answered, vector], group)
        assert ask(audit, np.array(members)) is not exposed
        if not exposed:
            answered.append(vector)


def test_a_prime_that_hides_a_disclosure_is_replaced() -> None:
    """Modulo 2 the third pair is the sum of the other two; over the rationals all three determine everyone."""
    audit = SumAudit(SumAuditor(group=2, minimum_set_size=0), np.ones(3, np.int64), prime=2)
    assert ask(audit, [1, 1, 0])
    assert ask(audit, [0, 1, 1])
    assert not ask(audit, [1, 0, 1])


def test_groups_are_answered_or_denied_as_a_whole() -> None:
    audit = SumAuditor(group=2, minimum_set_size=0).over(SecretColumn.of([1, 2, 3, 4, 5]))
    assert not ask(audit, [1, 1, 1, 1, 0], [0, 0, 0, 0, 1])
    assert ask(audit, [1, 1, 1, 0, 0], [0, 0, 0, 1, 1])
    assert not ask(audit, [1, 1, 0, 0, 0])


def test_small_and_overlapping_sets_are_denied() -> None:
    audit = SumAuditor(group=2, minimum_set_size=3, max_overlap=1).over(SecretColumn.of(range(8)))
    first = np.arange(8) < 3

    def decide(members: np.ndarray) -> object:
        return audit.decide(Question("sum", (members,)))

    assert decide(np.arange(8) < 2) == Denied(SMALL_SET)
    assert ask(audit, first)
    assert ask(audit, first), "the same set again tells nothing new"
    assert decide(np.isin(np.arange(8), [1, 2, 5])) == Denied(OVERLAP)
    assert ask(audit, np.isin(np.arange(8), [2, 3, 5]))


def test_an_empty_set_discloses_nothing() -> None:
    audit = SumAuditor(group=2, minimum_set_size=0).over(SecretColumn.of([1, 2]))
    assert ask(audit, [0, 0])
    assert audit.state.space.rank == 0


def test_records_without_a_value_do_not_hide_others() -> None:
    """Two elements of one record, one of which has no value: a sum over both is that of the other."""
    audit = SumAuditor(group=2, minimum_set_size=0).over(SecretColumn.of([5, None], np.array([0, 1])))
    assert not ask(audit, [1, 1])


def test_the_unasked_part_of_an_atom_keeps_its_records() -> None:
    space = RowSpace.over(np.array([1, 1, 1, 1]))
    space = space.with_set(np.array([True, True, False, False]), np.ones(4, np.int64))
    assert sorted(space.sizes.tolist()) == [2, 2]


def test_new_data_keeps_old_answers_counting() -> None:
    """The sum of three is answered; after one leaves, the sum of the two who stay would determine the one who left."""
    audit = SumAuditor(group=2, minimum_set_size=0).over(SecretColumn.of([1, 2, 3]))
    assert ask(audit, [1, 1, 1])
    audit.carry(np.array([0, 1, -1]), np.ones(3, np.int64))
    assert not ask(audit, [1, 1, 0])
    assert ask(audit, [1, 1, 1]), "the new record hides the two"
    assert not ask(audit, [0, 1, 1]), "less the one above this would be a single record"


def test_secret_primes_are_primes_and_differ() -> None:
    drawn = {secret_prime() for _ in range(5)}
    assert len(drawn) > 1
    assert all((1 << 25) < one < (1 << 26) and all(one % d for d in range(2, 8200)) for one in drawn)


@pytest.mark.parametrize(
    "bad", [{"group": 1}, {"group": True}, {"minimum_set_size": -1}, {"max_overlap": 0.5}]
)
def test_parameters_are_checked(bad) -> None:
    with pytest.raises(ParameterError, match=next(iter(bad))):
        SumAuditor(**bad)


def test_a_search_that_is_too_long_denies(monkeypatch) -> None:
    from discreet.output.audit import row_space

    audits = [SumAuditor(group=4, minimum_set_size=0).over(SecretColumn.of(range(7))) for _ in range(2)]
    first, second = np.arange(7) < 4, np.arange(7) >= 3
    assert ask(audits[0], first)
    assert ask(audits[0], second), "seven records hold no four disjoint bases, but the search is done"
    assert ask(audits[1], first)
    monkeypatch.setattr(row_space, "_SEARCH_STEPS", 1)
    assert not ask(audits[1], second)


@given(st.data())
@settings(max_examples=80)
def test_over_several_versions_no_value_ever_held_is_determined(data: st.DataObject) -> None:
    """Each version keeps, drops, changes and adds records; the oracle knows every value that ever was."""
    n = data.draw(st.integers(2, 5))
    current = list(range(n))
    count = n
    audit = SumAudit(SumAuditor(group=2, minimum_set_size=0), np.ones(n, np.int64))
    answered: list[set[int]] = []
    for _ in range(data.draw(st.integers(1, 3))):
        for _ in range(data.draw(st.integers(0, 5))):
            members = data.draw(st.lists(st.booleans(), min_size=len(current), max_size=len(current)))
            asked = {one for one, inside in zip(current, members, strict=True) if inside}
            vectors = [[int(k in one) for k in range(count)] for one in [*answered, asked]]
            exposed = bool(oracles_audit.determined(vectors))
            assert ask(audit, np.array(members, np.bool_)) is not exposed
            if not exposed:
                answered.append(asked)
        fates = data.draw(st.lists(st.sampled_from("kkkdc"), min_size=len(current), max_size=len(current)))
        origins: list[int] = []
        after: list[int] = []
        for place, (one, fate) in enumerate(zip(current, fates, strict=True)):
            if fate == "k":
                origins.append(place)
                after.append(one)
            elif fate == "c":
                origins.append(-1)
                after.append(count)
                count += 1
        for _ in range(data.draw(st.integers(0 if after else 1, 2))):
            origins.append(-1)
            after.append(count)
            count += 1
        audit.carry(np.array(origins), np.ones(len(after), np.int64))
        current = after
