"""Columns published as they are: counted by their definition, and refused where they single people out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publishing import released_rows

from discreet import Recipe, Table, drop, identifier, other, person, quasi, sensitive
from discreet.core.tables.source import Singletons, source_of
from discreet.engines.duckdb.large import RelationSource
from discreet.guarantees import KAnonymity
from discreet.kinds.wording import handing_on
from discreet.measure import singling_out
from discreet.measure.tables.risk import SinglingOutError, refuse_keys
from discreet.output.hiding import ExactHiding
from discreet.publish import (
    Anatomy,
    Condensation,
    Generalization,
    GlobalRecoding,
    Incognito,
    LocalRecoding,
    Microaggregation,
    Mondrian,
    OptimalLattice,
    Samarati,
    StreamCondensation,
)

SECRET = "PLANTED-4471"
CELLS = st.sampled_from([None, "a", "b", "c"])


def lone_by_definition(rows: list[tuple[Any, ...]]) -> Singletons:
    held = [row for row in rows if any(cell is not None for cell in row)]
    counts = Counter(held)
    return Singletons(sum(counts[row] == 1 for row in held), len(held), len(counts))


@settings(max_examples=25)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12))
def test_singletons_are_those_of_the_definition(rows: list[tuple[Any, ...]]) -> None:
    columns = list(zip(*rows, strict=True))
    frame = pa.table({name: pa.array(cells, pa.string()) for name, cells in zip("xyz", columns, strict=True)})
    relation = duckdb.connect().from_arrow(frame)
    for names in (["x"], ["x", "z"], ["x", "y", "z"]):
        chosen = [tuple(row["xyz".index(name)] for name in names) for row in rows]
        for source in (source_of(frame), source_of(relation), RelationSource(relation)):
            assert source.singletons(names) == lone_by_definition(chosen)


def test_columns_of_several_types_are_counted_together() -> None:
    frame = pa.table({"a": ["x", None, "x"], "b": [1, None, 1], "c": [1.5, None, 2.5]})
    for source in (source_of(frame), RelationSource(duckdb.connect().from_arrow(frame))):
        assert source.singletons(["a", "b"]) == Singletons(0, 2, 1)
        assert source.singletons(["a", "b", "c"]) == Singletons(2, 2, 2)


def people(n: int = 60) -> dict[str, list[Any]]:
    return {
        "age": [20 + at % 4 for at in range(n)],
        "disease": [("flu", "cold", "gout")[at % 3] for at in range(n)],
        "visit": [f"{SECRET}-{at}" for at in range(n)],
        "ward": ["north", "south"] * (n // 2),
    }


ROLES = {"age": quasi(), "disease": sensitive(), "visit": other(), "ward": other()}
PUBLISHERS = {
    "mondrian": lambda: Mondrian(KAnonymity(3)),
    "generalization": lambda: Generalization(KAnonymity(3), levels={"age": 1}),
    "optimal": lambda: OptimalLattice(KAnonymity(3)),
    "samarati": lambda: Samarati(KAnonymity(3)),
    "incognito": lambda: Incognito(KAnonymity(3)),
    "global": lambda: GlobalRecoding(KAnonymity(3)),
    "local": lambda: LocalRecoding(KAnonymity(3)),
    "microaggregation": lambda: Microaggregation(KAnonymity(3)),
    "anatomy": lambda: Anatomy(2),
    "condensation": lambda: Condensation(5),
}


@pytest.mark.parametrize("name", PUBLISHERS)
def test_every_publisher_refuses_a_column_of_its_own_values(name: str) -> None:
    publisher = PUBLISHERS[name]()
    with pytest.raises(SinglingOutError, match=r"'visit' .* 60 of 60 rows") as caught:
        publisher.release(Table(pa.table(people()), ROLES))
    assert SECRET not in str(caught.value)
    assert caught.value.columns == ("visit",)
    allowed = {**ROLES, "visit": other(allow_unique=True)}
    release = publisher.release(Table(pa.table(people()), allowed))
    assert release.verdict.ok
    assert len(released_rows(release)) == 60
    if name != "condensation":
        assert [one.code for one in release.cautions if one.code == "unique-column"] == ["unique-column"]


def test_hiding_rules_refuses_it_as_well() -> None:
    hider = ExactHiding(["ward=north => disease=flu"], min_support=2, min_confidence=0.1)
    table = {**ROLES, "ward": quasi()}
    with pytest.raises(SinglingOutError, match="visit"):
        hider.hide(Table(pa.table(people()), table))


def test_a_recipe_refuses_new_rows_and_keeps_what_was_allowed() -> None:
    rows = people()
    roles = {**ROLES, "visit": other(allow_unique=True)}
    made = Generalization(KAnonymity(3), levels={"age": 1}).release(Table(pa.table(rows), roles))
    assert Recipe(made.recipe, made.private).apply(pa.table(rows)).verdict.ok
    shared = {**rows, "visit": ["-"] * 60}
    plain = Generalization(KAnonymity(3), levels={"age": 1}).release(Table(pa.table(shared), ROLES))
    recipe = Recipe(plain.recipe, plain.private)
    with pytest.raises(SinglingOutError, match="visit"):
        recipe.apply(pa.table(rows))
    assert recipe.apply(pa.table(rows), allow_unique=["visit"]).verdict.ok


def test_columns_that_single_out_together_are_refused_with_those_that_matter() -> None:
    n = 200
    rng = np.random.default_rng(0)
    frame = pa.table(
        {
            "age": [20 + at % 4 for at in range(n)],
            "hours": rng.integers(0, 20, n),
            "town": rng.integers(0, 20, n),
            "sex": rng.integers(0, 2, n),
        }
    )
    roles = {"age": quasi(), "hours": other(), "town": other(), "sex": other()}
    counts = singling_out(Table(frame, roles))
    assert counts.together == lone_by_definition(
        list(zip(*(frame[name].to_pylist() for name in ("hours", "town", "sex")), strict=True))
    )
    with pytest.raises(SinglingOutError, match="have a combination of their own") as caught:
        Mondrian(KAnonymity(3)).release(Table(frame, roles))
    assert set(caught.value.columns) < {"hours", "town"}
    kept = {name: other(allow_unique=name in caught.value.columns) for name in ("hours", "town", "sex")}
    release = Mondrian(KAnonymity(3)).release(Table(frame, {"age": quasi(), **kept}))
    assert "unique-combination" in [one.code for one in release.cautions]


def test_a_tenth_of_the_rows_may_have_a_value_of_their_own() -> None:
    frame = pa.table({"age": [20, 30] * 10, "ward": ["a"] * 18 + ["b", "c"]})
    roles = {"age": quasi(), "ward": other()}
    assert Mondrian(KAnonymity(2)).release(Table(frame, roles)).verdict.ok
    more = pa.table({"age": [20, 30] * 10, "ward": ["a"] * 17 + ["b", "c", "d"]})
    with pytest.raises(SinglingOutError, match="3 of 20"):
        Mondrian(KAnonymity(2)).release(Table(more, roles))


def test_few_values_among_nulls_count_among_themselves() -> None:
    frame = pa.table({"age": [20, 30] * 50, "note": [None] * 97 + [f"{SECRET}{at}" for at in range(3)]})
    with pytest.raises(SinglingOutError, match="3 of 3") as caught:
        Mondrian(KAnonymity(2)).release(Table(frame, {"age": quasi(), "note": other()}))
    assert SECRET not in str(caught.value)


def test_sensitive_columns_are_cautioned_and_pseudonyms_are_meant_to_be_unique() -> None:
    frame = pa.table(
        {"age": [20, 30] * 20, "income": [at * 1.37 for at in range(40)], "ssn": list(range(40))}
    )
    roles = {"age": quasi(), "income": sensitive(), "ssn": identifier(pseudonym="a key of sixteen bytes")}
    release = Mondrian(KAnonymity(2)).release(Table(frame, roles))
    assert [one.code for one in release.cautions] == ["unique-sensitive"]


def test_columns_published_exactly_are_judged_together() -> None:
    rng = np.random.default_rng(4)
    n = 200
    rows = {
        "age": rng.integers(20, 22, n),
        **{name: rng.integers(0, 6, n) for name in ("ill", "drug", "dose")},
        "ward": rng.integers(0, 2, n),
    }
    roles = {"age": quasi(), "ward": other(), **dict.fromkeys(("ill", "drug", "dose"), sensitive())}
    release = Mondrian(KAnonymity(5)).release(Table(pa.table(rows), roles))
    caution = next(one for one in release.cautions if one.code == "unique-exact")
    released = release.frame
    counts = Counter(
        zip(*(released[name].to_pylist() for name in ("ill", "drug", "dose", "ward")), strict=True)
    )
    alone = sum(count == 1 for count in counts.values())
    few = Counter(zip(*(released[name].to_pylist() for name in ("ill", "drug", "dose")), strict=True))
    assert f"together they single out {alone:,} of 200 rows" in caution.text
    assert f"alone do so for {sum(count == 1 for count in few.values()):,} " in caution.text
    assert caution.public
    assert handing_on(release)[0] == "not to everybody"
    coarse = {**roles, "drug": drop(), "dose": drop()}
    calm = Mondrian(KAnonymity(5)).release(Table(pa.table(rows), coarse))
    assert "unique-exact" not in [one.code for one in calm.cautions]
    assert handing_on(calm)[0] in ("yes", "yes, with conditions")
    assert list(calm.frame.column_names) == ["age", "ill", "ward"]


def test_condensation_takes_measured_numbers_and_refuses_keys() -> None:
    rng = np.random.default_rng(1)
    frame = {"age": rng.integers(20, 80, 300), "weight": rng.normal(70, 9, 300)}
    assert Condensation(5).release(Table(pa.table(frame), {"age": quasi(), "weight": quasi()})).verdict.ok
    keyed = pa.table({**frame, "visit": rng.permutation(10**9 + np.arange(300) * 7919)})
    roles = {"age": quasi(), "weight": quasi(), "visit": quasi()}
    with pytest.raises(SinglingOutError, match="looks like a key"):
        Condensation(5).release(Table(keyed, roles))
    allowed = {**roles, "visit": quasi(allow_unique=True)}
    assert Condensation(5).release(Table(keyed, allowed)).verdict.ok


def test_a_stream_refuses_keys_when_its_first_records_are_condensed() -> None:
    rng = np.random.default_rng(2)
    rows = np.column_stack([rng.normal(70, 9, 300), rng.permutation(300) * 7919])
    with pytest.raises(SinglingOutError, match="'visit' holds whole numbers"):
        StreamCondensation(5, init_number=200, columns=["weight", "visit"]).partial_fit(rows)
    made = StreamCondensation(5, init_number=200, columns=["weight", "visit"], allow_unique=["visit"])
    assert made.partial_fit(rows).release().verdict.ok


def test_keys_are_whole_many_and_different() -> None:
    whole = np.arange(200.0)
    refuse_keys(["few"], whole[:99, None], ())
    refuse_keys(["real"], whole[:, None] + 0.5, ())
    refuse_keys(["shared"], (whole // 2)[:, None], ())
    refuse_keys(["allowed"], whole[:, None], ["allowed"])
    with pytest.raises(SinglingOutError):
        refuse_keys(["key"], whole[:, None], ())


def test_values_that_one_person_alone_has_single_out_all_its_rows() -> None:
    rows = {"who": [at // 2 for at in range(60)], "age": [20, 20, 30, 30] * 15}
    frame = pa.table({**rows, "card": [f"{SECRET}{at // 2}" for at in range(60)]})
    relation = duckdb.connect().from_arrow(frame)
    for source in (source_of(frame), RelationSource(relation)):
        assert source.singletons(["card"]) == Singletons(0, 60, 30)
        assert source.singletons(["card"], "who") == Singletons(60, 60, 30)
    assert (
        Mondrian(KAnonymity(2))
        .release(Table(frame.drop("who"), {"age": quasi(), "card": other()}))
        .verdict.ok
    )
    with pytest.raises(SinglingOutError, match="'card'"):
        Mondrian(KAnonymity(2)).release(Table(frame, {"who": person(), "age": quasi(), "card": other()}))


def test_columns_of_different_types_are_counted_together() -> None:
    """A relation that is not fetched once failed where texts and numbers were looked at together."""
    relation = duckdb.connect().from_arrow(
        pa.table({"note": ["a", "a", "b", None], "visits": [1, 1, 2, None]})
    )
    assert RelationSource(relation).singletons(["note", "visits"]) == Singletons(1, 3, 2)
