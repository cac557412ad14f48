"""δ-presence against its definition and in publishers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guarantees.small_tables import groups_of, rows_of
from tests.oracles import tables as oracles

from discreet import Table, flat, intervals, person, quasi
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import DeltaPresence, KAnonymity, guarantee_from_dict
from discreet.publish import Generalization, LocalRecoding, Mondrian, OptimalLattice

CELLS = {
    "*": None,
    "[20, 22]": {20, 21, 22},
    "[22, 24)": {22, 23},
    "21": {21},
    "[23, 24]": {23, 24},
    None: {None},
}
"""What each released cell stands for; None is anything at all."""
AGES = st.lists(st.none() | st.integers(20, 24), min_size=1, max_size=12)
ROLES = {"age": quasi(intervals(2, 4, bottom=20)), "sex": quasi(flat())}


def population(ages: list[Any]) -> Table:
    return Table(pa.table({"age": pa.array(ages, pa.int64())}), {"age": quasi()})


def released(cells: list[Any]) -> Table:
    return Table(pa.table({"age": pa.array(cells, pa.string())}), {"age": quasi()})


@given(
    cells=st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=8),
    ages=AGES,
    low=st.sampled_from([0.0, 0.2, 0.5]),
    high=st.sampled_from([0.5, 0.75, 1.0]),
)
def test_every_person_of_the_population(cells: list[Any], ages: list[Any], low: float, high: float) -> None:
    verdict = DeltaPresence(low, high, population(ages)).check(released(cells))
    assert verdict.ok == oracles.is_delta_present(cells, ages, CELLS, low, high)


def test_the_lower_bound_is_named_where_it_breaks() -> None:
    people = population([20, 20, 20, 20, 23])
    verdict = DeltaPresence(0.5, 1.0, people).check(released(["[20, 22]", "[23, 24]"]))
    assert (verdict.ok, verdict.worst, verdict.relation, verdict.bound) == (False, 0.25, ">=", 0.5)
    missed = DeltaPresence(0.1, 1.0, people).check(released(["[20, 22]"]))
    assert (missed.ok, missed.worst) == (False, 0.0)
    upper = DeltaPresence(0.0, 0.5, people).check(released(["[20, 22]", "[23, 24]"]))
    assert (upper.ok, upper.worst, upper.relation) == (False, 1.0, "<=")


@settings(max_examples=25)
@given(
    data=st.data(), high=st.sampled_from([0.5, 0.7]), publisher=st.sampled_from([Mondrian, OptimalLattice])
)
def test_publishers_keep_it_or_say_that_they_cannot(data: st.DataObject, high: float, publisher: Any) -> None:
    row = st.tuples(st.integers(20, 26), st.sampled_from("mf"))
    everybody = data.draw(st.lists(row, min_size=2, max_size=24))
    part = data.draw(st.lists(st.sampled_from(everybody), min_size=1, max_size=8, unique_by=id))
    tables = [
        Table(pa.table({"age": [age for age, _ in rows], "sex": [sex for _, sex in rows]}), ROLES)
        for rows in (everybody, part)
    ]
    guarantee = DeltaPresence(0.0, high, tables[0])
    try:
        release = publisher(guarantee).release(tables[1])
    except InfeasibleError:
        return
    assert release.verdict.ok
    assert guarantee.check(release.table).ok


def test_people_who_fit_two_classes_count_as_certain() -> None:
    people = population([20, 21, 22, 23])
    overlapping = released(["[20, 22]", "[22, 24)"])
    assert DeltaPresence(0.0, 0.9, people).measure(overlapping.groups()).tolist() == [1.0, 1.0]
    assert not DeltaPresence(0.1, 1.0, people).check(overlapping)
    assert DeltaPresence(0.0, 1.0, people).check(overlapping)


def test_what_it_says_of_itself() -> None:
    people = population([20])
    guarantee = DeltaPresence(0.1, 0.5, people)
    assert repr(guarantee) == "DeltaPresence(delta_min=0.1, delta_max=0.5, population=<Table>)"
    assert guarantee_from_dict(guarantee.to_dict(), population=people) == guarantee
    assert (guarantee.monotone, guarantee.joinable, DeltaPresence(0, 0.5, people).joinable) == (
        False,
        False,
        True,
    )
    with pytest.raises(SchemaError, match="DeltaPresence needs to know what the classes describe"):
        guarantee.check(groups_of(rows_of({"u": "ab"})))
    for wrong, name in (((-0.1, 0.5), "delta_min"), ((0, 0), "delta_max"), ((0.6, 0.5), "delta_min")):
        with pytest.raises(ParameterError, match=f"'{name}' parameter of DeltaPresence"):
            DeltaPresence(*wrong, people)
    with pytest.raises(ParameterError, match="'population' parameter of DeltaPresence"):
        DeltaPresence(0.1, 0.5, None)


def test_people_are_counted_where_rows_belong_to_them() -> None:
    visits = pa.table({"who": [1, 1, 2], "age": ["[20, 22]"] * 3})
    table = Table(visits, {"who": person(), "age": quasi()})
    assert DeltaPresence(0.0, 0.5, population([20, 21, 21, 22])).check(table).worst == 0.5


def test_levels_and_local_recoding() -> None:
    ages = [20, 21, 22, 23, 24, 25, 26, 27]
    everybody = Table(pa.table({"age": ages * 2, "sex": ["m", "f"] * 8}), ROLES)
    part = Table(pa.table({"age": ages, "sex": ["m", "f"] * 4}), ROLES)
    guarantee = KAnonymity(2) & DeltaPresence(0.25, 0.5, everybody)
    assert Generalization(guarantee, levels={"age": 1, "sex": 1}).release(part).verdict.ok
    assert LocalRecoding(guarantee).release(part).verdict.ok
