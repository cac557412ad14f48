"""Prior and posterior beliefs against their definition."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import tables as oracles

from discreet import Release, Table, intervals, quasi, sensitive
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.guarantees import KAnonymity
from discreet.measure import Belief, belief
from discreet.publish import Condensation, Generalization, Mondrian

Rows = list[tuple[Any, Any]]
ROWS = st.lists(
    st.tuples(st.none() | st.integers(20, 24), st.none() | st.sampled_from("uvw")), min_size=1, max_size=12
)


def table(rows: Rows) -> Table:
    columns = {
        "age": pa.array([row[0] for row in rows], pa.int64()),
        "ill": pa.array([row[1] for row in rows], pa.string()),
    }
    return Table(pa.table(columns), {"age": quasi(intervals(2, bottom=20)), "ill": sensitive()})


def shares(values: list[Any]) -> dict[Any, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def priors(rows: Rows, ages: set[Any]) -> dict[Any, dict[Any, Fraction]]:
    overall = shares([ill for _, ill in rows])
    counted = {age: [ill for other, ill in rows if other == age] for age in ages}
    return {age: shares(ills) if ills else overall for age, ills in counted.items()}


def group(age: int | None) -> Any:
    return None if age is None else age // 2


def judged(found: Belief, learned: list[Any]) -> None:
    pairs = [pair for person in learned if person is not None for pair in person.values()]
    assert found.n_people == len(learned)
    assert found.n_contradicted == learned.count(None)
    assert found.largest_gain == pytest.approx(
        float(max((after - before for before, after in pairs), default=0))
    )
    ratios = [math.log(after / before) for before, after in pairs if after > 0]
    assert found.largest_log_ratio == pytest.approx(max(ratios, default=0), abs=1e-12)
    disclosed = [
        person
        for person in learned
        if person
        and any(after > Fraction(9, 10) and before < Fraction(1, 2) for before, after in person.values())
    ]
    assert found.disclosed == pytest.approx(len(disclosed) / len(learned))


@settings(max_examples=60)
@given(rows=ROWS, others=ROWS)
def test_every_person_and_value(rows: Rows, others: Rows) -> None:
    release = Generalization(KAnonymity(1), levels={"age": 1}).release(table(rows))
    people = [(group(age), age, ill) for age, ill in rows]
    ages = {age for age, _ in rows}
    judged(belief(release), oracles.beliefs(people, priors(rows, ages)))
    judged(belief(release, table(others)), oracles.beliefs(people, priors(others, ages)))


@given(rows=ROWS)
def test_with_the_whole_tables_shares_the_posterior_is_the_share_in_the_class(rows: Rows) -> None:
    release = Generalization(KAnonymity(1), levels={"age": 1}).release(table(rows))
    overall = shares([ill for _, ill in rows])
    classes = {
        name: shares([ill for age, ill in rows if group(age) == name])
        for name in {group(age) for age, _ in rows}
    }
    gains = [share.get(value, 0) - overall[value] for share in classes.values() for value in overall]
    assert belief(release, "table").largest_gain == pytest.approx(float(max(gains)))


def test_divided_tuples_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(20 + number % 3, "uvw"[number % 3]) for number in range(40)]
    release = Mondrian(KAnonymity(3), strict=False, random_state=1).release(table(rows))
    whole = belief(release, "table")
    monkeypatch.setattr("discreet.measure.tables.belief._BLOCK", 2)
    assert belief(release, "table") == whole
    share = max(max(shares(values).values()) for values in _released(release).values())
    assert whole.largest_gain == pytest.approx(float(share) - 13 / 40, abs=0.03)


def _released(release: Release) -> dict[Any, list[Any]]:
    classes: dict[Any, list[Any]] = {}
    for age, ill in zip(release.frame["age"].to_pylist(), release.frame["ill"].to_pylist(), strict=True):
        classes.setdefault(age, []).append(ill)
    return classes


def test_what_is_refused() -> None:
    numbers = Table(
        pa.table({"age": [1.0, 2.0, 3.0], "pay": [2.0, 1.0, 5.0]}), {"age": quasi(), "pay": sensitive()}
    )
    with pytest.raises(InputError, match="not known which of the original rows"):
        belief(Condensation(2, avoid_copies=False).release(numbers))
    release = Generalization(KAnonymity(1), levels={"age": 1}).release(table([(20, "u")]))
    with pytest.raises(SchemaError, match="Name one of the 1 sensitive columns"):
        belief(release, of="age")
    with pytest.raises(ParameterError, match="'prior' parameter of belief"):
        belief(release, "planted")
