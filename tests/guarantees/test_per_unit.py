"""Guarantees counted by unit, against slow counts of the people in each class."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import tables as oracle

from discreet import Schema, Table, identifier, intervals, person, quasi, sensitive
from discreet.core.verdict import Basis
from discreet.errors import InfeasibleError, PromiseBrokenError, SchemaError
from discreet.guarantees import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    PerUnit,
    RecursiveDiversity,
    TCloseness,
    guarantee_from_dict,
)
from discreet.measure import cautions, risk
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
)
from discreet.publish.recipes.recipe import Recipe

Rows = list[dict[str, Any]]
ROLES = {"who": person(), "age": quasi(intervals(2, 4)), "city": quasi(), "disease": sensitive()}
TYPES = pa.schema([("who", pa.int64()), ("age", pa.int64()), ("city", pa.string()), ("disease", pa.string())])
ROW = st.fixed_dictionaries(
    {
        "who": st.none() | st.integers(0, 9),
        "age": st.none() | st.integers(0, 3),
        "city": st.sampled_from("xy"),
        "disease": st.none() | st.sampled_from("abc"),
    }
)


def frame(rows: Rows) -> pa.Table:
    return pa.Table.from_pylist(rows, TYPES)


def pairs(rows: Rows) -> list[Any]:
    """The value of every pair of person and value: a person counts once for each value."""
    return [value for _, value in sorted({(str(one["who"]), str(one["disease"])) for one in rows})]


def people(rows: Rows) -> int:
    return len({one["who"] for one in rows})


def prevalence(rows: Rows, value: Any) -> float:
    return people([one for one in rows if one["disease"] == value]) / people(rows)


def largest_prevalence(rows: Rows) -> float:
    return max(prevalence(rows, value) for value in {one["disease"] for one in rows})


def gain(rows: Rows, everyone: Rows) -> float:
    values = {one["disease"] for one in rows}
    return max(max(prevalence(rows, value) / prevalence(everyone, value) - 1, 0) for value in values)


def log_ratio(rows: Rows, everyone: Rows) -> float:
    values = {one["disease"] for one in rows}
    return max(abs(math.log2(prevalence(rows, value) / prevalence(everyone, value))) for value in values)


def share_no_value(rows: Rows) -> bool:
    """Whether no value is one that everybody has: whoever knows that somebody is there would know it."""
    return all(prevalence(rows, value) < 1 for value in {one["disease"] for one in rows})


PROMISES: dict[str, tuple[Guarantee, Callable[[Rows, Rows], bool]]] = {
    "k": (KAnonymity(3), lambda rows, _: people(rows) >= 3),
    "distinct": (
        DistinctDiversity(2, of="disease"),
        lambda rows, _: len(set(pairs(rows))) >= 2 and people(rows) >= 2 and share_no_value(rows),
    ),
    "entropy": (
        EntropyDiversity(1.7, of="disease"),
        lambda rows, _: (
            oracle.effective_values(pairs(rows)) >= 1.7 - 1e-8 and people(rows) >= 2 and share_no_value(rows)
        ),
    ),
    "recursive": (
        RecursiveDiversity(2, 2, of="disease"),
        lambda rows, _: (
            oracle.is_recursively_diverse(pairs(rows), 2, 2) and people(rows) >= 2 and share_no_value(rows)
        ),
    ),
    "t": (
        TCloseness(0.3, of="disease"),
        lambda rows, all_: oracle.variational_distance(pairs(rows), pairs(all_)) <= 0.3 + 1e-8,
    ),
    "alpha": (
        AlphaKAnonymity(0.7, 2, of="disease"),
        lambda rows, _: largest_prevalence(rows) <= 0.7 and people(rows) >= 2,
    ),
    "beta": (BasicBetaLikeness(1, of="disease"), lambda rows, all_: gain(rows, all_) <= 1 + 1e-8),
    "delta": (DeltaDisclosure(1.1, of="disease"), lambda rows, all_: log_ratio(rows, all_) < 1.1 - 1e-8),
}


@given(rows=st.lists(ROW, min_size=1, max_size=30))
@settings(max_examples=60)
@pytest.mark.parametrize("name", PROMISES)
def test_a_table_is_judged_by_its_people(name: str, rows: Rows) -> None:
    guarantee, holds = PROMISES[name]
    classes = oracle.equivalence_classes(rows, ["age", "city"])
    verdict = guarantee.check(Table(frame(rows), ROLES))
    assert verdict.ok == all(holds(one, rows) for one in classes)
    assert verdict.failing_groups == sum(not holds(one, rows) for one in classes)
    assert verdict.n_rows == len(rows)
    assert verdict.failing_rows == sum(len(one) for one in classes if not holds(one, rows))


PUBLISHERS: dict[str, Callable[[Guarantee], Any]] = {
    "mondrian": lambda guarantee: Mondrian(guarantee, random_state=1),
    "relaxed": lambda guarantee: Mondrian(guarantee, strict=False, random_state=1),
    "microaggregation": lambda guarantee: Microaggregation(guarantee, random_state=1),
    "global": lambda guarantee: GlobalRecoding(guarantee, max_suppressed=0.5, random_state=1),
    "local": lambda guarantee: LocalRecoding(guarantee, max_suppressed=0.5, random_state=1),
    "optimal": lambda guarantee: OptimalLattice(guarantee, max_suppressed=0.5, random_state=1),
    "samarati": lambda guarantee: Samarati(guarantee, max_suppressed=0.5, random_state=1),
    "incognito": lambda guarantee: Incognito(guarantee, max_suppressed=0.5, random_state=1),
    "generalization": lambda guarantee: Generalization(
        guarantee, levels={"age": 1, "city": 1}, max_suppressed=0.5, random_state=1
    ),
}


def released_rows(release: Any) -> Rows:
    """The released rows with the numbers of the people they belong to."""
    rows = release.table.source.columns(list(release.schema))
    plain = pa.table({name: rows[name] for name in release.schema}).to_pylist()
    units = release.evidence.arrays["units"].tolist()
    return [row | {"who": unit} for row, unit in zip(plain, units, strict=True)]


@given(rows=st.lists(ROW, min_size=1, max_size=40))
@settings(max_examples=12)
@pytest.mark.parametrize("method", PUBLISHERS)
@pytest.mark.parametrize("name", PROMISES)
def test_every_publisher_keeps_every_promise_by_people(method: str, name: str, rows: Rows) -> None:
    guarantee, holds = PROMISES[name]
    try:
        release = PUBLISHERS[method](guarantee).release(Table(frame(rows), ROLES))
    except InfeasibleError:
        return
    assert "who" not in release.table.source.names
    assert release.verdict.basis is Basis.CONSTRUCTION
    out = released_rows(release)
    good = all(holds(one, out) for one in oracle.equivalence_classes(out, ["age", "city"]))
    assert release.verdict.ok == good
    if method != "relaxed":
        assert good or guarantee.relative


@given(rows=st.lists(ROW, min_size=1, max_size=30))
@settings(max_examples=30)
@pytest.mark.parametrize("name", ["k", "distinct", "entropy", "alpha", "recursive"])
def test_minimal_nodes_are_those_of_brute_force(name: str, rows: Rows) -> None:
    guarantee, holds = PROMISES[name]
    table = Table(frame(rows), ROLES)
    kept = {}
    for age in range(4):
        for city in range(2):
            try:
                publisher = Generalization(guarantee, levels={"age": age, "city": city}, random_state=1)
                out = released_rows(publisher.release(table))
            except InfeasibleError:
                kept[age, city] = False
                continue
            classes = oracle.equivalence_classes(out, ["age", "city"])
            kept[age, city] = all(holds(one, out) for one in classes)
    least = min((sum(node) for node, ok in kept.items() if ok), default=None)
    expected = {node for node, ok in kept.items() if ok and sum(node) == least}
    try:
        found = Samarati(guarantee).minimal_nodes(table)
    except InfeasibleError:
        found = []
    assert {(one["age"], one["city"]) for one in found} == expected


def visits(n: int = 300, *, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "who": rng.integers(0, n // 3, n),
            "age": rng.integers(0, 8, n),
            "city": rng.choice(["x", "y"], n),
            "disease": rng.choice(["a", "b", "c"], n),
        }
    )


@pytest.mark.parametrize(
    "made", [lambda one: one, pl.from_arrow, lambda one: one.to_pandas(), duckdb.from_arrow]
)
@pytest.mark.parametrize("method", ["mondrian", "local", "optimal"])
def test_every_frame_is_counted_alike(method: str, made: Any) -> None:
    guarantee = KAnonymity(6) & DistinctDiversity(2)
    release = PUBLISHERS[method](guarantee).release(Table(made(visits()), ROLES))
    classes = oracle.equivalence_classes(released_rows(release), ["age", "city"])
    assert all(people(one) >= 6 for one in classes)
    assert release.verdict.ok


def test_large_relations_are_counted_by_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engines.duckdb import engine as small

    monkeypatch.setattr(small, "HELD_ROWS", 10)
    release = Mondrian(KAnonymity(6), random_state=1).release(Table(duckdb.from_arrow(visits()), ROLES))
    assert type(release.original.source).__name__ == "RelationSource"
    classes = oracle.equivalence_classes(released_rows(release), ["age", "city"])
    assert all(people(one) >= 6 for one in classes)


def test_rows_alone_are_not_enough() -> None:
    table = pa.table({"who": [1, 1, 1, 2, 3, 4], "age": [1, 1, 1, 7, 7, 7]})
    roles = {"who": person(), "age": quasi(intervals(4))}
    assert KAnonymity(3).check(Table(table, {"who": identifier(), "age": quasi()})).ok
    assert not KAnonymity(3).check(Table(table, roles)).ok
    release = Mondrian(KAnonymity(3)).release(Table(table, roles))
    assert release.groups().n_groups == 1


def test_what_is_written_is_judged_by_people_and_says_so(tmp_path: Path) -> None:
    release = Mondrian(KAnonymity(6), random_state=1).release(Table(visits(), ROLES))
    folder = release.write(tmp_path / "out")
    record = json.loads((folder / "release.json").read_text())
    assert record["guarantee"] == {
        "guarantee": "PerUnit",
        "of": {"guarantee": "KAnonymity", "k": 6},
        "unit": "who",
    }
    assert record["risk"] == {"highest_at_most": 1 / 6}
    assert "worst" not in record["verdict"]
    with (folder / "data.csv").open() as stream:
        assert "who" not in next(csv.reader(stream))
    assert {role["name"]: role["role"] for role in record["columns"]}["who"] == "person"


def test_a_release_whose_people_are_too_few_is_refused(tmp_path: Path) -> None:
    release = Mondrian(KAnonymity(6), random_state=1).release(Table(visits(), ROLES))
    release.evidence.arrays["units"][:] = 0
    with pytest.raises(PromiseBrokenError):
        release.write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_published_pseudonyms_are_counted_from_the_data_alone_and_cautioned(tmp_path: Path) -> None:
    roles = ROLES | {"who": person(pseudonym=b"0123456789abcdef")}
    release = Mondrian(KAnonymity(6), random_state=1).release(Table(visits(), roles))
    assert release.verdict.ok
    assert release.verdict.basis is Basis.VERIFIED
    with (release.write(tmp_path / "out") / "data.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    classes = oracle.equivalence_classes(rows, ["age", "city"])
    assert min(people(one) for one in classes) == release.verdict.worst >= 6
    assert "linked-rows" in {one.code for one in cautions(release)}


def test_risk_counts_people() -> None:
    table = pa.table({"who": [1, 1, 1, 2], "age": [1, 1, 1, 1]})
    found = risk(Table(table, {"who": person(), "age": quasi()}))
    assert (found.prosecutor.highest, found.smallest_class, found.n_rows) == (0.5, 2, 4)
    release = Mondrian(KAnonymity(2)).release(Table(table, {"who": person(), "age": quasi()}))
    assert risk(release).prosecutor.highest == 0.5


def lives(n_people: int, n_rows: int, name: str = "name") -> pa.Table:
    """Make rows of people who have the same quasi-identifier in all of theirs, as two people each do."""
    whose = np.repeat(np.arange(n_people), n_rows)
    return pa.table(
        {name: [f"p{one:04d}" for one in whose], "age": whose // 2, "disease": ["a", "b"] * (whose.size // 2)}
    )


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("made", [lambda one: one, pl.from_arrow, duckdb.from_arrow])
@pytest.mark.parametrize("method", ["mondrian", "local", "optimal"])
@pytest.mark.parametrize(
    ("name", "n_people", "n_rows"),
    [("pid", 12, 10), ("patient_id", 20, 50), ("name", 100, 6), ("patient_id", 4, 30)],
)
def test_rows_of_people_dropped_as_identifiers_are_cautioned(
    name: str, n_people: int, n_rows: int, method: str, made: Any, held: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not held:
        monkeypatch.setattr("discreet.engines.duckdb.engine.HELD_ROWS", 0)
    rows = made(lives(n_people, n_rows, name))
    table = Table(rows, {name: identifier(), "age": quasi(), "disease": sensitive()})
    release = PUBLISHERS[method](KAnonymity(5)).release(table)
    (caution,) = [one for one in cautions(release) if one.code == "rows-not-people"]
    n = n_people * n_rows
    assert f"'{name}' has {n_people} different values in {n:,} rows" in caution.text
    assert f"fewer than 5 in classes with {n:,} rows" in caution.text
    assert not caution.public


def test_identifiers_with_enough_values_in_every_class_are_not_cautioned() -> None:
    rows = visits().rename_columns(["patient_id", "age", "city", "disease"])
    rows = rows.append_column("sex", pa.array(["f", "m"] * 150)).append_column(
        "title", pa.nulls(300, pa.string())
    )
    roles = ROLES | {"patient_id": identifier(), "sex": identifier(), "title": identifier()}
    del roles["who"]
    release = Mondrian(KAnonymity(6), random_state=1).release(Table(rows, roles))
    assert "rows-not-people" not in {one.code for one in cautions(release)}


@pytest.mark.parametrize(("name", "found"), [("name", False), ("patient_id", True)])
def test_a_few_people_of_the_same_name_are_no_caution(name: str, found: bool) -> None:
    """Two of a thousand rows share a name and a class: a key would be somebody's twice, a name is two people's."""
    names = [f"p{one:04d}" for one in range(1000)]
    names[4] = names[3]
    rows = pa.table({name: names, "age": np.arange(1000) // 5, "disease": ["a", "b"] * 500})
    table = Table(rows, {name: identifier(), "age": quasi(), "disease": sensitive()})
    release = Mondrian(KAnonymity(5), random_state=0).release(table)
    assert ("rows-not-people" in {one.code for one in cautions(release)}) is found


def test_many_repeated_identifiers_share_a_caution() -> None:
    rows = lives(40, 6)
    for number in range(5):
        rows = rows.append_column(f"name{number}", rows["name"])
    roles = {name: identifier() for name in rows.column_names} | {"age": quasi(), "disease": sensitive()}
    found = cautions(Mondrian(KAnonymity(5)).release(Table(rows, roles)))
    (caution,) = [one for one in found if one.code == "rows-not-people"]
    assert "Columns 'name', 'name0'" in caution.text


def test_a_recipe_counts_people_of_new_rows_too() -> None:
    release = Mondrian(KAnonymity(6), random_state=1).release(Table(visits(), ROLES))
    recipe = Recipe(release.recipe, release.private)
    applied = recipe.apply(visits(200, seed=8))
    classes = oracle.equivalence_classes(released_rows(applied), ["age", "city"])
    assert all(people(one) >= 6 for one in classes)
    with pytest.raises(SchemaError, match="nobody can see whose"):
        recipe.apply(visits(200, seed=8), released=release.frame)


@pytest.mark.parametrize("publisher", [Anatomy(2), Condensation(3)])
def test_publishers_that_count_rows_refuse_people(publisher: Any) -> None:
    with pytest.raises(SchemaError, match="counts rows"):
        publisher.release(Table(visits(), ROLES))


def test_guarantees_are_read_back_and_refuse_what_makes_no_sense() -> None:
    made = PerUnit(DistinctDiversity(2, of="disease"), "who")
    assert guarantee_from_dict(made.to_dict()) == made
    assert repr(made) == "DistinctDiversity(l=2, of='disease') per 'who'"
    assert (made & PerUnit(KAnonymity(2), "who")).describe() == (
        "Every class holds at least 2 different values of disease. Every row shares all quasi-identifying values with "
        "at least one other. Those who know how many rows somebody has in a class may infer more. Counted by who "
        "instead of rows: each counts once in a class."
    )
    with pytest.raises(SchemaError, match="one for each part"):
        PerUnit(KAnonymity(2) & KAnonymity(3), "who")
    with pytest.raises(SchemaError, match="no column of the table says whose"):
        made.check(Table(visits().drop(["who"]), {name: one for name, one in ROLES.items() if name != "who"}))
    with pytest.raises(SchemaError, match="not bare classes"):
        made.check(Table(visits(), ROLES).groups())


def test_one_column_at_most_says_whose_row_it_is() -> None:
    with pytest.raises(SchemaError, match="Only one column"):
        Table(visits(), Schema(ROLES | {"disease": person()}))


def test_names_made_up_for_pairs_meet_no_column() -> None:
    rows = visits().append_column("units of disease", pa.array(["q"] * 300))
    roles = ROLES | {"units of disease": sensitive()}
    release = Mondrian(KAnonymity(6) & DistinctDiversity(2, of="disease")).release(Table(rows, roles))
    assert release.verdict.ok


def test_missing_people_count_as_one() -> None:
    table = pa.table({"who": pa.array([None, None, 1], pa.int64()), "age": [1, 1, 1]})
    assert KAnonymity(1).check(Table(table, {"who": person(), "age": quasi()})).worst == 2


def test_exploring_counts_people() -> None:
    from discreet.job.exploration import explore

    table = Table(visits(), ROLES)
    found = explore(table, [KAnonymity(6)], shares=[0.1])
    choice = next(choice for choice in found.parts[0].choices if choice.levels is not None)
    release = Generalization(KAnonymity(6), levels=choice.levels, max_suppressed=0.1).release(table)
    assert release.evidence.suppressed == choice.suppressed
    assert risk(release).prosecutor.highest == pytest.approx(choice.highest_risk)


def test_a_release_with_pseudonyms_of_people_is_not_wrong_about_its_risk(tmp_path: Path) -> None:
    from discreet.job.release_checking import judge_release

    frame = pa.table({"who": [1, 2, 3, 4, 4], "age": [20, 20, 30, 30, 30]})
    table = Table(frame, {"who": person(pseudonym="a key of sixteen bytes"), "age": quasi()})
    Mondrian(KAnonymity(2)).release(table).write(tmp_path / "out", report=False)
    judgment = judge_release(tmp_path / "out")
    assert judgment.word == "verified"
    assert "risk" in judgment.record.verified


def shared() -> Table:
    """Six people of one class, of whom everybody has one value and one of three others."""
    others = ["asthma", "cold", "flu"] * 2
    columns = {
        "who": [*range(6)] * 2,
        "age": [1] * 12,
        "city": ["x"] * 12,
        "disease": ["hiv"] * 6 + others,
    }
    return Table(pa.table(columns), ROLES)


@pytest.mark.parametrize(
    "guarantee", [DistinctDiversity(2), DistinctDiversity(4), EntropyDiversity(1.5), RecursiveDiversity(9, 2)]
)
def test_a_value_that_everybody_of_a_class_has_is_no_diversity(guarantee: Guarantee) -> None:
    verdict = guarantee.check(shared())
    assert not verdict.ok
    assert verdict.worst in (1.0, math.inf), "as a class of a single value"
    with pytest.raises(InfeasibleError):
        Mondrian(guarantee).release(shared())


def test_classes_with_a_value_that_everybody_has_are_joined_with_others() -> None:
    rows = [
        {"who": one, "age": 1, "city": "x", "disease": d} for one in range(3) for d in ("a", "bc"[one % 2])
    ]
    rows += [{"who": one, "age": 2, "city": "x", "disease": d} for one in range(3, 6) for d in ("b", "c")]
    for publisher in (Mondrian, OptimalLattice, LocalRecoding, Microaggregation):
        release = publisher(DistinctDiversity(2), random_state=1).release(Table(frame(rows), ROLES))
        assert len(set(release.frame["age"].to_pylist())) == 1


def test_joining_classes_may_let_everybody_share_a_value() -> None:
    """Persons 1 and 2 have a in one class each, and both have it in the two together."""
    apart = [("1", 1, "a"), ("2", 1, "b"), ("2", 2, "a"), ("1", 2, "c")]
    rows = [{"who": int(who), "age": age, "city": "x", "disease": value} for who, age, value in apart]
    assert DistinctDiversity(2).check(Table(frame(rows), ROLES)).ok
    joined = [row | {"age": 1} for row in rows]
    assert not DistinctDiversity(2).check(Table(frame(joined), ROLES)).ok
    assert not PerUnit(DistinctDiversity(2), "who").monotone
