"""The linkage attack against every pair of a record and a person."""

from __future__ import annotations

import json
import time
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import tables as oracles

from discreet import Table, intervals, masked, quasi, sensitive
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.guarantees import KAnonymity
from discreet.measure import linkage
from discreet.publish import Mondrian

CELLS = {
    "age": {"*": None, "[20, 22]": {20, 21, 22}, "[22, 24)": {22, 23}, "21": {21}, None: {None}},
    "town": {"*": None, "{Łódź, 東京}": {"Łódź", "東京"}, "Ulm": {"Ulm"}, None: {None}},
}
"""What each released cell stands for; None is anything at all."""
MEANING = {cell: values for column in CELLS.values() for cell, values in column.items()}
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.sampled_from(list(CELLS["age"])),
            "town": st.sampled_from(list(CELLS["town"])),
            "ill": st.none() | st.sampled_from("uvw"),
        }
    ),
    min_size=1,
    max_size=15,
)
PEOPLE = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.none() | st.integers(20, 24),
            "town": st.none() | st.sampled_from(["Ulm", "Łódź", "東京", "Oslo"]),
        }
    ),
    min_size=1,
    max_size=15,
)
Rows = list[dict[str, Any]]
ROLES = {"age": quasi(), "town": quasi(), "ill": sensitive()}


def fits(cell: Any, value: Any) -> bool:
    return MEANING[cell] is None or value in MEANING[cell]


def released(records: Rows) -> Table:
    types = pa.schema([("age", pa.string()), ("town", pa.string()), ("ill", pa.string())])
    return Table(pa.Table.from_pylist(records, schema=types), ROLES)


def roll(people: Rows) -> pa.Table:
    return pa.Table.from_pylist(people, schema=pa.schema([("age", pa.int64()), ("town", pa.string())]))


@given(records=RECORDS, people=PEOPLE, threshold=st.sampled_from([0.0, 0.25, 0.5]))
def test_every_pair_of_record_and_person(records: Rows, people: Rows, threshold: float) -> None:
    found = linkage(released(records), roll(people), threshold=threshold)
    for number, person in enumerate(people):
        theirs = [one["ill"] for one in records if all(fits(one[name], person[name]) for name in person)]
        certainty = float(oracles.link_certainty(number, records, people, fits))
        assert found.records[number] == len(theirs)
        assert found.certainty[number] == pytest.approx(certainty)
        learned = oracles.largest_share(theirs) if theirs else 0.0
        assert found.attribute_certainty["ill"][number] == pytest.approx(learned)
        joint = float(oracles.joint_certainty(number, records, people, fits, "ill"))
        assert found.joint_certainty["ill"][number] == pytest.approx(joint)
    fitting = [oracles.fitting_people(record, people, fits) for record in records]
    assert found.records_matched == sum(bool(one) for one in fitting)
    assert found.persons_matched == len({number for one in fitting for number in one})
    assert found.persons_pinned == sum(found.certainty > threshold)
    assert found.highest == max(found.certainty)
    assert (found.class_candidates @ found.class_sizes) == sum(map(len, fitting))
    illness = found.attributes["ill"]
    matched = found.attribute_certainty["ill"][found.records > 0]
    assert illness.mean == pytest.approx(matched.mean() if matched.size else 0.0)
    assert illness.persons_above == sum(found.attribute_certainty["ill"] > threshold)
    assert illness.prior == pytest.approx(oracles.largest_share(oracles.column(records, "ill")))


@given(records=RECORDS, people=PEOPLE, data=st.data())
def test_rows_of_one_person_count_once(records: Rows, people: Rows, data: st.DataObject) -> None:
    names = data.draw(
        st.lists(st.none() | st.sampled_from("xyz"), min_size=len(people), max_size=len(people))
    )
    frame = roll(people).append_column("name", pa.array(names, pa.string()))
    found = linkage(released(records), frame, person="name")
    persons = [name if name is not None else number for number, name in enumerate(names)]
    assert found.n_persons == len(set(persons))
    assert found.rows.tolist() == [persons.index(name) for name in dict.fromkeys(persons)]
    for row, count in zip(found.rows, found.records, strict=True):
        own = [person for person, name in zip(people, persons, strict=True) if name == persons[row]]
        assert count == sum(
            any(all(fits(record[name], person[name]) for name in person) for person in own)
            for record in records
        )
    candidates = [
        len({persons[number] for number in oracles.fitting_people(record, people, fits)})
        for record in records
    ]
    assert (found.class_candidates @ found.class_sizes) == sum(candidates)


@given(people=PEOPLE)
def test_unnamed_people_are_people_of_their_own(people: Rows) -> None:
    records = [{"age": "[20, 22]", "town": "*", "ill": "u"}] * 3
    frame = roll(people).append_column("name", pa.nulls(len(people), pa.string()))
    named, plain = linkage(released(records), frame, person="name"), linkage(released(records), roll(people))
    assert named.candidates().equals(plain.candidates())


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "duckdb", "table"])
def test_any_frame_of_people(kind: str) -> None:
    people = roll([{"age": 21, "town": "Ulm"}, {"age": None, "town": None}, {"age": 23, "town": "東京"}])
    frame = {
        "pandas": lambda: people.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(people),
        "lazy": lambda: pl.from_arrow(people).lazy(),  # type: ignore[union-attr]
        "duckdb": lambda: duckdb.from_arrow(people),
        "table": lambda: Table(people, {"age": quasi(), "town": quasi()}),
    }[kind]()
    records = [{"age": "[20, 22]", "town": "Ulm", "ill": "u"}, {"age": None, "town": None, "ill": None}]
    assert linkage(released(records), frame).certainty.tolist() == [1.0, 1.0, 0.0]


def test_columns_under_other_names() -> None:
    people = pa.table({"years": [21, 30], "place": ["Ulm", "Ulm"]})
    records = released([{"age": "[20, 22]", "town": "Ulm", "ill": "u"}])
    assert linkage(records, people, on={"age": "years", "town": "place"}).certainty.tolist() == [1.0, 0.0]
    assert linkage(records, people, on={"town": "place"}).certainty.tolist() == [0.5, 0.5]
    assert linkage(records, roll([{"age": 30, "town": "Ulm"}]), on=["town"]).on == ("town",)


def test_everything_starred_tells_no_one() -> None:
    records = released([{"age": "*", "town": "*", "ill": ill} for ill in "uvuw"])
    found = linkage(records, roll([{"age": age, "town": None} for age in (20, None, 24)]))
    assert found.certainty.tolist() == [0.25] * 3
    assert found.attributes["ill"].highest == found.attributes["ill"].prior == 0.5


def test_nobody_matches() -> None:
    found = linkage(released([{"age": "21", "town": "Ulm", "ill": "u"}]), roll([{"age": 20, "town": "Ulm"}]))
    assert (found.highest, found.persons_matched, found.records_matched) == (0.0, 0, 0)
    assert found.attributes["ill"].mean == found.attributes["ill"].highest == 0.0


def test_values_stay_inside() -> None:
    records = [{"age": "21", "town": "Łódź-secret", "ill": "gout"}]
    frame = roll([{"age": 21, "town": "Łódź-secret"}])
    found = linkage(released(records), frame)
    listed = found.candidates()
    assert listed.column_names == [
        "row",
        "records",
        "certainty",
        "certainty of ill",
        "joint certainty of ill",
    ]
    assert listed.to_pylist() == [
        {"row": 0, "records": 1, "certainty": 1.0, "certainty of ill": 1.0, "joint certainty of ill": 1.0}
    ]
    shown = repr(found) + json.dumps(found.to_dict())
    assert "secret" not in shown
    assert "gout" not in shown


def test_refusals() -> None:
    records = released([{"age": "21", "town": "Ulm", "ill": "u"}])
    people = roll([{"age": 21, "town": "Ulm"}])
    with pytest.raises(SchemaError, match="none of the release's quasi-identifiers"):
        linkage(records, pa.table({"years": [21]}))
    with pytest.raises(SchemaError, match="joined on 'ill'"):
        linkage(records, people, on={"ill": "town"})
    with pytest.raises(SchemaError, match="no column 'years'"):
        linkage(records, people, on={"age": "years"})
    with pytest.raises(SchemaError, match="no column 'name'"):
        linkage(records, people, person="name")
    with pytest.raises(InputError, match="A list is no table"):
        linkage(records, [1, 2])
    with pytest.raises(InputError, match="no rows"):
        linkage(records, people.slice(0, 0))
    with pytest.raises(ParameterError, match="'threshold' parameter of linkage"):
        linkage(records, people, threshold=2)
    with pytest.raises(ParameterError, match="'subject' parameter of linkage"):
        linkage(people, people)  # type: ignore[arg-type]


@pytest.mark.parametrize("strict", [True, False])
def test_a_release_pins_no_one_down_above_its_promise(strict: bool) -> None:
    rng = np.random.default_rng(7)
    n = 20_000
    frame = pa.table(
        {
            "age": rng.integers(0, 99, n),
            "zip": [f"{code:05d}" for code in rng.integers(1000, 1400, n)],
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(list("abcdefgh"), n),
        }
    )
    roles = {"age": quasi(intervals(5, 10, 20)), "zip": quasi(masked()), "sex": quasi(), "ill": sensitive()}
    release = Mondrian(KAnonymity(5), strict=strict).release(Table(frame, roles))
    people = frame.select(["age", "zip", "sex"]).slice(0, n // 2)
    linkage(release, people.slice(0, 1))
    start = time.process_time()
    after = linkage(release, people)
    assert time.process_time() - start < 2
    before = linkage(Table(frame, roles), people)
    assert after.highest <= 1 / 5
    assert before.persons_pinned_share > 0.5 > after.persons_pinned_share == 0.0
    assert after.persons_matched == n // 2
